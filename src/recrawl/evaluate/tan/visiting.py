"""The one loop of visits: a thread is watched from the last post that may be learned from to its last of all.

A visit tells of all posts up to it. When the next one is, a rule says from nothing else:

    rule(how, row, at, first, known, now, end_at) -> when

`how` is whatever the rule goes by: a price, say, and what is known of each thread after each of its posts;
`row` is the thread's number, its posts are at `at[first]`, …, `at[known]` as far as `now` tells, and where a
visit would come after `end_at` it does not matter when. A rule is a plain function that can be compiled: the
loop is compiled around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recrawl.compiled import compiled, quick
from recrawl.evaluate.tan.measures import Watched
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints

Rule = Callable[[Any, int, Floats, int, int, float, float], float]


def visits(rule: Rule) -> Callable[[Threads, Ints, Any], Watched]:
    """Visits by this rule, given threads, how many posts of each may be learned from, and what the rule goes
    by."""
    visit = _around(quick(rule))

    def made(threads: Threads, n_train: Ints, how: Any) -> Watched:
        n = np.zeros(threads.n, dtype=np.int64)
        room = np.zeros(4 * len(threads.at))
        while not visit(threads.bounds, threads.at, n_train, how, n, room):
            room = np.zeros(4 * len(room))
        bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
        return watched(threads, n_train, bounds, room[: bounds[-1]].copy())

    return made


def watched(threads: Threads, n_train: Ints, visit_bounds: Ints, visit_at: Floats) -> Watched:
    start_at, end_at = life(threads, n_train)
    later = threads.place >= np.repeat(n_train, threads.n_posts)
    return Watched(
        start_at=start_at,
        end_at=end_at,
        bounds=np.concatenate([[0], np.cumsum(threads.n_posts - n_train)]).astype(np.int64),
        at=threads.at[later],
        visit_bounds=visit_bounds,
        visit_at=visit_at,
    )


def life(threads: Threads, n_train: Ints) -> tuple[Floats, Floats]:
    """From when to when each is watched."""
    return threads.at[threads.bounds[:-1] + n_train - 1], threads.at[threads.bounds[1:] - 1]


def _around(rule: Rule) -> Callable[[Ints, Floats, Ints, Any, Ints, Floats], bool]:
    def visit(bounds: Ints, at: Floats, n_train: Ints, how: Any, n: Ints, visit_at: Floats) -> bool:
        """Writes down how many visits there are to each thread and when; False: there is no room for all."""
        total = 0
        for row in range(len(n)):
            first, last = bounds[row], bounds[row + 1] - 1
            known = first + n_train[row] - 1
            now, before = at[known], total
            while True:
                now = rule(how, row, at, first, known, now, at[last])
                if now > at[last]:
                    break
                if total == len(visit_at):
                    return False
                visit_at[total] = now
                total += 1
                while known < last and at[known + 1] <= now:
                    known += 1
            n[row] = total - before
        return True

    visit.__qualname__ = f"visit.{rule.__module__}.{rule.__name__}"  # what is compiled is kept by this name
    return compiled(visit)
