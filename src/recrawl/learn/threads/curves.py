"""A survival curve around a predicted gap: how far from it posts do come, learned from past ones.

Time is counted in predicted gaps since the last post, in cells that double: up to 1/256, up to 1/128, …, up
to 4096 and beyond. In each cell the hazard is constant: posts that came in it, over the time that threads
spent in it without one (a life table). So the curve may have any shape, silences that have not ended yet
count as they should, and to have been quiet for a while is to begin in the middle of it.

Where little was seen a cell leans on the one before it: with one post's weight on the same hazard up to a
predicted gap, and on half of it in each cell after that, since threads that have been quiet for long tend to
stay so. Nobody seen at all is as if posts came at random until the predicted gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.threads.board import Threads
from recrawl.model import Bools, Floats, Ints

EDGES = np.concatenate([[0.0], 2.0 ** np.arange(-8, 13)])  # where each cell begins
N_CELLS = len(EDGES)
_WIDTH = np.append(np.diff(EDGES), EDGES[-1])  # the last goes on for ever; it is counted in widths of this
_BOARD_WEIGHT = 10.0  # posts that all boards together count for in the curve of one
_SMALL = 0.3


def tally(since: Floats, until: Floats, ended: Bools) -> Floats:
    """Two rows: posts that came in each cell, and how often it was passed without one. Of each silence from
    where to where it was watched, in predicted gaps, and whether a post ended it."""
    posts = np.bincount(_cell(until)[ended], minlength=N_CELLS)
    return np.array([posts, np.maximum(_passed(until) - _passed(since), 0.0)])


def _cell(ratio: Floats) -> Ints:
    return np.maximum(np.searchsorted(EDGES, ratio, side="right") - 1, 0)


def _passed(ratio: Floats) -> Floats:
    """How often each cell was passed by all who came as far as this from the beginning."""
    cell = _cell(ratio)
    part = np.bincount(cell, (ratio - EDGES[cell]) / _WIDTH[cell], N_CELLS)
    reached = np.cumsum(np.bincount(cell, minlength=N_CELLS)[::-1])[::-1]
    return np.asarray(part + np.append(reached[1:], 0))


def hazards(counts: Floats, before: Floats | None = None, weight: float = 1.0) -> Floats:
    """Per predicted gap, in each cell, from a tally; `before` is what is believed without one, and what
    weight that has."""
    found = np.empty(N_CELLS)
    for cell in range(N_CELLS):
        if before is not None:
            prior = before[cell]
        elif cell:
            prior = found[cell - 1] * (0.5 if EDGES[cell] > 1.0 else 1.0)
        else:
            prior = 1.0
        spent = counts[1, cell] * _WIDTH[cell]
        found[cell] = (counts[0, cell] + weight) / (spent + weight / prior)
    return found


def shaped(threads: Threads, told_s: Floats, learned: Bools) -> Floats:
    """The hazards of each thread's board, from what was predicted after the posts that may be `learned` from.
    Those should be posts that the model was not fitted to: see `held_out`."""
    ratio = threads.gap_s / told_s
    counts, of = [], threads.board[threads.row]
    boards, place = np.unique(threads.board, return_inverse=True)
    for board in boards:
        own = ratio[learned & (of == board)]
        counts.append(tally(np.zeros(len(own)), own, np.ones(len(own), dtype=np.bool_)))
    pooled = hazards(np.sum(counts, axis=0))
    return np.array([hazards(own, pooled, _BOARD_WEIGHT) for own in counts])[place]


def held_out(threads: Threads, n_train: Ints) -> tuple[Ints, Bools]:
    """To how many posts of each thread a model is fitted when its errors are to be learned, two thirds of
    what there is; and the posts that show them."""
    inner = np.maximum(2 * n_train // 3, 1)
    return inner, threads.known(n_train) & ~threads.known(inner)


@dataclass(frozen=True, slots=True)
class CurveForecasts:
    """Each thread has a predicted gap, and has been quiet for a while when time begins. After its next post
    it goes on at the rate that its curve means: M(t) = F(t) + (integral of F) / mean gap. The mean gap is
    that of the whole curve, not the predicted one, which for some models is nearer to a median: on two boards
    the number of posts within one, four and sixteen days comes out closer so for every model but `fixed`."""

    hazard: Floats  # a row for each thread
    gap_s: Floats
    quiet_s: Floats

    @property
    def mean_s(self) -> Floats:
        """From one post to the next, by the whole curve."""
        x = self.hazard[:, :-1] * np.diff(EDGES)
        alive = np.exp(-_cumulated(x))
        within = (alive[:, :-1] * -np.expm1(-x) / self.hazard[:, :-1]).sum(axis=1)
        return np.asarray(self.gap_s * (within + alive[:, -1] / self.hazard[:, -1]))

    def survival(self, t_s: Floats) -> Floats:
        at = self._at(t_s)
        return np.exp(-at.summed - at.hazard * at.rest_s)

    def survival_slope(self, t_s: Floats) -> Floats:
        at = self._at(t_s)
        return -at.hazard * np.exp(-at.summed - at.hazard * at.rest_s)

    def survival_integral(self, t_s: Floats) -> Floats:
        return np.asarray(t_s - self._changed_integral(self._at(t_s)))

    def n_expected(self, t_s: Floats) -> Floats:
        at = self._at(t_s)
        changed = -np.expm1(-at.summed - at.hazard * at.rest_s)
        return np.asarray(changed + self._changed_integral(at) / self.mean_s)

    def n_expected_integral(self, t_s: Floats) -> Floats:
        at = self._at(t_s)
        return np.asarray(self._changed_integral(at) + self._changed_twice(at) / self.mean_s)

    def pick(self, rows: Ints) -> CurveForecasts:
        return CurveForecasts(self.hazard[rows], self.gap_s[rows], self.quiet_s[rows])

    def _at(self, t_s: Floats) -> _Places:
        """Where in its curve each is, and what has come together until that cell began."""
        begins_s = np.maximum(EDGES * self.gap_s[:, None] - self.quiet_s[:, None], 0.0)
        step_s = np.diff(begins_s, axis=1)
        hazard = self.hazard / self.gap_s[:, None]
        summed = _cumulated(hazard[:, :-1] * step_s)
        alive, x = np.exp(-summed[:, :-1]), hazard[:, :-1] * step_s
        gone = -np.expm1(-summed)
        once = _cumulated(gone[:, :-1] * step_s + alive * hazard[:, :-1] * step_s**2 * _second(x))
        twice = _cumulated(
            once[:, :-1] * step_s
            + gone[:, :-1] * step_s**2 / 2.0
            + alive * hazard[:, :-1] * step_s**3 * _third(x)
        )
        cell = _cell((self.quiet_s + t_s) / self.gap_s)
        row = np.broadcast_to(np.arange(len(self.gap_s)), cell.shape)
        rest_s = np.maximum(t_s - begins_s[row, cell], 0.0)
        return _Places(
            hazard[row, cell], summed[row, cell], gone[row, cell], once[row, cell], twice[row, cell], rest_s
        )

    @staticmethod
    def _changed_integral(at: _Places) -> Floats:
        """Of F = 1 - S, from 0."""
        x = at.hazard * at.rest_s
        grown = np.exp(-at.summed) * at.hazard * at.rest_s**2 * _second(x)
        return np.asarray(at.once + at.gone * at.rest_s + grown)

    @staticmethod
    def _changed_twice(at: _Places) -> Floats:
        """The integral of that."""
        x = at.hazard * at.rest_s
        grown = np.exp(-at.summed) * at.hazard * at.rest_s**3 * _third(x)
        return np.asarray(at.twice + at.once * at.rest_s + at.gone * at.rest_s**2 / 2.0 + grown)


@dataclass(frozen=True, slots=True)
class _Places:
    hazard: Floats  # in the cell
    summed: Floats  # until it began: the hazard, F, its integral and the integral of that
    gone: Floats
    once: Floats
    twice: Floats
    rest_s: Floats  # since it began


def _cumulated(pieces: Floats) -> Floats:
    return np.concatenate([np.zeros((len(pieces), 1)), np.cumsum(pieces, axis=1)], axis=1)


def _second(x: Floats) -> Floats:
    """(x - 1 + e^-x) / x^2, which is 1/2 at x = 0."""
    small = x < _SMALL
    safe = np.where(small, 1.0, x)
    return np.where(small, _series(x, 2), (safe + np.expm1(-safe)) / safe**2)


def _third(x: Floats) -> Floats:
    """(x^2 / 2 - x + 1 - e^-x) / x^3, which is 1/6 at x = 0."""
    small = x < _SMALL
    safe = np.where(small, 1.0, x)
    return np.where(small, _series(x, 3), (safe**2 / 2.0 - safe - np.expm1(-safe)) / safe**3)


def _series(x: Floats, first: int) -> Floats:
    """The sum of (-x)^n / (n + first)! over n."""
    term = np.full(np.shape(x), 0.5 if first == 2 else 1.0 / 6.0)
    total = term.copy()
    small = np.minimum(x, _SMALL)
    for n in range(1, 10):
        term = term * -small / (n + first)
        total = total + term
    return total
