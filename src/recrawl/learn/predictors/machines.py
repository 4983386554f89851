"""Support vector machines as predictors of threads: one for each thread, fitted anew now and then.

Kept of a thread are when its last posts were, and the gap that is predicted after the newest. The machine is
not kept: it follows from the posts up to the last time it was fitted anew, which is after every eighth. So
whoever goes on from the rows has the same machine. Learning costs a fit or so for each visit that finds
posts, some milliseconds; forecasts cost nothing.

Predictors do not hear what posts say: the machines go by gaps, days and hours. With words they are in the
experiment alone (`learn.threads.models`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recrawl.learn.predictors.gaps import OWN, GapPredictor
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.svr import LEAST, Machine, plain, regression, summed, taught
from recrawl.model import Floats, Ints, Seen

N_LEARNED = 100  # gaps that a machine is fitted to, the newest ones at the time
REFIT_EVERY = 8  # gaps
_N_POSTS, _TOLD_S, _POSTS = OWN, OWN + 1, OWN + 2
_N_KEPT = N_LEARNED + REFIT_EVERY  # posts: a machine's, and those since


class Svr(GapPredictor):
    """Predictor `thread-svr`: a machine on the last five gaps, day and hour. Until a thread has had ten gaps
    it is given their mean."""

    width = _POSTS + _N_KEPT

    def __init__(self, *, first_days: float = 1.0) -> None:
        super().__init__(first_days=first_days)
        self._columns: Callable[[Threads], Floats] = plain
        self._machines: dict[int, tuple[int, Machine]] = {}  # of the visits that are being learned from
        regression()  # where it cannot be had, better now than after the tenth gap

    def learn(self, seen: Seen) -> None:
        super().learn(seen)
        self._machines.clear()

    def _said_s(self, rows: Floats) -> Floats:
        return np.where(rows[:, _N_POSTS] > 0, rows[:, _TOLD_S], np.nan)

    def _grow(self, ids: Ints, rows: Floats, from_at: Floats, gap_s: Floats) -> None:
        posts = rows[:, _POSTS:]
        new = rows[:, _N_POSTS] == 0
        posts[new, 0] = from_at[new]
        rows[new, _N_POSTS] = 1.0
        posts[:, 1:] = posts[:, :-1].copy()
        posts[:, 0] = np.maximum(from_at + gap_s, posts[:, 1])
        rows[:, _N_POSTS] += 1.0
        for i, number in enumerate(ids):
            rows[i, _TOLD_S] = self._told_s(int(number), posts[i], int(rows[i, _N_POSTS]))

    def _told_s(self, number: int, posts: Floats, n_posts: int) -> float:
        n_gaps = n_posts - 1
        at = posts[: min(n_posts, _N_KEPT)][::-1]
        if n_gaps < LEAST:
            return float((at[-1] - at[0]) / n_gaps)
        n_since = (n_gaps - LEAST) % REFIT_EVERY
        fitted, machine = self._machines.get(number, (0, None))
        if machine is None or fitted != n_gaps - n_since:
            known = _thread(at[max(len(at) - n_since - N_LEARNED - 1, 0) : len(at) - n_since])
            machine = taught(self._columns(known)[:-1], known.gap_s[:-1])
            self._machines[number] = n_gaps - n_since, machine
        return float(machine.predicted(self._columns(_thread(at))[-1:])[0])


class DiscountedSvr(Svr):
    """Predictor `thread-svr-discounted`: a machine on discounted sums of gaps, days and hours."""

    def __init__(self, *, first_days: float = 1.0) -> None:
        super().__init__(first_days=first_days)
        self._columns = summed


def _thread(at: Floats) -> Threads:
    nobody = np.full(len(at), -1)
    return Threads(np.array([0, len(at)]), at, nobody, None, np.zeros(1, dtype=np.int64))
