"""Changes that nobody saw, because another came before the next visit: how many there must have been."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.learn.credible import quantile
from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import Floats, Ints

N_NODES = 25
SHARE = 0.95  # of the interval
_AT_ONCE = 50_000  # visits
# Changes expected in a gap. With so many, six visits in seven find one: how many there were hangs on the few
# that find none, and on what a predictor takes for possible.
CROWDED = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """Of gaps in which one change was found. Where a change is nearly certain in every gap, visits cannot
    tell how many there are: those gaps are crowded, and of them no more is said than a number at least."""

    n_found: int  # in gaps that are not crowded
    expected: float  # missed in those
    least: float
    most: float
    n_crowded: int
    crowded_least: float  # missed in these

    def times(self, n: float) -> Missed:
        """Of as many more that are like these; they are not known better for that."""
        return Missed(
            n_found=round(self.n_found * n),
            expected=self.expected * n,
            least=self.least * n,
            most=self.most * n,
            n_crowded=round(self.n_crowded * n),
            crowded_least=self.crowded_least * n,
        )

    @property
    def share_caught(self) -> tuple[float, float, float]:
        """Of all changes in gaps that are not crowded, with the ends of its interval."""
        shares = [self.n_found / max(self.n_found + n, 1e-9) for n in (self.expected, self.most, self.least)]
        return shares[0], shares[1], shares[2]

    def document(self) -> dict[str, Any]:
        share, least, most = self.share_caught
        return {
            "found": self.n_found,
            "expected": self.expected,
            "interval": [self.least, self.most],
            "share_caught": share,
            "share_caught_interval": [least, most],
            "crowded_found": self.n_crowded,
            "crowded_at_least": self.crowded_least,
        }


def missed(gap_s: Floats, rows: Ints, rates: GammaForecasts) -> Missed:
    """Of gaps in which a change was found, each of the resource `rows`, whose rates are given."""
    crowded = (rates.a / rates.b_s)[rows] * gap_s > CROWDED
    expected, least, most = _estimated(gap_s[~crowded], rows[~crowded], rates)
    return Missed(
        n_found=int((~crowded).sum()),
        expected=expected,
        least=least,
        most=most,
        n_crowded=int(crowded.sum()),
        crowded_least=_estimated(gap_s[crowded], rows[crowded], rates)[1],
    )


def _estimated(gap_s: Floats, rows: Ints, rates: GammaForecasts) -> tuple[float, float, float]:
    """How many more there were, and the ends of the interval.

    With x changes expected in a gap and one found, there were x / (1 - e^-x) in it. What one resource has in
    its gaps hangs together through its rate, which is not known exactly: all its gaps are summed at each of
    some rates that it may have, and mean and variance taken over these.
    """
    if not len(gap_s):
        return 0.0, 0.0, 0.0
    resources, place = np.unique(rows, return_inverse=True)
    rate_per_s, chance = _nodes(rates.pick(resources))
    mean, spread = (np.zeros((len(resources), N_NODES)) for _ in range(2))
    for start in range(0, len(gap_s), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        x = rate_per_s[place[some]] * gap_s[some, None]
        n = _at_least_one(x)
        np.add.at(mean, place[some], n - 1.0)
        np.add.at(spread, place[some], n * (1.0 + x - n))
    each = (chance * mean).sum(axis=1)
    variance = float((chance * (spread + (mean - each[:, None]) ** 2)).sum())
    expected = float(each.sum())
    if variance <= 0.0 or expected <= 0.0:
        return expected, expected, expected
    # a Gamma distribution of that mean and variance: never below 0, and longer upward
    shape = expected * expected / variance
    least, most = (quantile(shape, p) * expected / shape for p in ((1 - SHARE) / 2, (1 + SHARE) / 2))
    return expected, least, most


def _at_least_one(x: Floats) -> Floats:
    """The mean of a Poisson count that is not 0."""
    return np.where(x < 1e-8, 1.0 + x / 2.0, x / -np.expm1(-np.maximum(x, 1e-8)))


def _nodes(rates: GammaForecasts) -> tuple[Floats, Floats]:
    """Rates that each resource may have, evenly in their logarithm, and how probable they are."""
    a, b_s = rates.a[:, None], rates.b_s[:, None]
    wide = 1.0 / np.sqrt(a)
    below, above = np.minimum(6.0 * wide + 2.0 * wide**2, 14.0), np.minimum(6.0 * wide, 5.0)
    z = -below + (below + above) * np.linspace(0.0, 1.0, N_NODES)
    log_chance = a * (z - np.expm1(z))  # of a Gamma at its mean times e^z, up to a factor
    chance = np.exp(log_chance - log_chance.max(axis=1, keepdims=True))
    return a / b_s * np.exp(z), chance / chance.sum(axis=1, keepdims=True)
