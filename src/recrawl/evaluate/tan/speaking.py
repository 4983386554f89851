"""Visits by the self-exciting model (`learn.threads.hawkes`), at one price for all threads.

By goal `prompt` the worth of a visit is the integral of t times the expected rate, read off a table. All of
that is in the board's own time, and delays are not. To put a visit off is right as long as fewer posts are
waiting than the next gap will bring: a visit in the evening, before hours in which little comes, must be
worth less than one before busy hours. Where gaps are within hours the price goes with the rate of the hours
to come; where they are of days it hardly matters when in the day they end. The root of the mean over four
hours lies between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, floor, isinf, log, sqrt
from typing import NamedTuple

import numpy as np

from recrawl.compiled import compiled
from recrawl.evaluate.tan.measures import MINUTE_S, Watched
from recrawl.evaluate.tan.visiting import visits
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.hawkes import DECAY, GRID_S, Hawkes, excited
from recrawl.learn.threads.profile import HOUR_S, WEEK_S, passed
from recrawl.model import Floats, Ints

_N_COMING = 4  # hours that a visit is made before


class Mind(NamedTuple):
    """What every thread's visits go by; made once, used at many prices."""

    own: Floats  # of each post: when it was, in its board's own time
    rate: Floats
    said: Floats
    due: Floats
    of: Ints  # of each thread: which of the following are for it
    shape: Floats
    worth: Floats  # of each set of figures, gap of the grid and memory
    profile: Floats
    passed: Floats
    asked: Floats  # of each hour of the week: what a visit must be worth, times the price
    weight: Floats  # of each thread: what a post's delay counts
    decay: Floats  # of each memory
    grid_s: Floats


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
        np.array([_asked(one.profile) for one in figures]),
        np.ones(threads.n) if weight is None else weight,
        DECAY,
        GRID_S,
    )


def _asked(profile: Floats) -> Floats:
    coming = np.mean([np.roll(profile, -hours) for hours in range(_N_COMING)], axis=0)
    return np.asarray(np.sqrt(coming) / np.sqrt(coming).mean())


class _Priced(NamedTuple):
    mind: Mind
    price: float


def spoken(threads: Threads, n_train: Ints, mind: Mind, price: float) -> Watched:
    """The price is in posts times seconds of own time."""
    return _by_worth(threads, n_train, _Priced(mind, price))


def _speak(
    how: _Priced,
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
    shape = mind.shape[of]
    lively = 1.0 if isinf(shape) else (shape + mind.said[known]) / (shape + due)
    return max(_due_at(mind, of, own, rate, how.price / mind.weight[row] / lively), now + MINUTE_S)


_by_worth = visits(_speak)


@compiled
def _due_at(mind: Mind, of: int, own: float, rate: Floats, price: float) -> float:
    """The first moment at which a visit is worth the price of its hour."""
    profile, passed, asked = mind.profile[of], mind.passed[of], mind.asked[of]
    soonest = own + _due_s(mind.worth[of], mind.grid_s, rate, price * asked.min())
    at = real_at(soonest, profile, passed)
    hour = int(at / HOUR_S)
    while True:  # within a week there is the hour that asks for least
        due = own + _due_s(mind.worth[of], mind.grid_s, rate, price * asked[hour % len(asked)])
        due_at = max(real_at(due, profile, passed), at)
        hour += 1
        if due_at <= hour * HOUR_S:
            return due_at
        at = hour * HOUR_S


@compiled
def left(mind: Mind, known: int, own: float) -> tuple[Floats, float]:
    """What each memory still brings, when nobody has spoken since the last known post; and how many posts
    were to be expected by now, of those that count."""
    rate, due = np.empty(len(mind.decay)), mind.due[known]
    for j in range(len(rate)):
        share = exp(-mind.decay[j] * (own - mind.own[known]))
        rate[j] = mind.rate[known, j] * share
        due += mind.rate[known, j] / mind.decay[j] * (1.0 - share)
    return rate, due


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
def own_at(at: float, profile: Floats, passed: Floats) -> float:
    week = floor(at / WEEK_S)
    rest = at - week * WEEK_S
    hour = min(int(rest / HOUR_S), len(profile) - 1)
    return float(week * WEEK_S + passed[hour] + (rest - hour * HOUR_S) * profile[hour])


@compiled
def real_at(own: float, profile: Floats, passed: Floats) -> float:
    week = floor(own / WEEK_S)
    rest = own - week * WEEK_S
    hour = min(int(np.searchsorted(passed, rest, side="right")), len(profile)) - 1
    return float(week * WEEK_S + hour * HOUR_S + (rest - passed[hour]) / profile[hour])
