"""Scales, round figures on them, and the frame of a drawing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """From a figure to a place on the page."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.logarithmic:
            low, high, at = math.log(low), math.log(high), math.log(max(value, 1e-300))
        return self.start + (at - low) / (high - low) * (self.end - self.start)


def steps(low: float, high: float, n: int = 5) -> list[float]:
    """About `n` round figures that span the range.

    >>> steps(0.0, 0.37), steps(0.71, 0.94)
    ([0.0, 0.1, 0.2, 0.3, 0.4], [0.7, 0.75, 0.8, 0.85, 0.9, 0.95])
    """
    if not high > low:
        low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
    rough = (high - low) / n
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(size * unit for size in (1.0, 2.0, 2.5, 5.0, 10.0) if size * unit >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(0, 2 - math.floor(math.log10(step)))
    return [round(i * step, digits) for i in range(first, last + 1)]


def powers(low: float, high: float) -> list[float]:
    """Round figures for a logarithmic scale, fewer where the range is wide.

    >>> powers(30_000.0, 80_000.0)
    [20000.0, 50000.0, 100000.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    parts: tuple[float, ...] = (1.0,) if last - first > 4 else (1.0, 2.0, 5.0)
    # one power more on either side: a logarithm may be rounded
    every = [part * 10.0**power for power in range(first - 1, last + 2) for part in parts]
    start = max(i for i, value in enumerate(every) if value <= low)
    end = next((i for i, value in enumerate(every) if value >= high), len(every) - 1)
    return every[start : max(end, start + 1) + 1]


def figure(value: float) -> str:
    """
    >>> figure(0.25), figure(120_000.0), figure(1_500_000.0), figure(1.0)
    ('0.25', '120k', '1.5M', '1')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.4g}"


def days(longest_days: float) -> tuple[str, list[float], Callable[[float], str]]:
    """The unit in which so many days are told, round places on the axis (in days), how they are written."""
    unit, size = (
        ("years", 365.0) if longest_days > 730 else ("months", 30.0) if longest_days > 120 else ("days", 1.0)
    )
    places = [
        place * size for place in steps(0.0, longest_days / size, 6) if place * size <= longest_days * 1.01
    ]
    return unit, places, lambda value: figure(round(value / size, 6))
