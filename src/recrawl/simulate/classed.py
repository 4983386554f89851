"""Policies of rate classes, walked in columns: everybody's next visit at once.

Nobody's visit tells of another, so visits need not be made in the order of time: in the n-th turn every
resource makes its n-th visit. The policies are those of the loop, so their rules are written down once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np

from recrawl.errors import BadInputError
from recrawl.memberships import BELIEF
from recrawl.model import Floats, Ints, RateClass
from recrawl.schedule.policies.classes import BayesianPolicy, HistoricPolicy
from recrawl.simulate.columns import Known
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import checked

ClassPolicy = HistoricPolicy | BayesianPolicy


def walk_classed(
    policy: ClassPolicy,
    traces: Traces,
    *,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
    min_gap_s: float = 0.0,
    max_gap_s: float = inf,
) -> Visits:
    """The visits made until `end_at`, that moment not included. The policy begins as it is given and knows
    the resources as 1, 2, 3 … in the order of the traces; what it has learned can be asked for afterwards."""
    checked(traces, first_gap_s)
    known = Known(traces, start_at, min_gap_s, max_gap_s)
    kept: list[tuple[Ints, Floats]] = []
    rows, at = np.arange(len(traces)), start_at + first_gap_s
    while (going := at < end_at).any():
        rows, at = rows[going], at[going]
        seen = known.visit(rows, at)
        policy.learn(seen)
        kept.append((rows, at))
        at = at + np.clip(policy.interval_s(seen.id, seen.hunch_gap_s), min_gap_s, max_gap_s)
    return _visits(kept, len(traces))


def final_classes(
    by: str,
    classes: Sequence[RateClass],
    start_class: Ints,
    traces: Traces,
    *,
    start_at: float,
    end_at: float,
    belief: float = BELIEF,
) -> Ints:
    """The class that each resource is in at `end_at`, by its place in the table, after visits at the
    intervals of the classes that it went through; the first comes an interval after `start_at`.

    `by` is `historic` or `bayesian`. With the latter, `belief` is how probable the class to start in is taken
    to be: one over their number believes no more in it than in the others.
    """
    if by not in ("historic", "bayesian"):
        raise BadInputError(f"No classes are found by {by!r}; choose historic or bayesian.")
    if len(start_class) != len(traces) or not np.isin(start_class, np.arange(len(classes))).all():
        raise BadInputError(
            f"Every resource starts in one of the {len(classes)} classes; give a place from 0 on for each."
        )
    policy = HistoricPolicy(classes) if by == "historic" else BayesianPolicy(classes, belief)
    first_gap_s = policy.table.interval_s[start_class]
    begun = replace(traces, hunch_gap_s=first_gap_s)
    walk_classed(policy, begun, start_at=start_at, end_at=end_at, first_gap_s=first_gap_s)
    return policy.classes(np.arange(1, len(traces) + 1), first_gap_s)


def _visits(turns: Sequence[tuple[Ints, Floats]], n: int) -> Visits:
    """Whoever makes a visit in a turn has made one in each turn before: its place is known."""
    n_visits = np.zeros(n, dtype=np.int64)
    for rows, _ in turns:
        n_visits[rows] += 1
    bounds = np.concatenate([[0], np.cumsum(n_visits)])
    at = np.empty(bounds[-1])
    for turn, (rows, made_at) in enumerate(turns):
        at[bounds[rows] + turn] = made_at
    return Visits(bounds=bounds, at=at)
