"""What all processes share: how they are asked, and how many resources are drawn at once."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from recrawl.errors import BadSettingError
from recrawl.model import Floats, Ints

Number = float | Floats  # of one resource, or a column: one for each
Drawn = tuple[Ints, Floats]  # bounds and times: row `i` owns `at[bounds[i] : bounds[i + 1]]`, sorted

_ALMOST_ALL = 1 - 2.0**-33  # a share that leaves a moment after the start of any window


class Process(Protocol):
    """A way of changing."""

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats: ...


class Law(Process, Protocol):
    """A process that is drawn for many resources at once; its parameters may be columns.

    `start_at` and `end_at` are columns: there are as many resources as they have rows. Time and memory are
    proportional to the events drawn; no Python runs for a single one.
    """

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn: ...


class Rated(Law, Protocol):
    """A law with a rate that can be set for each resource."""

    def at_rates(self, per_day: Floats) -> Self: ...


def one(law: Law, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
    """A single resource's events: a column of one."""
    return law.draw(np.array([start_at], dtype=np.float64), np.array([end_at], dtype=np.float64), rng)[1]


def bounds_of(n: Ints) -> Ints:
    """The bounds of rows that own so many each."""
    bounds = np.zeros(len(n) + 1, dtype=np.int64)
    np.cumsum(n, out=bounds[1:])
    return bounds


def spread(n: Ints, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """For each row `n` uniform numbers in [0, 1), falling: counted back from a window's end they are events.

    Row and number are sorted as one key, which costs some digits: a ten-millionth of a millionth of a
    window of a million rows.
    """
    row = np.repeat(np.arange(len(n)), n)
    base = (len(n) - 1 - row).astype(np.float64)
    share = np.sort(base + rng.random(len(row)))[::-1] - base
    return row, np.clip(share, 0.0, _ALMOST_ALL)


def in_order(row: Ints, at: Floats, n_rows: int) -> Drawn:
    """Events in any order, as rows."""
    order = np.lexsort((at, row))
    return bounds_of(np.bincount(row, minlength=n_rows)), at[order]


def of_rows(value: Number, row: Ints) -> Number:
    """A parameter as each event's resource has it."""
    return value[row] if isinstance(value, np.ndarray) and value.ndim else value


def least(value: Number) -> float:
    return float(np.min(np.asarray(value, dtype=np.float64), initial=np.inf))


def most(value: Number) -> float:
    return float(np.max(np.asarray(value, dtype=np.float64), initial=-np.inf))


def refuse(wrong: bool, name: str, wanted: str) -> None:
    if wrong:
        raise BadSettingError(f"This {name} makes no process; choose one {wanted}.")
