"""The fast path for resources that teach each other: one line of what is due, in compiled code.

Policy `index` at a constant price with the forecasts of predictor `rhythm`. With `exact` everything is
planned anew every so often, as the loop does when it finds its price, and the visits are those that the loop
makes (tests/parity/test_rhythms.py says when). Without, only those are whose group was stirred, and how much
own time each has to wait stays as it was decided at its last visit: many times faster, and much the same
visits.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import floor, inf, log
from typing import NamedTuple

import numpy as np

from recrawl.compiled import compiled, quick
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.beats import Common, beat_of, nothing_in_common
from recrawl.learn.rhythms.forecasts import SCATTER
from recrawl.learn.rhythms.kin import no_ties, tied
from recrawl.learn.rhythms.lessons import joined
from recrawl.learn.rhythms.rows import BLANK
from recrawl.learn.rhythms.steps import take
from recrawl.model import Floats, Ints, KinTable
from recrawl.schedule.policies.index import N_POINTS, SOONEST
from recrawl.simulate.clocked import Terms, asked_s, due_at, gone_s, told_of
from recrawl.simulate.groups import Groups, grouped
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import checked, first_after

# Without `exact`: a group is planned anew when its clock has gone further than was thought by this share of
# its usual gap; and whoever turns out to be due later than was thought, by this share of its gap, waits on.
RISEN = 0.05
LATER = 0.02


class Known(NamedTuple):
    """Where each resource stands."""

    rows: Floats  # its memory
    since_at: Floats
    due_at: Floats
    own_s: Floats  # what has to pass until its next visit
    n_told: Ints
    stamp: Ints  # of its latest plan: earlier ones in the line are void
    change: Ints  # the place of its next change


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
    kin: KinTable | None = None,
) -> Visits:
    """The visits made until `end_at` by whoever has learned nothing yet but who is kin of whom, as numbers 1,
    2, 3 … in the order of the traces; of the predictor it takes the prior and the forgetting, and leaves it
    as it is."""
    checked(traces, first_gap_s)
    n = len(traces)
    group = traces.host.astype(np.int64) + 1  # group 0 is for those of none
    shape, scale_s = predictor.priors.of(group, traces.hunch_per_day)
    terms = Terms(
        goal,
        float(price),
        float(min_gap_s),
        float(max_gap_s),
        np.linspace(log(SOONEST * min_gap_s), log(max(max_gap_s, min_gap_s)), N_POINTS),
        traces.weight,
        np.broadcast_to(shape, n).copy(),
        np.broadcast_to(scale_s, n).copy(),
        float(predictor.forgetting),
        SCATTER if predictor.scouts else 0.0,
    )
    known = Known(
        np.tile(np.array(BLANK), (n, 1)),
        np.full(n, float(start_at)),
        start_at + first_gap_s,
        np.zeros(n),
        np.ones(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )
    groups, n_shared = grouped(group)
    rows, at = _walked(
        terms,
        _taught_nothing(predictor, n_shared)._replace(ties=tied(no_ties(n), kin or KinTable())),
        groups,
        known,
        traces.bounds,
        traces.at,
        float(start_at),
        float(end_at),
        float(replan_every_s),
        exact,
    )
    order = np.argsort(rows, kind="stable")  # they were made in the order of time
    return Visits(bounds=np.searchsorted(rows[order], np.arange(n + 1)).astype(np.int64), at=at[order])


def _taught_nothing(predictor: Rhythm, n_groups: int) -> Common:
    """With the parts that the predictor has."""
    own = predictor.common
    return nothing_in_common(n_groups)._replace(forms=own.forms, marks=own.marks, heed=own.heed)


@quick
def _replan(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    group: int,
    now: float,
    exact: bool,
    line: list[tuple[float, int, int]],
) -> None:
    """Plan a group anew, but for those whose first visit is still to come."""
    groups.risen_s[group] = 0.0
    for k in range(groups.ends[group], groups.ends[group + 1]):
        _replan_one(terms, common, groups, known, groups.order[k], now, exact, line)


@quick
def _replan_one(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    i: int,
    now: float,
    exact: bool,
    line: list[tuple[float, int, int]],
) -> None:
    if known.n_told[i] == 1:
        return
    group, row, since_at = groups.of[i], known.rows[i], known.since_at[i]
    slot = groups.slot[group] if groups.member[group] < 0 else -1
    beat = beat_of(common, row, since_at, slot, terms.scale_s[i] / terms.shape[i])
    if exact:
        known.own_s[i] = asked_s(terms, common, row, beat, i, known.n_told[i])
    at = max(due_at(terms, common, row, beat, since_at, known.own_s[i], i, now), now)
    if at != known.due_at[i]:
        known.due_at[i] = at
        known.stamp[i] += 1
        heappush(line, (at, i, known.stamp[i]))


@quick
def _waits(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    i: int,
    line: list[tuple[float, int, int]],
) -> bool:
    """Whether the first in the line goes back into it: its group may have been quieter than was thought when
    it was planned."""
    at, since_at, row = known.due_at[i], known.since_at[i], known.rows[i]
    group = groups.of[i]
    slot = groups.slot[group] if groups.member[group] < 0 else -1
    beat = beat_of(common, row, since_at, slot, terms.scale_s[i] / terms.shape[i])
    later_at = due_at(terms, common, row, beat, since_at, known.own_s[i], i, at)
    if later_at <= at + LATER * (at - since_at):
        return False
    heappop(line)
    known.due_at[i] = later_at
    heappush(line, (later_at, i, known.stamp[i]))
    return True


@quick
def _visit(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    i: int,
    at: float,
    changed: bool,
    line: list[tuple[float, int, int]],
) -> bool:
    """Learn from a visit and plan the next; whether its group is to be planned anew for it."""
    group, since_at = groups.of[i], known.since_at[i]
    slot = joined(groups.slot, groups.member, group, i + 1)
    before_s = gone_s(common, slot, since_at, at)
    take(
        known.rows[i],
        common,
        slot,
        since_at,
        at,
        changed,
        np.nan,
        terms.shape[i],
        terms.scale_s[i],
        terms.forgetting,
        -1,
        i + 1,
    )
    rises = False
    if slot >= 0 and groups.risen_s[group] < inf:
        groups.risen_s[group] += max(gone_s(common, slot, since_at, at) - before_s, 0.0)
        rises = groups.risen_s[group] > RISEN * 2.0 ** common.stirs.log_gap[slot]
        if rises:
            groups.risen_s[group] = inf
    known.since_at[i] = at
    known.n_told[i] += 1
    beat = beat_of(common, known.rows[i], at, slot, terms.scale_s[i] / terms.shape[i])
    known.own_s[i] = asked_s(terms, common, known.rows[i], beat, i, known.n_told[i])
    known.due_at[i] = due_at(terms, common, known.rows[i], beat, at, known.own_s[i], i, at)
    known.stamp[i] += 1
    heappush(line, (known.due_at[i], i, known.stamp[i]))
    return rises


@compiled
def _walked(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    bounds: Ints,
    times: Floats,
    start_at: float,
    end_at: float,
    every_s: float,
    exact: bool,
) -> tuple[Ints, Floats]:
    n = len(known.due_at)
    line = [(start_at, 0, 0)]
    line.pop()
    for i in range(n):
        known.change[i] = first_after(times, bounds[i], bounds[i + 1], start_at)
        heappush(line, (known.due_at[i], i, 0))
    stirred, told = [0], [0]
    stirred.pop()
    told.pop()
    ends, whom = told_of(common.ties, n)
    made, of, n_made, n_planned = np.empty(4096 + 16 * n), np.empty(4096 + 16 * n, np.int64), 0, 0
    replan_at = start_at + every_s
    while len(line) > 0:
        at, i, stamp = line[0]
        if stamp != known.stamp[i]:
            heappop(line)
        elif at >= min(replan_at, end_at):
            unlearned = n_made == n_planned  # every plan stands
            if at >= end_at and (unlearned or replan_at >= end_at):
                break
            if unlearned:
                replan_at = start_at + every_s * (floor((at - start_at) / every_s) + 1.0)
                continue
            if exact:
                for g in range(1, len(groups.slot)):
                    _replan(terms, common, groups, known, g, replan_at, True, line)
            else:
                for g in stirred:
                    _replan(terms, common, groups, known, g, replan_at, False, line)
                for k in told:
                    _replan_one(terms, common, groups, known, k, replan_at, False, line)
                stirred.clear()
                told.clear()
            n_planned = n_made
            replan_at += every_s
        elif exact or known.n_told[i] == 1 or not _waits(terms, common, groups, known, i, line):
            heappop(line)
            if n_made == len(made):
                made, of = np.concatenate((made, made)), np.concatenate((of, of))  # room for as many again
            made[n_made], of[n_made] = at, i
            n_made += 1
            changed = known.change[i] < bounds[i + 1] and times[known.change[i]] <= at
            while known.change[i] < bounds[i + 1] and times[known.change[i]] <= at:
                known.change[i] += 1
            if _visit(terms, common, groups, known, i, at, changed, line):
                stirred.append(groups.of[i])
            if changed and not exact:
                told.extend(whom[ends[i] : ends[i + 1]])
    return of[:n_made].copy(), made[:n_made].copy()
