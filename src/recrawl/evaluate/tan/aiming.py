"""Visits that aim at the normalised error of Tan (2012) itself, from the self-exciting model.

Half of a thread's error is its visits over its life L in minutes, half its delays over those of one visit at
the end, which are about N L / 2 for N posts. With a price m for any visit besides, one is due when the delay
that it saves, in minutes, reaches

    N / 2 (1 + m L).

So the fewer visits there are, the more of them go to threads that will not live long. N is the same for all
threads: the mean number of posts in the last part of what is known of them. A thread's own number of known
posts must not be asked: it is a fixed share of all. How long a thread will live is learned from how long all
threads lived after the first part of what is known of them: the logarithm goes by that of the age, in a
straight line.
"""

from __future__ import annotations

import numpy as np

from recrawl.evaluate.tan.measures import MINUTE_S, Watched
from recrawl.evaluate.tan.speaking import Mind, spoken
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints


def aimed(
    threads: Threads, n_train: Ints, mind: Mind, life_s: Floats, n_posts: float, price: float
) -> Watched:
    """`n_posts` are likely to come in a thread. At price 1 visits cost what the measure says; above it they
    have a price besides, and below it they cost less than that."""
    dearer = min(price, 1.0) + max(price - 1.0, 0.0) * life_s / np.median(life_s)
    asked = MINUTE_S * n_posts / 2.0 * dearer
    return spoken(threads, n_train, mind._replace(weight=1.0 / asked), 1.0)


def lives_s(threads: Threads, n_train: Ints, share: float) -> Floats:
    """How long each thread is likely to live after the posts that are known."""
    inner = _inner(n_train, share)
    first, then, now = (
        threads.at[threads.bounds[:-1] + n - 1] for n in (np.ones_like(inner), inner, n_train)
    )
    age, life, at_last = (
        np.log(np.maximum(one, MINUTE_S)) for one in (then - first, now - then, now - first)
    )
    apart = age - age.mean()
    slope = float(np.clip(apart @ life / max(apart @ apart, 1e-9), 0.0, 1.0))
    return np.asarray(np.exp(life.mean() + slope * (at_last - age.mean())))


def posts_to_come(n_train: Ints, share: float) -> float:
    """How many a thread is likely to have after those that are known: the mean over threads of those in the
    last part of what is known."""
    return float((n_train - _inner(n_train, share)).mean())


def _inner(n_train: Ints, share: float) -> Ints:
    return np.clip((share * n_train).astype(np.int64), 1, n_train)
