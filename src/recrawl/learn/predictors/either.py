"""Threads as predictor `thread` has them, everything else as `rhythm` does.

A thread is whatever has told when something was said in it: from then on its visits go by that. The rhythm
learns from all visits, so that groups, priors and silences are what they are without it, and takes over
nothing; where nobody tells of moments the two are the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.learn.parted import Parted
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.predictors.thread import Thread
from recrawl.model import Batch, Bools, Floats, Ints, KinTable, Priors, Seen


class Either:
    """Predictor `either`."""

    width = Rhythm.width + Thread.width

    def __init__(self) -> None:
        self.rhythm, self.thread = Rhythm(), Thread()
        self.parts: tuple[Rhythm | Thread, ...] = (self.rhythm, self.thread)
        self.n_heard = max(self.rhythm.n_heard, self.thread.n_heard)

    def learn(self, seen: Seen) -> None:
        self.rhythm.learn(seen)
        self.thread.learn(seen.pick(self._of_threads(seen)))

    def forecast(self, batch: Batch, now: float) -> Forecasts:
        spoken = self.thread.knows(batch.id)
        if not spoken.any():
            return self.rhythm.forecast(batch, now)
        if spoken.all():
            return self.thread.forecast(batch, now)
        rest = self.rhythm.forecast(batch.pick(~spoken), now)
        return Parted(rest, self.thread.forecast(batch.pick(spoken), now), spoken)

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:
        """What the forecasts rest on: of each what its own predictor says."""
        spoken = self.thread.knows(batch.id)
        told: dict[str, Floats] = {}
        for part, mine in ((self.rhythm, ~spoken), (self.thread, spoken)):
            if len(batch) and not mine.any():
                continue
            for name, column in part.account(batch.pick(mine), now).items():
                told.setdefault(name, np.full(len(batch), np.nan))[mine] = column
        return told

    def silences(self, batch: Batch, until_at: Floats) -> tuple[Floats, Floats]:
        return self.rhythm.silences(batch, until_at)

    def ground(self, priors: Priors) -> None:
        self.rhythm.ground(priors)

    def know_kin(self, table: KinTable) -> None:
        self.rhythm.know_kin(table)

    def lore(self) -> Floats:
        return np.concatenate([part.lore().ravel() for part in self.parts])

    def take_lore(self, lore: Floats) -> None:
        """Each goes by its own; what no predictor of this kind counted is passed over."""
        shapes = [part.lore().shape for part in self.parts]
        sizes = [int(np.prod(shape)) for shape in shapes]
        if lore.shape == (sum(sizes),):
            ends = np.split(lore, np.cumsum(sizes)[:-1])
            for part, own, shape in zip(self.parts, ends, shapes, strict=True):
                part.take_lore(own.reshape(shape))

    def overhear(self, seen: Seen) -> None:
        self.rhythm.overhear(seen)
        self.thread.overhear(seen.pick(self._of_threads(seen)))

    def memory(self, ids: Ints) -> Floats:
        return np.hstack([part.memory(ids) for part in self.parts])

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; what no predictor of this kind wrote is passed over."""
        if len(ids) and rows.shape[1] == self.width:
            for part, own in zip(self.parts, np.split(rows, [Rhythm.width], axis=1), strict=True):
                part.recall(ids, own)

    def _of_threads(self, seen: Seen) -> Bools:
        """Which visits are of threads: those that tell of moments, and whatever comes after."""
        ids, of = np.unique(seen.id, return_inverse=True)
        first_at = np.where(self.thread.knows(ids), -np.inf, np.inf)
        told = seen.momentary
        np.minimum.at(first_at, of[told], seen.visit_at[told])
        return np.asarray(seen.visit_at >= first_at[of])
