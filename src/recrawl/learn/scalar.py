"""The Gamma filter's step for one resource, where a loop is the natural form.

The same formulas as `learn.predictors.gamma` has for columns; tests/parity/test_walk.py holds the two to the
same visits.
"""

from __future__ import annotations

from math import exp, expm1, isfinite, log1p

from recrawl.compiled import quick
from recrawl.learn.predictors.gamma import TELLING


@quick
def faded(a: float, shape: float, forgetting: float) -> float:
    """What is left of the evidence's weight before a visit is taken in."""
    return max(1.0 - forgetting, min(1.0, shape / a))


@quick
def informed(a: float, b_s: float, gap_s: float, changed: bool, forgetting: float) -> tuple[float, float]:
    """The state after a visit, from what had faded before it."""
    if not changed:
        return a, b_s + gap_s
    x = gap_s / b_s
    grown = log1p(x)
    p = -expm1(-a * grown)
    first = a * -expm1(-(a + 1.0) * grown) / p
    second = a * (a + 1.0) * -expm1(-(a + 2.0) * grown) / p
    variance = second - first * first
    after, after_s = a + 1.0, b_s
    if x >= 1e-6 and isfinite(variance) and variance > 0.0 and exp(-a * grown) < 1.0:
        after, after_s = first * (first / variance), first / variance * b_s
    if forgetting > 0.0:
        after_s = max(after_s, after / max(a / b_s, TELLING / gap_s))
    return after, after_s


@quick
def learned(
    a: float, b_s: float, gap_s: float, changed: bool, shape: float, forgetting: float
) -> tuple[float, float]:
    """The filter's state after a visit."""
    kept = faded(a, shape, forgetting)
    return informed(a * kept, b_s * kept, max(gap_s, 1e-3), changed, forgetting)
