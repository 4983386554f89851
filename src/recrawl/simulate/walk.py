"""The fast path: every resource walked through its own time, by compiled code.

A rule that looks at each resource alone needs no store and no line of what is due: its visits follow from its
own gaps and its resource's changes. The visits are those that the loop makes (tests/parity/test_walk.py).
"""

from __future__ import annotations

import numpy as np

from recrawl.compiled import callable_when_compiled, compiled
from recrawl.errors import BadInputError
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.scalar import learned
from recrawl.model import DAY_S, Floats, Ints
from recrawl.schedule.policies.rules.rule import Rule
from recrawl.schedule.policies.rules.step import STEPS, step
from recrawl.simulate.scalar import reached_gap
from recrawl.simulate.traces import Traces, Visits

callable_when_compiled(*STEPS)

START_GAP_S = 7 * DAY_S  # the gap that every rule begins with, where all begin alike


def walk(
    rule: Rule,
    traces: Traces,
    *,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
    min_gap_s: float | None = None,
    max_gap_s: float | None = None,
    start_gap_s: float | None = START_GAP_S,
) -> Visits:
    """The visits that a rule makes until `end_at`, that moment not included.

    Each resource holds a copy at `start_at` and is first visited `first_gap_s` later. Bounds that are given
    take the place of the rule's own; `start_gap_s` is its present gap at the start (None: its own).
    """
    held = rule.bounded(
        rule.min_gap_s if min_gap_s is None else min_gap_s,
        rule.max_gap_s if max_gap_s is None else max_gap_s,
        start_gap_s,
    )
    checked(traces, first_gap_s)
    bounds, at = _walked(
        held.code,
        np.array(held.numbers),
        held.rows(1)[0],
        gaps_at_start(held, traces, start_at=start_at, end_at=end_at),
        traces.bounds,
        traces.at,
        start_at,
        end_at,
        first_gap_s,
    )
    return Visits(bounds=bounds, at=at)


def gaps_at_start(rule: Rule, traces: Traces, *, start_at: float, end_at: float) -> Floats:
    """The gaps that the rule begins with. They do not move its first visits: when a rule that knows the
    future looks first would tell of it, and its comparison with others would hang on that."""
    if rule.foresight:
        return foreseen_gaps(traces, start_at, end_at, rule.min_gap_s, rule.max_gap_s)
    return np.full(len(traces), rule.rows(1)[0, 0])


def walk_index(
    traces: Traces,
    *,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
    min_gap_s: float,
    max_gap_s: float,
    price: float,
    goal: int,
    predictor: GammaFilter,
) -> Visits:
    """The visits that policy `index` makes at a constant price, with the Gamma filter's forecasts; or policy
    `proportional`, where `goal` (a number of `recrawl.simulate.scalar`) is `EXPECTED`."""
    checked(traces, first_gap_s)
    shape, scale_s = predictor.priors.of(
        traces.host + 1, traces.hunch_per_day
    )  # group 0 is for those of none
    bounds, at = _walked_by_index(
        goal,
        float(price),
        (shape, scale_s),
        float(predictor.forgetting),
        (float(min_gap_s), float(max_gap_s)),
        traces.weight,
        traces.bounds,
        traces.at,
        start_at,
        end_at,
        first_gap_s,
    )
    return Visits(bounds=bounds, at=at)


def foreseen_gaps(
    traces: Traces, start_at: float, end_at: float, min_gap_s: float, max_gap_s: float
) -> Floats:
    """The gold standard's: the length of the window over the number of changes in it, within the bounds."""
    inside = np.cumsum((traces.at > start_at) & (traces.at <= end_at))
    upto = np.concatenate([[0], inside])[traces.bounds]
    n_changes = np.diff(upto)
    return np.asarray(np.clip((end_at - start_at) / np.maximum(n_changes, 1e-9), min_gap_s, max_gap_s))


def checked(traces: Traces, first_gap_s: Floats) -> None:
    if len(first_gap_s) != len(traces):
        raise BadInputError(
            f"There are {len(traces)} resources and {len(first_gap_s)} first gaps; give one for each."
        )
    if len(first_gap_s) and not (first_gap_s >= 0.0).all():
        raise BadInputError("A first gap below 0 lies before the start; give gaps of 0 s or more.")


@compiled
def grown(at: Floats) -> Floats:
    """The same visits, with room for as many again."""
    room = np.empty(2 * len(at))
    room[: len(at)] = at
    return room


@compiled
def first_after(times: Floats, low: int, high: int, at: float) -> int:
    """The place of the first change after this moment."""
    while low < high:
        middle = (low + high) // 2
        if times[middle] <= at:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _walked(
    code: int,
    p: Floats,
    start: Floats,
    start_gap_s: Floats,
    bounds: Ints,
    times: Floats,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
) -> tuple[Ints, Floats]:
    n = len(bounds) - 1
    made = np.zeros(n + 1, np.int64)
    visits = np.empty(4096 + 16 * n)
    n_visits = 0
    row = np.empty(len(start))
    for i in range(n):
        row[:] = start
        row[0] = start_gap_s[i]
        last = bounds[i + 1]
        change = first_after(times, bounds[i], last, start_at)
        since = start_at
        at = start_at + first_gap_s[i]
        while at < end_at:
            if n_visits == len(visits):
                visits = grown(visits)
            visits[n_visits] = at
            n_visits += 1
            changed = change < last and times[change] <= at
            while change < last and times[change] <= at:
                change += 1
            gap_s = step(code, p, row, at, at - since, changed)
            since = at
            at += gap_s
        made[i + 1] = n_visits
    return made, visits[:n_visits].copy()


@compiled
def _walked_by_index(
    goal: int,
    price: float,
    prior: tuple[Floats, Floats],
    forgetting: float,
    bounds_s: tuple[float, float],
    weight: Floats,
    bounds: Ints,
    times: Floats,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
) -> tuple[Ints, Floats]:
    n = len(bounds) - 1
    made = np.zeros(n + 1, np.int64)
    visits = np.empty(4096 + 16 * n)
    n_visits = 0
    for i in range(n):
        a, b_s = prior[0][i], prior[1][i]
        last = bounds[i + 1]
        change = first_after(times, bounds[i], last, start_at)
        since = start_at
        at = start_at + first_gap_s[i]
        while at < end_at:
            if n_visits == len(visits):
                visits = grown(visits)
            visits[n_visits] = at
            n_visits += 1
            changed = change < last and times[change] <= at
            while change < last and times[change] <= at:
                change += 1
            a, b_s = learned(a, b_s, at - since, changed, prior[0][i], forgetting)
            since = at
            at += reached_gap(goal, a, b_s, weight[i], price, bounds_s[0], bounds_s[1])
        made[i + 1] = n_visits
    return made, visits[:n_visits].copy()
