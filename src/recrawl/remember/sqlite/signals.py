"""What visits told of other resources, in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf, isfinite
from typing import Any

import numpy as np

from recrawl.model import Batch, Completion, Floats, Signal, Telling, Visit
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.database import Database, paged

_N_TOGETHER = 5_000  # addresses that are looked up at a time


class SqliteSignals:
    _db: Database

    def signals(self, resource_id: int, limit: int | None = None) -> Iterator[Signal]:
        def page(before: float, n: int) -> list[tuple[float, Signal]]:
            found = self._db.tuples("signals", {"resource_id": resource_id, "before": before, "limit": n})
            return [
                (at, Signal(resource_id=resource_id, source_id=by, at=at, event_at=rows.real(event_at)))
                for at, by, event_at in found
            ]

        yield from paged(page, inf, limit)

    def told_of(self, visits: Sequence[Visit]) -> tuple[Batch, Floats]:
        keys = {(visit.resource_id, visit.at) for visit in visits}
        found = [
            row
            for source_id, at in sorted(keys)
            for row in self._db.tuples("told_of", {"source_id": source_id, "at": at})
        ]
        found.sort(key=lambda row: row[0])
        batch, memory = rows.batch_of([row[:-2] for row in found])
        return with_told(batch, [(row[0], *row[-2:]) for row in found]), memory

    def _hear(self, done: Sequence[Completion]) -> None:
        """Keep what these visits told of: one signal for each resource that waits for its next visit."""
        for completion in sorted(done, key=lambda completion: completion.visit.at):
            source_id, at, tells = completion.lease.resource.id, completion.visit.at, completion.tells
            for start in range(0, len(tells), _N_TOGETHER):
                some: Sequence[Telling] = tells[start : start + _N_TOGETHER]
                urls = json.dumps([telling.url for telling in some])
                waiting = self._db.tuples("waiting", {"urls": urls, "source_id": source_id, "at": at})
                heard = [
                    (key, at, source_id, some[i].event_at)
                    for i, key, since_at in waiting
                    if not some[i].event_at <= since_at  # else that was seen already
                ]
                self._db.run_many("hear", heard)
                self._db.run_many(
                    "hint_at", [(one.url, one.event_at) for one in some if isfinite(one.event_at)]
                )


def with_told(batch: Batch, pending: Sequence[tuple[Any, ...]]) -> Batch:
    """The same resources, in the order of their numbers, with the signals that wait for them."""
    if not pending or not len(batch):
        return batch
    ids, at, by = (np.array(column) for column in zip(*pending, strict=True))
    rows = np.searchsorted(batch.id, ids)
    rows[rows == len(batch)] = 0
    # of some that wait nothing is asked here; and some were visited since the batch was read
    here = (batch.id[rows] == ids) & (at > batch.since_at[rows])
    told_at, told_by = np.full(len(batch), np.nan), np.zeros(len(batch), dtype=np.int64)
    told_at[rows[here]], told_by[rows[here]] = at[here], by[here]
    return replace(batch, told_at=told_at, told_by=told_by)
