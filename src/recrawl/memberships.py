"""Which rate class each resource is in, learned from its visits: by counting, or by Bayes' rule.

Predictors and policies of rate classes are the same learners with another question to answer: what is to be
expected, or when to look again. Each keeps rows of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.errors import BadInputError
from recrawl.model import DAY_S, Bools, Floats, Ints, RateClass, Seen

# Where no hunch says anything, a resource begins in the class nearest to a week, as others' rules do.
START_GAP_S = 7 * DAY_S
# How far a hunch is believed to begin with: about as often as the paper's static classifier is right.
BELIEF = 0.75
_MIN_GAP_S = 1e-3
_UNBEGUN = -1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RateTable:
    """Classes as columns, the fastest first."""

    interval_s: Floats
    window: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, classes: Sequence[RateClass]) -> RateTable:
        rows = [(one.interval_s, one.window, one.low, one.high) for one in classes]
        interval_s, window, low, high = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        if not len(rows) or not (np.diff(interval_s, prepend=0.0) > 0.0).all():
            raise BadInputError("Rate classes go from the fastest to the slowest; give rising intervals.")
        if not (window >= 1.0).all() or not (low <= high).all():
            raise BadInputError(
                "A rate class has a window of one visit or more, and a lower threshold that is not above the "
                "upper one; change them."
            )
        return cls(interval_s=interval_s, window=window, low=low, high=high)

    def __len__(self) -> int:
        return len(self.interval_s)

    def nearest(self, gap_s: Floats) -> Ints:
        """The class whose interval is nearest by its logarithm; that of a week where the gap is NaN."""
        middle_s = np.sqrt(self.interval_s[1:] * self.interval_s[:-1])
        known_s = np.where(np.isnan(gap_s), START_GAP_S, gap_s)
        return np.searchsorted(middle_s, known_s).astype(np.int64)

    def counted(self, rows: Floats, changed: Bools) -> Floats:
        """Class, visits and changes of each after one more visit: Algorithm 1 of Barbosa and others (2005).
        When the window is full it moves by one class at most, and the counts start again, moved or not."""
        place = rows[:, 0].astype(np.int64)
        n_visits, n_changes = rows[:, 1] + 1.0, rows[:, 2] + changed
        full = n_visits >= self.window[place]
        share = n_changes / self.window[place]
        slower, faster = full & (share < self.low[place]), full & (share > self.high[place])
        moved = np.clip(place + slower - faster, 0, len(self) - 1)
        return np.column_stack([moved, np.where(full, 0.0, n_visits), np.where(full, 0.0, n_changes)])

    def weighed(
        self, log_likelihood: Floats, gap_s: Floats, changed: Bools, momentary: Bools | None = None
    ) -> Floats:
        """The same after one more visit, beside the likeliest class's: of a Poisson process whose mean
        interval is the class's, P(no change in a gap) = e^(-gap / interval). What is `momentary` changed at
        the end of its gap and not before."""
        x = gap_s[:, None] / self.interval_s
        found = np.log(-np.expm1(-x))
        if momentary is not None:
            found = np.where(momentary[:, None], -x - np.log(self.interval_s), found)
        told = log_likelihood + np.where(changed[:, None], found, -x)
        return np.asarray(told - told.max(axis=1, keepdims=True))


class Memberships(ABC):
    """A learner that knows each resource by itself alone."""

    def __init__(self, classes: Sequence[RateClass], blank: Sequence[float]) -> None:
        self.table = RateTable.of(classes)
        self.width = len(blank)
        self._blank = np.array(blank, dtype=np.float64)
        self._rows = np.empty((0, self.width))

    @abstractmethod
    def classes(self, ids: Ints, hunch_gap_s: Floats) -> Ints:
        """The class that each is in, by its place in the table."""

    def interval_s(self, ids: Ints, hunch_gap_s: Floats) -> Floats:
        """The interval of the class that each is in."""
        return self.table.interval_s[self.classes(ids, hunch_gap_s)]

    @abstractmethod
    def _stepped(self, rows: Floats, seen: Seen) -> Floats:
        """Rows after a visit each."""

    @abstractmethod
    def _possible(self, rows: Floats) -> Bools:
        """Which of these rows such a learner may have written."""

    def learn(self, seen: Seen) -> None:
        """Take in visits; several of one resource are taken in the order of their times."""
        if not len(seen):
            return
        self._reach(int(seen.id.max()))
        for turn in seen.turns():
            part = seen.pick(turn)
            self._rows[part.id] = self._stepped(self._rows[part.id], part)

    def memory(self, ids: Ints) -> Floats:
        self._reach(int(ids.max(initial=0)))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; rows of NaN stand for "nothing kept" and are passed over, and so is
        what no learner of this kind wrote."""
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        whole = np.flatnonzero(np.isfinite(rows).all(axis=1))
        kept = whole[self._possible(rows[whole])]
        self._rows[ids[kept]] = rows[kept]

    def _reach(self, highest: int) -> None:
        if highest < len(self._rows):
            return
        grown = np.tile(self._blank, (max(1024, 2 * len(self._rows), highest + 1), 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown


class Counted(Memberships):
    """The historic classifier. A row: the class, and since it was last decided on the visits and how many of
    them found a change. The class is that of the hunch when the first of them comes."""

    def __init__(self, classes: Sequence[RateClass]) -> None:
        super().__init__(classes, (_UNBEGUN, 0.0, 0.0))

    def classes(self, ids: Ints, hunch_gap_s: Floats) -> Ints:
        return self._begun(self.memory(ids), hunch_gap_s)[:, 0].astype(np.int64)

    def learn(self, seen: Seen) -> None:
        super().learn(seen.folded())

    def _stepped(self, rows: Floats, seen: Seen) -> Floats:
        return self.table.counted(self._begun(rows, seen.hunch_gap_s), seen.changed == 1)

    def _possible(self, rows: Floats) -> Bools:
        whole = (rows == np.floor(rows)).all(axis=1)
        place, n_visits, n_changes = rows.T
        return np.asarray(
            whole
            & (place >= _UNBEGUN)
            & (place < len(self.table))
            & (n_changes >= 0.0)
            & (n_changes <= n_visits)
            & (n_visits < self.table.window[np.clip(place, 0, len(self.table) - 1).astype(np.int64)])
        )

    def _begun(self, rows: Floats, hunch_gap_s: Floats) -> Floats:
        begun = rows.copy()
        begun[:, 0] = np.where(rows[:, 0] < 0.0, self.table.nearest(hunch_gap_s), rows[:, 0])
        return begun


class Weighed(Memberships):
    """The Bayesian estimator of Cho and Garcia-Molina. A row: for each class, the logarithm of how likely the
    visits are in it, beside the likeliest; so no number of visits is too many.

    What is believed before them is kept apart, so that the rows hold for any hunch: its class has `belief`
    and the others share the rest; without a hunch all are alike.
    """

    def __init__(self, classes: Sequence[RateClass], belief: float = BELIEF) -> None:
        super().__init__(classes, (0.0,) * len(classes))
        if not 0.0 < belief < 1.0:
            raise BadInputError(f"A belief of {belief:g} leaves nothing to learn; give one between 0 and 1.")
        others = (1.0 - belief) / max(len(classes) - 1, 1)
        self._prior = np.log(np.where(np.eye(len(classes)) > 0.0, belief, others))  # a row for each hunch

    def p_classes(self, ids: Ints, hunch_gap_s: Floats) -> Floats:
        """How probable each class is, a row for each resource."""
        p = np.exp(self._log_p(ids, hunch_gap_s))
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def classes(self, ids: Ints, hunch_gap_s: Floats) -> Ints:
        """The most probable; of several alike the one to begin in, or the fastest."""
        log_p = self._log_p(ids, hunch_gap_s)
        start = self.table.nearest(hunch_gap_s)
        return np.where(log_p[np.arange(len(ids)), start] >= 0.0, start, log_p.argmax(axis=1))

    def _log_p(self, ids: Ints, hunch_gap_s: Floats) -> Floats:
        """Beside the most probable, which is 0."""
        known = np.isfinite(hunch_gap_s)[:, None]
        prior = np.where(known, self._prior[self.table.nearest(hunch_gap_s)], 0.0)
        log_p = self.memory(ids) + prior
        return np.asarray(log_p - log_p.max(axis=1, keepdims=True))

    def _stepped(self, rows: Floats, seen: Seen) -> Floats:
        gap_s = np.maximum(seen.at - seen.since_at, _MIN_GAP_S)
        return self.table.weighed(rows, gap_s, seen.changed == 1, seen.momentary)

    def _possible(self, rows: Floats) -> Bools:
        return np.asarray(rows.max(axis=1, initial=-np.inf) == 0.0)
