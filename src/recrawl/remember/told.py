"""What visits told, as columns; and learning anew, in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import ceil, isnan, nan
from typing import Any, TypeVar

import numpy as np

from recrawl.model import Bits, Completion, Floats, Ints, Looked, Prospects, Seen, Visit, unfolded
from recrawl.remember.watched import Record
from recrawl.remember.watchlist import MemoryWatchlist

_Row = tuple[int, float, float, int, float, int, float, int, float, float, tuple[float, ...]]
_FLOAT64 = np.dtype("<f8")
Columns = TypeVar("Columns", Seen, Looked)


def seen_of(rows: Iterable[tuple[Any, ...]]) -> Seen:
    """From rows of resource, since_at, at, changed, event_at, host, told_at, told_by, a hunch and moments,
    which may be packed: what each visit teaches, in the order of the rows. None is NaN, or no moment."""
    columns = list(zip(*rows, strict=True)) or [()] * 11
    *columns, moments = columns
    ids, since_at, at, changed, event_at, host_ids, told_at, told_by, hunch_per_day, hunch_gap_s = columns
    seen = Seen(
        id=np.array(ids, np.int64),
        since_at=np.array(since_at, np.float64),
        at=np.array(at, np.float64),
        changed=np.array(changed, np.int8),
        event_at=np.array(event_at, np.float64),
        group=np.array(host_ids, np.int64),
        told_at=np.array(told_at, np.float64),
        told_by=np.array(told_by, np.int64),
        hunch_per_day=np.array(hunch_per_day, np.float64),
        hunch_gap_s=np.array(hunch_gap_s, np.float64),
    )
    return unfolded(seen, [_moments(some) for some in moments])


def _moments(some: bytes | Sequence[float] | None) -> Sequence[float] | Floats:
    return np.frombuffer(some, _FLOAT64) if isinstance(some, bytes) else some or ()


def newest_of(seen: Columns, n_each: int) -> Columns:
    """Of rows in the order of time, resource after resource, at most so many of each: the last of them."""
    begin = np.flatnonzero(np.diff(seen.id, prepend=-1))
    n = np.diff(np.append(begin, len(seen)))
    from_end = np.repeat(begin + n, n) - np.arange(len(seen))
    return seen if (n <= n_each).all() else seen.pick(from_end <= n_each)


def newest(seen: Seen, limit: int) -> Seen:
    """At most so many rows, the newest visits', in the order of time."""
    return seen.pick(np.lexsort((seen.at, seen.id, seen.visit_at))[max(len(seen) - limit, 0) :])


def looked_of(rows: Iterable[tuple[Any, ...]]) -> Looked:
    """From rows of what a `Looked` has, in its order, and whatever comes after; None is NaN."""
    columns = iter(list(zip(*rows, strict=True)) or [()] * 9)
    return Looked(
        id=np.array(next(columns), np.int64),
        since_at=np.array(next(columns), np.float64),
        at=np.array(next(columns), np.float64),
        due_at=np.array(next(columns), np.float64),
        informative=np.array(next(columns), np.bool_),
        changed=np.array(next(columns), np.int8),
        event_at=np.array(next(columns), np.float64),
        p_changed=np.array(next(columns), np.float64),
        per_day=np.array(next(columns), np.float64),
    )


def looked_row(record: Record, visit: Visit) -> tuple[Any, ...]:
    """As `looked_of` takes it."""
    return (
        *(visit.resource_id, visit.since_at, visit.at, visit.due_at, visit.informative),
        *(int(visit.counted(record.resource.effective.changes)), visit.event_at),
        *record.foreseen.get(visit.fetch_id, (nan, nan)),
    )


def n_steps(from_at: float, until_at: float, step_s: float) -> int:
    """How many steps there are, the last of them perhaps not whole; a hair of one is none."""
    return max(1, ceil((until_at - from_at) / step_s - 1e-9))


def prospects_of(rows: Iterable[tuple[Any, ...]]) -> Prospects:
    """From rows of what `Prospects` has, in its order; None is NaN."""
    columns = iter(list(zip(*rows, strict=True)) or [()] * 10)
    return Prospects(
        id=np.array(next(columns), np.int64),
        group=np.array(next(columns), np.int64),
        weight=np.array(next(columns), np.float64),
        min_gap_s=np.array(next(columns), np.float64),
        max_gap_s=np.array(next(columns), np.float64),
        paused=np.array(next(columns), np.bool_),
        since_at=np.array(next(columns), np.float64),
        gap_s=np.array(next(columns), np.float64),
        p_changed=np.array(next(columns), np.float64),
        per_day=np.array(next(columns), np.float64),
    )


class MemoryTold(MemoryWatchlist):
    def told(self) -> Iterator[Seen]:
        rows = [row for resource_id in self._watched.records for row in self._told(resource_id)]
        if rows:
            yield seen_of(sorted(rows, key=lambda row: row[2]))

    def lately(self, ids: Ints, n_each: int) -> Seen:
        known = (resource_id for resource_id in ids.tolist() if resource_id in self._watched.records)
        rows = (row for resource_id in known for row in list(self._told(resource_id))[-n_each:])
        return newest_of(seen_of(rows), n_each)

    def heard(self, mark: int, limit: int) -> tuple[Seen, int]:
        """The mark is how many there ever were. What a removed resource had is told no more."""
        records = self._watched.records
        came = [
            self._row(records[visit.resource_id], visit)
            for visit in self._recorded[mark:]
            if visit.resource_id in records and visit.teaches
        ]
        if not mark:
            came.sort(key=lambda row: row[2])
        return newest(seen_of(came[-limit:]), limit), len(self._recorded)

    def recorded_since(self, mark: int | None, limit: int) -> tuple[Sequence[Visit], int]:
        first = len(self._recorded) if mark is None else mark
        came = self._recorded[first : first + limit]
        return [visit for visit in came if visit.resource_id in self._watched.records], first + len(came)

    def looked(self, from_at: float, until_at: float, *, every: int = 1) -> Iterator[Looked]:
        rows = [
            looked_row(record, visit)
            for resource_id, record in self._watched.records.items()
            for visit in record.visits
            if from_at <= visit.at < until_at and resource_id % every == 0
        ]
        if rows:
            yield looked_of(sorted(rows, key=lambda row: row[2]))

    def tally(self, from_at: float, until_at: float, step_s: float) -> Ints:
        counts = np.zeros((n_steps(from_at, until_at, step_s), 4), dtype=np.int64)

        def turn(at: Floats) -> Ints:
            return np.minimum(((until_at - at) / step_s).astype(np.int64), len(counts) - 1)

        for page in self.looked(from_at, until_at):
            told = np.column_stack([page.changed >= -1, page.changed == 1, ~page.informative])
            np.add.at(counts[:, :3], turn(page.at), told)
        visits = (visit for record in self._watched.records.values() for visit in record.visits)
        twice = [visit.at for visit in visits if visit.second_bytes is not None]
        second_at = np.array([at for at in twice if from_at <= at < until_at], dtype=np.float64)
        np.add.at(counts[:, 3], turn(second_at), 1)
        return counts

    def prospects(self) -> Prospects:
        real = self._columns.real
        names = ("weight", "min_gap_s", "max_gap_s", "since_at", "plan_gap_s", "p_changed", "per_day")
        rows = []
        for resource_id, record in self._watched.records.items():
            weight, low, high, *rest = (float(real[name][resource_id - 1]) for name in names)
            paused = record.resource.effective.paused
            rows.append((resource_id, record.host.id, weight, low, high, paused, *rest))
        return prospects_of(rows)

    def _foresee(self, record: Record, done: Completion) -> None:
        """Keep what the plan that led to this visit had forecast; asked before the next plan is there."""
        row, real = record.resource.id - 1, self._columns.real
        if real["due_at"][row] == done.visit.due_at:
            forecast = float(real["p_changed"][row]), float(real["per_day"][row])
            if not isnan(forecast[0]):  # else there was none
                record.foreseen[done.visit.fetch_id] = forecast

    def recount(self, ids: Ints, since_at: Floats, n_changes: Ints, bits: Bits) -> int:
        n = 0
        rows = zip(ids.tolist(), since_at.tolist(), n_changes.tolist(), bits.tolist(), strict=True)
        for resource_id, since, n_found, some in rows:
            record = self._watched.records.get(resource_id)
            if record is not None and repr(record.standing.since_at) == repr(since):
                record.standing = replace(record.standing, n_changes=n_found, bits=some)
                self._columns.count["n_changes"][resource_id - 1] = n_found
                self._columns.bits[resource_id - 1] = some
                n += 1
        return n

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
            if visit.teaches:
                yield self._row(record, visit)

    def _row(self, record: Record, visit: Visit) -> _Row:
        key, since_at, at = record.resource.id, visit.since_at, visit.at
        changed = int(visit.counted(record.resource.effective.changes))
        rest = record.host.id, *record.told(since_at, at), *self._hunch(key)
        return key, since_at, at, changed, visit.event_at, *rest, visit.moments

    def _hunch(self, resource_id: int) -> tuple[float, float]:
        real, row = self._columns.real, resource_id - 1
        return float(real["hunch_per_day"][row]), float(real["hunch_gap_s"][row])
