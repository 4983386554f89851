"""The limit: visits by one who knows all posts beforehand.

Such visits are made at posts, each fetching those since the visit before. What no visit fetched is fetched at
the end, as everywhere. At a price for a visit the best of them follow from the best up to earlier posts. With
`s[j]` the sum of the first j posts' times, up to post j

    cost[j] = price + j t[j] - s[j] + min over i < j of (cost[i] + s[i] - i t[j]),

which is the least of some lines, at points that only grow: each line is put in once and taken out once.
"""

from __future__ import annotations

import numpy as np

from recrawl.compiled import compiled
from recrawl.evaluate.tan.measures import Watched
from recrawl.evaluate.tan.visiting import watched
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints


def omniscient(threads: Threads, n_train: Ints, price: float) -> Watched:
    """No visits, as many, have less delay together; the price is in seconds of delay."""
    n = np.zeros(threads.n, dtype=np.int64)
    visit_at = np.zeros(len(threads.at))
    _foresee(threads.bounds, threads.at, n_train, price, n, visit_at)
    bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    return watched(threads, n_train, bounds, visit_at[: bounds[-1]].copy())


@compiled
def _foresee(bounds: Ints, at: Floats, n_train: Ints, price: float, n: Ints, visit_at: Floats) -> None:
    total = 0
    for row in range(len(n)):
        first, end = bounds[row] + n_train[row], bounds[row + 1]
        start_at, size = at[first - 1], end - first
        lift, cost = np.zeros(size + 1), np.zeros(size + 1)  # of the line of each post: its height at 0
        line, before = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
        n_lines, best, summed = 1, 0, 0.0  # before the first post: a line of height and slope 0
        for j in range(1, size + 1):
            t = at[first + j - 1] - start_at
            summed += t
            best = min(best, n_lines - 1)
            while best + 1 < n_lines and _height(lift, line[best + 1], t) <= _height(lift, line[best], t):
                best += 1
            before[j] = line[best]
            cost[j] = price + j * t - summed + _height(lift, line[best], t)
            lift[j] = cost[j] + summed
            while n_lines > 1 and _idle(lift, line[n_lines - 2], line[n_lines - 1], j):
                n_lines -= 1
            line[n_lines] = j
            n_lines += 1
        made, j = 0, before[size]  # the end is free
        while j > 0:
            visit_at[total + made] = at[first + j - 1]
            made += 1
            j = before[j]
        visit_at[total : total + made] = visit_at[total : total + made][::-1].copy()
        n[row] = made
        total += made


@compiled
def _height(lift: Floats, number: int, t: float) -> float:
    return float(lift[number] - number * t)


@compiled
def _idle(lift: Floats, one: int, middle: int, last: int) -> bool:
    """Whether the line in the middle is nowhere the least."""
    return bool((lift[last] - lift[one]) * (middle - one) <= (lift[middle] - lift[one]) * (last - one))
