"""The rules of feed readers: Miniflux, CommaFeed, FreshRSS with AutoTTL.

They go by the times of a feed's entries. Here these are the visits that found a change: `row[1]` counts them,
and the newest `N_KEPT` are kept in a ring from `row[2]` on.
"""

from __future__ import annotations

from math import ceil

from recrawl.model import DAY_S
from recrawl.schedule.policies.rules.umbrich import WEEK_S, Numbers, Row, within

N_KEPT = 64


def noted(row: Row, at: float, changed: bool) -> int:
    """Take the visit in; how many entries are kept."""
    if changed:
        row[2 + int(row[1]) % N_KEPT] = at
        row[1] += 1.0
    return min(int(row[1]), N_KEPT)


def entry(row: Row, age: int) -> float:
    """When an entry came: 0 is the newest of them, 1 the one before it."""
    return row[2 + (int(row[1]) - 1 - age) % N_KEPT]


def n_since(row: Row, n_kept: int, from_at: float) -> int:
    """How many entries are this new."""
    n = 0
    while n < n_kept and entry(row, n) >= from_at:
        n += 1
    return n


def miniflux(p: Numbers, row: Row, at: float, changed: bool) -> float:
    """Entry frequency: the mean gap of the last week's entries, as whole visits a week."""
    n = n_since(row, noted(row, at, changed), at - WEEK_S)
    row[0] = p[1]
    span_s = entry(row, 0) - entry(row, n - 1) if n >= 2 else 0.0
    if span_s > 0.0:
        mean_s = span_s / (n - 1)
        row[0] = within(WEEK_S / ceil(WEEK_S / mean_s), p)
    return row[0]


def commafeed(p: Numbers, row: Row, at: float, changed: bool) -> float:
    """Half the mean gap of the entries, up to a quarter of the largest gap; more where none came lately."""
    n_kept = noted(row, at, changed)
    quiet_s = at - entry(row, 0) if n_kept > 0 else 30 * DAY_S
    if quiet_s >= 30 * DAY_S:
        gap_s = p[1]
    elif quiet_s >= 14 * DAY_S:
        gap_s = p[1] / 2.0
    else:
        gap_s = p[1] / 4.0
        if quiet_s < 7 * DAY_S and n_kept >= 2:
            gap_s = min(gap_s, (entry(row, 0) - entry(row, n_kept - 1)) / (n_kept - 1) / 2.0)
    row[0] = within(gap_s, p)
    return row[0]


def auto_ttl(p: Numbers, row: Row, at: float, changed: bool) -> float:
    """The time since the oldest entry of the last thirty days, over their number."""
    n = n_since(row, noted(row, at, changed), at - 30 * DAY_S)
    row[0] = within((at - entry(row, n - 1)) / n, p) if n > 0 else p[1]
    return row[0]
