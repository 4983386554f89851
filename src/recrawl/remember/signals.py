"""What visits told of other resources, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import isfinite

from recrawl.model import Batch, Completion, Floats, Signal, Visit
from recrawl.remember.watchlist import MemoryWatchlist


class MemorySignals(MemoryWatchlist):
    def signals(self, resource_id: int, limit: int | None = None) -> Iterator[Signal]:
        record = self._watched.records.get(resource_id)
        known = sorted(record.signals.items(), reverse=True) if record else []
        yield from islice((signal for _, signal in known), limit)

    def told_of(self, visits: Sequence[Visit]) -> tuple[Batch, Floats]:
        told = {(visit.resource_id, visit.at) for visit in visits}
        real, count = self._columns.real["told_at"], self._columns.count["told_by"]
        ids = sorted({key for source_id, _ in told for key in self._told_by.get(source_id, ())})
        return self._columns.batch([key for key in ids if (int(count[key - 1]), real[key - 1]) in told])

    def _hear(self, done: Sequence[Completion]) -> None:
        """Keep what these visits told of: one signal for each resource that waits for its next visit."""
        for completion in sorted(done, key=lambda completion: completion.visit.at):
            source_id, at = completion.lease.resource.id, completion.visit.at
            for telling in completion.tells:
                key = self._watched.ids.get(telling.url)
                if key is not None and key not in self._sights and isfinite(telling.event_at):
                    record = self._watched.records[key]
                    record.resource = replace(record.resource, lastmod_at=telling.event_at)
                if key is None or key == source_id or not self._waits(key, at):
                    continue
                if telling.event_at <= self._columns.real["since_at"][key - 1]:
                    continue  # that was seen already
                self._watched.records[key].signals[at] = Signal(
                    resource_id=key, source_id=source_id, at=at, event_at=telling.event_at
                )
                self._told_by.setdefault(source_id, set()).add(key)
                self._columns.set_told(key, at, source_id)

    def _waits(self, key: int, at: float) -> bool:
        visited = self._columns.real["since_at"][key - 1] < at
        told = self._columns.count["told_by"][key - 1] > 0 or at in self._watched.records[key].signals
        return bool(visited and not told)
