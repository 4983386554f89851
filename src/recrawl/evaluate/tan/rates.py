"""Visits by rates: one for all threads, and that of each thread so far.

`rooted` is the plain square-root rule: where posts come at a steady rate, the worth of a visit t after the
last one is rate * t^2 / 2, so the gap is the root of 2 * price / rate.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from recrawl.evaluate.tan.measures import MINUTE_S, Watched
from recrawl.evaluate.tan.visiting import life, visits, watched
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints


def paced(threads: Threads, n_train: Ints, gap_s: float) -> Watched:
    """At a fixed rate, whatever is found."""
    start_at, end_at = life(threads, n_train)
    n = np.floor((end_at - start_at) / gap_s).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    number = np.arange(bounds[-1]) - np.repeat(bounds[:-1], n) + 1
    return watched(threads, n_train, bounds, np.repeat(start_at, n) + number * gap_s)


def rooted(threads: Threads, n_train: Ints, price: float) -> Watched:
    """`price` is in posts times seconds."""
    return _by_roots(threads, n_train, price)


def _root(
    price: float,
    row: int,  # noqa: ARG001 - as all rules are asked
    at: Floats,
    first: int,
    known: int,
    now: float,
    end_at: float,  # noqa: ARG001
) -> float:
    age = max(now - at[first], MINUTE_S)
    return float(now + max(sqrt(2.0 * price * age / (known - first + 1)), MINUTE_S))


_by_roots = visits(_root)
