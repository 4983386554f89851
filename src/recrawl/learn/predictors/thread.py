"""The thread: posts bring on posts, and beginnings do, in memories of lifetimes from minutes to years.

What is kept of a thread is what its posts have left of each memory, and how many posts were to be expected.
What each memory brings is learned from all threads while it runs: every post is shared out to the memories
that may have brought it on. A thread's liveliness, by which it differs from all of them, is Gamma distributed
about 1: it is the last posts that came, over those that were to be expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from recrawl.compiled import can_compile, plain
from recrawl.learn.histories import known_after_s
from recrawl.learn.threads.forecasts import SpokenForecasts
from recrawl.learn.threads.hawkes import DECAY, N_MEMORIES, Hawkes
from recrawl.learn.threads.profile import EVEN
from recrawl.learn.threads.talk import (
    BLANK,
    BORN_AT,
    DUE,
    KNOWN_AT,
    MEMORY,
    N_WEIGHTS,
    SAID_AT,
    WIDTH,
    N,
    learned,
    sound,
    weights,
)
from recrawl.model import Batch, Floats, Ints, Seen

# So many rows are taken in by plain Python, within some seconds in all: nobody waits for a compiler then.
N_PLAIN = 5_000


class Thread:
    """Predictor `thread`. `shape` is that of the liveliness: how far threads are alike before they are
    known."""

    width = WIDTH

    def __init__(self, *, shape: float = 20.0) -> None:
        self.shape = shape
        self.n_heard = 1  # what others learned from is in the lore
        self._counts = np.zeros((2, N_WEIGHTS))
        self._rows = np.empty((0, WIDTH))
        self._n_taken = 0

    def learn(self, seen: Seen) -> None:
        """Take in visits in the order of their times: each may teach all that come after it."""
        if not len(seen):
            return
        seen = seen.pick(np.lexsort((seen.at, seen.id, seen.visit_at)))
        self._reach(int(seen.id.max()))
        self._n_taken += len(seen)
        after_s = known_after_s(seen)
        post_at = seen.at - np.where(np.isnan(after_s), 0.0, after_s)
        taught = learned if self._n_taken > N_PLAIN and can_compile() else plain(learned)
        taught(self._rows, self._counts, seen.id, seen.since_at, seen.at, seen.changed == 1, post_at)

    def forecast(self, batch: Batch, now: float) -> SpokenForecasts:  # noqa: ARG002 - no calendar in it
        hawkes, rows = self.hawkes, self.memory(batch.id)
        new = np.isnan(rows[:, BORN_AT])
        since_at = np.where(np.isnan(batch.since_at), 0.0, batch.since_at)
        since_at = np.where(new, since_at, np.maximum(since_at, rows[:, KNOWN_AT]))
        said_at, born_at = (np.where(new, since_at, rows[:, column]) for column in (SAID_AT, BORN_AT))
        memory = np.where(new[:, None], 1.0, rows[:, MEMORY:])
        fresh = hawkes.weight * memory * np.exp(-np.outer(since_at - said_at, DECAY))
        rate = DECAY * (fresh + hawkes.birth * np.exp(-np.outer(since_at - born_at, DECAY)))
        fall, part = hawkes.modes
        a, b = self.shape + rows[:, N], self.shape + rows[:, DUE]
        return SpokenForecasts(rate, a, b, rate @ part.T, fall)

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:  # noqa: ARG002 - as above
        """What the forecasts rest on."""
        rows = self.memory(batch.id)
        return {"posts_lately": rows[:, N], "posts_due": rows[:, DUE], "said_at": rows[:, SAID_AT]}

    @property
    def hawkes(self) -> Hawkes:
        """What all threads have in common, by now."""
        weight = weights(self._counts)
        return Hawkes(weight[:N_MEMORIES], weight[N_MEMORIES:], inf, EVEN)

    def lore(self) -> Floats:
        return self._counts.copy()

    def take_lore(self, lore: Floats) -> None:
        """Go by these counts; what no predictor of this kind counted is passed over."""
        if lore.size == self._counts.size and np.isfinite(lore).all() and (lore >= 0.0).all():
            self._counts = np.array(lore, dtype=np.float64).reshape(self._counts.shape)

    def overhear(self, seen: Seen) -> None:
        """All that others' visits tell is in the lore."""

    def memory(self, ids: Ints) -> Floats:
        if len(ids):
            self._reach(int(ids.max()))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; what no predictor of this kind wrote is passed over."""
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        kept = sound(rows)
        self._rows[ids[kept]] = rows[kept]

    def _reach(self, highest: int) -> None:
        """Room for this id; of whoever is new nothing is known."""
        if highest < len(self._rows):
            return
        room = max(1024, 2 * len(self._rows), highest + 1)
        grown = np.tile(np.array(BLANK), (room, 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown
