"""What is kept of one thread, and what a stretch of time adds to it: memories of its posts, and what was to
be expected of it so far. Also what all threads teach together: how many posts each memory brought, and how
many a unit of it would have.
"""

from __future__ import annotations

from math import exp, isnan

import numpy as np

from recrawl.compiled import hurried, quick
from recrawl.learn.threads.hawkes import DECAY, KEPT, N_MEMORIES
from recrawl.model import Bools, Floats, Ints

WIDTH = 5 + N_MEMORIES
N, DUE, BORN_AT, SAID_AT, KNOWN_AT, MEMORY = range(
    6
)  # N, DUE: posts lately, and those due; MEMORY: the first
BLANK = (0.0, 0.0, np.nan, np.nan, np.nan, *np.zeros(N_MEMORIES))

N_WEIGHTS = 2 * N_MEMORIES
# Before anything was seen a post brings on another one or two within years, evenly over all lifetimes, and
# so does a beginning; that counts for so many posts of each.
_BEFORE = 5.0
_EACH = 0.2


def weights(counts: Floats) -> Floats:
    """Of the memories of posts, and of those of the beginning."""
    return np.asarray((counts[0] + _BEFORE) / (counts[1] + _BEFORE / _EACH))


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
    rows: Floats, counts: Floats, ids: Ints, since_at: Floats, at: Floats, changed: Bools, post_at: Floats
) -> None:
    """Take in rows of visits in this order. `post_at` is when somebody spoke, where that is so."""
    for k in range(len(ids)):
        row = rows[ids[k]]
        if isnan(row[BORN_AT]):
            row[BORN_AT] = row[SAID_AT] = row[KNOWN_AT] = since_at[k]
            row[MEMORY:] = 1.0
        if changed[k]:
            silent(row, counts, max(post_at[k], row[KNOWN_AT]))
            said(row, counts)
        silent(row, counts, max(at[k], row[KNOWN_AT]))


@quick
def silent(row: Floats, counts: Floats, until_at: float) -> None:
    """Nobody spoke up to this moment."""
    since_at = row[KNOWN_AT]
    for j in range(N_MEMORIES):
        left = exp(-DECAY[j] * (since_at - row[SAID_AT])) - exp(-DECAY[j] * (until_at - row[SAID_AT]))
        old = exp(-DECAY[j] * (since_at - row[BORN_AT])) - exp(-DECAY[j] * (until_at - row[BORN_AT]))
        other = N_MEMORIES + j
        row[DUE] += (counts[0, j] + _BEFORE) / (counts[1, j] + _BEFORE / _EACH) * row[MEMORY + j] * left
        row[DUE] += (counts[0, other] + _BEFORE) / (counts[1, other] + _BEFORE / _EACH) * old
        counts[1, j] += row[MEMORY + j] * left
        counts[1, other] += old
    row[KNOWN_AT] = until_at


@quick
def said(row: Floats, counts: Floats) -> None:
    """Somebody spoke just now; every memory has its share in that."""
    share = np.empty(N_WEIGHTS)
    for j in range(N_MEMORIES):
        fresh = exp(-DECAY[j] * (row[KNOWN_AT] - row[SAID_AT])) * row[MEMORY + j]
        old = exp(-DECAY[j] * (row[KNOWN_AT] - row[BORN_AT]))
        other = N_MEMORIES + j
        share[j] = (counts[0, j] + _BEFORE) / (counts[1, j] + _BEFORE / _EACH) * DECAY[j] * fresh
        share[other] = (counts[0, other] + _BEFORE) / (counts[1, other] + _BEFORE / _EACH) * DECAY[j] * old
        row[MEMORY + j] = KEPT * fresh + 1.0
    total = share.sum()
    if total > 0.0:
        for j in range(N_WEIGHTS):
            counts[0, j] += share[j] / total
    row[N], row[DUE] = KEPT * (row[N] + 1.0), KEPT * row[DUE]
    row[SAID_AT] = row[KNOWN_AT]
