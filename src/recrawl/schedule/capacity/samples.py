"""Values to draw from, host by host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Floats, Ints

N_SPREAD = 64


@dataclass(frozen=True, slots=True)
class Samples:
    """Of each host some values, one host's after the other's; at the end those that several may share."""

    start: Ints
    n: Ints
    values: Floats

    def drawn(self, place: Ints, rng: np.random.Generator) -> Floats:
        chosen = self.start[place] + (rng.random(len(place)) * self.n[place]).astype(np.int64)
        return np.asarray(self.values[chosen])

    def resampled(self, rng: np.random.Generator) -> Samples:
        """As they might have come: a host of which there are few is known less well than they look alike."""
        start, first = np.unique(self.start, return_index=True)
        n = np.repeat(self.n[first], self.n[first])
        chosen = np.repeat(start, self.n[first]) + (rng.random(len(n)) * n).astype(np.int64)
        return Samples(self.start, self.n, self.values[chosen])

    def means(self) -> Floats:
        summed = np.concatenate([[0.0], np.cumsum(self.values)])
        return np.asarray((summed[self.start + self.n] - summed[self.start]) / self.n)


def samples(place: Ints, values: Floats, n_hosts: int, otherwise: Floats) -> Samples:
    """Each host's own; where it has none, all have those that are common."""
    own = place >= 0
    order = np.argsort(place[own], kind="stable")
    n = np.bincount(place[own], minlength=n_hosts)
    start = np.cumsum(n) - n
    held = np.concatenate([values[own][order], otherwise])
    none = n == 0
    return Samples(np.where(none, int(own.sum()), start), np.where(none, len(otherwise), n), held)


def spread(values: Floats) -> Floats:
    """As many as are enough to draw from."""
    if not len(values):
        return np.array([0.0])
    shares = (np.arange(min(N_SPREAD, len(values))) + 0.5) / min(N_SPREAD, len(values))
    return np.quantile(values, shares, method="inverted_cdf")


def places(numbers: Ints, among: Ints) -> Ints:
    """Where each number stands among others; -1: nowhere, and 0 is no number."""
    order = np.argsort(among, kind="stable")
    at = np.searchsorted(among[order], numbers)
    at = np.minimum(at, max(len(among) - 1, 0))
    if not len(among):
        return np.full(len(numbers), -1)
    found = (among[order][at] == numbers) & (numbers != 0)
    return np.where(found, order[at], -1)


def placed(values: Floats, ids: Ints, among: Ints, otherwise: float) -> Floats:
    made = np.full(len(among), otherwise)
    place = places(among, ids)
    made[place >= 0] = values[place[place >= 0]]
    return made
