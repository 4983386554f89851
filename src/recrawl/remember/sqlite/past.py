"""The past, by time: of one resource for replay, and of all for learning anew and for looking back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from math import inf
from typing import Any

import numpy as np

from recrawl.model import Bits, Floats, Ints, Looked, Prospects, Seen, Version, Visit
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.database import Database
from recrawl.remember.told import looked_of, n_steps, newest, newest_of, prospects_of, seen_of

_N_TOLD = 20_000  # visits in a page
_Page = list[tuple[Any, ...]]


class SqlitePast:
    _db: Database

    def history(
        self,
        resource_id: int,
        *,
        from_at: float = -inf,
        until_at: float = inf,
        newest_first: bool = False,
        limit: int,
    ) -> Sequence[Version]:
        query = "history_back" if newest_first else "history"
        span = {"resource_id": resource_id, "from_at": from_at, "until_at": until_at, "limit": limit}
        return [rows.version_of(row, resource_id=resource_id) for row in self._db.rows(query, span)]

    def told(self) -> Iterator[Seen]:
        at, visit_id = -inf, 0
        while page := self._db.tuples("told", {"at": at, "id": visit_id, "limit": _N_TOLD}):
            yield seen_of(row[1:] for row in page)
            visit_id, at = page[-1][0], page[-1][3]

    def lately(self, ids: Ints, n_each: int) -> Seen:
        pages = (self._db.tuples("lately", (resource_id, n_each)) for resource_id in ids.tolist())
        return newest_of(seen_of(row for page in pages for row in reversed(page)), n_each)

    def heard(self, mark: int, limit: int) -> tuple[Seen, int]:
        """The mark is the number of the last visit: they are given out in the order of recording."""
        last = self._db.column("last_visit")[0]
        pages = self._newest(last, limit) if mark == 0 else self._since(max(mark, last - limit), last)
        found = [seen_of(row[1:] for row in page) for page in pages]
        seen = Seen(**{f.name: np.concatenate([getattr(one, f.name) for one in found]) for f in fields(Seen)})
        return newest(seen, limit), last

    def recorded_since(self, mark: int | None, limit: int) -> tuple[Sequence[Visit], int]:
        last = self._db.column("last_visit")[0]
        if mark is None or mark > last:  # visits of what was removed had come after it
            return [], last
        found = self._db.rows("recorded_since", {"after": mark, "limit": limit})
        return [rows.visit_of(row) for row in found], found[-1]["id"] if found else mark

    def _newest(self, last: int, limit: int) -> Iterator[_Page]:
        """By time, since those that were recorded last may be an import of long ago."""
        at, visit_id = inf, last
        while limit:
            key = {"at": at, "id": visit_id, "last": last}
            page = self._db.tuples("newest_told", {**key, "limit": min(limit, _N_TOLD)})
            yield page
            if not page:
                return
            limit -= len(page)
            visit_id, at = page[-1][0], page[-1][3]

    def _since(self, mark: int, last: int) -> Iterator[_Page]:
        while True:
            page = self._db.tuples("told_since", {"after": mark, "last": last, "limit": _N_TOLD})
            yield page
            if not page:
                return
            mark = page[-1][0]

    def looked(self, from_at: float, until_at: float, *, every: int = 1) -> Iterator[Looked]:
        at, visit_id = from_at, 0  # no visit has this number
        asked = {"until_at": until_at, "every": every, "limit": _N_TOLD}
        while page := self._db.tuples("looked", {"at": at, "id": visit_id, **asked}):
            yield looked_of(page)
            visit_id, at = page[-1][-1], page[-1][2]

    def tally(self, from_at: float, until_at: float, step_s: float) -> Ints:
        found = self._db.tuples("tally", {"from_at": from_at, "until_at": until_at, "step_s": step_s})
        counts = np.zeros((n_steps(from_at, until_at, step_s), 4), dtype=np.int64)
        for turn, *row in found:
            counts[min(turn, len(counts) - 1)] += row
        return counts

    def prospects(self) -> Prospects:
        return prospects_of(self._db.tuples("prospects"))

    def recount(self, ids: Ints, since_at: Floats, n_changes: Ints, bits: Bits) -> int:
        signed = bits.view(np.int64).tolist()
        rows = zip(ids.tolist(), since_at.tolist(), n_changes.tolist(), signed, strict=True)
        with self._db.writing():
            return sum(
                self._db.run("recount", {"id": key, "since_at": since, "n_changes": n, "bits": some})
                for key, since, n, some in rows
            )

    def remind(self, ids: Ints, since_at: Floats, rows: Floats) -> int:
        """A NaN is NULL to SQLite, and NULL is itself alone."""
        with self._db.writing():
            return sum(
                self._db.run("remind", {"id": resource_id, "since_at": since, "memory": row.tobytes()})
                for resource_id, since, row in zip(
                    ids.tolist(), since_at.tolist(), rows.astype("<f8"), strict=True
                )
            )
