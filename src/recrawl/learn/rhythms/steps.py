"""One resource's own time, and what a visit teaches.

A resource changes at its own rate in its own time. That runs faster or slower than the world's: by its habit
after a change, and by its group's stirs as far as it heeds them. The Gamma filter learns the rate in own
time, so that a burst or a quiet week of the whole group is not taken for the resource's nature.
"""

from __future__ import annotations

from math import exp, isfinite, isnan, log, log1p
from typing import NamedTuple

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.predictors.gamma import TELLING
from recrawl.learn.rhythms.calendars import Calendars, calendar_of, mark, moment, no_calendars, shown_at
from recrawl.learn.rhythms.habits import (
    N_BINS,
    N_ROWS,
    Habits,
    bin_of,
    count,
    end_of,
    known_after,
    no_habits,
    row_after,
    settle,
)
from recrawl.learn.rhythms.stirs import (
    Stirs,
    first_cell,
    make_ready,
    n_covered,
    no_stirs,
    rate_at,
    stir,
    stirred_s,
    width_s,
)
from recrawl.learn.scalar import faded, informed
from recrawl.model import DAY_S, Bools, Floats

WIDTH = 8
X, T, SHARE, CHANGED_AT, SCALE, HABIT, HEED, VERDICTS = range(WIDTH)
BLANK = (0.0, 0.0, 1.0, np.nan, 0.0, 0.0, 0.0, 0.0)

# Log odds that a resource of a group goes with it, before anything is seen: they mostly do.
TRUST = 1.0
FADING = 0.02  # share of the evidence for heeding let go at each visit
SURE = 1e-3
SHORTEST_S, LONGEST_S = 60.0, 365 * DAY_S  # between them lies a habit's unit


def sound(rows: Floats) -> Bools:
    """Which of these rows `take` can have written: of any others own time might not even pass."""
    x, t_s, share, changed_at, scale_s, habit, heed, verdicts = rows.T
    fine = np.isfinite(np.delete(rows, CHANGED_AT, axis=1)).all(axis=1) & ~np.isinf(changed_at)
    fine &= (share >= 0.0) & (share <= 1.0)
    for one in (x, t_s):  # numbers that can be squared and divided by
        fine &= (one >= 0.0) & (one < 1e15) & (one + share > 1e-9)
    fine &= (scale_s == 0.0) | ((scale_s >= SHORTEST_S) & (scale_s <= LONGEST_S))
    fine &= (habit >= 0.0) & (habit < N_ROWS) & (verdicts >= 0.0) & (verdicts < 8.0)
    return np.asarray(fine & (np.abs(heed) <= -log(SURE) / FADING))


class Common(NamedTuple):
    """What resources teach each other, and which of it counts."""

    habits: Habits
    stirs: Stirs
    calendars: Calendars
    forms: bool = True  # whether habits are learned
    marks: bool = True  # whether calendars are
    heed: float = np.nan  # how far everybody heeds its group; NaN: as far as each was seen to


def nothing_in_common(n_groups: int) -> Common:
    """Before anything was seen, with room for so many groups."""
    return Common(no_habits(), no_stirs(n_groups), no_calendars(n_groups + 1))


class Beat(NamedTuple):
    """Where a resource stands in its habit and its group: all that its own time depends on. Moments are what
    the group's calendar shows then."""

    since_at: float
    anchor_at: float  # when its last change was seen
    unit_s: float  # its mean time between changes, by then
    habit: int
    heed: float  # 0: not at all; 1: wholly
    slot: int


@quick
def heeded(common: Common, odds: float, slot: int) -> float:
    if slot < 0:
        return 0.0
    return 1.0 / (1.0 + exp(-odds - TRUST)) if isnan(common.heed) else common.heed


def heeds(common: Common, odds: Floats) -> Floats:
    """The same of many that have a group."""
    if not isnan(common.heed):
        return np.full(len(odds), common.heed)
    return np.asarray(1.0 / (1.0 + np.exp(-odds - TRUST)))


@quick
def beat_of(common: Common, row: Floats, since_at: float, slot: int, mean_s: float) -> Beat:
    """`mean_s` is the mean time between changes that is believed of whoever was never seen to change."""
    shown = common.calendars.shown[calendar_of(slot)]
    changed_at = since_at if isnan(row[CHANGED_AT]) else row[CHANGED_AT]
    return Beat(
        shown_at(shown, since_at),
        shown_at(shown, changed_at),
        row[SCALE] if row[SCALE] > 0.0 else mean_s,
        int(row[HABIT]),
        heeded(common, row[HEED], slot),
        slot,
    )


@quick
def own_s(habits: Habits, stirs: Stirs, beat: Beat, until_at: float) -> float:
    """How much own time passes from the last visit to this moment."""
    total, at = 0.0, beat.since_at
    bin_ = bin_of((at - beat.anchor_at) / beat.unit_s)
    while at < until_at:
        end_at = until_at
        if bin_ < N_BINS - 1:
            end_at = min(until_at, beat.anchor_at + beat.unit_s * end_of(bin_))
        if end_at > at:
            passed_s = (1.0 - beat.heed) * (end_at - at)
            if beat.heed > 0.0:
                passed_s += beat.heed * stirred_s(stirs, beat.slot, at, end_at)
            total += habits.factor[beat.habit, bin_] * passed_s
            at = end_at
        bin_ = min(bin_ + 1, N_BINS - 1)
    return float(total)


@quick
def real_s(habits: Habits, stirs: Stirs, beat: Beat, own: float, most_s: float) -> float:
    """How long after the last visit so much own time has passed, or `most_s` if that is sooner."""
    at, until_at = beat.since_at, beat.since_at + most_s
    bin_ = bin_of((at - beat.anchor_at) / beat.unit_s)
    while at < until_at:
        end_at = until_at
        if bin_ < N_BINS - 1:
            end_at = min(until_at, beat.anchor_at + beat.unit_s * end_of(bin_))
        while at < end_at:
            rate, stop_at = 1.0, end_at
            if beat.heed > 0.0:
                rate, stop_at = rate_at(stirs, beat.slot, at)
                rate = 1.0 - beat.heed + beat.heed * rate
                stop_at = max(min(stop_at, end_at), at + 1e-3)
            rate *= habits.factor[beat.habit, bin_]
            if rate * (stop_at - at) >= own:
                return float(min(at + own / rate - beat.since_at, most_s))
            own -= rate * (stop_at - at)
            at = stop_at
        bin_ = min(bin_ + 1, N_BINS - 1)
    return most_s


@quick
def due_after_s(common: Common, beat: Beat, since_at: float, own: float, most_s: float) -> float:
    """The same in the world's time, after a visit at this moment of it."""
    shown = common.calendars.shown[calendar_of(beat.slot)]
    most_shown_s = shown_at(shown, since_at + most_s) - beat.since_at
    gap_s = real_s(common.habits, common.stirs, beat, own, most_shown_s)
    return moment(shown, beat.since_at + gap_s) - since_at


@quick
def take(
    row: Floats,
    common: Common,
    slot: int,
    since_at: float,
    at: float,
    changed: bool,
    after_s: float,
    shape: float,
    scale_s: float,
    forgetting: float,
) -> None:
    """Learn from a visit: the resource's row, its group's stirs and calendar, everybody's habits.

    `after_s` is how long before the visit the change was, where that is known, else NaN.
    """
    first = isnan(row[CHANGED_AT])
    habits, stirs = common.habits, common.stirs
    shown = common.calendars.shown[calendar_of(slot)]
    beat = beat_of(common, row, since_at, slot, scale_s / shape)
    shown_now = shown_at(shown, at)
    gap_s = max(shown_now - beat.since_at, 1e-3)
    a, b_s = row[X] + row[SHARE] * shape, row[T] + row[SHARE] * scale_s
    passed_s = max(own_s(habits, stirs, beat, shown_now), 1e-6 * gap_s)
    per_s = min(a / b_s, TELLING / gap_s)
    later_s = 0.0
    if isfinite(after_s):
        event_at = shown_at(shown, at - after_s)
        later = Beat(event_at, event_at, beat.unit_s, row_after(int(row[VERDICTS])), beat.heed, slot)
        later_s = own_s(habits, stirs, later, shown_now)
    if not first:  # of the first gap nobody knows how long ago a change was
        if common.forms:
            _form(habits, stirs, beat, shown_now, changed, passed_s, a, a / per_s)
        if slot >= 0:
            _heed(row, habits, stirs, beat, shown_now, changed, a, b_s)
    if slot >= 0:
        rouse(habits, stirs, beat, shown_now, changed, per_s, a, b_s)
    if common.marks and not first:
        mark(common.calendars, calendar_of(slot), since_at, at, changed, passed_s, a, a / per_s, True)
    kept = faded(a, shape, forgetting)
    a, b_s, share = a * kept, b_s * kept, row[SHARE] * kept
    if isfinite(after_s):
        a, b_s = a + 1.0, b_s + later_s
    else:
        a, b_s = informed(a, b_s, passed_s, changed, forgetting)
    row[X], row[T], row[SHARE] = max(a - share * shape, 0.0), max(b_s - share * scale_s, 0.0), share
    if first:
        row[CHANGED_AT] = since_at
    if changed:
        row[CHANGED_AT] = at - after_s if isfinite(after_s) else at
        row[SCALE] = min(max(b_s / a, SHORTEST_S), LONGEST_S)
        row[HABIT] = float(row_after(int(row[VERDICTS])))
    row[VERDICTS] = float((2 * int(row[VERDICTS]) + (1 if changed else 0)) & 7)


@quick
def _heed(
    row: Floats,
    habits: Habits,
    stirs: Stirs,
    beat: Beat,
    at: float,
    changed: bool,
    a: float,
    b_s: float,
) -> None:
    """Whether the group's clock foretold this better than the world's."""
    odds = 0.0
    for heed in (0.0, 1.0):
        alone = Beat(beat.since_at, beat.anchor_at, beat.unit_s, beat.habit, heed, beat.slot)
        quiet = exp(-a * log1p(own_s(habits, stirs, alone, at) / b_s))
        quiet = min(max(quiet, SURE), 1.0 - SURE)
        told = log(1.0 - quiet if changed else quiet)
        odds += told if heed > 0.0 else -told
    row[HEED] = (1.0 - FADING) * row[HEED] + odds


@quick
def rouse(
    habits: Habits,
    stirs: Stirs,
    beat: Beat,
    at: float,
    changed: bool,
    per_s: float,
    a: float,
    b_s: float,
) -> None:
    """The group's stirs, by what this visit found."""
    slot = beat.slot
    make_ready(stirs, slot, at - beat.since_at, at)
    low = first_cell(stirs, slot, beat.since_at)
    wide_s = width_s(stirs.level[slot])
    factor = np.ones(max(n_covered(stirs, slot, beat.since_at, at), 1))
    for k in range(len(factor)):
        age_s = max((low + k + 0.5) * wide_s - beat.anchor_at, 0.0)
        factor[k] = habits.factor[beat.habit, bin_of(age_s / beat.unit_s)]
    stir(stirs, slot, beat.since_at, at, changed, per_s, a, b_s, beat.heed, factor)


@quick
def _form(
    habits: Habits, stirs: Stirs, beat: Beat, at: float, changed: bool, own: float, a: float, b_s: float
) -> None:
    """Everybody's habit, by what this visit found."""
    per_s, share = known_after(own, changed, a, b_s)
    since_at = beat.since_at
    start = bin_of((since_at - beat.anchor_at) / beat.unit_s)
    bin_ = start
    while since_at < at:
        end_at = at
        if bin_ < N_BINS - 1:
            end_at = min(at, beat.anchor_at + beat.unit_s * end_of(bin_))
        if end_at > since_at:
            passed_s = (1.0 - beat.heed) * (end_at - since_at)
            if beat.heed > 0.0:
                passed_s += beat.heed * stirred_s(stirs, beat.slot, since_at, end_at)
            count(habits, beat.habit, bin_, per_s * passed_s, share)
            since_at = end_at
        bin_ = min(bin_ + 1, N_BINS - 1)
    for touched in range(start, N_BINS):
        settle(habits, beat.habit, touched)
