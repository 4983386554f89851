"""Processes that go by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recrawl.model import DAY_S, HOUR_S, Floats, Ints
from recrawl.simulate.processes.columns import (
    Drawn,
    Number,
    Rated,
    bounds_of,
    in_order,
    least,
    most,
    of_rows,
    one,
    refuse,
    spread,
)

_WEEK_S = 7 * DAY_S
_MONDAY_S = 4 * DAY_S  # 1970-01-01 was a Thursday: the first Monday was four days later
_FAR = 6.0  # standard deviations that a drifting clock is allowed to lag behind


@dataclass(frozen=True, slots=True)
class Periodic:
    """Once in every period, up to `jitter_s` late; `phase_s` is counted from 1970-01-01 UTC.

    Without a phase each resource has a random one. With `drift_s` the clock itself drifts: every period is
    longer or shorter by a normal amount with that standard deviation, and the errors add up from the
    window's start on. With neither a random phase nor a drift, windows may be drawn one by one.
    """

    period_s: Number
    jitter_s: Number = 0.0
    phase_s: Number | None = 0.0
    drift_s: float = 0.0

    def __post_init__(self) -> None:
        refuse(least(self.period_s) <= 0, "period_s", "above 0")
        refuse(least(self.jitter_s) < 0, "jitter_s", "at least 0")
        refuse(self.drift_s < 0, "drift_s", "at least 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        phase_s = self.period_s * rng.random(len(start_at)) if self.phase_s is None else self.phase_s
        ahead_s: Number = 0.0
        if self.drift_s:
            periods = np.maximum(end_at - start_at, 0.0) / self.period_s
            ahead_s = _FAR * self.drift_s * np.sqrt(periods + 1) + self.period_s
        row, due_at = _due(start_at - self.jitter_s, end_at + ahead_s, self.period_s, phase_s)
        if self.drift_s:
            due_at = due_at + _walks(row, rng.normal(0.0, self.drift_s, len(row)), len(start_at))
        at = due_at + of_rows(self.jitter_s, row) * rng.random(len(row))
        kept = (at > start_at[row]) & (at <= end_at[row])
        return in_order(row[kept], at[kept], len(start_at))

    def at_rates(self, per_day: Floats) -> Periodic:
        return replace(self, period_s=DAY_S / per_day)


@dataclass(frozen=True, slots=True)
class Daily:
    """Once a day at `hour` UTC, up to `jitter_s` late; on Mondays to Fridays alone where asked."""

    hour: Number
    jitter_s: Number = 0.0
    weekdays_only: bool = False

    def __post_init__(self) -> None:
        refuse(least(self.hour) < 0 or most(self.hour) >= 24, "hour", "from 0 to below 24")
        refuse(least(self.jitter_s) < 0, "jitter_s", "at least 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        # Every day that may show in the window, whatever its hour: 0 is 1970-01-01.
        row, day_at = _due(start_at - self.jitter_s - DAY_S, end_at, DAY_S, 0.0)
        late_s = of_rows(self.jitter_s, row) * rng.random(len(row))
        at = day_at + of_rows(self.hour, row) * HOUR_S + late_s
        kept = (at > start_at[row]) & (at <= end_at[row])
        if self.weekdays_only:
            kept &= (day_at - _MONDAY_S) // DAY_S % 7 < 5
        return in_order(row[kept], at[kept], len(start_at))


def week_of(day: Sequence[float], *, weekend: float = 1.0) -> tuple[float, ...]:
    """168 factors from 24, midnight's first: Mondays to Fridays alike, weekends times `weekend`."""
    refuse(len(day) != 24, "day", "of 24 factors")
    return tuple(float(factor) for factor in [*day] * 5) + tuple(factor * weekend for factor in [*day] * 2)


def working_hours(
    *, first: int = 9, last: int = 17, night: float = 0.05, weekend: float = 0.1
) -> tuple[float, ...]:
    """Busy from the hour `first` up to the hour `last`; `night` times as busy in all other hours."""
    return week_of([1.0 if first <= hour < last else night for hour in range(24)], weekend=weekend)


@dataclass(frozen=True, slots=True)
class Weekly:
    """Poisson with a rhythm: a factor for each of the 168 hours of a week, Monday's first.

    Only their ratios matter: `per_day` is the mean over a week. Local clocks are `zone_s` ahead of UTC.
    The law depends on the hour of the week alone, so windows may be drawn one by one.
    """

    per_day: Number
    profile: tuple[float, ...] = working_hours()
    zone_s: Number = 0.0

    def __post_init__(self) -> None:
        refuse(least(self.per_day) < 0, "per_day", "at least 0")
        refuse(len(self.profile) != 168, "profile", "of 168 factors")
        refuse(min(self.profile) < 0 or sum(self.profile) <= 0, "profile", "that is somewhere above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        # On a clock that runs as fast as the rhythm asks, the process has a constant rate.
        rhythm = _Rhythm(self.profile, self.zone_s)
        first, last = rhythm.busy_s(start_at), rhythm.busy_s(np.maximum(end_at, start_at))
        n = rng.poisson(self.per_day * (last - first) / DAY_S)
        row, share = spread(n, rng)
        at = rhythm.at(last[row] - (last - first)[row] * share, row)
        return bounds_of(n), np.clip(at, np.nextafter(start_at[row], np.inf), end_at[row])

    def at_rates(self, per_day: Floats) -> Weekly:
        return replace(self, per_day=per_day)


@dataclass(frozen=True, slots=True)
class Clocked:
    """Another process on a clock that runs fast in busy hours and slowly in others, as `Weekly` does.

    All that process does goes by that clock: at night answers take longer, and nobody ages. It is stationary
    from week to week where `of` is; where `of` begins with a birth, so does this.
    """

    of: Rated
    profile: tuple[float, ...] = working_hours()
    zone_s: Number = 0.0

    def __post_init__(self) -> None:
        refuse(len(self.profile) != 168, "profile", "of 168 factors")
        refuse(min(self.profile) <= 0, "profile", "that is above 0 everywhere")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        rhythm = _Rhythm(self.profile, self.zone_s)
        bounds, busy_s = self.of.draw(rhythm.busy_s(start_at), rhythm.busy_s(end_at), rng)
        row = np.repeat(np.arange(len(start_at)), np.diff(bounds))
        at = rhythm.at(busy_s, row)
        return bounds, np.clip(at, np.nextafter(start_at[row], np.inf), end_at[row])

    def at_rates(self, per_day: Floats) -> Clocked:
        return replace(self, of=self.of.at_rates(per_day))


_HOURS_S = np.arange(169) * HOUR_S


@dataclass(frozen=True, slots=True)
class _Rhythm:
    """A clock that shows as much as others after a week, and is faster in busy hours."""

    profile: tuple[float, ...]
    zone_s: Number

    def busy_s(self, at: Floats) -> Floats:
        """What it shows."""
        local_s = at + self.zone_s - _MONDAY_S
        weeks = np.floor(local_s / _WEEK_S)
        return weeks * _WEEK_S + np.interp(local_s - weeks * _WEEK_S, _HOURS_S, self._shown())

    def at(self, busy_s: Floats, row: Ints) -> Floats:
        """When it shows that, on the clock of each row."""
        weeks = np.floor(busy_s / _WEEK_S)
        local_s = weeks * _WEEK_S + np.interp(busy_s - weeks * _WEEK_S, self._shown(), _HOURS_S)
        return np.asarray(local_s + _MONDAY_S - of_rows(self.zone_s, row))

    def _shown(self) -> Floats:
        """At each full hour of the week."""
        return np.concatenate([[0.0], np.cumsum(self.profile)]) * (_WEEK_S / sum(self.profile))


def _due(start_at: Floats, end_at: Floats, period_s: Number, phase_s: Number) -> tuple[Ints, Floats]:
    """Every round of every row's clock in its window, the ends included."""
    first = np.ceil((start_at - phase_s) / period_s)
    last = np.floor((end_at - phase_s) / period_s)
    n = np.maximum(last - first + 1, 0).astype(np.int64)
    row = np.repeat(np.arange(len(n)), n)
    rounds = first[row] + (np.arange(len(row)) - bounds_of(n)[row])
    return row, rounds * of_rows(period_s, row) + of_rows(phase_s, row)


def _walks(row: Ints, steps: Floats, n_rows: int) -> Floats:
    """The steps added up, row by row."""
    summed = np.cumsum(steps)
    before: Floats = np.concatenate([[0.0], summed])[bounds_of(np.bincount(row, minlength=n_rows))[row]]
    return summed - before
