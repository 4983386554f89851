"""Figures over splits with the intervals that hold them.

Splits share most of their pages, so their figures vary less than those of new pages would: the variance is
taken larger by the share of test to training pages (Nadeau and Bengio's correction).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt

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


def spread(values: Sequence[float], least: float = -inf, most: float = inf) -> Spread:
    """The mean, with 95 % confidence; splits that have no such figure are left out. No interval leaves what
    the figure can be."""
    known = np.array([value for value in values if not isnan(value)])
    if len(known) < 2:
        return Spread(float(known[0]) if len(known) else nan, nan, nan)
    half = _t(len(known) - 1) * sqrt(known.var(ddof=1) * (1.0 / len(known) + _TEST_SHARE))
    low, high = float(known.mean() - half), float(known.mean() + half)
    return Spread(float(known.mean()), max(low, least), min(high, most))


def at_least(found: Spread, least: float = 0.0) -> bool | None:
    """Whether a figure is so large; None: its interval holds both."""
    if isnan(found.low):
        return None
    return True if found.low >= least else False if found.high < least else None


def lowest(values: Mapping[str, Sequence[float]], name: str) -> bool | None:
    """Whether this one is the lowest of all, by its differences from each of the others, split by split.
    False: another one is surely lower; None: neither can be told."""
    said = []
    for other, theirs in values.items():
        if other != name:
            ahead = spread([b - a for a, b in zip(values[name], theirs, strict=True)])
            said.append(None if ahead.low <= 0.0 <= ahead.high else at_least(ahead))
    return False if False in said else None if None in said else True


def _t(n: int) -> float:
    """Student's quantile for 95 %, by its series about the normal one: half a percent off at 4."""
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )
