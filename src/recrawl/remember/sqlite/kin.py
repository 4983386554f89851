"""Who is kin of whom; in the file."""

from __future__ import annotations

import json

import numpy as np

from recrawl.model import Ints, KinTable
from recrawl.remember.sqlite.database import Database

_N_TOGETHER = 20_000  # pairs in a page or a transaction: others want to write too


class SqliteKin:
    _db: Database

    def kin(self, ids: Ints | None = None) -> KinTable:
        if ids is not None:
            return _table(self._db.tuples("kin_of", {"ids": json.dumps(ids.tolist())}))
        pages, last = [KinTable()], (0, 0)
        while page := self._db.tuples("kin", {"id": last[0], "of_id": last[1], "limit": _N_TOGETHER}):
            pages.append(_table(page))
            last = page[-1][0], page[-1][1]
        return KinTable(
            id=np.concatenate([page.id for page in pages]),
            of=np.concatenate([page.of for page in pages]),
            weight=np.concatenate([page.weight for page in pages]),
        )

    def note_kin(self, ids: Ints, table: KinTable) -> None:
        columns = (table.id.tolist(), table.of.tolist(), table.weight.tolist())
        pairs = list(zip(*columns, strict=True))
        with self._db.writing():
            self._db.run("forget_kin", {"ids": json.dumps(ids.tolist())})
            self._db.run_many("note_kin", pairs)


def _table(rows: list[tuple[int, int, float]]) -> KinTable:
    return KinTable(
        id=np.array([row[0] for row in rows], dtype=np.int64),
        of=np.array([row[1] for row in rows], dtype=np.int64),
        weight=np.array([row[2] for row in rows], dtype=np.float64),
    )
