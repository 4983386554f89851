"""Moments that visits tell of, as rows to learn from.

Whoever knows when each thing was said knows as much as if somebody had looked just after each: nothing had
happened since the one before. So a visit that tells of n moments is n rows with a change, each from the last
moment to the next, and one without, from the newest to the visit itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recrawl.model.columns import Floats, Ints, Seen

MOST_MOMENTS = 1_000  # of one visit: the newest are kept


def unfolded(seen: Seen, moments: Sequence[Sequence[float] | Floats]) -> Seen:
    """Visits, each with the moments it told of, as rows for each of them; in the order of the visits.

    A first visit (`since_at` is NaN) has a past to tell of from its oldest moment on; so has one that may
    have had more than are kept. Where a visit's change does not count, neither do its moments.
    """
    # What a visit gives as the time of a change that is its own time is a stamp, and no moment.
    plain = replace(seen, event_at=np.where(seen.event_at < seen.at, seen.event_at, np.nan))
    flat, of = _inside(seen, moments)
    if not len(flat):
        return plain.pick(np.isfinite(seen.since_at))
    n = np.bincount(of, minlength=len(seen))
    ends = np.cumsum(n)
    told, begun = n > 0, np.isfinite(seen.since_at)
    whole = told & begun & (n < MOST_MOMENTS)
    quiet = told & (flat[np.maximum(ends - 1, 0)] < seen.at)  # since the newest
    # Of each visit with moments the edges of its rows: the visit before, the moments, the visit itself.
    first = np.cumsum(n + whole + quiet) - n - whole - quiet
    edge = np.empty(len(flat) + int(whole.sum() + quiet.sum()))
    edge[first[whole]] = seen.since_at[whole]
    edge[(first + whole)[of] + np.arange(len(flat)) - (ends - n)[of]] = flat
    edge[(first + whole + n)[quiet]] = seen.at[quiet]
    begins, stops = (np.ones(len(edge), dtype=np.bool_) for _ in range(2))
    begins[(first + n + whole + quiet - 1)[told]] = stops[first[told]] = False

    n_rows = np.where(told, n + whole + quiet - 1, begun)
    row_of = np.repeat(np.arange(len(seen)), n_rows)
    rows, own = plain.pick(row_of), told[row_of]
    since_at, at, event_at = rows.since_at.copy(), rows.at.copy(), rows.event_at.copy()
    changed, told_at, told_by = rows.changed.copy(), rows.told_at.copy(), rows.told_by.copy()
    since_at[own], at[own] = edge[begins], edge[stops]
    changed[own], event_at[own] = 1, at[own]
    last = (np.cumsum(n_rows) - 1)[quiet & (n_rows > 0)]
    changed[last], event_at[last] = 0, np.nan
    later = np.diff(row_of, prepend=-1) == 0
    told_at[later], told_by[later] = np.nan, 0
    return replace(
        rows,
        since_at=since_at,
        at=at,
        changed=changed,
        event_at=event_at,
        told_at=told_at,
        told_by=told_by,
        visit_at=seen.visit_at[row_of],
        before_at=seen.before_at[row_of],
    )


def _inside(seen: Seen, moments: Sequence[Sequence[float] | Floats]) -> tuple[Floats, Ints]:
    """Those that lie in their visits' gaps and count, one after the other, and whose they are."""
    told = [i for i, some in enumerate(moments) if len(some)]
    if not told:
        return np.empty(0), np.empty(0, dtype=np.int64)
    flat = np.concatenate([np.asarray(moments[i], dtype=np.float64) for i in told])
    of = np.repeat(told, [len(moments[i]) for i in told])
    inside = (flat <= seen.at[of]) & ~(flat <= seen.since_at[of]) & (seen.changed[of] != 0)
    return flat[inside], of[inside]
