"""Processes at a constant rate, and those that follow a list."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.model import DAY_S, Floats
from recrawl.simulate.processes.columns import Drawn, Number, bounds_of, in_order, least, one, refuse, spread


@dataclass(frozen=True, slots=True)
class Never:
    """Nothing ever happens."""

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        return np.empty(0)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:  # noqa: ARG002
        return np.zeros(len(start_at) + 1, dtype=np.int64), np.empty(0)


@dataclass(frozen=True, slots=True)
class Given:
    """At these times and no others."""

    at: tuple[float, ...]

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        at = np.array(self.at, dtype=np.float64)
        return np.sort(at[(at > start_at) & (at <= end_at)])

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:  # noqa: ARG002
        at = np.array(self.at, dtype=np.float64)
        row, place = np.nonzero((at > start_at[:, None]) & (at <= end_at[:, None]))
        return in_order(row, at[place], len(start_at))


@dataclass(frozen=True, slots=True)
class Poisson:
    """Memoryless, at a constant rate."""

    per_day: Number

    def __post_init__(self) -> None:
        refuse(least(self.per_day) < 0, "per_day", "at least 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        span_s = np.maximum(end_at - start_at, 0.0)
        n = rng.poisson(self.per_day * span_s / DAY_S)
        row, share = spread(n, rng)
        return bounds_of(n), end_at[row] - span_s[row] * share

    def at_rates(self, per_day: Floats) -> Poisson:
        return replace(self, per_day=per_day)


@dataclass(frozen=True, slots=True)
class Mixed:
    """Poisson at a rate that is drawn once per resource from a Gamma distribution with mean `per_day`.

    Counts over t days have mean m = `per_day` t and variance m + m² / `shape`. One call is one resource:
    windows drawn one by one would each have a rate of their own.
    """

    per_day: Number
    shape: Number = 1.0

    def __post_init__(self) -> None:
        refuse(least(self.per_day) < 0, "per_day", "at least 0")
        refuse(least(self.shape) <= 0, "shape", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        rates = self.per_day * rng.gamma(self.shape, 1 / self.shape, len(start_at))
        return Poisson(rates).draw(start_at, end_at, rng)

    def at_rates(self, per_day: Floats) -> Mixed:
        return replace(self, per_day=per_day)
