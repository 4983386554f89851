"""How sure figures over threads are: threads are drawn with replacement, the same ones for all models."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan

import numpy as np

from recrawl.model import Floats

_N_REPLICATES = 1_000
_FEWEST = 2  # threads


@dataclass(frozen=True, slots=True)
class Spread:
    value: float
    low: float  # of the interval that holds the middle 95 % of the replicates
    high: float

    @property
    def above(self) -> bool | None:
        """Whether it is above 0; None: that may be chance."""
        return None if isnan(self.low) or self.low <= 0.0 <= self.high else self.low > 0.0

    def document(self) -> dict[str, float | None]:
        row = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if isnan(one) else one for name, one in row.items()}


def mean(values: Floats, seed: int) -> Spread:
    """Of the threads that have the figure."""
    known = ~np.isnan(values)
    return _ratio(np.where(known, values, 0.0), known.astype(np.float64), seed)


def lower_by(one: Floats, other: Floats, seed: int) -> Spread:
    """By which share the mean of the one is below that of the other, over the threads that have both."""
    known = ~np.isnan(one) & ~np.isnan(other)
    above, below = np.where(known, one, 0.0), np.where(known, other, 0.0)
    return _ratio(below - above, below, seed)


def _ratio(above: Floats, below: Floats, seed: int) -> Spread:
    n = len(above)
    total = below.sum()
    value = float(above.sum() / total) if total > 0.0 else nan
    if n < _FEWEST or isnan(value):
        return Spread(value, nan, nan)
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1.0 / n), _N_REPLICATES)
    sums = drawn @ np.column_stack([above, below])
    found = sums[:, 0][sums[:, 1] > 0.0] / sums[:, 1][sums[:, 1] > 0.0]
    low, high = np.quantile(found, [0.025, 0.975])
    return Spread(value, float(low), float(high))
