"""Forecasts in own time: as habits alone have it, and as the group's stirs have it too.

`Usual` goes by habits, in closed form between the habits' bins: what is to be expected while the group goes
on as it mostly does, in a week without hours. A goal's index is read off it, since nobody knows of stirs to
come. `Rhythms` adds the calendar, and what is known of the stirs since the last visit: it tells how likely a
change is by now, and when as much own time has passed as the index asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import expm1, inf, isfinite, log1p

import numpy as np

from recrawl.compiled import hurried, quick
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.rhythms.beats import Beat
from recrawl.learn.rhythms.calendars import Calendars, Rows, moments, pace_at, paces, shown_at, shown_many
from recrawl.learn.rhythms.clocks import Clocks, clocks
from recrawl.learn.rhythms.habits import N_BINS, Habits, bin_of, end_of
from recrawl.learn.rhythms.signals import before_leaps_s
from recrawl.learn.rhythms.stirs import Stirs, rate_at
from recrawl.learn.rhythms.timings import timed_many
from recrawl.model import DAY_S, Floats, Ints

# How much sooner or later than its time a resource that heeds its group is due, where that is stirred at all:
# the first ones are the scouts whose visits tell the others whether to come.
SCATTER = 0.3
FAR_S = 500 * DAY_S  # from here on an integral goes by weeks without hours
FEW = 8_192  # numbers: up to here one step over all bins is faster than one for each


@dataclass(frozen=True)
class Usual:
    """Own time passes at `factor` (one row for each resource, one column for each bin of its habit), from
    `start_s` after the last visit on; bins that are over begin at 0, and the last that does holds."""

    gamma: GammaForecasts
    factor: Floats  # (n, N_BINS)
    start_s: Floats  # (n, N_BINS)

    def own_s(self, t_s: Floats) -> Floats:
        bin_, row = self.bins(t_s)
        own, _, _ = self._starts
        return np.asarray(own[row, bin_] + self.factor[row, bin_] * (t_s - self.start_s[row, bin_]))

    def survival(self, t_s: Floats) -> Floats:
        return self.gamma.survival(self.own_s(t_s))

    def survival_integral(self, t_s: Floats) -> Floats:
        bin_, row = self.bins(t_s)
        own, integral, _ = self._starts
        begun = own[row, bin_]
        grown = self.gamma.survival_integral(self.own_s(t_s)) - self.gamma.survival_integral(begun)
        return np.asarray(integral[row, bin_] + grown / self.factor[row, bin_])

    def survival_slope(self, t_s: Floats) -> Floats:
        bin_, row = self.bins(t_s)
        return self.gamma.survival_slope(self.own_s(t_s)) * self.factor[row, bin_]

    def n_expected(self, t_s: Floats) -> Floats:
        return self.gamma.n_expected(self.own_s(t_s))

    def n_expected_integral(self, t_s: Floats) -> Floats:
        bin_, row = self.bins(t_s)
        own, _, integral = self._starts
        rest_s = t_s - self.start_s[row, bin_]
        grown = own[row, bin_] * rest_s + self.factor[row, bin_] * rest_s * rest_s / 2.0
        return np.asarray((integral[row, bin_] + grown) * self.gamma.a / self.gamma.b_s)

    def with_gamma(self, gamma: GammaForecasts) -> Usual:
        return Usual(gamma, self.factor, self.start_s)

    def pick(self, rows: Ints) -> Usual:
        return Usual(self.gamma.pick(rows), self.factor[rows], self.start_s[rows])

    def bins(self, t_s: Floats) -> tuple[Ints, Ints]:
        """The bin that each is in at these times, and whose it is."""
        bin_ = np.maximum(_n_begun(self.start_s, t_s) - 1, 0)
        return bin_, np.broadcast_to(np.arange(len(self.factor)), bin_.shape)

    @cached_property
    def _starts(self) -> tuple[Floats, Floats, Floats]:
        """Where each bin begins: own time, the integral of S, and that of own time."""
        wide_s = np.diff(self.start_s, axis=1)
        zero = np.zeros((len(wide_s), 1))
        own = np.concatenate([zero, np.cumsum(wide_s * self.factor[:, :-1], axis=1)], axis=1)
        gained = np.diff(self.gamma.survival_integral(own.T).T, axis=1) / self.factor[:, :-1]
        survival = np.concatenate([zero, np.cumsum(gained, axis=1)], axis=1)
        passed = wide_s * (own[:, :-1] + own[:, 1:]) / 2.0
        return own, survival, np.concatenate([zero, np.cumsum(passed, axis=1)], axis=1)


@dataclass(frozen=True)
class Rhythms:
    """`stirs` and `calendars` are the predictor's own: the forecasts hold until that learns again."""

    gamma: GammaForecasts
    habits: Habits
    stirs: Stirs
    calendars: Calendars
    since_at: Floats
    anchor_at: Floats
    unit_s: Floats
    habit: Ints
    heed: Floats
    slot: Ints
    scatter: Floats

    @cached_property
    def usual(self) -> Usual:
        start_s = np.zeros((len(self.habit), N_BINS))
        anchor = shown_many(self.shown, self._calendar, self.anchor_at)
        for bin_ in range(1, N_BINS):
            start_s[:, bin_] = np.maximum(anchor + self.unit_s * end_of(bin_ - 1) - self._since, 0.0)
        return Usual(self.gamma, self.habits.factor[self.habit], start_s)

    @property
    def shown(self) -> Rows:
        return self.calendars.shown

    @property
    def _calendar(self) -> Ints:
        return self.slot + 1

    @cached_property
    def _since(self) -> Floats:
        """What the calendars showed at the last visit."""
        return shown_many(self.shown, self._calendar, self.since_at)

    @cached_property
    def _clocks(self) -> Clocks:
        return clocks(self.stirs, self.slot, self.heed, self._since)

    @cached_property
    def _starts(self) -> tuple[Floats, Floats]:
        """Where each bin begins: what the clock shows, and the own time passed."""
        shown_s = self._clocks.shown_s(self.usual.start_s.T).T
        own_s = np.cumsum(np.diff(shown_s, axis=1) * self.usual.factor[:, :-1], axis=1)
        return shown_s, np.concatenate([np.zeros((len(own_s), 1)), own_s], axis=1)

    def _told_s(self, t_s: Floats) -> Floats:
        """How far the calendars go within these times."""
        return shown_many(self.shown, self._calendar, self.since_at + t_s) - self._since

    def own_s(self, t_s: Floats) -> Floats:
        """The own time that passes."""
        told_s = self._told_s(t_s)
        bin_, row = self.usual.bins(told_s)
        shown_s, own_s = self._starts
        rest_s = self._clocks.shown_s(told_s) - shown_s[row, bin_]
        return np.asarray(own_s[row, bin_] + self.usual.factor[row, bin_] * rest_s)

    def real_s(self, own_s: Floats, most_s: Floats) -> Floats:
        """How long after the last visit so much own time has passed, or `most_s` if that is sooner."""
        shown_s, begun_s = self._starts
        bin_ = _n_begun(begun_s, own_s) - 1
        row = np.broadcast_to(np.arange(len(self.habit)), bin_.shape)
        wanted_s = shown_s[row, bin_] + (own_s - begun_s[row, bin_]) / self.usual.factor[row, bin_]
        told_s = np.maximum(self._clocks.when_s(wanted_s), 0.0)
        real_s = moments(self.shown, self._calendar, self._since + told_s) - self.since_at
        return np.asarray(np.clip(real_s, 0.0, most_s))

    def due_s(self, own_s: Floats, most_s: Floats, timely: bool, counting: bool) -> Floats:  # noqa: ARG002
        gap_s = self.real_s(own_s, most_s)
        return self.timed_s(gap_s) if timely else gap_s

    def timed_s(self, gap_s: Floats) -> Floats:
        """The best moments near these, by the calendars."""
        return timed_many(self.calendars, self._calendar, self.since_at, gap_s)

    def before_leap_s(self, own_s: Floats, q: Floats, counting: bool) -> Floats:
        """How far each must be in its own time to be there at once when somebody tells of it."""
        return before_leaps_s(own_s, *self.gamma.gamma(), q, counting)

    def survival(self, t_s: Floats) -> Floats:
        return self.gamma.survival(self.own_s(t_s))

    def survival_integral(self, t_s: Floats) -> Floats:
        return self._scanned(t_s)[0]

    def survival_slope(self, t_s: Floats) -> Floats:
        told_s = self._told_s(t_s)
        bin_, row = self.usual.bins(told_s)
        rate = self.usual.factor[row, bin_] * self._clocks.rates(told_s)
        rate = rate * paces(self.shown, self._calendar, self.since_at + t_s)
        return np.asarray(self.gamma.survival_slope(self.own_s(t_s)) * rate)

    def n_expected(self, t_s: Floats) -> Floats:
        return self.gamma.n_expected(self.own_s(t_s))

    def n_expected_integral(self, t_s: Floats) -> Floats:
        return np.asarray(self._scanned(t_s)[1] * self.gamma.a / self.gamma.b_s)

    def pick(self, rows: Ints) -> Rhythms:
        kept = (one[rows] for one in (*self._beats, self.scatter))
        return Rhythms(self.gamma.pick(rows), self.habits, self.stirs, self.calendars, *kept)  # type: ignore[arg-type]

    @property
    def _beats(self) -> tuple[Floats, Floats, Floats, Ints, Floats, Ints]:
        return self.since_at, self.anchor_at, self.unit_s, self.habit, self.heed, self.slot

    def _scanned(self, t_s: Floats) -> tuple[Floats, Floats]:
        """The integrals of S and of own time."""
        times = np.atleast_2d(np.asarray(t_s, dtype=np.float64))
        a, b_s = self.gamma.gamma()
        shape = np.shape(t_s)
        found = _scan(self.habits, self.stirs, self.shown, *self._beats, a, b_s, times)
        return tuple(one.reshape(shape) for one in found)  # type: ignore[return-value]


def scatter(stirs: Stirs, slot: Ints, heed: Floats) -> Floats:
    """By what share each may come sooner or later than its time."""
    grouped = slot >= 0
    evidence = stirs.evidence[slot[grouped]]
    weight = np.exp(evidence - evidence.max(axis=1, keepdims=True, initial=-np.inf))
    found = np.zeros(len(slot))
    found[grouped] = 1.0 - weight[:, -1] / weight.sum(axis=1)
    return np.asarray(SCATTER * heed * found)


def _n_begun(start: Floats, at: Floats) -> Ints:
    """How many bins of each row have begun."""
    if np.size(at) <= FEW:
        return np.asarray((np.expand_dims(at, -2) >= start.T).sum(axis=-2))
    n = np.zeros(np.shape(at), dtype=np.int64)
    for one in start.T:
        n += one <= at
    return n


@hurried
def _scan(
    habits: Habits,
    stirs: Stirs,
    shown: Rows,
    since_at: Floats,
    anchor_at: Floats,
    unit_s: Floats,
    habit: Ints,
    heed: Floats,
    slot: Ints,
    a: Floats,
    b_s: Floats,
    times: Floats,
) -> tuple[Floats, Floats]:
    survived, passed = np.zeros(times.shape), np.zeros(times.shape)
    for i in range(times.shape[1]):
        clock = shown[slot[i] + 1]
        since, anchor = shown_at(clock, since_at[i]), shown_at(clock, anchor_at[i])
        beat = Beat(since, anchor, unit_s[i], habit[i], heed[i], slot[i])
        at, own, lived, gone = since, 0.0, 0.0, 0.0
        for k in np.argsort(times[:, i]):
            until = shown_at(clock, since_at[i] + times[k, i]) if isfinite(times[k, i]) else times[k, i]
            while at < until:
                rate, pace, stop = _pace(habits, stirs, clock, beat, at)
                stop = min(max(stop, at + 1e-3), until)
                before, own = own, own + rate * (stop - at)
                real_s = (stop - at) / pace
                if own > before:
                    lived += (integral(a[i], b_s[i], own) - integral(a[i], b_s[i], before)) / rate / pace
                gone += real_s * (before + own) / 2.0
                at = stop
            survived[k, i], passed[k, i] = lived, gone
    return survived, passed


@quick
def _pace(habits: Habits, stirs: Stirs, shown: Rows, beat: Beat, at: float) -> tuple[float, float, float]:
    """How fast own time runs by the calendar's, how fast that by the world's, and until when; at a moment
    that the calendar shows."""
    bin_ = bin_of((at - beat.anchor_at) / beat.unit_s)
    pace, stop = 1.0, inf
    if at - beat.since_at < FAR_S:
        pace, stop = pace_at(shown, at)
    if bin_ < N_BINS - 1:
        stop = min(stop, beat.anchor_at + beat.unit_s * end_of(bin_))
    rate = 1.0
    if beat.heed > 0.0:
        rate, end = rate_at(stirs, beat.slot, at)
        rate = 1.0 - beat.heed + beat.heed * rate
        stop = min(stop, end)
    return rate * habits.factor[beat.habit, bin_], pace, stop


@quick
def integral(a: float, b_s: float, x_s: float) -> float:
    """Of S from 0 to x, where the rate is Gamma(a, b_s)."""
    grown = log1p(x_s / b_s)
    power = (1.0 - a) * grown
    over = 1.0 + power / 2.0 if abs(power) < 1e-8 else expm1(power) / power
    return b_s * grown * over
