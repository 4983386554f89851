"""Figures as people read them, in rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # it comes with the simulator, which takes a while to load
    from recrawl.evaluate.intervals import Interval


def share(value: float) -> str:
    """
    >>> share(0.2256), share(0.00041), share(float("nan"))
    ('0.226', '0.00041', '-')
    """
    if isnan(value):
        return "-"
    return f"{value:.2g}" if 0.0 < value < 0.0095 else f"{value:.3f}"


def days(value: float) -> str:
    """
    >>> days(3.456), days(0.0213), days(123.4)
    ('3.46', '0.021', '123')
    """
    if isnan(value):
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


def count(value: float) -> str:
    return "-" if isnan(value) else f"{round(value):,}"


def between(interval: Interval, figure: str) -> str:
    """A figure with its interval, the way a table has it."""
    if isnan(interval.low):
        return figure
    return f"{figure} [{share(interval.low)}–{share(interval.high)}]"


def titled(columns: Sequence[str]) -> list[str]:
    """As the head of a table on a terminal."""
    return [column.upper() for column in columns]
