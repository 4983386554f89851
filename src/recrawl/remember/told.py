"""What visits told, as columns; and learning anew, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from recrawl.model import Floats, Ints, Seen
from recrawl.remember.watched import teaches
from recrawl.remember.watchlist import MemoryWatchlist

_Row = tuple[int, float, float, int, float, int, float, int]


def seen_of(rows: Iterable[tuple[Any, ...]]) -> Seen:
    """From rows of resource, since_at, at, changed, event_at, host, told_at and told_by; None is NaN."""
    columns = list(zip(*rows, strict=True)) or [()] * 8
    ids, since_at, at, changed, event_at, host_ids, told_at, told_by = columns
    return Seen(
        id=np.array(ids, np.int64),
        since_at=np.array(since_at, np.float64),
        at=np.array(at, np.float64),
        changed=np.array(changed, np.int8),
        event_at=np.array(event_at, np.float64),
        group=np.array(host_ids, np.int64),
        told_at=np.array(told_at, np.float64),
        told_by=np.array(told_by, np.int64),
    )


class MemoryTold(MemoryWatchlist):
    def told(self) -> Iterator[Seen]:
        rows = [row for resource_id in self._watched.records for row in self._told(resource_id)]
        if rows:
            yield seen_of(sorted(rows, key=lambda row: row[2]))

    def lately(self, ids: Ints, n_each: int) -> Seen:
        known = (resource_id for resource_id in ids.tolist() if resource_id in self._watched.records)
        return seen_of(row for resource_id in known for row in list(self._told(resource_id))[-n_each:])

    def heard(self, mark: int, limit: int) -> tuple[Seen, int]:
        """The mark is how many there ever were. What a removed resource had is told no more."""
        records = self._watched.records
        came = [
            (*row, records[row[0]].host.id, *records[row[0]].told(row[1], row[2]))
            for row in self._taught[mark:]
            if row[0] in records
        ]
        if not mark:
            came.sort(key=lambda row: row[2])
        return seen_of(sorted(came[-limit:], key=lambda row: row[2])), len(self._taught)

    def remind(self, ids: Ints, since_at: Floats, rows: Floats) -> int:
        n = 0
        for resource_id, since, row in zip(ids.tolist(), since_at.tolist(), rows.tolist(), strict=True):
            record = self._watched.records.get(resource_id)
            if record is not None and repr(record.standing.since_at) == repr(since):
                record.standing = replace(record.standing, memory=tuple(row))
                self._columns.set_memory(resource_id, row)
                n += 1
        return n

    def _told(self, resource_id: int) -> Iterator[_Row]:
        record = self._watched.records[resource_id]
        for visit in record.visits:
            if teaches(visit):
                since_at, at, changed = visit.since_at, visit.at, int(visit.changed)
                told = record.told(since_at, at)
                yield resource_id, since_at, at, changed, visit.event_at, record.host.id, *told
