"""Models of threads as predictors that learn with every post: mean gaps of three kinds, and the sigmoid."""

from __future__ import annotations

import numpy as np

from recrawl.learn.predictors.gaps import OWN, POST_AT, GapPredictor, Silences
from recrawl.learn.threads.curves import N_CELLS
from recrawl.learn.threads.features import N_TIMES, times
from recrawl.learn.threads.gaps import MIN_GAP_S, W
from recrawl.learn.threads.sgd import Sigmoids, fences, inputs
from recrawl.model import Floats, Ints, Seen

_N_BOUNDING = 16  # gaps whose quartiles bound the sigmoid
_LEAST = 4  # gaps that are worth quartiles
_N, _SUM_S = OWN, OWN + 1  # of a thread: gaps, and how long they were together


class Fixed(GapPredictor):
    """Predictor `thread-fixed`: one gap for all threads, the mean of all that have been seen to end."""

    n_taught = N_CELLS + 1  # the last: how many gaps have ended, and how long they were together

    def _said_s(self, rows: Floats) -> Floats:
        n, sum_s = self._counts[:, -1]
        return np.full(len(rows), sum_s / n if n else np.nan)

    def _teach(self, seen: Seen, silences: Silences) -> None:
        """Each row is held against what was known before it, so that visits which are learned from together
        teach the same as one after the other."""
        order = np.lexsort((seen.at, seen.id, seen.visit_at))
        ended = silences.ended & silences.lived
        steps = np.array([ended, np.where(ended, silences.gap_s, 0.0)])[:, order]
        grown = self._counts[:, -1:] + np.cumsum(steps, axis=1)
        n, sum_s = np.hstack([self._counts[:, -1:], grown[:, :-1]])
        told_s = silences.told_s.copy()
        told_s[order] = np.where(n > 0, np.maximum(sum_s / np.maximum(n, 1.0), MIN_GAP_S), told_s[order])
        self._counts[:, -1] = grown[:, -1]
        super()._teach(seen, silences._replace(told_s=told_s))


class Mean(GapPredictor):
    """Predictor `thread-mean`: the next gap is as long as all of the thread were on average."""

    width = OWN + 2

    def _said_s(self, rows: Floats) -> Floats:
        return np.where(rows[:, _N] > 0, rows[:, _SUM_S] / np.maximum(rows[:, _N], 1.0), np.nan)

    def _grow(self, ids: Ints, rows: Floats, from_at: Floats, gap_s: Floats) -> None:  # noqa: ARG002
        rows[:, _N] += 1.0
        rows[:, _SUM_S] += gap_s


class WindowMean(GapPredictor):
    """Predictor `thread-window-mean`: the next gap is as long as the last five were on average."""

    n_gaps = W  # that are kept of each thread, the newest first
    width = OWN + W

    def _blank(self) -> Floats:
        row = super()._blank()
        row[OWN : OWN + self.n_gaps] = -1.0  # there was no such gap
        return row

    def _said_s(self, rows: Floats) -> Floats:
        return _mean(self._known_gaps(rows))

    def _grow(self, ids: Ints, rows: Floats, from_at: Floats, gap_s: Floats) -> None:  # noqa: ARG002
        kept = slice(OWN, OWN + self.n_gaps)
        rows[:, kept] = np.column_stack([gap_s, rows[:, kept][:, :-1]])

    def _known_gaps(self, rows: Floats) -> Floats:
        gaps = rows[:, OWN : OWN + self.n_gaps]
        return np.where(gaps >= 0.0, gaps, np.nan)


class OnlineSigmoid(WindowMean):
    """Predictor `thread-sgd`: `sgd-clipped` of the models of threads, bounded by the quartiles of a thread's
    last sixteen gaps. Until it has had four it is given their mean."""

    n_gaps = _N_BOUNDING
    width = OWN + _N_BOUNDING + 1 + W + N_TIMES
    weights = slice(OWN + _N_BOUNDING, width)

    def _said_s(self, rows: Floats) -> Floats:
        gaps = self._known_gaps(rows)
        part, x = self._sigmoids(rows)
        return np.where(np.isfinite(gaps).sum(axis=1) < _LEAST, _mean(gaps), part.predicted(x))

    def _grow(self, ids: Ints, rows: Floats, from_at: Floats, gap_s: Floats) -> None:
        part, x = self._sigmoids(rows)
        ready = np.flatnonzero(np.isfinite(self._known_gaps(rows)).sum(axis=1) >= _LEAST)
        some = Sigmoids(part.weight[ready], part.low_s[ready], part.high_s[ready])
        some.learn(x[ready], gap_s[ready], clipped=True)
        rows[ready, self.weights] = some.weight
        super()._grow(ids, rows, from_at, gap_s)

    def _sigmoids(self, rows: Floats) -> tuple[Sigmoids, Floats]:
        gaps = self._known_gaps(rows)
        low_s, high_s = fences(gaps)
        x = inputs(gaps[:, :W], times(rows[:, POST_AT]), high_s)
        return Sigmoids(rows[:, self.weights], low_s, high_s), x


def _mean(gaps: Floats) -> Floats:
    n = np.isfinite(gaps).sum(axis=1)
    return np.where(n > 0, np.nansum(gaps, axis=1) / np.maximum(n, 1), np.nan)
