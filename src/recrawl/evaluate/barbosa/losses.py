"""What is lost in the first visits to not knowing the rates, and what first sight takes away of it.

Every split has its own window, pages to learn from and pages to try: what would differ another time is which
splits there are, and which pages. So both are drawn with replacement, pages in groups that change together,
as everywhere else (`evaluate.intervals`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any

import numpy as np

from recrawl.evaluate.barbosa.scheduling import ALIKE, KNOWING, WAYS, WITH, WITHOUT
from recrawl.evaluate.barbosa.spreads import Spread
from recrawl.evaluate.barbosa.stretches import Sums
from recrawl.evaluate.intervals import N_REPLICATES
from recrawl.model import Floats

_MIDDLE = (0.025, 0.975)


@dataclass(frozen=True)
class Lost:
    """A part of the schedule in the mean over splits."""

    sums: Mapping[str, Sequence[Sums]]  # by way, split by split

    def of(self, way: str, name: str) -> float:
        return float(np.nanmean([getattr(one, name) for one in self.sums[way]]))

    def visits(self, way: str) -> float:
        """A page."""
        return float(np.mean([one.n_visits / one.n_pages for one in self.sums[way]]))

    @property
    def fresher(self) -> Spread:
        """By how much less of the time copies are stale with first sight, in points of a hundred."""
        return _spread(100.0 * self._between(WITHOUT, WITH))

    @property
    def cut(self) -> Spread:
        """The share of all stale time that first sight takes away."""
        return _ratio(self._between(WITHOUT, WITH), self._stale[WITHOUT])

    @property
    def lost_cut(self) -> Spread:
        """The share of what is lost to not knowing the rates that first sight takes away."""
        return _ratio(self._between(WITHOUT, WITH), self._between(WITHOUT, KNOWING))

    @property
    def told_apart(self) -> Spread:
        """The share of what is lost where all new pages are alike that look, address and site take away."""
        return _ratio(self._between(ALIKE, WITH), self._between(ALIKE, KNOWING))

    @property
    def fresher_than_alike(self) -> Spread:
        """By how much less of the time copies are stale than where all new pages are alike, in points."""
        return _spread(100.0 * self._between(ALIKE, WITH))

    @property
    def possible(self) -> Spread:
        """The share of all stale time that knowing the rates would take away."""
        return _ratio(self._between(WITHOUT, KNOWING), self._stale[WITHOUT])

    def _between(self, more: str, less: str) -> Floats:
        return self._stale[more] - self._stale[less]

    @cached_property
    def _stale(self) -> dict[str, Floats]:
        """The share of time that is stale, by way: as it is, and then resampled, with the same groups and
        splits for all ways."""
        n_splits, n_groups = len(self.sums[WITH]), len(self.sums[WITH][0].stale_by_group)
        rng = np.random.default_rng(0)
        splits = _times_drawn(rng, n_splits)
        groups = _times_drawn(rng, n_groups)
        found = {}
        for way in WAYS:
            stale_s = groups @ np.stack([one.stale_by_group for one in self.sums[way]], axis=1)
            length_s = groups @ np.stack([one.length_by_group for one in self.sums[way]], axis=1)
            there = length_s > 0.0  # a split may have none of the groups that were drawn
            share = np.divide(stale_s, length_s, out=np.zeros_like(stale_s), where=there)
            weight = splits * there
            total = weight.sum(axis=1)
            summed = (share * weight).sum(axis=1)
            found[way] = np.divide(summed, total, out=np.full(len(total), nan), where=total > 0.0)
        return found

    def document(self) -> dict[str, Any]:
        return {
            **{way: self._way(way) for way in WAYS},
            "fresher_points": self.fresher.document(),
            "stale_cut": self.cut.document(),
            "lost_cut": self.lost_cut.document(),
            "lost_cut_beside_alike": self.told_apart.document(),
            "fresher_points_than_alike": self.fresher_than_alike.document(),
            "cut_by_knowing": self.possible.document(),
        }

    def _way(self, way: str) -> dict[str, Any]:
        stale = self.of(way, "stale")
        return {
            "freshness": 1.0 - stale,
            "stale": stale,
            "lost": stale - self.of(KNOWING, "stale"),
            "recall": _plain(self.of(way, "recall")),
            "wasted": _plain(self.of(way, "wasted")),
            "visits": self.visits(way),
        }


def _times_drawn(rng: np.random.Generator, n: int) -> Floats:
    """How often each of n counts: once in the first row, in the others as often as it was drawn."""
    drawn = rng.multinomial(n, np.full(n, 1.0 / n), N_REPLICATES)
    return np.concatenate([np.ones((1, n)), drawn])


def _ratio(above: Floats, below: Floats) -> Spread:
    """Nothing where there is nothing to take a share of; draws in which there is none are left out."""
    return _spread(np.divide(above, below, out=np.full(len(above), nan), where=below > 0.0))


def _spread(values: Floats) -> Spread:
    """The first, and where the middle of the others lies."""
    others = values[1:][~np.isnan(values[1:])]
    if isnan(values[0]) or not len(others):
        return Spread(float(values[0]), nan, nan)
    low, high = np.quantile(others, _MIDDLE)
    return Spread(float(values[0]), float(low), float(high))


def _plain(value: float) -> float | None:
    return None if isnan(value) else value
