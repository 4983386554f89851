"""Processes that do not stay as they are. Where one begins with a birth, that is the window's start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.model import DAY_S, Bools, Floats, Ints
from recrawl.simulate.processes.columns import (
    Drawn,
    Number,
    Rated,
    bounds_of,
    least,
    of_rows,
    one,
    refuse,
    spread,
)

_YEAR_S = 365.25 * DAY_S


@dataclass(frozen=True, slots=True)
class Drifting:
    """Poisson at a rate whose logarithm walks at random.

    The rate is `per_day` at the window's start and stays so in the mean; from step to step its logarithm
    moves by a normal amount, over a year by `spread_per_year` (a standard deviation). Not stationary: the
    longer, the further apart the resources are, and windows cannot be drawn one by one.
    """

    per_day: Number
    spread_per_year: Number = 0.7
    step_s: float = 7 * DAY_S

    def __post_init__(self) -> None:
        refuse(least(self.per_day) < 0, "per_day", "at least 0")
        refuse(least(self.spread_per_year) < 0, "spread_per_year", "at least 0")
        refuse(self.step_s <= 0, "step_s", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        span_s = np.maximum(end_at - start_at, 0.0)
        n_steps = int(np.ceil(np.max(span_s, initial=0.0) / self.step_s))
        begun_s = np.arange(n_steps) * self.step_s
        long_s = np.clip(span_s[:, None] - begun_s, 0.0, self.step_s)
        spread_log = np.reshape(self.spread_per_year * np.sqrt(self.step_s / _YEAR_S), (-1, 1))
        walk = rng.standard_normal(long_s.shape) * spread_log - spread_log**2 / 2
        walk[:, :1] = 0.0
        rate = np.reshape(self.per_day, (-1, 1)) * np.exp(np.cumsum(walk, axis=1))
        n = rng.poisson(rate * long_s / DAY_S)
        step, share = spread(n.ravel(), rng)
        ended_at = (start_at[:, None] + begun_s + long_s).ravel()
        return bounds_of(n.sum(axis=1)), ended_at[step] - long_s.ravel()[step] * share

    def at_rates(self, per_day: Floats) -> Drifting:
        return replace(self, per_day=per_day)


@dataclass(frozen=True, slots=True)
class Switching:
    """Poisson with two rates: slow for a while, fast for a while, `slow_s` and `fast_s` on average.

    Stays are exponential. The fast rate is `times` the slow one, and `per_day` is the mean over both.
    Stationary.
    """

    per_day: Number
    times: Number = 20.0
    slow_s: Number = 60 * DAY_S
    fast_s: Number = 5 * DAY_S

    def __post_init__(self) -> None:
        refuse(least(self.per_day) < 0, "per_day", "at least 0")
        refuse(least(self.times) <= 0, "times", "above 0")
        refuse(least(self.slow_s) <= 0, "slow_s", "above 0")
        refuse(least(self.fast_s) <= 0, "fast_s", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        row, fast, from_at, until_at = self._stays(start_at, end_at, rng)
        p_fast = self.fast_s / (self.slow_s + self.fast_s)
        slow_per_day = self.per_day / (1 - p_fast + p_fast * self.times)
        per_day = of_rows(slow_per_day, row) * np.where(fast, of_rows(self.times, row), 1.0)
        n = rng.poisson(per_day * (until_at - from_at) / DAY_S)
        stay, share = spread(n, rng)
        at = until_at[stay] - (until_at - from_at)[stay] * share
        return bounds_of(np.bincount(row, weights=n, minlength=len(start_at)).astype(np.int64)), at

    def at_rates(self, per_day: Floats) -> Switching:
        return replace(self, per_day=per_day)

    def _stays(
        self, start_at: Floats, end_at: Floats, rng: np.random.Generator
    ) -> tuple[Ints, Bools, Floats, Floats]:
        """Every stay of every resource in one of the two: in order of the resources, then of time."""
        row = np.flatnonzero(end_at > start_at)
        fast = rng.random(len(row)) < of_rows(self.fast_s / (self.slow_s + self.fast_s), row)
        at = start_at[row]
        stays = []
        while len(row):
            mean_s = np.where(fast, of_rows(self.fast_s, row), of_rows(self.slow_s, row))
            until_at = np.minimum(at + rng.exponential(mean_s), end_at[row])
            stays.append((row, fast, at, until_at))
            on = until_at < end_at[row]
            row, fast, at = row[on], ~fast[on], until_at[on]
        if not stays:
            return row, fast, at, at
        rows, fasts, froms, untils = (np.concatenate(column) for column in zip(*stays, strict=True))
        order = np.argsort(rows, kind="stable")
        return rows[order], fasts[order], froms[order], untils[order]


@dataclass(frozen=True, slots=True)
class Ageing:
    """Poisson at a rate that fades with age: `per_day` at birth, 1/e of it after each `lifetime_s`.

    The window's start is the birth; all in all there are `per_day` `lifetime_s` / 86,400 events.
    """

    per_day: Number
    lifetime_s: Number

    def __post_init__(self) -> None:
        refuse(least(self.per_day) < 0, "per_day", "at least 0")
        refuse(least(self.lifetime_s) <= 0, "lifetime_s", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        spent = -np.expm1(-np.maximum(end_at - start_at, 0.0) / self.lifetime_s)
        n = rng.poisson(self.per_day * self.lifetime_s * spent / DAY_S)
        row, share = spread(n, rng)
        age_s = -of_rows(self.lifetime_s, row) * np.log1p(-spent[row] * (1 - share))
        return bounds_of(n), np.clip(start_at[row] + age_s, np.nextafter(start_at[row], np.inf), end_at[row])

    def at_rates(self, per_day: Floats) -> Ageing:
        return replace(self, per_day=per_day)


@dataclass(frozen=True, slots=True)
class Dying:
    """Another process, until it stops for good: after `lifetime_s` on average, exponentially spread.

    The window's start is the birth; rates are those of the living.
    """

    of: Rated
    lifetime_s: Number

    def __post_init__(self) -> None:
        refuse(least(self.lifetime_s) <= 0, "lifetime_s", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        dead_at = start_at + rng.exponential(self.lifetime_s, len(start_at))
        return self.of.draw(start_at, np.minimum(end_at, dead_at), rng)

    def at_rates(self, per_day: Floats) -> Dying:
        return replace(self, of=self.of.at_rates(per_day))
