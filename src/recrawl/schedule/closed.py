"""Gaps in closed form, or next to it, where the rate of change is Gamma(shape a, b seconds of evidence).

With y = t / b every goal's worth is a function of a and y alone, up to the factor b:

    fresh            U / b = I - y S                  with S = (1 + y)^-a, I its integral from 0 to y
    fresh-harmonic   U / b = y - I
    capture          U     = 1 - S (1 + a y / (1 + y))
    prompt           U / b = a y^2 / 2                 whose inverse is a square root
    expected         M     = a y                       (changes expected; policy `proportional`)

Drawn in log-log each rises ever less steeply, so Newton's method from the left cannot overshoot: it starts
from the square-root law, which lies left of every root, and takes a handful of steps to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from recrawl.model import Floats, Ints

FRESH, FRESH_HARMONIC, CAPTURE, PROMPT, EXPECTED = range(5)
CODES = {
    "fresh": FRESH,
    "fresh-harmonic": FRESH_HARMONIC,
    "capture": CAPTURE,
    "prompt": PROMPT,
    "expected": EXPECTED,
}
# So many resources at a time stay within the processor's cache.
N_TOGETHER = 8_192
CLOSE = 1e-6  # a step of Newton's below this, in log y, leaves an error of its square
SMALL = 1e-3  # below this (a + 2) y, the first terms of the series: the closed forms would lose their digits
FARTHEST = 40.0  # one step, in log y
N_STEPS = 100


@runtime_checkable
class GammaRates(Protocol):
    """Forecasts of changes that are Poisson at a rate not known exactly, but Gamma distributed."""

    def gamma(self) -> tuple[Floats, Floats]: ...  # shapes, and seconds of evidence


@dataclass(frozen=True, slots=True)
class GammaQuote:
    """A quote: gaps at one price for all, or at one for each."""

    goal: int
    a: Floats
    b_s: Floats
    weight: Floats
    min_gap_s: Floats
    max_gap_s: Floats

    def pick(self, rows: Ints) -> GammaQuote:
        kept = (one[rows] for one in (self.a, self.b_s, self.weight, self.min_gap_s, self.max_gap_s))
        return GammaQuote(self.goal, *kept)

    def gaps(self, price: float | Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(self.weight > 0.0, price / self.weight, np.inf)
        return reached(self.goal, self.a, self.b_s, level, self.min_gap_s, self.max_gap_s)


def reached(goal: int, a: Floats, b_s: Floats, level: Floats, min_gap_s: Floats, max_gap_s: Floats) -> Floats:
    """The gaps, within bounds, at which each worth first reaches its level (a price over a weight)."""
    gap_s = np.empty(len(a))
    for start in range(0, len(a), N_TOGETHER):
        part = slice(start, start + N_TOGETHER)
        gap_s[part] = _reached(goal, a[part], b_s[part], level[part], min_gap_s[part], max_gap_s[part])
    return gap_s


def _reached(
    goal: int, a: Floats, b_s: Floats, level: Floats, min_gap_s: Floats, max_gap_s: Floats
) -> Floats:
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        if goal == EXPECTED:
            return np.asarray(np.clip(level * b_s / a, min_gap_s, max_gap_s))
        wanted = level if goal == CAPTURE else level / b_s
        steep = a * (a + 1.0) if goal == CAPTURE else a
        low, high = min_gap_s / b_s, max_gap_s / b_s
        y = np.sqrt(2.0 * wanted / steep)
        if goal == PROMPT:
            return np.asarray(np.clip(y * b_s, min_gap_s, max_gap_s))
        y = np.minimum(np.maximum(y, low), high)
        # whoever starts at the largest gap stays there: the root lies further on
        rows = np.flatnonzero(y < high)
        for _ in range(N_STEPS):
            if not len(rows):
                break
            here = y[rows]
            worth, rise = curve(goal, a[rows], here)
            step = np.minimum(np.log(wanted[rows] / worth) * worth / rise, FARTHEST)
            step[np.isnan(step)] = 0.0  # as much as can be wanted is reached, and the curve is flat there
            there = np.minimum(np.maximum(here * np.exp(step), low[rows]), high[rows])
            y[rows] = there
            rows = rows[np.abs(there - here) > CLOSE * here]
        return np.asarray(np.clip(y * b_s, min_gap_s, max_gap_s))


def curve(goal: int, a: Floats, y: Floats) -> tuple[Floats, Floats]:
    """A goal's worth at y, over b where it is a length of time; and y times its slope."""
    over = 1.0 + y
    log = np.log1p(y)
    survival = np.exp(-a * log)
    small = (a + 2.0) * y < SMALL
    if goal == CAPTURE:
        worth = -np.expm1(-a * log) - a * y / over * survival
        rise = a * (a + 1.0) * y * y * survival / (over * over)
        if small.any():
            tiny, k = y[small], a[small]
            series = _series(tiny, k + 2.0, 2.0 / 3.0, 1.0 / 4.0, 1.0 / 15.0)
            worth[small] = k * (k + 1.0) * tiny * tiny / 2.0 * series
        return worth, rise
    power = (1.0 - a) * log
    near = np.abs(power) < 1e-8
    integral = np.where(near, log * (1.0 + power / 2.0), np.expm1(power) / np.where(near, 1.0, 1.0 - a))
    if goal == FRESH:
        worth, rise = integral - y * survival, a * y * y * survival / over
        terms = (2.0 / 3.0, 1.0 / 4.0, 1.0 / 15.0)
    else:
        worth, rise = y - integral, y * -np.expm1(-a * log)
        terms = (1.0 / 3.0, 1.0 / 12.0, 1.0 / 60.0)
    if small.any():
        tiny, k = y[small], a[small]
        worth[small] = k * tiny * tiny / 2.0 * _series(tiny, k + 1.0, *terms)
    return worth, rise


def _series(y: Floats, k: Floats, first: float, second: float, third: float) -> Floats:
    return 1.0 - k * y * (first - (k + 1.0) * y * (second - (k + 2.0) * y * third))
