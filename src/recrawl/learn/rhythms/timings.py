"""The best moment for a visit, where a calendar says which hours are busy.

Changes that come in busy hours and are seen only in the next ones have been stale for a night. So for goals
that count how long a copy is stale, the next visit is moved by up to a day: to where what happened before it
times how long it is until the next but one is the most. Up to a constant that is what two visits save, as
long as a change is not too likely; with hours that are all alike it is the middle, where the visit was
before.
"""

from __future__ import annotations

from math import floor

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.rhythms.calendars import Calendars, Rows, moment, moments, shown_at, shown_many
from recrawl.model import DAY_S, HOUR_S, Floats, Ints

FURTHEST_S = DAY_S  # sooner or later, at the most …
SHARE = 0.6  # … or this share of the gap, where that is less
EVEN = 1.1  # times the slowest hour is the fastest: with less there is nothing to choose
_N_HOURS = 2 * int(FURTHEST_S / HOUR_S) + 1
N_TOGETHER = 256  # resources at a time: with all their hours they stay within the processor's cache


@quick
def timed_s(calendars: Calendars, row: int, since_at: float, gap_s: float) -> float:
    """The best gap near this one."""
    if calendars.spread[row] < EVEN or gap_s <= 0.0:
        return gap_s
    shown = calendars.shown[row]
    begun = shown_at(shown, since_at)
    later_s = moment(shown, 2.0 * shown_at(shown, since_at + gap_s) - begun) - since_at
    low_s = gap_s - min(FURTHEST_S, SHARE * gap_s)
    high_s = gap_s + min(FURTHEST_S, SHARE * (later_s - gap_s))
    best, best_s = -1.0, gap_s
    at_s = low_s
    for _ in range(_N_HOURS):
        if at_s >= high_s:
            break
        end_s = min((floor((since_at + at_s) / HOUR_S) + 1.0) * HOUR_S - since_at, high_s)
        end_s = max(end_s, at_s + 1e-3)
        # within an hour the clock runs evenly: the most is where a parabola has its top, or at an end
        first = shown_at(shown, since_at + at_s) - begun
        pace = max((shown_at(shown, since_at + end_s) - begun - first) / (end_s - at_s), 1e-9)
        top_s = min(max((later_s + at_s - first / pace) / 2.0, at_s), end_s)
        worth = (first + pace * (top_s - at_s)) * (later_s - top_s)
        if worth > best:
            best, best_s = worth, top_s
        at_s = end_s
    return best_s


def timed_many(calendars: Calendars, row: Ints, since_at: Floats, gap_s: Floats) -> Floats:
    """As `timed_s`, of many."""
    found: Floats = np.array(gap_s, dtype=np.float64)
    uneven = np.flatnonzero((calendars.spread[row] >= EVEN) & (found > 0.0) & np.isfinite(found))
    for start in range(0, len(uneven), N_TOGETHER):
        some = uneven[start : start + N_TOGETHER]
        found[some] = _timed(calendars.shown, row[some], since_at[some], found[some])
    return found


def _timed(shown: Rows, row: Ints, since_at: Floats, gap_s: Floats) -> Floats:
    """All hours side by side: a row for each, a column for each resource."""
    begun = shown_many(shown, row, since_at)
    twice = 2.0 * shown_many(shown, row, since_at + gap_s) - begun
    later_s = moments(shown, row, twice) - since_at
    low_s = gap_s - np.minimum(FURTHEST_S, SHARE * gap_s)
    high_s = gap_s + np.minimum(FURTHEST_S, SHARE * (later_s - gap_s))
    first_hour = np.floor((since_at + low_s) / HOUR_S)
    n_hours = float((np.ceil((since_at + high_s) / HOUR_S) - first_hour).max())
    hour = np.arange(1.0, min(max(n_hours, 1.0), _N_HOURS) + 1.0)[:, None]
    end_s = np.clip((first_hour + hour) * HOUR_S - since_at, low_s, high_s)
    edge_s = np.concatenate([low_s[None], end_s])
    at_s = edge_s[:-1]
    passed = shown_many(shown, row, since_at + edge_s) - begun
    first = passed[:-1]
    pace = np.maximum(np.diff(passed, axis=0) / np.maximum(end_s - at_s, 1e-3), 1e-9)
    top_s = np.minimum(np.maximum((later_s + at_s - first / pace) / 2.0, at_s), end_s)
    worth = np.where(at_s < high_s, (first + pace * (top_s - at_s)) * (later_s - top_s), -1.0)
    best = np.argmax(worth, axis=0)[None]
    best_s = np.take_along_axis(top_s, best, axis=0)[0]
    return np.where(low_s < high_s, best_s, gap_s)
