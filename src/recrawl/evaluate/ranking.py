"""Visits as a ranking, period by period: ChangeRate and NDCG@k, which papers on learning to rank report.

In each period the resources visited are ranked by when they were first visited in it. The gain of a resource
is how many changes it had, since its last visit before the period, by the period's end: whether or not it was
visited. The whole population is ranked over; so this is for as many resources as fit in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from recrawl.errors import BadInputError
from recrawl.evaluate.protocol import Window
from recrawl.model import DAY_S, Floats, Ints
from recrawl.simulate.traces import Traces, Visits


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """A row per period. NaN where nothing was visited, or nothing had changed."""

    n_visited: Ints  # resources
    n_changed: Ints  # of these, the ones in which a visit found a change
    ndcg: Floats

    @property
    def change_rate(self) -> float:
        """The share of the resources visited that had changed: the mean over periods with visits."""
        some = self.n_visited > 0
        return float((self.n_changed[some] / self.n_visited[some]).mean()) if some.any() else nan

    @property
    def ndcg_mean(self) -> float:
        known = self.ndcg[~np.isnan(self.ndcg)]
        return float(known.mean()) if len(known) else nan


def ranking(
    traces: Traces, visits: Visits, window: Window, *, k: int, period_days: float = 1.0, graded: bool = True
) -> Ranking:
    """Rank the visits of each period; a last period that is not whole is left out.

    Where not `graded`, the gain is 1 for any number of changes.
    """
    period_s = period_days * DAY_S
    n_periods = int(window.length_s / period_s * (1 + 1e-12)) if period_s > 0 else 0
    if not n_periods or k < 1:
        raise BadInputError(
            f"Periods of {period_days:g} days and the first {k} of each make no ranking here; "
            "choose a period that the window holds, and a k of 1 or more."
        )
    event_row, event_at, event_ends = _in_order(
        traces.bounds, traces.at, window.start_at, period_s, n_periods
    )
    visit_row, visit_at, visit_ends = _in_order(
        visits.bounds, visits.at, window.start_at, period_s, n_periods
    )
    waiting = np.zeros(len(traces), dtype=np.int64)  # changes since the last visit
    result = Ranking(
        n_visited=np.zeros(n_periods, dtype=np.int64),
        n_changed=np.zeros(n_periods, dtype=np.int64),
        ndcg=np.full(n_periods, nan),
    )
    for p in range(n_periods):
        rows, at = event_row[event_ends[p] : event_ends[p + 1]], event_at[event_ends[p] : event_ends[p + 1]]
        to, when = visit_row[visit_ends[p] : visit_ends[p + 1]], visit_at[visit_ends[p] : visit_ends[p + 1]]
        n_total = waiting + np.bincount(rows, minlength=len(traces))
        last_at = np.full(len(traces), -np.inf)
        last_at[to] = when  # in order of time, so that the last one stays
        visited, places = np.unique(to, return_index=True)
        n_after = np.bincount(rows[at > last_at[rows]], minlength=len(traces))
        gain = n_total.astype(np.float64) if graded else np.minimum(n_total, 1.0)
        ideal = _discounted(_largest(gain, k))
        if len(visited):
            result.n_visited[p] = len(visited)
            result.n_changed[p] = int((n_total[visited] > n_after[visited]).sum())
            if ideal > 0.0:
                result.ndcg[p] = _discounted(gain[to[np.sort(places)][:k]]) / ideal
        waiting = np.where(np.isfinite(last_at), n_after, n_total)
    return result


def _largest(gain: Floats, k: int) -> Floats:
    """The k largest, the largest first."""
    some = gain if k >= len(gain) else np.partition(gain, len(gain) - k)[len(gain) - k :]
    return -np.sort(-some)


def _in_order(
    bounds: Ints, at: Floats, start_at: float, period_s: float, n_periods: int
) -> tuple[Ints, Floats, Ints]:
    """What lies in whole periods, by time; and where each period ends."""
    edges = start_at + period_s * np.arange(n_periods + 1)
    rows = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    inside = (at > start_at) & (at <= edges[-1])
    order = np.argsort(at[inside], kind="stable")
    times = at[inside][order]
    return rows[inside][order], times, np.searchsorted(times, edges, "right")


def _discounted(gains: Floats) -> float:
    """The first gain, and each later one divided by the natural logarithm of its place plus one."""
    place = np.arange(1, len(gains) + 1)
    return float((gains / np.where(place == 1, 1.0, np.log(place + 1.0))).sum())
