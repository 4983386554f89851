"""What predictors of threads have in common: a predicted gap, with a curve around it.

What is forecast is the time to the next post: a predicted gap, counted from the last post, with the curve of
how far from such predictions posts have come, which all threads teach each other. A thread that has been
quiet since its last post is somewhere in the middle of its curve.

Moments that a visit tells of are posts. Where it tells only that something changed, that is taken to have
been one post in the middle of the time in question. Before its first post a thread is taken to have spoken
when it was first looked at; its gap is then what first sight makes us expect, or a day, and as much longer as
it was watched in vain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from recrawl.learn.threads.curves import N_CELLS, CurveForecasts, hazards, tally
from recrawl.learn.threads.gaps import MIN_GAP_S
from recrawl.model import DAY_S, Batch, Bools, Floats, Ints, Seen

HEARD, POST_AT, SEEN_AT = 0, 1, 2  # whether anything is known; the last post; the last visit
OWN = 3  # from here on: what the model keeps of a thread


class Silences(NamedTuple):
    """What each row tells of the time after a thread's last post."""

    lived: Bools  # else this is where the thread begins
    watched_s: Floats  # how long it had been quiet at the visit before
    gap_s: Floats  # and at the end of this row
    ended: Bools  # by a post
    told_s: Floats  # the gap that was predicted


class GapPredictor:
    """A model says what it keeps of each thread (`width`, `_blank`, `_grow`) and which gap it predicts
    (`_said_s`).

    `first_days` is the gap of a thread of which nothing is known yet."""

    n_heard = 1  # all that is taught goes through the lore
    n_taught = N_CELLS  # columns of the lore: cells of the curve come first
    width = OWN

    def __init__(self, *, first_days: float = 1.0) -> None:
        self._first_s = first_days * DAY_S
        self._rows = np.empty((0, self.width))
        self._counts = np.zeros((2, self.n_taught))

    def learn(self, seen: Seen) -> None:
        """Take in visits; several of one resource are taken in the order of their times."""
        if not len(seen):
            return
        self._reach(int(seen.id.max()))
        turns = seen.turns()
        found = [self._take(seen.pick(turn)) for turn in turns]
        place = np.argsort(np.concatenate(turns))
        self._teach(seen, Silences(*(np.concatenate(parts)[place] for parts in zip(*found, strict=True))))

    def forecast(self, batch: Batch, now: float) -> CurveForecasts:  # noqa: ARG002 - time counts from the visit
        rows = self.memory(batch.id)
        since_at = np.fmax(batch.since_at, rows[:, SEEN_AT])
        quiet_s = np.where(rows[:, HEARD] > 0, since_at - rows[:, POST_AT], 0.0)
        hazard = np.broadcast_to(hazards(self._counts[:, :N_CELLS]), (len(rows), N_CELLS))
        return CurveForecasts(hazard, self._predicted(rows, batch.hunch_gap_s), np.maximum(quiet_s, 0.0))

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:
        """What the forecasts rest on."""
        forecasts = self.forecast(batch, now)
        return {"predicted_gap_s": forecasts.gap_s, "quiet_s": forecasts.quiet_s}

    def memory(self, ids: Ints) -> Floats:
        self._reach(int(ids.max(initial=0)))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; rows that are not wholly known are passed over, and so is what no
        predictor of this kind wrote."""
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        kept = np.isfinite(rows).all(axis=1)
        self._rows[ids[kept]] = rows[kept]

    def lore(self) -> Floats:
        return self._counts.copy()

    def take_lore(self, lore: Floats) -> None:
        usable = lore.shape == self._counts.shape and bool((np.isfinite(lore) & (lore >= 0.0)).all())
        self._counts = lore.copy() if usable else np.zeros(self._counts.shape)

    def overhear(self, seen: Seen) -> None:
        """Nothing is left to hear: whoever learned from these visits has counted them in the lore."""

    def _blank(self) -> Floats:
        """What is kept of a thread that nobody has heard of."""
        return np.zeros(self.width)

    def _said_s(self, rows: Floats) -> Floats:
        """The predicted gap after the last post; NaN where the model knows too little."""
        raise NotImplementedError

    def _grow(self, ids: Ints, rows: Floats, from_at: Floats, gap_s: Floats) -> None:
        """A post has come in each of these threads, so long after the last one. `rows` learn from it; but for
        what all models keep, which does not know of it yet."""

    def _teach(self, seen: Seen, silences: Silences) -> None:  # noqa: ARG002 - some go by the order of visits
        """What all threads learn from rows, which are in the order of `seen`."""
        lived, told_s = silences.lived, silences.told_s
        since, until = silences.watched_s / told_s, silences.gap_s / told_s
        self._counts[:, :N_CELLS] += tally(since[lived], until[lived], silences.ended[lived])

    def _predicted(self, rows: Floats, hunch_gap_s: Floats) -> Floats:
        first_s = np.where(np.isfinite(hunch_gap_s), hunch_gap_s, self._first_s)
        watched_s = np.where(rows[:, HEARD] > 0, rows[:, SEEN_AT] - rows[:, POST_AT], 0.0)
        said_s = self._said_s(rows)
        return np.maximum(np.where(np.isfinite(said_s), said_s, first_s + watched_s), MIN_GAP_S)

    def _take(self, seen: Seen) -> Silences:
        """At most one row of each resource."""
        rows = self._rows[seen.id]
        changed = seen.changed == 1
        from_at = np.where(rows[:, HEARD] > 0, rows[:, POST_AT], seen.since_at)
        told = changed & (seen.event_at >= seen.since_at) & (seen.event_at <= seen.at)
        told |= changed & np.isnan(seen.since_at) & (seen.event_at <= seen.at)
        middle = np.where(np.isfinite(seen.since_at), (seen.since_at + seen.at) / 2.0, seen.at)
        until_at = np.where(told, seen.event_at, np.where(changed, middle, seen.at))
        lived = np.isfinite(from_at)  # else this is where it begins
        gap_s = np.where(lived, np.maximum(until_at - from_at, 0.0), 0.0)
        told_s = self._predicted(rows, seen.hunch_gap_s)
        watched_s = np.where(lived, np.clip(seen.since_at - from_at, 0.0, gap_s), 0.0)
        new = np.flatnonzero(lived & changed)
        grown = rows[new]
        self._grow(seen.id[new], grown, from_at[new], gap_s[new])
        rows[new] = grown
        rows[:, HEARD] = 1.0
        rows[:, POST_AT] = np.where(changed | ~lived, until_at, from_at)
        rows[:, SEEN_AT] = seen.at
        self._rows[seen.id] = rows
        return Silences(lived, watched_s, gap_s, changed, told_s)

    def _reach(self, highest: int) -> None:
        """Room for this id; of whoever is new nothing is known."""
        if highest < len(self._rows):
            return
        room = max(1024, 2 * len(self._rows), highest + 1)
        grown = np.tile(self._blank(), (room, 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown
