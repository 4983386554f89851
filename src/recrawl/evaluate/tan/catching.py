"""Visits that aim at both errors of Tan (2012) at once, from the self-exciting model.

The error over sliding windows asks that visits find something. Where a window is two events, it is wrong if
it holds two visits or two posts; with so many of each there is one more pair of posts for every pair of
visits, and the second visit of a pair found nothing. So it falls by about 1 / events for each visit that goes
to where one is found, which is goal `capture`: the worth of a visit t after the last is 1 - S(t) + t S'(t), S
being the survival.

The normalised error falls by what a visit saves of delay over posts * life, and rises by 1 / (2 life) with
the visit itself. Taken together, times the events, a visit is due when

    1 - S(t) + t S'(t) + E / life * (t M(t) - integral of M) = price + E / 2 * posts / life,

with E events per post and times in minutes. Nothing on the left ever falls: the rate does until somebody
speaks, so S is convex. Time is the board's own. The price is the same for all threads; one in proportion to
their posts, as means over threads would have it, came out worse on two boards.
"""

from __future__ import annotations

from math import exp, isinf
from typing import NamedTuple

from recrawl.compiled import compiled
from recrawl.evaluate.tan.measures import MINUTE_S, Watched
from recrawl.evaluate.tan.speaking import Mind, left, own_at, real_at
from recrawl.evaluate.tan.visiting import visits
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints

_EVENTS = 2.5  # posts and visits for each post: about as many as the paper's models come to


class _Asked(NamedTuple):
    mind: Mind
    delays: Floats  # of each thread: what a second of delay counts
    asked: Floats  # what a visit to it must be worth


def caught(
    threads: Threads, n_train: Ints, mind: Mind, life_s: Floats, n_posts: float, price: float
) -> Watched:
    """Each thread is likely to live so long and to have so many posts (`aiming`). The price is a
    probability."""
    asked = price + _EVENTS / 2.0 * n_posts * MINUTE_S / life_s
    return _by_both(threads, n_train, _Asked(mind, _EVENTS / life_s, asked))


def _catch(
    how: _Asked,
    row: int,
    at: Floats,  # noqa: ARG001 - as all rules are asked
    first: int,  # noqa: ARG001
    known: int,
    now: float,
    end_at: float,  # noqa: ARG001
) -> float:
    mind = how.mind
    of = mind.of[row]
    own = own_at(now, mind.profile[of], mind.passed[of])
    rate, due = left(mind, known, own)
    shape, said = mind.shape[of], mind.said[known]
    lively = 1.0 if isinf(shape) else (shape + said) / (shape + due)
    delay = mind.worth[of] @ rate * (lively * how.delays[row])
    own += _telling_s(rate, mind.decay, mind.grid_s, delay, shape, said, due, how.asked[row])
    return max(real_at(own, mind.profile[of], mind.passed[of]), now + MINUTE_S)


_by_both = visits(_catch)


@compiled
def _telling_s(
    rate: Floats,
    decay: Floats,
    grid_s: Floats,
    delay: Floats,
    shape: float,
    said: float,
    due: float,
    price: float,
) -> float:
    """After how long a visit is worth the price: between two gaps of the grid, on a straight line."""
    low, high = -1, len(grid_s) - 1
    below, above = 0.0, 0.0
    while high - low > 1:
        middle = (low + high) // 2
        worth = _worth(rate, decay, shape, said, due, grid_s[middle]) + delay[middle]
        if worth >= price:
            high, above = middle, worth
        else:
            low, below = middle, worth
    if low < 0:
        return float(grid_s[0])
    part = (price - below) / (above - below) if above > below else 1.0
    return float(grid_s[low] + part * (grid_s[high] - grid_s[low]))


@compiled
def _worth(rate: Floats, decay: Floats, shape: float, n: float, due: float, t_s: float) -> float:
    """The liveliness is Gamma distributed, so the survival is that of such a mixture."""
    total, slope = 0.0, 0.0  # posts expected within t at liveliness 1, and how fast they come then
    for j in range(len(decay)):
        left = exp(-decay[j] * t_s)
        total += rate[j] / decay[j] * (1.0 - left)
        slope += rate[j] * left
    if isinf(shape):
        return 1.0 - exp(-total) * (1.0 + t_s * slope)
    before = shape + due
    alive = (before / (before + total)) ** (shape + n)
    return float(1.0 - alive * (1.0 + t_s * (shape + n) * slope / (before + total)))
