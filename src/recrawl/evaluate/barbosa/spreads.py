"""Figures over splits with the intervals that hold them.

Splits share most of their pages, so their figures vary less than those of new pages would: the variance is
taken larger by the share of test to training pages (Nadeau and Bengio's correction).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np

_Z = 1.959964
_TEST_SHARE = 0.5  # of the training pages: a third against two


@dataclass(frozen=True, slots=True)
class Spread:
    value: float
    low: float
    high: float

    def document(self) -> dict[str, float | None]:
        row = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if isnan(figure) else figure for name, figure in row.items()}


def spread(values: Sequence[float]) -> Spread:
    """The mean, with 95 % confidence; splits that have no such figure are left out."""
    known = np.array([value for value in values if not isnan(value)])
    if len(known) < 2:
        return Spread(float(known[0]) if len(known) else nan, nan, nan)
    half = _t(len(known) - 1) * sqrt(known.var(ddof=1) * (1.0 / len(known) + _TEST_SHARE))
    return Spread(float(known.mean()), float(known.mean() - half), float(known.mean() + half))


def ratio(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Of the means: how much of the one the other is, from split to split together."""
    a, b = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    if not len(b) or not b.mean() > 0.0:
        return Spread(nan, nan, nan)
    value = float(a.mean() / b.mean())
    about = spread((value + (a - value * b) / b.mean()).tolist())
    return Spread(value, about.low, about.high)


def _t(n: int) -> float:
    """Student's quantile for 95 %, by its series about the normal one: half a percent off at 4."""
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )
