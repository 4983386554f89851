"""Visits at a price, one for all threads: by the rate so far, and by the self-exciting model.

A visit tells of all posts up to it, and the next one goes by nothing else. `rooted` is the plain square-root
rule: where posts come at a steady rate, the worth of a visit t later is rate * t^2 / 2, so the gap is the
root of 2 * price / rate. `spoken` goes by what is expected of each thread (`learn.threads.hawkes`): its worth
is the integral of t * expected rate, read off a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, floor, isinf, log, sqrt
from typing import NamedTuple

import numpy as np

from recrawl.compiled import compiled
from recrawl.evaluate.tan.following import watched
from recrawl.evaluate.tan.measures import MINUTE_S, Watched
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.hawkes import DECAY, GRID_S, Hawkes, excited
from recrawl.learn.threads.profile import HOUR_S, WEEK_S, passed
from recrawl.model import Floats, Ints


class Mind(NamedTuple):
    """What every thread's visits go by; made once, used at many prices."""

    own: Floats  # of each post
    rate: Floats
    said: Floats
    due: Floats
    of: Ints  # of each thread: which of the following are for it
    shape: Floats
    worth: Floats  # of each set of figures, memory and gap of the grid
    profile: Floats
    passed: Floats
    weight: Floats  # of each thread: what a post's delay counts


def minded(threads: Threads, figures: Sequence[Hawkes], of: Ints, weight: Floats | None = None) -> Mind:
    """`of` says which of the figures are for each thread."""
    rate = np.empty((len(threads.at), len(DECAY)))
    own, said, due = np.empty((3, len(threads.at)))
    for number, hawkes in enumerate(figures):
        rows = np.flatnonzero(of == number)
        posts = of[threads.row] == number
        some = excited(threads.pick(rows), hawkes)
        own[posts], rate[posts], said[posts], due[posts] = some.own, some.rate, some.said, some.due
    return Mind(
        own,
        rate,
        said,
        due,
        of.astype(np.int64),
        np.array([one.shape for one in figures]),
        np.array([one.worth().T for one in figures]),
        np.array([one.profile for one in figures]),
        np.array([passed(one.profile) for one in figures]),
        np.ones(threads.n) if weight is None else weight,
    )


def rooted(threads: Threads, n_train: Ints, price: float) -> Watched:
    """`price` is in posts times seconds."""

    def visit(n: Ints, visit_at: Floats) -> bool:
        return _root(threads.bounds, threads.at, n_train, price, n, visit_at)

    return visited(threads, n_train, visit)


def spoken(threads: Threads, n_train: Ints, mind: Mind, price: float) -> Watched:
    """The price is as above, in own time."""

    def visit(n: Ints, visit_at: Floats) -> bool:
        return _speak(threads.bounds, threads.at, n_train, mind, DECAY, GRID_S, price, n, visit_at)

    return visited(threads, n_train, visit)


def visited(threads: Threads, n_train: Ints, visit: Callable[[Ints, Floats], bool]) -> Watched:
    """`visit` writes down how many visits there are to each thread and when; False: it wants more room."""
    n = np.zeros(threads.n, dtype=np.int64)
    room = np.zeros(4 * len(threads.at))
    while not visit(n, room):
        room = np.zeros(4 * len(room))
    bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    return watched(threads, n_train, bounds, room[: bounds[-1]].copy())


@compiled
def _root(bounds: Ints, at: Floats, n_train: Ints, price: float, n: Ints, visit_at: Floats) -> bool:
    """False where there is no room for all visits."""
    total = 0
    for row in range(len(n)):
        first, last = bounds[row], bounds[row + 1] - 1
        known = first + n_train[row] - 1
        now, before = at[known], total
        while True:
            age = max(now - at[first], MINUTE_S)
            now += max(sqrt(2.0 * price * age / (known - first + 1)), MINUTE_S)
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
def _speak(
    bounds: Ints,
    at: Floats,
    n_train: Ints,
    mind: Mind,
    decay: Floats,
    grid_s: Floats,
    price: float,
    n: Ints,
    visit_at: Floats,
) -> bool:
    """As above."""
    total = 0
    rate = np.zeros(len(decay))
    for row in range(len(n)):
        first, last = bounds[row], bounds[row + 1] - 1
        known, of = first + n_train[row] - 1, mind.of[row]
        now, own, before = at[known], mind.own[known], total
        asked = price / mind.weight[row]
        while True:
            due = mind.due[known]
            for j in range(len(decay)):
                left = exp(-decay[j] * (own - mind.own[known]))
                rate[j] = mind.rate[known, j] * left
                due += mind.rate[known, j] / decay[j] * (1.0 - left)
            shape = mind.shape[of]
            lively = 1.0 if isinf(shape) else (shape + mind.said[known]) / (shape + due)
            own += _due_s(mind.worth[of], grid_s, rate, asked / lively)
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
def _due_s(worth: Floats, grid_s: Floats, rate: Floats, price: float) -> float:
    """After how long a visit is worth the price: between two gaps of the grid, on a line of logarithms."""
    low, high = -1, len(grid_s) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if worth[middle] @ rate >= price:
            high = middle
        else:
            low = middle
    if low < 0:  # worth grows with the square of the time, at first
        return float(grid_s[0] * sqrt(price / (worth[0] @ rate)))
    below, above = log(worth[low] @ rate), log(worth[high] @ rate)
    share = min((log(price) - below) / (above - below), 1.0) if above > below else 1.0
    return float(grid_s[low] * (grid_s[high] / grid_s[low]) ** share)


@compiled
def real_at(own: float, profile: Floats, passed: Floats) -> float:
    week = floor(own / WEEK_S)
    rest = own - week * WEEK_S
    hour = min(int(np.searchsorted(passed, rest, side="right")), len(profile)) - 1
    return float(week * WEEK_S + hour * HOUR_S + (rest - passed[hour]) / profile[hour])
