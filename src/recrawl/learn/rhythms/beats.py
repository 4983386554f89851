"""One resource's own time.

A resource changes at its own rate in its own time. That runs faster or slower than the world's: by the hour
and the day, by its habit after a change, and by its group's stirs as far as it heeds them.
"""

from __future__ import annotations

from math import exp, isnan
from typing import NamedTuple

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.rhythms.calendars import Calendars, calendar_of, moment, no_calendars, shown_at
from recrawl.learn.rhythms.habits import N_BINS, Habits, bin_of, end_of, no_habits
from recrawl.learn.rhythms.kin import Ties, no_ties
from recrawl.learn.rhythms.rates import LEAN
from recrawl.learn.rhythms.rows import CHANGED_AT, HABIT, HEED, SCALE
from recrawl.learn.rhythms.signals import Sources, no_sources
from recrawl.learn.rhythms.stirs import Stirs, no_stirs, rate_at, stirred_s
from recrawl.model import Floats

# Log odds that a resource of a group goes with it, before anything is seen: they mostly do.
TRUST = 1.0


class Common(NamedTuple):
    """What resources teach each other, and which of it counts."""

    habits: Habits
    stirs: Stirs
    calendars: Calendars
    sources: Sources
    ties: Ties
    forms: bool = True  # whether habits are learned
    marks: bool = True  # whether calendars are
    lean: float = LEAN  # how far rates are believed as the grid has them; 0: as the Gamma filter does
    heed: float = np.nan  # how far everybody heeds its group; NaN: as far as each was seen to


def nothing_in_common(n_groups: int) -> Common:
    """Before anything was seen, with room for so many groups."""
    return Common(no_habits(), no_stirs(n_groups), no_calendars(n_groups + 1), no_sources(0), no_ties(0))


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
