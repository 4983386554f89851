"""What a visit teaches.

The Gamma filter learns the rate in own time, so that a burst or a quiet week of the whole group is not taken
for the resource's nature.
"""

from __future__ import annotations

from math import exp, isfinite, isnan, log, log1p, nan

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.predictors.gamma import TELLING
from recrawl.learn.rhythms.beats import Beat, Common, beat_of, own_s
from recrawl.learn.rhythms.calendars import calendar_of, mark, shown_at
from recrawl.learn.rhythms.habits import (
    N_BINS,
    Habits,
    bin_of,
    count,
    end_of,
    happened,
    known_after,
    row_after,
    settle,
)
from recrawl.learn.rhythms.kin import check_kin, see_kin
from recrawl.learn.rhythms.rates import believe, gamma_of
from recrawl.learn.rhythms.rows import (
    CHANGED_AT,
    FADING,
    HABIT,
    HEED,
    LONGEST_S,
    SCALE,
    SHARE,
    SHORTEST_S,
    SURE,
    VERDICTS,
    T,
    X,
)
from recrawl.learn.rhythms.signals import heard
from recrawl.learn.rhythms.stirs import (
    Stirs,
    first_cell,
    make_ready,
    n_covered,
    rate_at,
    stir,
    stirred_s,
    width_s,
)
from recrawl.learn.scalar import faded, informed
from recrawl.model import Floats


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
    source: int,
    id_: int,
) -> None:
    """Learn from a visit: the resource's row, its group's stirs and calendar, everybody's habits.

    `after_s` is how long before the visit the change was, where that is known, else NaN; 0: it is a moment,
    and nothing happened before it. `source` is who had told of it, -1: nobody; `id_` is the resource's
    number. A change that was told of teaches nothing but that, as far as it was that one; but where all
    moments are known, none was seen only because somebody told.
    """
    first = isnan(row[CHANGED_AT])
    habits, stirs = common.habits, common.stirs
    shown = common.calendars.shown[calendar_of(slot)]
    beat = beat_of(common, row, since_at, slot, scale_s / shape)
    shown_now = shown_at(shown, at)
    gap_s = max(shown_now - beat.since_at, 1e-3)
    a, b_s = gamma_of(row, common.lean, shape, scale_s)
    passed_s = max(own_s(habits, stirs, beat, shown_now), 1e-6 * gap_s)
    exact = after_s == 0.0
    per_s = a / b_s if exact else min(a / b_s, TELLING / gap_s)
    due = 1.0 if source < 0 else heard(common.sources, source, a, b_s, passed_s, changed)
    due = 1.0 if exact else due
    check_kin(common.ties, id_, since_at, at, exp(-a * log1p(passed_s / b_s)), changed)
    later_s = passed_s if exact else 0.0
    if isfinite(after_s) and not exact:
        event_at = shown_at(shown, at - after_s)
        later = Beat(event_at, event_at, beat.unit_s, row_after(int(row[VERDICTS])), beat.heed, slot)
        later_s = own_s(habits, stirs, later, shown_now)
    if not first:  # of the first gap nobody knows how long ago a change was
        if common.forms:
            # Moments come by the dozen. Held against the rate that was believed of the resource before any
            # was seen, they would all be taken for a habit of everybody's: so they are against its own.
            a_own, b_own = (row[X], row[T]) if exact else (a, a / per_s)
            _form(habits, stirs, beat, shown_now, changed, exact, passed_s, a_own, b_own, due)
        if slot >= 0:
            _heed(row, habits, stirs, beat, shown_now, changed, exact, a, b_s, due)
    if slot >= 0:
        rouse(habits, stirs, beat, shown_now, changed, exact, per_s, a, b_s, due)
    if common.marks and not first:
        its, b = calendar_of(slot), a / per_s
        mark(common.calendars, its, since_at, at, changed, passed_s, a, b, due, True, exact)
    if common.lean > 0.0:
        known_s = later_s if isfinite(after_s) else nan
        believe(row, shape, scale_s, passed_s, changed, known_s, due)
    a, b_s = row[X] + row[SHARE] * shape, row[T] + row[SHARE] * scale_s
    kept = faded(a, shape, forgetting)
    a, b_s, share = a * kept, b_s * kept, row[SHARE] * kept
    if isfinite(after_s):
        after, after_b_s = a + 1.0, b_s + later_s
    else:
        after, after_b_s = informed(a, b_s, passed_s, changed, forgetting)
    a, b_s = a + due * (after - a), b_s + due * (after_b_s - b_s)
    row[X], row[T], row[SHARE] = max(a - share * shape, 0.0), max(b_s - share * scale_s, 0.0), share
    if first:
        row[CHANGED_AT] = since_at
    if changed:
        row[CHANGED_AT] = at - after_s if isfinite(after_s) else at
        a, b_s = gamma_of(row, common.lean, shape, scale_s)
        row[SCALE] = min(max(b_s / a, SHORTEST_S), LONGEST_S)
        row[HABIT] = float(row_after(int(row[VERDICTS])))
        see_kin(common.ties, id_, at - after_s if isfinite(after_s) else since_at, at)
    row[VERDICTS] = float((2 * int(row[VERDICTS]) + (1 if changed else 0)) & 7)


@quick
def _heed(
    row: Floats,
    habits: Habits,
    stirs: Stirs,
    beat: Beat,
    at: float,
    changed: bool,
    exact: bool,
    a: float,
    b_s: float,
    due: float,
) -> None:
    """Whether the group's clock foretold this better than the world's."""
    odds = 0.0
    for heed in (0.0, 1.0):
        alone = Beat(beat.since_at, beat.anchor_at, beat.unit_s, beat.habit, heed, beat.slot)
        longer = log1p(own_s(habits, stirs, alone, at) / b_s)
        quiet = min(max(exp(-a * longer), SURE), 1.0 - SURE)
        told = log(1.0 - quiet if changed else quiet)
        if exact:  # how dense moments are there, by the rate that the clock runs at
            pace = rate_at(stirs, beat.slot, at)[0] if heed > 0.0 else 1.0
            told = log(max(pace, SURE)) - (a + 1.0) * longer
        odds += told if heed > 0.0 else -told
    odds = min(max(odds, log(SURE)), -log(SURE))
    row[HEED] = (1.0 - FADING) * row[HEED] + due * odds


@quick
def rouse(
    habits: Habits,
    stirs: Stirs,
    beat: Beat,
    at: float,
    changed: bool,
    exact: bool,
    per_s: float,
    a: float,
    b_s: float,
    due: float,
) -> None:
    """The group's stirs, by what this visit found."""
    slot = beat.slot
    make_ready(stirs, slot, at - beat.since_at, at, exact)
    low = first_cell(stirs, slot, beat.since_at)
    wide_s = width_s(stirs.level[slot])
    factor = np.ones(max(n_covered(stirs, slot, beat.since_at, at), 1))
    for k in range(len(factor)):
        age_s = max((low + k + 0.5) * wide_s - beat.anchor_at, 0.0)
        factor[k] = habits.factor[beat.habit, bin_of(age_s / beat.unit_s)]
    stir(stirs, slot, beat.since_at, at, changed, per_s, a, b_s, beat.heed, due, factor, exact)


@quick
def _form(
    habits: Habits,
    stirs: Stirs,
    beat: Beat,
    at: float,
    changed: bool,
    exact: bool,
    own: float,
    a: float,
    b_s: float,
    due: float,
) -> None:
    """Everybody's habit, by what this visit found."""
    if exact:  # it need not be shared out
        per_s, share = (a + 1.0) / (b_s + own), 0.0
        happened(habits, beat.habit, bin_of((at - beat.anchor_at) / beat.unit_s), due)
    else:
        per_s, share = known_after(own, changed, a, b_s)
        share *= due
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
