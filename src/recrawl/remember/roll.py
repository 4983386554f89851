"""All that is watched at a glance: columns out of rows; and in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, nan
from typing import Any

import numpy as np

from recrawl.model import Ints, Kind, Looked, Plan, Resource, Roll, Standing
from recrawl.remember.told import looked_of, looked_row
from recrawl.remember.watchlist import MemoryWatchlist

_KINDS = {kind.value: place for place, kind in enumerate(Kind)}


def roll_of(rows: Iterable[tuple[Any, ...]], by_url: Sequence[int]) -> Roll:
    """From rows of what a `Roll` has, in its order, and the numbers in the order of the URLs; a kind stands
    there by its name, None is NaN or no."""
    columns = iter(list(zip(*rows, strict=True)) or [()] * 12)
    ids = np.array(next(columns), np.int64)
    return Roll(
        id=ids,
        group=np.array(next(columns), np.int64),
        kind=np.array([_KINDS[kind] for kind in next(columns)], np.int8),
        paused=np.array(next(columns), np.bool_),
        gone=np.array(next(columns), np.bool_),
        added_at=np.array(next(columns), np.float64),
        last_at=np.array(next(columns), np.float64),
        changed_at=np.array(next(columns), np.float64),
        due_at=np.array(next(columns), np.float64),
        per_day=np.array(next(columns), np.float64),
        n_informative=np.array(next(columns), np.int64),
        n_failures=np.array(next(columns), np.int64),
        place=_places(ids, np.array(by_url, np.int64)),
    )


def _places(ids: Ints, by_url: Ints) -> Ints:
    """Where each of these numbers, which ascend, stands in the other order; last, where it does not."""
    places = np.full(len(ids), len(by_url), np.int64)
    rows = np.searchsorted(ids, by_url)
    there = np.flatnonzero(rows < len(ids))
    there = there[ids[rows[there]] == by_url[there]]
    places[rows[there]] = there
    return places


class MemoryRoll(MemoryWatchlist):
    def numbers(self, *, tag: str | None = None, host: str | None = None, text: str | None = None) -> Ints:
        found = self.resources(tag=tag, host=host, text=text)
        return np.array([resource.id for resource, _, _ in found], np.int64)

    def these(self, ids: Sequence[int]) -> Sequence[tuple[Resource, Standing, Plan | None]]:
        records = self._watched.records
        return [
            (records[key].resource, self._standing(key), self._columns.plan(key))
            for key in ids
            if key in records
        ]

    def known(self, urls: Sequence[str]) -> frozenset[str]:
        return frozenset(self._watched.ids.keys() & set(urls))

    def tags(self) -> Mapping[str, int]:
        return {tag: len(ids) for tag, ids in sorted(self._watched.tagged.items()) if ids}

    def roll(self) -> Roll:
        rows = []
        for resource, standing, plan in self.resources():
            version = standing.version
            rows.append(
                (
                    *(resource.id, resource.host_id, resource.effective.kind.value),
                    *(resource.effective.paused, bool(version and version.gone)),
                    *(resource.added_at, standing.last_at),
                    version.at if version and standing.n_changes else nan,
                    *(standing.due_at, plan.per_day if plan else nan),
                    *(standing.n_informative, standing.n_failures),
                )
            )
        return roll_of(rows, [self._watched.ids[url] for url in sorted(self._watched.ids)])

    def latest(self, ids: Ints, n_each: int, from_at: float = -inf) -> Looked:
        rows = []
        for record in map(self._watched.records.get, np.unique(ids).tolist()):
            if record is not None:
                since = [visit for visit in record.visits if visit.at >= from_at]
                rows += [looked_row(record, visit) for visit in since[-n_each:]]
        return looked_of(rows)
