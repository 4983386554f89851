"""Posts that bring on posts: a self-exciting process, alike for all threads of a board.

In own time (`learn.threads.profile`) the rate at which a thread is spoken in is a sum over lifetimes from
minutes to years: of each, what the posts so far have left of it. A post adds one to every such memory, which
fades as time passes and, by a tenth, with every further post: what counts is the last ten posts or so, and a
long thread is no livelier for its length. The thread's birth leaves something too, so that threads slow down
as they age. How much each memory brings is learned from the board (`learn.threads.fitting`). Until the next
post all of it goes up or down by what the last one's words say (`learn.threads.sparks`).

A thread's own liveliness is not known exactly: it multiplies all this and is Gamma distributed, at first
about 1, then about how many of its last posts came over how many were to be expected. Silence lowers it. What
is expected counts the answers to posts that nobody has seen yet, at half of what the pooled figures say:
threads that fall silent are not in them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.compiled import hurried
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.profile import own_at
from recrawl.learn.threads.sparks import Sparks, heat
from recrawl.model import DAY_S, Floats, Ints

LIFETIME_S = np.geomspace(1_200.0, 730.0 * DAY_S, 9)
DECAY = 1.0 / LIFETIME_S
N_MEMORIES = len(DECAY)
KEPT = 0.9  # of a memory, at each further post
ANSWERED = 0.5
GRID_S = np.geomspace(30.0, 20.0 * 365.0 * DAY_S, 300)  # gaps that are told apart


@dataclass(frozen=True, slots=True)
class Hawkes:
    """What is known of a board."""

    weight: Floats  # of each memory: posts that a post brings on
    birth: Floats  # posts that a thread's beginning brings on
    shape: float  # of the liveliness; infinite: all threads are alike
    profile: Floats
    sparks: Sparks | None = None  # words that bring on answers; None: nobody has read them

    @property
    def modes(self) -> tuple[Floats, Floats]:
        """The expected rate is a sum of exponentials: how fast each falls, and what a unit of each memory's
        rate adds to it. With y the memories' rates, dy/dt = -decay y + answered weight decay sum(y)."""
        # Scaled by the roots of what it adds, the matrix of that is symmetric.
        root = np.sqrt(np.maximum(self.weight * DECAY, 1e-12 * DECAY))
        values, vectors = np.linalg.eigh(np.diag(-DECAY) + ANSWERED * np.outer(root, root))
        return -values, (root @ vectors)[:, None] * (vectors / root[:, None]).T

    def worth(self) -> Floats:
        """What a visit after each of `GRID_S` is worth for a unit of each memory's rate: the integral of
        t times the expected rate. A row for each memory."""
        fall, part = self.modes
        return np.asarray(part.T @ _moments(fall[:, None], GRID_S))

    def expected(self) -> Floats:
        """The posts expected by each of `GRID_S`, likewise."""
        fall, part = self.modes
        return np.asarray(part.T @ _integrals(fall[:, None], GRID_S))


@dataclass(frozen=True, slots=True)
class Excited:
    """What is known of each thread just after each of its posts."""

    own: Floats  # when that was, in the board's own time
    rate: Floats  # of each memory, per second of own time: a row for each post
    said: Floats  # posts after the first: the last ten or so, as memories fade
    due: Floats  # how many of those were to be expected


def excited(threads: Threads, hawkes: Hawkes) -> Excited:
    own = own_at(threads.at, hawkes.profile)
    rate, said, due = np.empty((len(own), N_MEMORIES)), np.empty(len(own)), np.empty(len(own))
    hot = np.ones(len(own)) if hawkes.sparks is None else heat(threads, hawkes.sparks)
    _excite(threads.bounds, own, hot, hawkes.weight, hawkes.birth, DECAY, KEPT, rate, said, due)
    return Excited(own, rate, said, due)


@hurried
def _excite(
    bounds: Ints,
    own: Floats,
    hot: Floats,
    weight: Floats,
    birth: Floats,
    decay: Floats,
    kept: float,
    rate: Floats,
    said: Floats,
    due: Floats,
) -> None:
    memory = np.zeros(len(decay))
    for row in range(len(bounds) - 1):
        first = bounds[row]
        memory[:] = 0.0
        n = expected = 0.0
        for i in range(first, bounds[row + 1]):
            for j in range(len(decay)):
                if i > first:
                    left = np.exp(-decay[j] * (own[i] - own[i - 1]))
                    expected += rate[i - 1, j] / decay[j] * (1.0 - left)
                    memory[j] *= left * kept
                memory[j] += 1.0
                old = birth[j] * np.exp(-decay[j] * (own[i] - own[first]))
                rate[i, j] = hot[i] * decay[j] * (weight[j] * memory[j] + old)
            if i > first:
                n, expected = kept * (n + 1.0), kept * expected
            said[i], due[i] = n, expected


def _moments(fall: Floats, t_s: Floats) -> Floats:
    """The integral of s e^(-fall s) from 0 to t."""
    x = fall * t_s
    small = np.abs(x) < 1e-3
    safe = np.where(small, 1.0, np.maximum(x, -50.0))
    shape = np.where(small, 0.5 - x / 3.0, (1.0 - (1.0 + safe) * np.exp(-safe)) / safe**2)
    return np.asarray(shape * t_s * t_s)


def _integrals(fall: Floats, t_s: Floats) -> Floats:
    """The integral of e^(-fall s) from 0 to t."""
    x = fall * t_s
    small = np.abs(x) < 1e-6
    safe = np.where(small, 1.0, np.maximum(x, -50.0))
    return np.asarray(np.where(small, 1.0 - x / 2.0, -np.expm1(-safe) / safe) * t_s)
