"""Who is kin of whom; in memory."""

from __future__ import annotations

import numpy as np

from recrawl.model import Ints, KinTable
from recrawl.remember.watchlist import MemoryWatchlist


class MemoryKin(MemoryWatchlist):
    def kin(self, ids: Ints | None = None) -> KinTable:
        asked = None if ids is None else set(ids.tolist())
        pairs = sorted(pair for pair in self._kin if asked is None or pair[0] in asked)
        return KinTable(
            id=np.array([pair[0] for pair in pairs], dtype=np.int64),
            of=np.array([pair[1] for pair in pairs], dtype=np.int64),
            weight=np.array([self._kin[pair] for pair in pairs], dtype=np.float64),
        )

    def note_kin(self, ids: Ints, table: KinTable) -> None:
        anew = set(ids.tolist())
        self._kin = {pair: weight for pair, weight in self._kin.items() if pair[0] not in anew}
        known = self._watched.records
        rows = zip(table.id.tolist(), table.of.tolist(), table.weight.tolist(), strict=True)
        self._kin.update({(one, of): weight for one, of, weight in rows if one in known and of in known})
