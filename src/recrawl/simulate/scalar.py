"""The Gamma filter and the index policy for one resource at a time, compiled.

The same formulas as `learn.predictors.gamma`, `learn.forecasts`, `schedule.goals` and
`schedule.closed` have for columns; tests/parity/test_walk.py holds the two to the same visits.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, expm1, inf, isnan, log, log1p, sqrt

from recrawl.compiled import compiled
from recrawl.schedule.closed import (
    CAPTURE,
    CLOSE,
    EXPECTED,
    FARTHEST,
    FRESH,
    FRESH_HARMONIC,
    N_STEPS,
    PROMPT,
    SMALL,
)

GOALS: Mapping[str, int] = {
    "fresh": FRESH,
    "fresh-harmonic": FRESH_HARMONIC,
    "capture": CAPTURE,
    "prompt": PROMPT,
}


@compiled
def worth(goal: int, a: float, b_s: float, t_s: float) -> float:
    """What a visit is worth `t_s` after the last one."""
    if goal == EXPECTED:
        return a / b_s * t_s
    if goal == PROMPT:
        return t_s * (a / b_s * t_s) - a / b_s * t_s * t_s / 2.0
    grown = log1p(t_s / b_s)
    survival = exp(-a * grown)
    if goal == CAPTURE:
        return 1.0 - survival + t_s * (-a / (b_s + t_s) * survival)
    power = (1.0 - a) * grown
    over = 1.0 + power / 2.0 if abs(power) < 1e-8 else expm1(power) / power
    integral = b_s * grown * over
    return integral - t_s * survival if goal == FRESH else t_s - integral


@compiled
def reached_gap(
    goal: int, a: float, b_s: float, weight: float, price: float, min_gap_s: float, max_gap_s: float
) -> float:
    """The gap, within bounds, at which the worth first reaches the price: `schedule.closed.reached`."""
    if goal == EXPECTED:
        return min(max(price * b_s / a, min_gap_s), max_gap_s)
    level = price / weight if weight > 0.0 else inf
    wanted = level if goal == CAPTURE else level / b_s
    steep = a * (a + 1.0) if goal == CAPTURE else a
    y = sqrt(2.0 * wanted / steep)
    if goal == PROMPT:
        return min(max(y * b_s, min_gap_s), max_gap_s)
    low, high = min_gap_s / b_s, max_gap_s / b_s
    y = min(max(y, low), high)
    if y < high:
        for _ in range(N_STEPS):
            here = y
            found, rise = curve(goal, a, here)
            step = min(log(wanted / found) * found / rise, FARTHEST) if wanted > 0.0 else -inf
            if isnan(step):  # reached, where the curve is flat
                break
            y = min(max(here * exp(step), low), high)
            if abs(y - here) <= CLOSE * here:
                break
    return min(max(y * b_s, min_gap_s), max_gap_s)


@compiled
def curve(goal: int, a: float, y: float) -> tuple[float, float]:
    over = 1.0 + y
    grown = log1p(y)
    survival = exp(-a * grown)
    small = (a + 2.0) * y < SMALL
    if goal == CAPTURE:
        found = -expm1(-a * grown) - a * y / over * survival
        if small:
            found = a * (a + 1.0) * y * y / 2.0 * series(y, a + 2.0, 2.0 / 3.0, 1.0 / 4.0, 1.0 / 15.0)
        return found, a * (a + 1.0) * y * y * survival / (over * over)
    power = (1.0 - a) * grown
    integral = grown * (1.0 + power / 2.0) if abs(power) < 1e-8 else expm1(power) / (1.0 - a)
    if goal == FRESH:
        found, rise = integral - y * survival, a * y * y * survival / over
        if small:
            found = a * y * y / 2.0 * series(y, a + 1.0, 2.0 / 3.0, 1.0 / 4.0, 1.0 / 15.0)
        return found, rise
    found, rise = y - integral, y * -expm1(-a * grown)
    if small:
        found = a * y * y / 2.0 * series(y, a + 1.0, 1.0 / 3.0, 1.0 / 12.0, 1.0 / 60.0)
    return found, rise


@compiled
def series(y: float, k: float, first: float, second: float, third: float) -> float:
    return 1.0 - k * y * (first - (k + 1.0) * y * (second - (k + 2.0) * y * third))
