"""How often resources change, and what gives it away: static features that explain a share of the rates."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Protocol

import numpy as np

from recrawl.errors import BadSettingError
from recrawl.model import Floats, Ints

_DEEPER, _P_DEEPER = 4, 0.35  # a depth is 1 and up to 4 more, each with this probability
_FEATURES = {  # mean and spread of the logarithm, and the weight in what explains the rate
    "links": (3.2, 0.8, 0.6),
    "bytes": (10.0, 1.1, 0.4),
    "words": (6.3, 0.9, sqrt(0.12)),
}
_DEPTH_WEIGHT = -0.6  # with the others, a sum of squares of 1


class Rates(Protocol):
    """A distribution of rates over resources."""

    def draw(self, known: Floats, share: float, rng: np.random.Generator) -> Floats:
        """Rates per day. `known` (mean 0, variance 1) explains `share` of the variance of their logarithm."""


@dataclass(frozen=True, slots=True)
class Lognormal:
    """The median, and the standard deviation of the logarithm."""

    per_day: float
    spread: float

    def draw(self, known: Floats, share: float, rng: np.random.Generator) -> Floats:
        rest = rng.standard_normal(len(known))
        return np.asarray(self.per_day * np.exp(self.spread * (sqrt(share) * known + sqrt(1 - share) * rest)))


@dataclass(frozen=True, slots=True)
class Gamma:
    """A Gamma distribution of this mean and shape: with Poisson events, the Gamma-mixed Poisson process.

    Where a share is explained, rates are the explained factor times a narrower Gamma, and the variance of
    their logarithm is the same.
    """

    per_day: float
    shape: float

    def draw(self, known: Floats, share: float, rng: np.random.Generator) -> Floats:
        variance = trigamma(self.shape)
        factor = np.exp(sqrt(share * variance) * known - share * variance / 2)
        shape = _shape_of((1 - share) * variance)
        return np.asarray(self.per_day * factor * rng.gamma(shape, 1 / shape, len(known)))


@dataclass(frozen=True, slots=True)
class Kinds:
    """A few kinds of resources, the slowest first: in how many days each changes, how many are of it, and how
    far its members lie apart (the standard deviation of the logarithm)."""

    days: tuple[float, ...]
    shares: tuple[float, ...]
    spread: float = 0.1

    def draw(self, known: Floats, share: float, rng: np.random.Generator) -> Floats:
        # Everybody has a place in a bell, which is cut into the kinds. Of two places that have a part in
        # common the one tells less of the other's kind than that part.
        ends = np.cumsum(self.shares)[:-1]
        cuts = [NormalDist().inv_cdf(end) for end in ends.tolist()]
        heights = np.array([0.0, *(NormalDist().pdf(cut) for cut in cuts), 0.0])
        level = -np.log(self.days)
        weight = np.array(self.shares)
        variance = weight @ level**2 - (weight @ level) ** 2 + self.spread**2
        part = share * variance / float(level @ -np.diff(heights)) ** 2
        if part > 1.0:
            raise BadSettingError(
                f"Kinds that differ so cannot be explained by a share of {share:g}; ask for at most "
                f"{share / part:.2f}."
            )
        place = sqrt(part) * known + sqrt(1.0 - part) * rng.standard_normal(len(known))
        rest = rng.standard_normal(len(known))
        return np.asarray(np.exp(level[np.searchsorted(cuts, place)] + self.spread * rest))


def features(n: int, rng: np.random.Generator) -> tuple[dict[str, Ints], Floats]:
    """What a first look at `n` resources shows; and the mixture of it, of mean 0 and variance 1, that tells.

    Links, bytes and words count by their logarithms, the depth as it is; what lies deeper is slower."""
    depth = rng.binomial(_DEEPER, _P_DEEPER, n)
    spread = sqrt(_DEEPER * _P_DEEPER * (1 - _P_DEEPER))
    known: Floats = np.asarray(_DEPTH_WEIGHT * (depth - _DEEPER * _P_DEEPER) / spread, dtype=np.float64)
    table = {"depth": depth.astype(np.int64) + 1}
    for name, (mean, sd, weight) in _FEATURES.items():
        normal = rng.standard_normal(n)
        table[name] = np.maximum(np.rint(np.exp(mean + sd * normal)), 1).astype(np.int64)
        known = known + weight * normal
    return table, known


def trigamma(x: float) -> float:
    """The variance of the logarithm of a Gamma variable of shape `x`."""
    below = 0.0
    while x < 12.0:
        below += 1 / x**2
        x += 1
    return below + 1 / x + 1 / (2 * x**2) + 1 / (6 * x**3) - 1 / (30 * x**5) + 1 / (42 * x**7)


def _shape_of(variance: float) -> float:
    """The shape whose logarithm varies so much."""
    low, high = 1e-3, 1e9
    if not trigamma(high) <= variance <= trigamma(low):
        raise BadSettingError("A Gamma distribution leaves something unexplained; choose a share below 1.")
    for _ in range(100):
        middle = sqrt(low * high)
        low, high = (low, middle) if trigamma(middle) < variance else (middle, high)
    return sqrt(low * high)
