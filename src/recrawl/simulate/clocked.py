"""The index policy's step for one resource that lives in a time of its own.

The same sums as `schedule.policies.index` has for columns; tests/parity/test_rhythms.py holds the two to the
same visits.
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import NamedTuple

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.rhythms.beats import Beat, Common, due_after_s
from recrawl.learn.rhythms.calendars import calendar_of, shown_at
from recrawl.learn.rhythms.forecasts import integral
from recrawl.learn.rhythms.habits import N_BINS, Habits, bin_of, end_of
from recrawl.learn.rhythms.kin import Ties, first_told_at, told_by_kin
from recrawl.learn.rhythms.rates import gamma_of
from recrawl.learn.rhythms.signals import before_leap_s
from recrawl.learn.rhythms.stirs import stirred_s, unevenness
from recrawl.learn.rhythms.timings import timed_s
from recrawl.model import Floats, Ints
from recrawl.schedule.closed import CAPTURE, FRESH, FRESH_HARMONIC, PROMPT
from recrawl.schedule.policies.index import OPEN


class Terms(NamedTuple):
    """What visits are worth, and what is believed of each resource before it was seen."""

    goal: int
    price: float
    min_gap_s: float
    max_gap_s: float
    log_gap: Floats  # the grid on which the worth is laid out
    weight: Floats
    shape: Floats
    scale_s: Floats
    forgetting: float
    scatter: float  # by what share the scouts of a group come sooner or later


@quick
def asked_s(terms: Terms, common: Common, row: Floats, beat: Beat, i: int, n_told: int) -> float:
    """The own time after which a visit is worth the price, a little more or less for those that scout."""
    if _free(terms, i):
        return 0.0
    a, b_s = gamma_of(row, common.lean, terms.shape[i], terms.scale_s[i])
    gap_s = _gap(terms.goal, a, b_s, log(terms.price), terms.weight[i], common.habits, beat, terms.log_gap)
    own_s = usual_s(common.habits, beat, gap_s)
    if beat.slot < 0:
        return own_s
    share = terms.scatter * beat.heed * unevenness(common.stirs.evidence[beat.slot])
    sway = share * (2.0 * _scattered(i + 1, n_told) - 1.0)
    return own_s * (1.0 + sway * min(OPEN * exp(-a * log1p(own_s / b_s)), 1.0))


@quick
def _free(terms: Terms, i: int) -> bool:
    return bool(terms.price <= 0.0 < terms.weight[i])


@quick
def _gap(
    goal: int, a: float, b_s: float, wanted: float, weight: float, habits: Habits, beat: Beat, log_gap: Floats
) -> float:
    """The gap at which the worth, as habits alone have it, first reaches the price: read off the same grid
    as `schedule.policies.index` lays out."""
    if weight <= 0.0:
        return exp(log_gap[-1])
    own, survived, passed, at_s, rate = 0.0, 0.0, 0.0, 0.0, 1.0
    age_s = beat.since_at - beat.anchor_at
    bin_ = bin_of(age_s / beat.unit_s)
    best = log(1e-300)
    for k in range(len(log_gap)):
        t_s = exp(log_gap[k])
        while at_s < t_s:
            end_s = inf if bin_ == N_BINS - 1 else beat.unit_s * end_of(bin_) - age_s
            stop_s = min(end_s, t_s)
            rate = habits.factor[beat.habit, bin_]
            if stop_s > at_s:
                before, own = own, own + rate * (stop_s - at_s)
                if goal in (FRESH, FRESH_HARMONIC):
                    survived += (integral(a, b_s, own) - integral(a, b_s, before)) / rate
                passed += (stop_s - at_s) * (before + own) / 2.0
                at_s = stop_s
            if end_s <= at_s:
                bin_ += 1
        if bin_ < N_BINS:
            rate = habits.factor[beat.habit, bin_]
        now = log(max(weight * _worth(goal, a, b_s, t_s, own, survived, passed, rate), 1e-300))
        last, best = best, max(best, now)
        if best >= wanted:
            if k == 0:
                return t_s
            share = (wanted - last) / (best - last) if best > last else 0.0
            share = min(max(share, 0.0), 1.0)
            return exp(log_gap[k - 1] + share * (log_gap[k] - log_gap[k - 1]))
    return exp(log_gap[-1])


@quick
def _worth(
    goal: int, a: float, b_s: float, t_s: float, own: float, survived: float, passed: float, rate: float
) -> float:
    if goal == FRESH_HARMONIC:
        return t_s - survived
    if goal not in (FRESH, CAPTURE):
        return a / b_s * (t_s * own - passed)
    survival = exp(-a * log1p(own / b_s))
    if goal == FRESH:
        return survived - t_s * survival
    return 1.0 - survival - t_s * rate * a / (b_s + own) * survival


@quick
def usual_s(habits: Habits, beat: Beat, t_s: float) -> float:
    """The own time that passes within `t_s` by habit alone."""
    age_s = beat.since_at - beat.anchor_at
    bin_ = bin_of(age_s / beat.unit_s)
    own, at_s = 0.0, 0.0
    while at_s < t_s:
        end_s = inf if bin_ == N_BINS - 1 else beat.unit_s * end_of(bin_) - age_s
        stop_s = min(end_s, t_s)
        if stop_s > at_s:
            own += habits.factor[beat.habit, bin_] * (stop_s - at_s)
            at_s = stop_s
        bin_ = min(bin_ + 1, N_BINS - 1)
    return own


@quick
def _scattered(id_: int, n_told: int) -> float:
    """As `schedule.jitter` has it."""
    of = np.uint64(id_) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(n_told)
    mixed = (of ^ (of >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float(mixed ^ (mixed >> np.uint64(31))) / 2.0**64


@quick
def due_at(
    terms: Terms, common: Common, row: Floats, beat: Beat, since_at: float, own_s: float, i: int, now: float
) -> float:
    """When so much own time has passed since the last visit, or sooner by what its kin have told by now."""
    if _free(terms, i):
        return since_at + terms.min_gap_s
    if terms.price == inf:
        return since_at + terms.max_gap_s
    gap_s = due_after_s(common, beat, since_at, own_s, terms.max_gap_s)
    timely = terms.goal in (FRESH, FRESH_HARMONIC, PROMPT)
    q = told_by_kin(common.ties, i + 1, since_at, now) if timely else 0.0
    if q > 0.0:
        a, b_s = gamma_of(row, common.lean, terms.shape[i], terms.scale_s[i])
        before_s = before_leap_s(own_s, a, b_s, q, terms.goal == PROMPT)
        leapt_s = due_after_s(common, beat, since_at, before_s, terms.max_gap_s)
        told_s = first_told_at(common.ties, i + 1, since_at, now) - since_at
        gap_s = min(gap_s, max(leapt_s, told_s))
    elif timely:
        gap_s = timed_s(common.calendars, calendar_of(beat.slot), since_at, gap_s)
    return since_at + min(max(gap_s, terms.min_gap_s), terms.max_gap_s)


@quick
def told_of(ties: Ties, n: int) -> tuple[Ints, Ints]:
    """Whom each of so many resources tells of: where its own begin, and who they are."""
    ends = np.zeros(n + 1, np.int64)
    for i in range(n):
        for of in ties.of[ties.row[i + 1]]:
            if of > 0:
                ends[of] += 1
    ends = np.cumsum(ends)
    place, who = ends.copy(), np.zeros(ends[n], np.int64)
    for i in range(n):
        for of in ties.of[ties.row[i + 1]]:
            if of > 0:
                who[place[of - 1]] = i
                place[of - 1] += 1
    return ends, who


@quick
def gone_s(common: Common, slot: int, since_at: float, at: float) -> float:
    """How far a group's clock went between two moments."""
    if slot < 0:
        return 0.0
    shown = common.calendars.shown[calendar_of(slot)]
    return stirred_s(common.stirs, slot, shown_at(shown, since_at), shown_at(shown, at))
