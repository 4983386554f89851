"""The few measures that the demo shows, of a run that starts without copies, in NumPy alone.

The demo is for everybody, also where nothing is installed that compiles loops. `measures` has all measures;
with `held=False` it gives the same figures (tests/unit/test_measures.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.model import DAY_S, Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainScore:
    resources: int
    visits: int
    changes: int
    observed: int
    recall: float
    precision: float
    freshness: float
    delay_days_mean: float


def plain_score(
    events: Sequence[Floats],
    visit_id: Ints,
    visit_at: Floats,
    *,
    start_at: float,
    end_at: float,
    n_visits: int | None = None,
) -> PlainScore:
    """Scores visits `(visit_id, visit_at)` to resources whose true times of change are `events`.

    `n_visits` counts those that were paid for, where some of them brought nothing and are not given.
    """
    paid = len(visit_id) if n_visits is None else n_visits
    inside = (visit_at >= start_at) & (visit_at <= end_at)
    visit_id, visit_at = visit_id[inside], visit_at[inside]
    order = np.lexsort((visit_at, visit_id))
    ids, times = visit_id[order], visit_at[order]
    bounds = np.searchsorted(ids, np.arange(len(events) + 1))
    n_true = n_seen = 0
    fresh_s = delay_s = 0.0
    n_reached = 0
    for i, all_events in enumerate(events):
        visits = times[bounds[i] : bounds[i + 1]]
        within = all_events[(all_events > start_at) & (all_events <= end_at)]
        n_true += len(within)
        if not len(visits):
            continue
        version = np.searchsorted(within, visits, "right")
        n_seen += int((np.diff(version) > 0).sum())
        # a copy stays fresh from its visit to the next change, or to the next visit, or to the end
        until = np.append(within, end_at)[version]
        fresh_s += float(np.minimum(until, np.append(visits[1:], end_at)).sum() - visits.sum())
        after = np.searchsorted(visits, within, "left")
        reached = after < len(visits)
        n_reached += int(reached.sum())
        delay_s += float((visits[after[reached]] - within[reached]).sum())
    n = len(events)
    return PlainScore(
        resources=n,
        visits=paid,
        changes=n_true,
        observed=n_seen,
        recall=n_seen / n_true if n_true else 0.0,
        precision=n_seen / paid if paid else 0.0,
        freshness=fresh_s / (n * (end_at - start_at)) if n and end_at > start_at else 0.0,
        delay_days_mean=delay_s / n_reached / DAY_S if n_reached else 0.0,
    )
