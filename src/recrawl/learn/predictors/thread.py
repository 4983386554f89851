"""The thread: posts bring on posts, and beginnings do, in memories of lifetimes from minutes to years.

What is kept of a thread is what its posts have left of each memory, and how many posts were to be expected.
What each memory brings, and at which hours and on which days a board is spoken in, is learned from all
threads while it runs, of each board and of all together (`learn.threads.common`). A thread's liveliness, by
which it differs from others of its board, is Gamma distributed about 1: it is the last posts that came, over
those that were to be expected. Whoever tells of posts is believed as in a rhythm (`learn.rhythms.signals`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf

import numpy as np

from recrawl.compiled import can_compile, plain
from recrawl.learn.histories import known_after_s
from recrawl.learn.rhythms.calendars import N_CELLS as N_HOURS
from recrawl.learn.rhythms.calendars import Rows, paces, shown_many
from recrawl.learn.rhythms.signals import Register, all_believed, no_sources
from recrawl.learn.rhythms.told import Told
from recrawl.learn.threads.common import (
    belief_in,
    boards_of,
    clock_of,
    nothing_in_common,
    profile_of,
    weights,
)
from recrawl.learn.threads.forecasts import SpokenForecasts
from recrawl.learn.threads.hawkes import DECAY, N_MEMORIES, Hawkes
from recrawl.learn.threads.spoken import Spoken
from recrawl.learn.threads.talk import (
    BLANK,
    BORN_AT,
    DUE,
    KNOWN_AT,
    MEMORY,
    SAID_AT,
    WIDTH,
    N,
    learned,
    sound,
)
from recrawl.model import DAY_S, Batch, Bools, Floats, Ints, Seen

# So many rows are taken in by plain Python, within some seconds in all: nobody waits for a compiler then.
N_PLAIN = 5_000


class Thread:
    """Predictor `thread`. `shape` is that of the liveliness: how far threads are alike before they are
    known."""

    width = WIDTH

    def __init__(self, *, shape: float = 20.0) -> None:
        self.shape = shape
        self.n_heard = 500_000 if can_compile() else 20_000  # some seconds either way
        self._counts = nothing_in_common()
        self._sources = no_sources(0)
        self._register = Register()
        self._rows = np.empty((0, WIDTH))
        self._n_taken = 0

    def learn(self, seen: Seen) -> None:
        """Take in visits in the order of their times: each may teach all that come after it."""
        if len(seen):
            self._reach(int(seen.id.max()))
            self._take(seen, self._rows, self._counts)

    def forecast(self, batch: Batch, now: float) -> Spoken | Told:
        spoken = self.spoken(batch)
        told = (batch.told_at <= now) & np.isfinite(batch.since_at)
        if not told.any():
            return spoken
        told_s = np.where(told, batch.told_at - spoken.since_at, np.inf)
        return Told(spoken, np.maximum(told_s, 0.0), np.where(told, self._believed(batch), 0.0))

    def spoken(self, batch: Batch) -> Spoken:
        """The forecasts, whatever anybody has told."""
        rows = self.memory(batch.id)
        new = np.isnan(rows[:, BORN_AT])
        since_at = np.where(np.isnan(batch.since_at), 0.0, batch.since_at)
        since_at = np.where(new, since_at, np.maximum(since_at, rows[:, KNOWN_AT]))
        said_at, born_at = (np.where(new, since_at, rows[:, column]) for column in (SAID_AT, BORN_AT))
        boards, clock = np.unique(boards_of(batch.group), return_inverse=True)
        shown = np.array([self._clock(board) for board in boards.tolist()]).reshape(len(boards), N_HOURS + 1)
        since, said, born = (shown_many(shown, clock, at) for at in (since_at, said_at, born_at))
        memory = np.where(new[:, None], 1.0, rows[:, MEMORY:]) * np.exp(-np.outer(since - said, DECAY))
        old = np.exp(-np.outer(since - born, DECAY))
        rate, mode, fall = (np.empty((len(rows), N_MEMORIES)) for _ in range(3))
        for number, board in enumerate(boards.tolist()):
            mine = clock == number
            hawkes = self.hawkes(board)
            rate[mine] = DECAY * (hawkes.weight * memory[mine] + hawkes.birth * old[mine])
            fall[mine], part = hawkes.modes
            mode[mine] = rate[mine] @ part.T
        a, b = self.shape + rows[:, N], self.shape + rows[:, DUE]
        return Spoken(SpokenForecasts(rate, a, b, mode, fall), shown, clock, since_at)

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:
        """What the forecasts rest on."""
        rows, spoken = self.memory(batch.id), self.spoken(batch)
        belief = np.array([belief_in(self._counts, board) for board in boards_of(batch.group).tolist()])
        passed_s = np.maximum(now - spoken.since_at, 0.0)
        ahead = spoken.n_expected(passed_s + DAY_S) - spoken.n_expected(passed_s)
        told = (batch.told_at <= now) & np.isfinite(batch.since_at)
        return {
            "posts_lately": rows[:, N],
            "posts_due": rows[:, DUE],
            "liveliness": spoken.usual.a / spoken.usual.b,
            "last_post_at": rows[:, SAID_AT],
            "posts_a_day": ahead,
            "calendar_pace": paces(spoken.shown, spoken.clock, np.full(len(rows), now)),
            "calendar_belief": belief,
            "signal_belief": np.where(told, self._believed(batch), np.nan),
        }

    def hawkes(self, board: int) -> Hawkes:
        """What the threads of a board have in common by now; 0: all threads."""
        weight = weights(self._counts, board)
        return Hawkes(weight[:N_MEMORIES], weight[N_MEMORIES:], inf, profile_of(self._counts, board))

    def knows(self, ids: Ints) -> Bools:
        """Of which of these anything was seen."""
        known = np.asarray(ids < len(self._rows))
        known[known] = np.isfinite(self._rows[ids[known], BORN_AT])
        return known

    def lore(self) -> Floats:
        return self._counts.copy()

    def take_lore(self, lore: Floats) -> None:
        """Go by these counts; what no predictor of this kind counted is passed over."""
        if lore.shape == self._counts.shape and np.isfinite(lore).all() and (lore >= 0.0).all():
            self._counts = np.array(lore, dtype=np.float64)

    def overhear(self, seen: Seen) -> None:
        """How far tellers are to be believed. All else that others' visits tell is in the lore; here threads
        are followed from where these visits find them, only to know what was to be expected."""
        if len(seen) and np.isfinite(seen.told_at).any():
            ids, of = np.unique(seen.id, return_inverse=True)
            blank = np.tile(np.array(BLANK), (len(ids), 1))
            self._take(replace(seen, id=of), blank, self._counts.copy())

    def memory(self, ids: Ints) -> Floats:
        """Asking makes no room: most of a home's resources may be no threads."""
        rows = np.tile(np.array(BLANK), (len(ids), 1))
        near = ids < len(self._rows)
        rows[near] = self._rows[ids[near]]
        return rows

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; what no predictor of this kind wrote is passed over."""
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        kept = sound(rows)
        self._rows[ids[kept]] = rows[kept]

    def _take(self, seen: Seen, rows: Floats, counts: Floats) -> None:
        seen = seen.pick(np.lexsort((seen.at, seen.id, seen.visit_at)))
        self._n_taken += len(seen)
        after_s = known_after_s(seen)
        timed = np.isfinite(after_s)
        told = np.isfinite(seen.told_at)
        self._sources, source = self._register.enrolled(self._sources, told, seen.told_by)
        taught = learned if self._n_taken > N_PLAIN and can_compile() else plain(learned)
        taught(
            rows,
            counts,
            self._sources,
            self.shape,
            seen.id,
            boards_of(seen.group),
            seen.since_at,
            seen.at,
            seen.changed == 1,
            seen.at - np.where(timed, after_s, 0.0),
            timed,
            source,
        )

    def _clock(self, board: int) -> Rows:
        return clock_of(profile_of(self._counts, board), belief_in(self._counts, board))

    def _believed(self, batch: Batch) -> Floats:
        return all_believed(self._sources, self._register.rows(batch.told_by))

    def _reach(self, highest: int) -> None:
        """Room for this id; of whoever is new nothing is known."""
        if highest < len(self._rows):
            return
        room = max(1024, 2 * len(self._rows), highest + 1)
        grown = np.tile(np.array(BLANK), (room, 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown
