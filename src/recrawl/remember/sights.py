"""What first visits showed, what was made of it, and who links to whom; in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from recrawl.model import FEATURES, SIGHT_FORMAT, Completion, Floats, Hunch, Ints, Sight
from recrawl.remember.watchlist import MemoryWatchlist

N_MODELS = 3  # whose hunches are kept: a new one comes once a day


class MemorySights(MemoryWatchlist):
    def sights(self) -> Iterator[tuple[Ints, Floats]]:
        known = [sight for _, sight in sorted(self._sights.items()) if comparable(sight)]
        if known:
            ids = np.array([sight.resource_id for sight in known], dtype=np.int64)
            yield ids, np.array([sight.values for sight in known], dtype=np.float64)

    def sight(self, resource_id: int) -> Sight | None:
        return self._sights.get(resource_id)

    def sighted_at(self, ids: Ints) -> Floats:
        known = {one.resource_id: one.at for one in self._sights.values() if comparable(one)}
        return np.array([known.get(one, np.nan) for one in ids.tolist()], dtype=np.float64)

    def hunches(self, model: str, ids: Ints, per_day: Floats, gap_s: Floats, at: float) -> None:
        for resource_id, rate, gap in zip(ids.tolist(), per_day.tolist(), gap_s.tolist(), strict=True):
            if resource_id in self._watched.records:
                self._expect(resource_id, model, at, Hunch(per_day=rate, gap_s=gap))
        newest: dict[str, float] = {}
        for kept in self._hunches.values():
            for name, (then, _) in kept.items():
                newest[name] = max(then, newest.get(name, then))
        old = old_models(newest, model)
        for kept in self._hunches.values():
            for name in old:
                kept.pop(name, None)

    def hunches_of(self, resource_id: int) -> Sequence[tuple[str, float, Hunch]]:
        kept = self._hunches.get(resource_id, {})
        return sorted(((name, *one) for name, one in kept.items()), key=lambda one: (one[1], one[0]))[::-1]

    def connect(self, from_ids: Ints, to_ids: Ints) -> None:
        known = self._watched.records
        pairs = zip(from_ids.tolist(), to_ids.tolist(), strict=True)
        self._links.update(pair for pair in pairs if pair[0] in known and pair[1] in known)

    def links(self) -> tuple[Ints, Ints]:
        pairs = np.array(sorted(self._links), dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    def in_links(self, ids: Ints) -> Ints:
        wanted = dict.fromkeys(ids.tolist(), 0)
        for from_id, to_id in self._links:
            if to_id in wanted and from_id != to_id:
                wanted[to_id] += 1
        return np.array([wanted[one] for one in ids.tolist()], dtype=np.int64)

    def _see(self, done: Sequence[Completion]) -> None:
        for completion in done:
            resource_id, sight = completion.lease.resource.id, completion.sight
            if sight is not None:
                self._sights[resource_id] = sight
                self._columns.real["sight_at"][resource_id - 1] = sight.at if comparable(sight) else np.nan
            if completion.hunch is not None:
                self._expect(resource_id, completion.model, completion.visit.at, completion.hunch)
            to_ids = (self._watched.ids.get(url) for url in completion.links)
            self._links.update((resource_id, to) for to in to_ids if to is not None and to != resource_id)

    def _expect(self, resource_id: int, model: str, at: float, hunch: Hunch) -> None:
        if not finite(hunch):
            return
        self._hunches.setdefault(resource_id, {})[model] = at, hunch
        self._columns.real["hunch_per_day"][resource_id - 1] = hunch.per_day
        self._columns.real["hunch_gap_s"][resource_id - 1] = hunch.gap_s


def comparable(sight: Sight) -> bool:
    return sight.format == SIGHT_FORMAT and len(sight.values) == len(FEATURES)


def finite(hunch: Hunch) -> bool:
    return isfinite(hunch.per_day) and isfinite(hunch.gap_s)


def old_models(newest: dict[str, float], present: str) -> list[str]:
    """Of models, by when each last had a hunch, those before the last few."""
    others = sorted((at, name) for name, at in newest.items() if name != present)
    return [name for _, name in others[: len(others) - (N_MODELS - 1)]] if len(others) >= N_MODELS else []
