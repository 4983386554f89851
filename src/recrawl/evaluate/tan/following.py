"""Visits as Tan (2012) has them: after each visit, the next is at the last known post plus the gap that is
predicted after it.

Where that moment is past, whatever the model: the next visit is after half the time since the last post, and
not before five minutes. So a thread that stays quiet is visited less and less often.
"""

from __future__ import annotations

from math import inf

from recrawl.evaluate.tan.measures import Watched
from recrawl.evaluate.tan.visiting import visits
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints

SOONEST_S = 300.0
_SHARE = 0.5  # of the time since the last post


def followed(threads: Threads, n_train: Ints, gap_s: Floats) -> Watched:
    """`gap_s` is predicted after each post, from it and those before it. Threads are watched from their post
    `n_train` to their last."""
    return _by_gaps(threads, n_train, gap_s)


def _follow(
    gap_s: Floats,
    row: int,  # noqa: ARG001 - as all rules are asked
    at: Floats,
    first: int,  # noqa: ARG001
    known: int,
    now: float,
    end_at: float,  # noqa: ARG001
) -> float:
    due_at = at[known] + gap_s[known]
    if now < due_at < inf:
        return float(due_at)
    # it is past, or nothing is predicted
    return float(now + max(SOONEST_S, _SHARE * (now - at[known])))


_by_gaps = visits(_follow)
