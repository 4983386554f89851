"""Visits by goal `capture`, from the self-exciting model: as many of them as can be are to find something.

That is what the error over sliding windows asks for. Where a window is two events, it is wrong if it holds
two visits or two posts; with so many of each there is one more pair of posts for every pair of visits, and
the second visit of a pair found nothing.

The worth of a visit t after the last is 1 - S(t) + t S'(t), S being the survival. Here S is convex, since the
rate falls until somebody speaks, so the worth never falls. Time is the board's own.
"""

from __future__ import annotations

from math import exp, isinf

import numpy as np

from recrawl.compiled import compiled
from recrawl.evaluate.tan.measures import MINUTE_S, Watched
from recrawl.evaluate.tan.visiting import Mind, real_at, visited
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.hawkes import DECAY, GRID_S
from recrawl.model import Floats, Ints

_N_HALVINGS = 24


def caught(threads: Threads, n_train: Ints, mind: Mind, price: float) -> Watched:
    """The price is a probability."""

    def visit(n: Ints, visit_at: Floats) -> bool:
        longest_s = float(GRID_S[-1])
        return _catch(threads.bounds, threads.at, n_train, mind, DECAY, price, longest_s, n, visit_at)

    return visited(threads, n_train, visit)


@compiled
def _catch(
    bounds: Ints,
    at: Floats,
    n_train: Ints,
    mind: Mind,
    decay: Floats,
    price: float,
    longest_s: float,
    n: Ints,
    visit_at: Floats,
) -> bool:
    """False where there is no room for all visits."""
    total = 0
    rate = np.zeros(len(decay))
    for row in range(len(n)):
        first, last = bounds[row], bounds[row + 1] - 1
        known, of = first + n_train[row] - 1, mind.of[row]
        now, own, before = at[known], mind.own[known], total
        while True:
            due = mind.due[known]
            for j in range(len(decay)):
                left = exp(-decay[j] * (own - mind.own[known]))
                rate[j] = mind.rate[known, j] * left
                due += mind.rate[known, j] / decay[j] * (1.0 - left)
            own += _telling_s(rate, decay, mind.shape[of], mind.said[known], due, price, longest_s)
            now = max(real_at(own, mind.profile[of], mind.passed[of]), now + MINUTE_S)
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


@compiled
def _telling_s(
    rate: Floats, decay: Floats, shape: float, n: float, due: float, price: float, longest_s: float
) -> float:
    """After how long a visit is worth the price: halved by its logarithm."""
    low, high = 1.0, longest_s
    for _ in range(_N_HALVINGS):
        middle = (low * high) ** 0.5
        if _worth(rate, decay, shape, n, due, middle) >= price:
            high = middle
        else:
            low = middle
    return high


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
