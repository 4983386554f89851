"""What visits can have achieved, whenever in its interval each change came: the least and the most.

The visits stand as they are. Each change is put where it does most harm, or least, by itself: no way in which
things can have happened lies outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.evaluate.own.past import Past
from recrawl.model import DAY_S, Floats, Ints
from recrawl.simulate.traces import Visits

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Gaps:
    """For each change: in which of its resource's gaps it can have come, from `first` to `last` of all."""

    row: Ints
    first: Ints
    last: Ints
    start: Ints  # of each resource: its first gap; the last one is open, until the end
    begin_at: Floats  # of each gap
    end_at: Floats


def bounds(past: Past, visits: Visits) -> dict[str, Range]:
    """Of freshness, recall, wait and harmonic, each from low to high. These are of the changes that are known
    of: others may have come between two visits."""
    gaps = _gaps(past, visits)
    least_s, most_s = _waits(past, gaps)
    whole_s = float((past.end_at - past.entered_at).sum())
    most_stale_s = min(float(most_s.sum()), _perhaps_stale_s(past, gaps))
    stale = (_surely_stale_s(gaps, least_s) / whole_s, most_stale_s / whole_s)
    n = max(past.n_changes, 1)
    seen = _observed(gaps)
    return {
        "freshness": (1.0 - stale[1], 1.0 - stale[0]),
        "recall": (seen[0] / n, seen[1] / n),
        "wait_days_mean": (float(least_s.sum()) / n / DAY_S, float(most_s.sum()) / n / DAY_S),
        "harmonic": (stale[0], float(most_s.sum()) / whole_s),
    }


def _gaps(past: Past, visits: Visits) -> _Gaps:
    n = len(past)
    n_each = np.diff(visits.bounds) + 1
    start = np.concatenate([[0], np.cumsum(n_each)]).astype(np.int64)
    end_at = np.full(int(start[-1]), past.end_at)
    inner = np.ones(len(end_at), dtype=np.bool_)
    inner[start[1:] - 1] = False
    end_at[inner] = visits.at
    begin_at = np.concatenate([[0.0], end_at[:-1]])
    begin_at[start[:-1]] = past.entered_at
    row = np.repeat(np.arange(n), np.diff(past.bounds))
    # one line of time for all resources, one after the other
    far_s = past.end_at - past.start_at + DAY_S
    key = end_at - past.start_at + far_s * np.repeat(np.arange(n), n_each)
    lines = [np.searchsorted(key, at - past.start_at + far_s * row) for at in (past.since_at, past.until_at)]
    last = start[1:][row] - 1
    return _Gaps(row, np.minimum(lines[0], last), np.minimum(lines[1], last), start[:-1], begin_at, end_at)


def _waits(past: Past, gaps: _Gaps) -> tuple[Floats, Floats]:
    """The shortest and the longest that each change can have waited for a visit, or for the end."""
    n = past.n_changes
    visited = (
        gaps.first < gaps.last
    )  # a visit came while it may have come: just before that it waits for none
    least_s = np.where(visited, 0.0, gaps.end_at[gaps.first] - past.until_at)
    most_s = gaps.end_at[gaps.first] - past.since_at
    if visited.any():
        # in one of the gaps that begin while it may have come, right after that gap's beginning
        wide_s = np.concatenate([gaps.end_at - gaps.begin_at, [0.0]])
        edges = np.column_stack([gaps.first + 1, gaps.last + 1]).ravel()
        whole_s = np.maximum.reduceat(wide_s, edges)[::2]
        most_s = np.where(visited, np.maximum(most_s, whole_s), most_s)
    return np.maximum(least_s, 0.0).reshape(n), np.maximum(most_s, 0.0).reshape(n)


def _surely_stale_s(gaps: _Gaps, least_s: Floats) -> float:
    """In a gap that a change surely came in, the copy is stale from its last possible moment on; of several
    the first one counts."""
    sure = gaps.first == gaps.last
    stale_s = np.zeros(len(gaps.end_at))
    np.maximum.at(stale_s, gaps.first[sure], least_s[sure])
    return float(stale_s.sum())


def _perhaps_stale_s(past: Past, gaps: _Gaps) -> float:
    """In every gap that any change can have come in, from the first moment possible: from the gap's beginning
    where an earlier one was possible too."""
    wide_s = gaps.end_at - gaps.begin_at
    stale_s = np.zeros(len(wide_s))
    np.maximum.at(stale_s, gaps.first, gaps.end_at[gaps.first] - past.since_at)
    begun = np.zeros(len(wide_s) + 1)
    np.add.at(begun, gaps.first + 1, 1.0)
    np.add.at(begun, gaps.last + 1, -1.0)
    stale_s = np.where(np.cumsum(begun)[:-1] > 0.0, wide_s, stale_s)
    return float(np.minimum(stale_s, wide_s).sum())


def _observed(gaps: _Gaps) -> Range:
    """How many visits found a change, at least and at most. Changes come in order, and so do the gaps that
    they can have come in: so the first that is free will do, and one visit takes as many as it can."""
    open_ = np.zeros(len(gaps.end_at), dtype=np.bool_)
    open_[np.concatenate([gaps.start[1:] - 1, [len(gaps.end_at) - 1]])] = True
    low = high = 0
    taken = found = -1
    for first, last, late in zip(
        gaps.first.tolist(), gaps.last.tolist(), open_[gaps.last].tolist(), strict=True
    ):
        free = max(first, taken + 1)
        if free <= last - late:  # the last gap of a resource ends without a visit
            high, taken = high + 1, free
        if not late and first > found:
            low, found = low + 1, last
    return float(low), float(high)
