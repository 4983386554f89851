"""The fast path for resources that teach each other: one line of what is due, in compiled code.

Policy `index` at a constant price with the forecasts of predictor `rhythm`. With `exact` everything is
planned anew every so often, as the loop does when it finds its price, and the visits are those that the loop
makes (tests/parity/test_rhythms.py says when). Without, only those are whose group was stirred, and how much
own time each has to wait stays as it was decided at its last visit: many times faster, and much the same
visits. Whoever is due is asked once more whether it need not wait on, as the loop does with what it claims;
without `waiting` it is visited.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from math import floor, log
from typing import NamedTuple

import numpy as np

from recrawl.compiled import compiled
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.beats import Common, nothing_in_common
from recrawl.learn.rhythms.forecasts import SCATTER
from recrawl.learn.rhythms.kin import no_ties, tied
from recrawl.learn.rhythms.rows import BLANK
from recrawl.model import Floats, Ints, KinTable, Priors
from recrawl.schedule.policies.index import N_POINTS, SOONEST
from recrawl.simulate.clocked import Terms, told_of
from recrawl.simulate.groups import Groups, grouped
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.turns import Known, replan, replan_one, visit, waits
from recrawl.simulate.walk import checked, first_after


class Fits(NamedTuple):
    """When the prior is exchanged, in rising order, and for which: what the visits made so far tell."""

    at: Sequence[float]
    fit: Callable[[Visits], Priors]


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
    waiting: bool = True,
    kin: KinTable | None = None,
    fits: Fits | None = None,
) -> Visits:
    """The visits made until `end_at` by whoever has learned nothing yet but who is kin of whom, as numbers 1,
    2, 3 … in the order of the traces; of the predictor it takes the prior and the forgetting, and leaves it
    as it is. With `fits` the prior is exchanged on the way, as the loop does."""
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
    common = _taught_nothing(predictor, n_shared)._replace(ties=tied(no_ties(n), kin or KinTable()))
    stops = [] if fits is None else [at for at in fits.at if start_at < at < end_at]
    made = Visits(bounds=np.zeros(n + 1, dtype=np.int64), at=np.empty(0))
    parts: list[tuple[Ints, Floats]] = []
    for begun_at, until_at in pairwise([float(start_at), *stops, float(end_at)]):
        if fits is not None and parts:
            shape, scale_s = fits.fit(made).of(group, traces.hunch_per_day)
            terms = terms._replace(shape=shape, scale_s=scale_s)
        parts.append(
            _walked(
                terms,
                common,
                groups,
                known,
                traces.bounds,
                traces.at,
                float(start_at),
                begun_at,
                until_at,
                float(replan_every_s),
                exact,
                waiting,
            )
        )
        made = _in_rows(parts, n)
    return made


def _in_rows(parts: Sequence[tuple[Ints, Floats]], n: int) -> Visits:
    """Visits that were made in the order of time, resource by resource."""
    rows, at = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(rows, kind="stable")
    return Visits(bounds=np.searchsorted(rows[order], np.arange(n + 1)).astype(np.int64), at=at[order])


def _taught_nothing(predictor: Rhythm, n_groups: int) -> Common:
    """With the parts that the predictor has."""
    own = predictor.common
    return nothing_in_common(n_groups)._replace(
        forms=own.forms, marks=own.marks, lean=own.lean, heed=own.heed
    )


@compiled
def _walked(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    bounds: Ints,
    times: Floats,
    start_at: float,
    begun_at: float,
    end_at: float,
    every_s: float,
    exact: bool,
    waiting: bool,
) -> tuple[Ints, Floats]:
    """From `start_at` on; or, where the walk is begun, on from there with other priors."""
    n = len(known.due_at)
    line = [(start_at, 0, 0)]
    line.pop()
    for i in range(n):
        if begun_at == start_at:
            known.change[i] = first_after(times, bounds[i], bounds[i + 1], start_at)
        heappush(line, (known.due_at[i], i, known.stamp[i]))
    if begun_at > start_at:
        for g in range(1, len(groups.slot)):
            replan(terms, common, groups, known, g, begun_at, True, line)
    stirred, told = [0], [0]
    stirred.pop()
    told.pop()
    ends, whom = told_of(common.ties, n)
    made, of, n_made, n_planned = np.empty(4096 + 16 * n), np.empty(4096 + 16 * n, np.int64), 0, 0
    replan_at = start_at + every_s * (floor((begun_at - start_at) / every_s) + 1.0)
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
                if replan_at <= at:  # the quotient was rounded below the whole number that it is
                    replan_at += every_s
                continue
            if exact:
                for g in range(1, len(groups.slot)):
                    replan(terms, common, groups, known, g, replan_at, True, line)
            else:
                for g in stirred:
                    replan(terms, common, groups, known, g, replan_at, False, line)
                for k in told:
                    replan_one(terms, common, groups, known, k, replan_at, False, line)
                stirred.clear()
                told.clear()
            n_planned = n_made
            replan_at += every_s
        elif not waiting or known.n_told[i] == 1 or not waits(terms, common, groups, known, i, exact, line):
            heappop(line)
            if n_made == len(made):
                made, of = np.concatenate((made, made)), np.concatenate((of, of))  # room for as many again
            made[n_made], of[n_made] = at, i
            n_made += 1
            changed = known.change[i] < bounds[i + 1] and times[known.change[i]] <= at
            while known.change[i] < bounds[i + 1] and times[known.change[i]] <= at:
                known.change[i] += 1
            if visit(terms, common, groups, known, i, at, changed, line):
                stirred.append(groups.of[i])
            if changed and not exact:
                told.extend(whom[ends[i] : ends[i + 1]])
    return of[:n_made].copy(), made[:n_made].copy()
