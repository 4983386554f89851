"""The fast path for resources that teach each other: one line of what is due, in compiled code.

Policy `index` at a constant price with the forecasts of predictor `rhythm`. With `exact` everything is
planned anew every so often, as the loop does when it finds its price, and the visits are those that the loop
makes (tests/parity/test_rhythms.py). Without, only those are whose group was stirred, and how much own time
each has to wait stays as it was decided at its last visit: many times faster, and much the same visits.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import exp, floor, inf, log, log1p

import numpy as np

from recrawl.compiled import compiled
from recrawl.learn.predictors.rhythm import Rhythm, joined
from recrawl.learn.rhythms.forecasts import SCATTER, integral
from recrawl.learn.rhythms.habits import N_BINS, Habits, bin_of, end_of
from recrawl.learn.rhythms.steps import BLANK, SHARE, Beat, T, X, beat_of, real_s, take
from recrawl.learn.rhythms.stirs import Stirs, no_stirs, stirred_s
from recrawl.model import Floats, Ints
from recrawl.schedule.closed import CAPTURE, FRESH, FRESH_HARMONIC
from recrawl.schedule.policies.index import N_POINTS, SOONEST
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import checked, first_after, grown

# Without `exact`: a group is planned anew when its clock has gone further than was thought by this share of
# its usual gap; and whoever turns out to be due later than was thought, by this share of its gap, waits on.
RISEN = 0.05
LATER = 0.02


def walk_rhythm(
    traces: Traces,
    *,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
    min_gap_s: float,
    max_gap_s: float,
    price: float,
    goal: int,
    predictor: Rhythm,
    replan_every_s: float,
    exact: bool = False,
) -> Visits:
    """The visits made until `end_at`, by a predictor that has learned nothing yet."""
    checked(traces, first_gap_s)
    n = len(traces)
    shape, scale_s = predictor.priors.of(traces.host + 1)  # group 0 is for those of none
    counts = np.bincount(traces.host, minlength=1)
    slot = np.concatenate([[-1], np.where(counts > 1, np.cumsum(counts > 1) - 1, -1)])
    rows, at = _walked(
        goal,
        float(price),
        (np.broadcast_to(shape, n).copy(), np.broadcast_to(scale_s, n).copy(), float(predictor.forgetting)),
        predictor.habits,
        no_stirs(int((counts > 1).sum())),
        slot.astype(np.int64),
        traces.host.astype(np.int64) + 1,
        np.linspace(log(SOONEST * min_gap_s), log(max(max_gap_s, min_gap_s)), N_POINTS),
        (float(min_gap_s), float(max_gap_s)),
        traces.weight,
        traces.bounds,
        traces.at,
        (float(start_at), float(end_at), float(replan_every_s)),
        first_gap_s,
        exact,
    )
    order = np.argsort(rows, kind="stable")  # they were made in the order of time
    return Visits(bounds=np.searchsorted(rows[order], np.arange(n + 1)).astype(np.int64), at=at[order])


@compiled
def _walked(
    goal: int,
    price: float,
    prior: tuple[Floats, Floats, float],
    habits: Habits,
    stirs: Stirs,
    slot: Ints,
    group: Ints,
    log_gap: Floats,
    bounds_s: tuple[float, float],
    weight: Floats,
    bounds: Ints,
    times: Floats,
    window: tuple[float, float, float],
    first_gap_s: Floats,
    exact: bool,
) -> tuple[Ints, Floats]:
    start_at, end_at, every_s = window
    n = len(bounds) - 1
    rows = np.empty((n, len(BLANK)))
    for k in range(len(BLANK)):
        rows[:, k] = BLANK[k]
    member = np.zeros(len(slot), np.int64)
    since_at = np.full(n, start_at)
    due_at = start_at + first_gap_s
    own = np.zeros(n)  # what has to pass until the next visit
    n_told = np.ones(n, np.int64)
    stamp = np.zeros(n, np.int64)
    change = np.empty(n, np.int64)
    line = [(due_at[0], 0, 0)]
    line.pop()
    for i in range(n):
        change[i] = first_after(times, bounds[i], bounds[i + 1], start_at)
        heappush(line, (due_at[i], i, 0))
    order = np.argsort(group, kind="mergesort")
    ends = np.searchsorted(group[order], np.arange(len(slot) + 1))
    touched = np.zeros(len(slot), np.bool_)
    risen_s = np.zeros(len(slot))
    stirred = [0]
    stirred.pop()
    every = list(range(1, len(slot)))
    made, of, n_made = np.empty(4096 + 16 * n), np.empty(4096 + 16 * n, np.int64), 0
    replan_at = start_at + every_s
    while len(line) > 0:
        at, i, of_stamp = line[0]
        if at >= end_at:
            break
        if of_stamp != stamp[i]:
            heappop(line)
            continue
        if not exact and at < replan_at and n_told[i] > 1:
            # its group may have been quieter than was thought when it was planned
            due = _due(
                prior, habits, stirs, rows[i], since_at[i], _slot(slot, member, group[i]), own[i], bounds_s, i
            )
            if due > at + LATER * (at - since_at[i]):
                heappop(line)
                due_at[i] = due
                heappush(line, (due, i, of_stamp))
                continue
        if at >= replan_at:
            for g in every if exact else stirred:
                touched[g] = False
                risen_s[g] = 0.0
                here = _slot(slot, member, g)
                for k in range(ends[g], ends[g + 1]):
                    j = order[k]
                    if n_told[j] == 1:
                        continue
                    if exact:
                        own[j] = _asked(
                            goal,
                            price,
                            prior,
                            habits,
                            rows[j],
                            since_at[j],
                            here,
                            weight[j],
                            log_gap,
                            j,
                            n_told[j],
                        )
                    due = _due(prior, habits, stirs, rows[j], since_at[j], here, own[j], bounds_s, j)
                    due = max(due, replan_at)
                    if due != due_at[j]:
                        due_at[j] = due
                        stamp[j] += 1
                        heappush(line, (due, j, stamp[j]))
            stirred.clear()
            replan_at = start_at + every_s * (floor((at - start_at) / every_s) + 1.0)
            continue
        heappop(line)
        if n_made == len(made):
            made = grown(made)
            room = np.empty(2 * len(of), np.int64)
            room[: len(of)] = of
            of = room
        made[n_made], of[n_made] = at, i
        n_made += 1
        changed = change[i] < bounds[i + 1] and times[change[i]] <= at
        while change[i] < bounds[i + 1] and times[change[i]] <= at:
            change[i] += 1
        g = group[i]
        here = joined(slot, member, g, i + 1)
        passed_s = stirred_s(stirs, here, since_at[i], at) if here >= 0 else 0.0
        take(
            rows[i], habits, stirs, here, since_at[i], at, changed, np.nan, prior[0][i], prior[1][i], prior[2]
        )
        if here >= 0:
            risen_s[g] += max(stirred_s(stirs, here, since_at[i], at) - passed_s, 0.0)
            if not touched[g] and risen_s[g] > RISEN * 2.0 ** stirs.log_gap[here]:
                touched[g] = True
                stirred.append(g)
        since_at[i] = at
        n_told[i] += 1
        own[i] = _asked(goal, price, prior, habits, rows[i], at, here, weight[i], log_gap, i, n_told[i])
        due_at[i] = _due(prior, habits, stirs, rows[i], at, here, own[i], bounds_s, i)
        stamp[i] += 1
        heappush(line, (due_at[i], i, stamp[i]))
    return of[:n_made].copy(), made[:n_made].copy()


@compiled
def _slot(slot: Ints, member: Ints, group: int) -> int:
    return slot[group] if member[group] < 0 else -1


@compiled
def _due(
    prior: tuple[Floats, Floats, float],
    habits: Habits,
    stirs: Stirs,
    row: Floats,
    since_at: float,
    slot: int,
    own: float,
    bounds_s: tuple[float, float],
    i: int,
) -> float:
    beat = beat_of(row, since_at, slot, prior[1][i] / prior[0][i])
    gap_s = real_s(habits, stirs, beat, own, bounds_s[1])
    return since_at + min(max(gap_s, bounds_s[0]), bounds_s[1])


@compiled
def _asked(
    goal: int,
    price: float,
    prior: tuple[Floats, Floats, float],
    habits: Habits,
    row: Floats,
    since_at: float,
    slot: int,
    weight: float,
    log_gap: Floats,
    i: int,
    n_told: int,
) -> float:
    """The own time after which a visit is worth the price, a little more or less for those that scout."""
    a, b_s = row[X] + row[SHARE] * prior[0][i], row[T] + row[SHARE] * prior[1][i]
    beat = beat_of(row, since_at, slot, prior[1][i] / prior[0][i])
    own = _usual(habits, beat, _gap(goal, a, b_s, log(price), weight, habits, beat, log_gap))
    return own * (1.0 + SCATTER * beat.heed * (2.0 * _scattered(i + 1, n_told) - 1.0))


@compiled
def _gap(
    goal: int, a: float, b_s: float, wanted: float, weight: float, habits: Habits, beat: Beat, log_gap: Floats
) -> float:
    """The gap at which the worth, as habits alone have it, first reaches the price: read off the same grid
    as `schedule.policies.index` lays out."""
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


@compiled
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


@compiled
def _usual(habits: Habits, beat: Beat, t_s: float) -> float:
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


@compiled
def _scattered(id_: int, n_told: int) -> float:
    """As `schedule.jitter` has it."""
    of = np.uint64(id_) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(n_told)
    mixed = (of ^ (of >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float(mixed ^ (mixed >> np.uint64(31))) / 2.0**64
