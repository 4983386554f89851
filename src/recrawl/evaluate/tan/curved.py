"""Visits where what is known of a thread is a curve around a predicted gap (`learn.threads.curves`).

By goal `prompt` the worth of a visit t after the last one is U(t) = t M(t) - integral of M, M being the
expected number of posts. It grows by t M'(t), so it never falls; the next visit is due where it reaches the
price.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from recrawl.compiled import compiled
from recrawl.evaluate.tan.measures import MINUTE_S, Watched
from recrawl.evaluate.tan.visiting import visits
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.curves import EDGES, CurveForecasts
from recrawl.model import Floats, Ints

_N_HALVINGS = 24
_SMALL = 1e-4


class _Curves(NamedTuple):
    gap_s: Floats  # of each post
    hazard: Floats  # of each thread
    rate: Floats  # of its posts after the next, per predicted gap
    edges: Floats
    price: float


def curved(threads: Threads, n_train: Ints, gap_s: Floats, hazard: Floats, price: float) -> Watched:
    """`gap_s` is predicted after each post, `hazard` is each thread's, in cells of predicted gaps. The price
    is in posts times seconds."""
    rate = 1.0 / CurveForecasts(hazard, np.ones(threads.n), np.zeros(threads.n)).mean_s
    return _by_curves(threads, n_train, _Curves(gap_s, hazard, rate, EDGES, price))


def _visit(
    how: _Curves,
    row: int,
    at: Floats,
    first: int,  # noqa: ARG001 - as all rules are asked
    known: int,
    now: float,
    end_at: float,
) -> float:
    gap = how.gap_s[known]
    quiet, longest = (now - at[known]) / gap, (end_at - now) / gap
    wait = _due(how.hazard[row], how.rate[row], how.edges, quiet, how.price / gap, longest)
    return float(now + max(wait * gap, MINUTE_S))


_by_curves = visits(_visit)


@compiled
def _due(hazard: Floats, rate: float, edges: Floats, quiet: float, price: float, longest: float) -> float:
    """After how long a visit is worth the price; `longest` and more is not told apart. All in predicted gaps,
    the price in posts times gaps, the rate of posts after the next one per gap."""
    cell = 0
    while cell + 1 < len(edges) and edges[cell + 1] <= quiet:
        cell += 1
    since, alive = 0.0, 1.0
    while since <= longest:
        step = edges[cell + 1] - quiet - since if cell + 1 < len(edges) else longest - since + 1.0
        worth = _worth(hazard[cell], rate, since, alive, step)
        if worth >= price:
            low, high = 0.0, step
            for _ in range(_N_HALVINGS):
                middle = 0.5 * (low + high)
                if _worth(hazard[cell], rate, since, alive, middle) >= price:
                    high = middle
                else:
                    low = middle
            return since + high
        price -= worth
        alive *= exp(-hazard[cell] * step)
        since += step
        cell = min(cell + 1, len(edges) - 1)
    return since


@compiled
def _worth(hazard: float, rate: float, since: float, alive: float, step: float) -> float:
    """What a visit gains in worth by waiting a step longer, within one cell: the integral of t M'(t) with
    M' = F' + rate F."""
    x = hazard * step
    if x < _SMALL:
        spent, moved = step * (1.0 - x / 2.0), step * step * (0.5 - x / 3.0)
    else:
        left = exp(-x)
        spent, moved = (1.0 - left) / hazard, (1.0 - left * (1.0 + x)) / (hazard * hazard)
    return (hazard - rate) * alive * (since * spent + moved) + rate * step * (since + 0.5 * step)
