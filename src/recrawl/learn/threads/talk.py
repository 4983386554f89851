"""What is kept of one thread, and what a stretch of time adds to it: memories of its posts, and what was to
be expected of it so far. What that teaches all threads is counted on the way (`learn.threads.common`).
"""

from __future__ import annotations

from math import exp, isnan, log1p

import numpy as np

from recrawl.compiled import hurried, quick
from recrawl.learn.rhythms.calendars import Rows, shown_at
from recrawl.learn.rhythms.signals import Sources, check
from recrawl.learn.threads.common import (
    BROUGHT,
    COULD,
    HOUR,
    N_WEIGHTS,
    belief_in,
    clock_of,
    count_hour,
    judge,
    profile_of,
    weights,
)
from recrawl.learn.threads.hawkes import DECAY, KEPT, N_MEMORIES
from recrawl.model import HOUR_S, Bools, Floats, Ints

WIDTH = 5 + N_MEMORIES
# N, DUE: posts lately, and those due; MEMORY: the first
N, DUE, BORN_AT, SAID_AT, KNOWN_AT, MEMORY = range(6)
BLANK = (0.0, 0.0, np.nan, np.nan, np.nan, *np.zeros(N_MEMORIES))


def sound(rows: Floats) -> Bools:
    """Which of these rows visits can have written."""
    kept = np.isfinite(np.delete(rows, [BORN_AT, SAID_AT, KNOWN_AT], axis=1)).all(axis=1)
    kept &= (rows[:, [N, DUE]] >= 0.0).all(axis=1) & (rows[:, MEMORY:] >= 0.0).all(axis=1)
    kept &= (rows[:, MEMORY:] <= 1.0 / (1.0 - KEPT) + 1.0).all(axis=1)
    times = rows[:, BORN_AT : KNOWN_AT + 1]
    rising = np.isfinite(times).all(axis=1) & (np.diff(times, axis=1) >= 0.0).all(axis=1)
    return np.asarray(kept & (rising | np.isnan(times).all(axis=1)))


@hurried
def learned(
    rows: Floats,
    counts: Floats,
    sources: Sources,
    shape: float,
    ids: Ints,
    board: Ints,
    since_at: Floats,
    at: Floats,
    changed: Bools,
    post_at: Floats,
    timed: Bools,
    source: Ints,
) -> None:
    """Take in rows of visits in this order. `post_at` is when somebody spoke, where that is so, and `timed`
    whether that is known; `source` whoever had told of it, -1: nobody."""
    for k in range(len(ids)):
        row, own = rows[ids[k]], board[k]
        if isnan(row[BORN_AT]):
            row[BORN_AT] = row[SAID_AT] = row[KNOWN_AT] = since_at[k]
            row[MEMORY:] = 1.0
        weight, profile = weights(counts, own), profile_of(counts, own)
        shown = clock_of(profile, belief_in(counts, own))
        a, b, due = shape + row[N], shape + row[DUE], 0.0
        if changed[k]:
            spoke_at = max(post_at[k], row[KNOWN_AT])
            if timed[k]:
                count_hour(counts, own, spoke_at)
            if timed[k] and spoke_at - row[KNOWN_AT] >= HOUR_S:
                moments = (row[BORN_AT], row[SAID_AT], row[KNOWN_AT], spoke_at)
                judge(counts, own, profile, weight, row[MEMORY:], (a, b), moments)
            due += silent(row, counts, own, weight, shown, spoke_at)
            said(row, counts, own, weight, shown)
        due += silent(row, counts, own, weight, shown, max(at[k], row[KNOWN_AT]))
        if source[k] >= 0:
            check(sources, source[k], exp(-a * log1p(due / b)), changed[k])


@quick
def silent(row: Floats, counts: Floats, board: int, weight: Floats, shown: Rows, until_at: float) -> float:
    """Nobody spoke up to this moment; how many posts were due meanwhile."""
    known, until = shown_at(shown, row[KNOWN_AT]), shown_at(shown, until_at)
    said_, born = shown_at(shown, row[SAID_AT]), shown_at(shown, row[BORN_AT])
    could = np.empty(N_WEIGHTS)
    could[:N_MEMORIES] = row[MEMORY:] * (np.exp(-DECAY * (known - said_)) - np.exp(-DECAY * (until - said_)))
    could[N_MEMORIES:] = np.exp(-DECAY * (known - born)) - np.exp(-DECAY * (until - born))
    could = np.maximum(could, 0.0)
    counts[0, COULD:HOUR] += could
    if board > 0:
        counts[board, COULD:HOUR] += could
    due = float((weight * could).sum())
    row[DUE] += due
    row[KNOWN_AT] = until_at
    return due


@quick
def said(row: Floats, counts: Floats, board: int, weight: Floats, shown: Rows) -> None:
    """Somebody spoke just now; every memory has its share in that."""
    known = shown_at(shown, row[KNOWN_AT])
    fresh = np.exp(-DECAY * (known - shown_at(shown, row[SAID_AT]))) * row[MEMORY:]
    share = np.empty(N_WEIGHTS)
    share[:N_MEMORIES] = DECAY * fresh
    share[N_MEMORIES:] = DECAY * np.exp(-DECAY * (known - shown_at(shown, row[BORN_AT])))
    share *= weight
    total = share.sum()
    if total > 0.0:
        counts[0, BROUGHT:COULD] += share / total
        if board > 0:
            counts[board, BROUGHT:COULD] += share / total
    row[MEMORY:] = KEPT * fresh + 1.0
    row[N], row[DUE] = KEPT * (row[N] + 1.0), KEPT * row[DUE]
    row[SAID_AT] = row[KNOWN_AT]
