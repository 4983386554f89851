"""The hours and days at which resources change: of a group, and of all.

A calendar is a clock that runs fast in the hours and on the days when a group's members are seen to change,
slow in the others, and comes round once a week. Whatever else is known of a rhythm is told in its time: an
office's pages do not rest for two nights and a day, they rest for two working hours.

Changes are counted by the hour of the day and by the day of the week, in UTC, as habits are: shared out over
what the gap covers, and what was expected there is counted too. Only gaps that are short enough tell
anything: up to two days of hours, up to two weeks of days. A group begins from what all do, and goes by its
calendar as far as that has foretold its visits better than a week without hours.
"""

from __future__ import annotations

from math import exp, floor, log, log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.compiled import quick, total, wide
from recrawl.learn.rhythms.habits import known_after
from recrawl.model import DAY_S, HOUR_S, Floats, Ints

Rows = npt.NDArray[np.float32]

WEEK_S = 7 * DAY_S
N_HOURS, N_DAYS = 24, 7
N_KINDS = N_HOURS + N_DAYS
N_CELLS = N_HOURS * N_DAYS
HOURLY_S, DAILY_S = 2 * DAY_S, 14 * DAY_S  # the longest gaps that tell of hours, and of days
DOUBT = 5.0  # changes, as in habits
CAUTION = -2.0  # log odds of a calendar before it has foretold anything
SURE = 1e-3
LEAST = 0.02  # of the usual rate: no hour is ever ruled out
FAINT = 0.01  # the least that a calendar is believed
N_UNSETTLED = 8  # visits are counted before the clock is set by them
MOST_COUNTED = 2_000.0  # changes of a row: beyond, half of all is let go, so that a calendar can be unlearned


class Calendars(NamedTuple):
    """Row 0 is of all, and for whoever has no group; the others are of groups."""

    n: Floats  # (rows, N_KINDS): changes counted, by hour of the day and by day of the week
    x: Floats  # changes expected
    loss: Floats  # (rows, 2): of log likelihood, as a week without hours and as the calendar has visits
    belief: Floats  # how far the clock goes by the calendar
    spread: Floats  # how many times as fast as in its slowest hour it runs in its fastest
    unsettled: Ints  # visits counted since the clock was set
    halved: Floats  # how often half of the counts was let go
    shown: Rows  # (rows, N_CELLS + 1): what the clock shows as each hour of the week begins


def no_calendars(n: int) -> Calendars:
    return Calendars(
        n=np.zeros((n, N_KINDS)),
        x=np.zeros((n, N_KINDS)),
        loss=np.zeros((n, 2)),
        belief=np.full(n, FAINT),
        spread=np.ones(n),
        unsettled=np.zeros(n, dtype=np.int64),
        halved=np.zeros(n),
        shown=np.tile(np.arange(N_CELLS + 1, dtype=np.float32) * np.float32(HOUR_S), (n, 1)),
    )


def more_calendars(calendars: Calendars, n: int) -> Calendars:
    """The same, with room for so many rows."""
    more = no_calendars(n - len(calendars.loss))
    return Calendars(*(np.concatenate([old, new]) for old, new in zip(calendars, more, strict=True)))


@quick
def calendar_of(slot: int) -> int:
    """The row of a group's calendar."""
    return slot + 1


@quick
def shown_at(shown: Rows, at: float) -> float:
    """What a clock shows at a moment."""
    week = floor(at / WEEK_S)
    hours = (at - week * WEEK_S) / HOUR_S
    hour = min(floor(hours), N_CELLS - 1)
    low, high = wide(shown[hour]), wide(shown[hour + 1])
    return week * WEEK_S + low + (hours - hour) * (high - low)


@quick
def moment(shown: Rows, clock: float) -> float:
    """When it shows this."""
    week = floor(clock / WEEK_S)
    left = clock - week * WEEK_S
    low, high = 0, N_CELLS
    while high - low > 1:
        middle = (low + high) // 2
        if wide(shown[middle]) <= left:
            low = middle
        else:
            high = middle
    begun, end = wide(shown[low]), wide(shown[low + 1])
    return week * WEEK_S + (low + min((left - begun) / (end - begun), 1.0)) * HOUR_S


@quick
def pace_at(shown: Rows, clock: float) -> tuple[float, float]:
    """How fast it runs when it shows this, and what it shows when that is over."""
    week = floor(clock / WEEK_S)
    left = clock - week * WEEK_S
    hour = min(floor((moment(shown, clock) - week * WEEK_S) / HOUR_S), N_CELLS - 1)
    if wide(shown[hour + 1]) <= left and hour < N_CELLS - 1:
        hour += 1
    end = wide(shown[hour + 1])
    return (end - wide(shown[hour])) / HOUR_S, week * WEEK_S + end


def shown_many(shown: Rows, row: Ints, at: Floats) -> Floats:
    """As `shown_at`, of many clocks, whatever numbers these are."""
    known = np.isfinite(at)
    if not known.all():
        return np.where(known, shown_many(shown, row, np.where(known, at, 0.0)), at)
    week = np.floor(at / WEEK_S)
    hours = (at - week * WEEK_S) / HOUR_S
    hour = np.minimum(hours.astype(np.int64), N_CELLS - 1)
    low, high = shown[row, hour].astype(np.float64), shown[row, hour + 1].astype(np.float64)
    return np.asarray(week * WEEK_S + low + (hours - hour) * (high - low))


def moments(shown: Rows, row: Ints, clock: Floats) -> Floats:
    """As `moment`, of many clocks."""
    known = np.isfinite(clock)
    if not known.all():
        return np.where(known, moments(shown, row, np.where(known, clock, 0.0)), clock)
    week = np.floor(clock / WEEK_S)
    left = clock - week * WEEK_S
    low = np.zeros(np.shape(clock), dtype=np.int64)
    step = 1 << (N_CELLS - 1).bit_length() - 1
    while step:
        there = low + step
        inside = there < N_CELLS
        low = np.where(inside & (shown[row, np.where(inside, there, 0)] <= left), there, low)
        step //= 2
    begun, end = shown[row, low].astype(np.float64), shown[row, low + 1].astype(np.float64)
    return np.asarray(week * WEEK_S + (low + np.minimum((left - begun) / (end - begun), 1.0)) * HOUR_S)


def paces(shown: Rows, row: Ints, at: Floats) -> Floats:
    """How fast many clocks run at these moments."""
    hour = np.floor(np.where(np.isfinite(at), at, 0.0) / HOUR_S).astype(np.int64) % N_CELLS
    return np.asarray((shown[row, hour + 1].astype(np.float64) - shown[row, hour]) / HOUR_S)


@quick
def mark(
    calendars: Calendars,
    row: int,
    since_at: float,
    at: float,
    changed: bool,
    own_s: float,
    a: float,
    b_s: float,
    due: float,
    of_all: bool,
    exact: bool = False,
) -> None:
    """Take in a visit before which so much own time had passed, at a rate that is Gamma(a, b_s). What is
    `exact` changed at the end of the gap and not before; `due` is how far a change was the resource's own;
    `of_all`: what all do is counted too."""
    gap_s = at - since_at
    if gap_s > DAILY_S or gap_s <= 0.0:
        return
    shown = calendars.shown[row]
    passed_s = max(shown_at(shown, at) - shown_at(shown, since_at), 1e-3)
    for wholly in range(2):
        clock_s = gap_s + wholly * (passed_s - gap_s) / calendars.belief[row]
        longer = log1p(max(clock_s, 0.0) * own_s / passed_s / b_s)
        quiet = min(max(exp(-a * longer), SURE), 1.0 - SURE)
        told = log(1.0 - quiet if changed else quiet)
        if exact:  # how dense changes are there, by the rate that the clock runs at
            pace = 1.0 + wholly * (pace_at(shown, shown_at(shown, at))[0] - 1.0) / calendars.belief[row]
            told = min(max(log(max(pace, LEAST)) - (a + 1.0) * longer, log(SURE)), -log(SURE))
        calendars.loss[row, wholly] -= told
    per_s, share = known_after(own_s, changed, a, b_s)
    share *= due
    if exact:
        per_s = (a + 1.0) / (b_s + own_s)
    _count(calendars, row, since_at, at, per_s * own_s / passed_s, share, exact, due)
    if row and of_all:
        _count(calendars, 0, since_at, at, per_s * own_s / passed_s, share, exact, due)
    calendars.unsettled[row] += 1
    if calendars.unsettled[row] >= N_UNSETTLED:
        if total(calendars.x[row]) > MOST_COUNTED:
            calendars.x[row] *= 0.5
            calendars.n[row] *= 0.5
            calendars.loss[row] *= 0.5
            calendars.halved[row] += 1.0
        settle(calendars, row)


@quick
def _count(
    calendars: Calendars,
    row: int,
    since_at: float,
    at: float,
    per_s: float,
    share: float,
    exact: bool,
    due: float,
) -> None:
    """Changes were expected at this rate without a calendar; `share` times as many were there, each where the
    calendar has it; or, where the moment is known, so far as it was `due` one in that hour."""
    hourly = at - since_at <= HOURLY_S
    step_s = HOUR_S if hourly else DAY_S
    rates = _rates(calendars, row)
    likely_s = 0.0
    if exact:
        day, hour = _kinds(at)
        calendars.n[row, day] += due
        if hourly:
            calendars.n[row, hour] += due
    elif share > 0.0:
        from_at = since_at
        while from_at < at:
            end_at = min(at, (floor(from_at / step_s) + 1.0) * step_s)
            day, hour = _kinds(from_at)
            likely_s += rates[day] * (rates[hour] if hourly else 1.0) * (end_at - from_at)
            from_at = end_at
    scale = share * (at - since_at) / likely_s if likely_s > 0.0 else 0.0
    from_at = since_at
    while from_at < at:
        end_at = min(at, (floor(from_at / step_s) + 1.0) * step_s)
        expected = per_s * (end_at - from_at)
        day, hour = _kinds(from_at)
        of_day, of_hour = rates[day], rates[hour] if hourly else 1.0
        calendars.x[row, day] += expected * of_hour
        calendars.n[row, day] += scale * expected * of_day * of_hour
        if hourly:
            calendars.x[row, hour] += expected * of_day
            calendars.n[row, hour] += scale * expected * of_day * of_hour
        from_at = end_at


@quick
def _kinds(at: float) -> tuple[int, int]:
    """Where the day and the hour of a moment are counted."""
    in_week_s = at - floor(at / WEEK_S) * WEEK_S
    day = min(floor(in_week_s / DAY_S), N_DAYS - 1)
    return N_HOURS + day, min(floor((in_week_s - day * DAY_S) / HOUR_S), N_HOURS - 1)


@quick
def settle(calendars: Calendars, row: int) -> None:
    """Set the clock by what was counted."""
    of_kind, rates = _rates(calendars, row), np.empty(N_CELLS)
    for cell in range(N_CELLS):
        rates[cell] = of_kind[N_HOURS + cell // N_HOURS] * of_kind[cell % N_HOURS]
    rates *= N_CELLS / total(rates)
    belief = max(1.0 / (1.0 + exp(calendars.loss[row, 1] - calendars.loss[row, 0] - CAUTION)), FAINT)
    rates = 1.0 - belief + belief * np.maximum(rates, LEAST)
    rates *= HOUR_S * N_CELLS / total(rates)
    gone_s = 0.0
    for cell in range(N_CELLS):
        gone_s += rates[cell]
        calendars.shown[row, cell + 1] = gone_s
    calendars.shown[row, N_CELLS] = WEEK_S
    calendars.belief[row] = belief
    calendars.spread[row] = rates.max() / rates.min()
    calendars.unsettled[row] = 0


@quick
def _rates(calendars: Calendars, row: int) -> Floats:
    """How many times as fast as usual changes come, by hour of the day and by day of the week."""
    rates = np.empty(N_KINDS)
    for first, last in ((0, N_HOURS), (N_HOURS, N_KINDS)):
        n, x = calendars.n[0, first:last], calendars.x[0, first:last]
        usual = (DOUBT + n) / (DOUBT + x * _level(n, x))
        rates[first:last] = usual
        if row:
            n, x = calendars.n[row, first:last], calendars.x[row, first:last]
            rates[first:last] = (DOUBT * usual + n) / (DOUBT + x * _level(n, x * usual))
    return rates


@quick
def _level(n: Floats, x: Floats) -> float:
    """How many times as many changes as expected there were in all hours, or on all days, that were seen: how
    fast resources are, and nothing of hours. Who has only looked in one knows of no other."""
    expected = total(x)
    return total(n) / expected if expected > 0.0 else 1.0
