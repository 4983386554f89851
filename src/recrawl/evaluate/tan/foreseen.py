"""The gap after each post as a single number, from it and those before it; only MAPE asks for it."""

from __future__ import annotations

from math import log

import numpy as np

from recrawl.evaluate.tan.measures import MINUTE_S
from recrawl.evaluate.tan.speaking import Mind
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.hawkes import DECAY, GRID_S
from recrawl.learn.threads.profile import real_at
from recrawl.model import Floats

_N_HALVINGS = 40


def mean_gaps_s(threads: Threads) -> Floats:
    """At the rate so far, that of the square-root rule."""
    age_s = threads.at - np.repeat(threads.at[threads.bounds[:-1]], threads.n_posts)
    return np.asarray(np.maximum(age_s, MINUTE_S) / (threads.place + 1))


def median_gaps_s(threads: Threads, mind: Mind) -> Floats:
    """By the self-exciting model: as likely as not somebody has spoken by then. A mean there is not: a thread
    may stay silent for ever. Where that is likelier than not it is the longest gap that is told apart."""
    of = mind.of[threads.row]
    shape = mind.shape[of]
    alike = np.isinf(shape)
    shape = np.where(alike, 1.0, shape)
    wanted = (shape + mind.due) * np.expm1(log(2.0) / (shape + mind.said))  # posts, at liveliness 1
    wanted = np.where(alike, log(2.0), wanted)
    low, high = np.zeros(len(wanted)), np.full(len(wanted), log(GRID_S[-1]))
    for _ in range(_N_HALVINGS):
        middle = (low + high) / 2.0
        left = -np.expm1(-np.exp(middle)[:, None] * DECAY)
        late = (mind.rate / DECAY * left).sum(axis=1) >= wanted
        low, high = np.where(late, low, middle), np.where(late, middle, high)
    own = mind.own + np.exp(high)
    gap_s = np.empty(len(own))
    for number, profile in enumerate(mind.profile):
        posts = of == number
        gap_s[posts] = real_at(own[posts], profile) - threads.at[posts]
    return gap_s
