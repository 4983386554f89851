"""What the threads of a board have in common, learned from their posts.

The likelihood of a self-exciting process whose memories fade at given rates has one summit in their weights;
expectation and maximisation climb it: every post is shared out to the memories that may have brought it on.
A board leans on all boards together, with the weight of some hundred posts. How unlike the threads are comes
last: the shape of a Gamma distribution that makes each next post likeliest, from those before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np

from recrawl.compiled import compiled
from recrawl.errors import BadInputError
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.hawkes import DECAY, KEPT, N_MEMORIES, Hawkes, excited
from recrawl.learn.threads.profile import EVEN, own_at, profile
from recrawl.learn.threads.sparks import Sparks, sparks
from recrawl.model import Floats, Ints

_N_ROUNDS = 100
_WEIGHT = 200.0  # posts that all boards count for in the figures of one
_SHAPES = np.geomspace(1.0, 200.0, 24)


def fitted(threads: Threads, prior: Hawkes | None = None) -> Hawkes:
    """To whole threads, from the first post of each to its last."""
    if len(threads.at) == threads.n:
        raise BadInputError("No thread has a second post, so nothing can be learned; take a longer past.")
    hours = profile(threads.at, EVEN if prior is None else prior.profile)
    own = own_at(threads.at, hours)
    rate, due = np.empty((len(own), 2 * N_MEMORIES)), np.empty((len(own), 2 * N_MEMORIES))
    _expose(threads.bounds, own, DECAY, KEPT, rate, due)
    later = threads.place > 0
    rate, due = rate[later], due[later]
    weight = _climbed(rate, due.sum(axis=0), prior)
    found = Hawkes(weight[:N_MEMORIES], weight[N_MEMORIES:], inf, hours)
    told = excited(threads, found)
    before = np.flatnonzero(later) - 1
    shape = likely_shape(told.said[before], told.due[before], due @ weight)
    return replace(
        found, shape=shape, sparks=_sparks(threads, due @ weight) if prior is None else prior.sparks
    )


def by_board(threads: Threads) -> tuple[tuple[Hawkes, ...], Ints]:
    """What is known of each board, and which of the figures are for which thread."""
    boards, of = np.unique(threads.board, return_inverse=True)
    return tuple(_of_boards(threads, boards)), of


def _of_boards(threads: Threads, boards: Ints) -> Iterator[Hawkes]:
    together = fitted(threads)
    for board in boards:
        rows = np.flatnonzero((threads.board == board) & (threads.n_posts > 1))
        yield fitted(threads.pick(rows), together) if len(rows) else together


def _climbed(rate: Floats, due: Floats, prior: Hawkes | None) -> Floats:
    """The weights of the memories of posts, and of those of the beginning."""
    weight = np.full(2 * N_MEMORIES, 1.0 / N_MEMORIES)
    n_before, due_before = np.zeros(2 * N_MEMORIES), np.full(2 * N_MEMORIES, 1e-9)
    if prior is not None:
        weight = np.maximum(np.concatenate([prior.weight, prior.birth]), 1e-9)
        brought = weight * due
        n_before = _WEIGHT * brought / brought.sum()
        due_before = np.maximum(n_before / weight, 1e-9)
    return _climb(rate, due + due_before, n_before, weight, _N_ROUNDS)


def _sparks(threads: Threads, due: Floats) -> Sparks | None:
    """Words are the same on all boards. `due` is what was to be expected before each post but the first."""
    if threads.bags is None and threads.tags is None:
        return None
    after = np.full(len(threads.at), np.nan)
    after[np.flatnonzero(threads.place > 0) - 1] = due
    return sparks(threads, after)


def likely_shape(said: Floats, due: Floats, waited: Floats) -> float:
    """Of the liveliness: the likeliest, where a thread had so many of its last posts while that many were
    due, and the next one came when `waited` more were."""
    best, most = inf, float(-waited.sum())  # all threads are alike
    for shape in _SHAPES:
        a, b = shape + said, shape + due
        likely = float((np.log(a / b) - (a + 1.0) * np.log1p(waited / b)).sum())
        if likely > most:
            best, most = float(shape), likely
    return best


@compiled
def _climb(rate: Floats, due: Floats, n_before: Floats, weight: Floats, n_rounds: int) -> Floats:
    n = len(weight)
    for _ in range(n_rounds):
        share = np.zeros(n)
        for i in range(len(rate)):
            total = 0.0
            for j in range(n):
                total += rate[i, j] * weight[j]
            for j in range(n):
                share[j] += rate[i, j] / max(total, 1e-300)
        weight = (weight * share + n_before) / due
    return weight


@compiled
def _expose(bounds: Ints, own: Floats, decay: Floats, kept: float, rate: Floats, due: Floats) -> None:
    """At each post the rate that a unit of every weight brings, and what it has brought since the one
    before."""
    n = len(decay)
    memory = np.zeros(n)
    for row in range(len(bounds) - 1):
        first = bounds[row]
        memory[:] = 0.0
        rate[first] = 0.0
        due[first] = 0.0
        for i in range(first, bounds[row + 1]):
            for j in range(n):
                if i > first:
                    left = np.exp(-decay[j] * (own[i] - own[i - 1]))
                    due[i, j] = memory[j] * (1.0 - left)
                    memory[j] *= left
                    rate[i, j] = decay[j] * memory[j]
                    old = np.exp(-decay[j] * (own[i - 1] - own[first]))
                    due[i, n + j] = old * (1.0 - left)
                    rate[i, n + j] = decay[j] * old * left
                memory[j] = memory[j] * kept + 1.0
