"""Two models of threads as predictors: the mean of the last gaps, and the sigmoid that learns online.

Both keep the last gaps of each thread and when it last spoke. What is forecast is the time to the next post:
a predicted gap, counted from the last post, with the curve of how far from such predictions posts have come,
which all threads teach each other. A thread that has been quiet since its last post is somewhere in the
middle of its curve.

Moments that a visit tells of are posts. Where it tells only that something changed, that is taken to have
been one post in the middle of the time in question. Before its first post a thread is taken to have spoken
when it was first looked at; its gap is then what first sight makes us expect, or a day, and as much longer as
it was watched in vain.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recrawl.learn.threads.curves import N_CELLS, CurveForecasts, hazards, tally
from recrawl.learn.threads.features import N_TIMES, times
from recrawl.learn.threads.gaps import MIN_GAP_S, W
from recrawl.learn.threads.sgd import Sigmoids, fences, inputs
from recrawl.model import DAY_S, Batch, Floats, Ints, Seen

_HEARD, _POST_AT, _SEEN_AT = 0, 1, 2  # whether anything is known; the last post; the last visit
_GAPS = 3  # from here on: the last gaps, the newest first; below 0: there was none
_N_BOUNDING = 16  # gaps whose quartiles bound the sigmoid
_LEAST = 4  # gaps that are worth quartiles


class WindowMean:
    """Predictor `thread-window-mean`: the next gap is as long as the last five were on average.

    `first_days` is the gap of a thread of which nothing is known yet."""

    n_heard = 1  # all that is taught goes through the lore
    n_gaps = W  # that are kept of each thread
    width = _GAPS + W

    def __init__(self, *, first_days: float = 1.0) -> None:
        self._first_s = first_days * DAY_S
        self._gaps = slice(_GAPS, _GAPS + self.n_gaps)
        self._rows = np.empty((0, self.width))
        self._counts = np.zeros((2, N_CELLS))

    def learn(self, seen: Seen) -> None:
        """Take in visits; several of one resource are taken in the order of their times."""
        if not len(seen):
            return
        self._reach(int(seen.id.max()))
        for turn in seen.turns():
            self._take(seen.pick(turn))

    def forecast(self, batch: Batch, now: float) -> CurveForecasts:  # noqa: ARG002 - time counts from the visit
        rows = self.memory(batch.id)
        quiet_s = np.where(rows[:, _HEARD] > 0, self._since(rows, batch) - rows[:, _POST_AT], 0.0)
        hazard = np.broadcast_to(hazards(self._counts), (len(rows), N_CELLS))
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
        self._counts = lore.copy() if usable else np.zeros((2, N_CELLS))

    def overhear(self, seen: Seen) -> None:
        """Nothing is left to hear: whoever learned from these visits has counted them in the lore."""

    def _spoken(self, rows: Floats) -> Floats:
        """The predicted gap of threads of which some gap is known, NaN of others."""
        return _mean(self._known_gaps(rows))

    def _corrected(self, rows: Floats, gap_s: Floats) -> None:
        """The gaps that followed the last posts turned out to be these; `rows` learn, but for their gaps."""

    def _predicted(self, rows: Floats, hunch_gap_s: Floats) -> Floats:
        first_s = np.where(np.isfinite(hunch_gap_s), hunch_gap_s, self._first_s)
        watched_s = np.where(rows[:, _HEARD] > 0, rows[:, _SEEN_AT] - rows[:, _POST_AT], 0.0)
        said_s = self._spoken(rows)
        return np.maximum(np.where(np.isfinite(said_s), said_s, first_s + watched_s), MIN_GAP_S)

    def _known_gaps(self, rows: Floats) -> Floats:
        gaps = rows[:, self._gaps]
        return np.where(gaps >= 0.0, gaps, np.nan)

    @staticmethod
    def _since(rows: Floats, batch: Batch) -> Floats:
        return np.fmax(batch.since_at, rows[:, _SEEN_AT])

    def _take(self, seen: Seen) -> None:
        """At most one visit of each resource."""
        rows = self._rows[seen.id]
        changed = seen.changed == 1
        from_at = np.where(rows[:, _HEARD] > 0, rows[:, _POST_AT], seen.since_at)
        told = changed & (seen.event_at >= seen.since_at) & (seen.event_at <= seen.at)
        told |= changed & np.isnan(seen.since_at) & (seen.event_at <= seen.at)
        middle = np.where(np.isfinite(seen.since_at), (seen.since_at + seen.at) / 2.0, seen.at)
        until_at = np.where(told, seen.event_at, np.where(changed, middle, seen.at))
        lived = np.isfinite(from_at)  # else this is where it begins
        gap_s = np.maximum(until_at - from_at, 0.0)
        told_s = self._predicted(rows, seen.hunch_gap_s)
        watched_s = np.clip(seen.since_at - from_at, 0.0, gap_s)
        self._counts += tally((watched_s / told_s)[lived], (gap_s / told_s)[lived], changed[lived])
        new = np.flatnonzero(lived & changed)
        grown = rows[new]
        self._corrected(grown, gap_s[new])
        grown[:, self._gaps] = np.column_stack([gap_s[new], grown[:, self._gaps][:, :-1]])
        rows[new] = grown
        rows[:, _HEARD] = 1.0
        rows[:, _POST_AT] = np.where(changed | ~lived, until_at, from_at)
        rows[:, _SEEN_AT] = seen.at
        self._rows[seen.id] = rows

    def _reach(self, highest: int) -> None:
        """Room for this id; of whoever is new nothing is known."""
        if highest < len(self._rows):
            return
        room = max(1024, 2 * len(self._rows), highest + 1)
        grown = np.zeros((room, self.width))
        grown[:, self._gaps] = -1.0
        grown[: len(self._rows)] = self._rows
        self._rows = grown


class OnlineSigmoid(WindowMean):
    """Predictor `thread-sgd`: `sgd-clipped` of the models of threads, bounded by the quartiles of a thread's
    last sixteen gaps. Until it has had four it is given their mean."""

    n_gaps = _N_BOUNDING
    width = _GAPS + _N_BOUNDING + 1 + W + N_TIMES

    def _spoken(self, rows: Floats) -> Floats:
        gaps = self._known_gaps(rows)
        part, x = self._sigmoids(rows)
        return np.where(np.isfinite(gaps).sum(axis=1) < _LEAST, _mean(gaps), part.predicted(x))

    def _corrected(self, rows: Floats, gap_s: Floats) -> None:
        part, x = self._sigmoids(rows)
        ready = np.flatnonzero(np.isfinite(self._known_gaps(rows)).sum(axis=1) >= _LEAST)
        some = Sigmoids(part.weight[ready], part.low_s[ready], part.high_s[ready])
        some.learn(x[ready], gap_s[ready], clipped=True)
        rows[ready, self._gaps.stop :] = some.weight

    def _sigmoids(self, rows: Floats) -> tuple[Sigmoids, Floats]:
        gaps = self._known_gaps(rows)
        low_s, high_s = fences(gaps)
        x = inputs(gaps[:, :W], times(rows[:, _POST_AT]), high_s)
        return Sigmoids(rows[:, self._gaps.stop :], low_s, high_s), x


def _mean(gaps: Floats) -> Floats:
    n = np.isfinite(gaps).sum(axis=1)
    return np.where(n > 0, np.nansum(gaps, axis=1) / np.maximum(n, 1), np.nan)
