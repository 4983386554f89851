"""Means over pages, and differences on the same pages: Student's paired t-test, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isnan, lgamma, log, log1p, nan, sqrt

import numpy as np

from recrawl.model import Floats

_FEWEST = 2
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Mean:
    value: float
    low: float  # of the interval that holds it with 95 % confidence
    high: float
    p: float  # of such a mean or one further from 0, if the truth is 0
    n: int

    @property
    def above(self) -> bool | None:
        """Whether it is above 0; None: that may be chance."""
        return None if isnan(self.low) or self.low <= 0.0 <= self.high else self.low > 0.0

    def document(self) -> dict[str, float | int | None]:
        row = {"value": self.value, "low": self.low, "high": self.high, "p": self.p}
        return {**{name: None if isnan(one) else one for name, one in row.items()}, "n": self.n}


def mean(values: Floats) -> Mean:
    """Pages without a figure are left out."""
    known = values[~np.isnan(values)]
    n = len(known)
    if n < _FEWEST:
        return Mean(float(known[0]) if n else nan, nan, nan, nan, n)
    value, error = float(known.mean()), sqrt(float(known.var(ddof=1)) / n)
    half = quantile(n - 1) * error
    p = 1.0 if value == 0.0 else 0.0 if error == 0.0 else two_sided(value / error, n - 1)
    return Mean(value, value - half, value + half, p, n)


def two_sided(t: float, df: int) -> float:
    """The chance of |t| or more under Student's distribution."""
    return _incomplete_beta(df / 2.0, 0.5, df / (df + t * t))


def quantile(df: int, p: float = 0.05) -> float:
    """Above it, or below its negative, lies t with this chance."""
    low, high = 0.0, 1.0
    while two_sided(high, df) > p:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if two_sided(middle, df) > p else (low, middle)
    return high


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised, by its continued fraction (the modified Lentz method)."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(b, a, 1.0 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c = 1.0
    d = found = 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 / _away(1.0 + term * d)
            c = _away(1.0 + term / c)
            found *= c * d
        if abs(c * d - 1.0) < 1e-12:
            break
    return front * found


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
