"""Visits as Tan (2012) has them: after each visit, the next is at the last known post plus the gap that is
predicted after it.

Where that moment is past, whatever the model: the next visit is after half the time since the last post, and
not before five minutes. So a thread that stays quiet is visited less and less often.
"""

from __future__ import annotations

import numpy as np

from recrawl.compiled import compiled
from recrawl.evaluate.tan.measures import Watched
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints

SOONEST_S = 300.0
_SHARE = 0.5  # of the time since the last post


def followed(threads: Threads, n_train: Ints, gap_s: Floats) -> Watched:
    """`gap_s` is predicted after each post, from it and those before it. Threads are watched from their post
    `n_train` to their last."""
    n = np.zeros(threads.n, dtype=np.int64)
    _follow(threads.bounds, threads.at, n_train, gap_s, n, np.zeros(0), np.zeros(0, dtype=np.int64))
    bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    visit_at = np.zeros(bounds[-1])
    _follow(threads.bounds, threads.at, n_train, gap_s, n, visit_at, bounds)
    return watched(threads, n_train, bounds, visit_at)


def paced(threads: Threads, n_train: Ints, gap_s: float) -> Watched:
    """At a fixed rate, whatever is found."""
    start_at, end_at = _life(threads, n_train)
    n = np.floor((end_at - start_at) / gap_s).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    number = np.arange(bounds[-1]) - np.repeat(bounds[:-1], n) + 1
    return watched(threads, n_train, bounds, np.repeat(start_at, n) + number * gap_s)


def watched(threads: Threads, n_train: Ints, visit_bounds: Ints, visit_at: Floats) -> Watched:
    start_at, end_at = _life(threads, n_train)
    later = threads.place >= np.repeat(n_train, threads.n_posts)
    return Watched(
        start_at=start_at,
        end_at=end_at,
        bounds=np.concatenate([[0], np.cumsum(threads.n_posts - n_train)]).astype(np.int64),
        at=threads.at[later],
        visit_bounds=visit_bounds,
        visit_at=visit_at,
    )


def _life(threads: Threads, n_train: Ints) -> tuple[Floats, Floats]:
    return threads.at[threads.bounds[:-1] + n_train - 1], threads.at[threads.bounds[1:] - 1]


@compiled
def _follow(
    bounds: Ints, at: Floats, n_train: Ints, gap_s: Floats, n: Ints, visit_at: Floats, places: Ints
) -> None:
    """Counts the visits to each thread or, where there are places for them, writes them down."""
    for row in range(len(n)):
        known, last = bounds[row] + n_train[row] - 1, bounds[row + 1] - 1
        now, made = at[known], 0
        while True:
            due_at = at[known] + gap_s[known]
            if not now < due_at < np.inf:  # nor where nothing is predicted
                due_at = now + max(SOONEST_S, _SHARE * (now - at[known]))
            if due_at > at[last]:
                break
            now = due_at
            if len(places):
                visit_at[places[row] + made] = now
            made += 1
            while known < last and at[known + 1] <= now:
                known += 1
        n[row] = made
