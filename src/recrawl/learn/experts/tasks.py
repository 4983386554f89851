"""What is to be foretold, from what; and what was.

At step t everything up to t is known. Foretold is whether a page changes `ahead` steps later, that is
`changed[page, t + ahead]`. What is learned from are the examples of the last `n_train` steps whose outcome is
known at t: what was known at s, and whether the page changed at s + ahead, for s + ahead <= t.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.experts.calibration import curve
from recrawl.learn.features.content import Steps, dots, earlier, own, own_blocks, unigrams
from recrawl.learn.features.relation import relation, relation_blocks
from recrawl.learn.kin import Kin
from recrawl.model import Bags, Bools, Floats, Ints

_EVERY = 5  # steps foretold: after so many the calibration is made anew


@dataclass(frozen=True, kw_only=True)
class Task:
    steps: Steps
    pages: Ints  # whose changes are foretold
    kin: Kin | None = None  # of all pages, in the order of `steps`; None: nobody has any
    n_train: int = 50  # steps with examples
    n_past: int | None = None  # steps that `ours` learns from; None: all that are known
    back: int = 1  # the window of the paper's features, its l
    ahead: int = 1  # its sigma
    group: Ints | None = None  # of all pages: the number of its host, say; None: all are of one
    cycles: tuple[int, ...] = ()  # after how many steps a day or a week comes round; only `ours` asks
    own_weight: float | None = 1.0  # of a page among its own experts; None: as the heaviest of its kin
    seed: int = 1

    def __post_init__(self) -> None:
        if min(self.n_train, self.back, self.ahead, self.reach) < 1:
            raise BadInputError("Training size, window and steps ahead are counted from 1; give larger ones.")
        if self.kin is not None and len(self.kin.of) != self.steps.n_pages:
            raise BadInputError(
                f"Kin of {len(self.kin.of)} pages do not fit {self.steps.n_pages} pages; choose kin of all."
            )

    @property
    def first(self) -> int:
        """The first step from which to foretell with a full set of examples."""
        return self.n_train + self.back + self.ahead - 1

    @property
    def reach(self) -> int:
        """How many steps back `ours` looks."""
        return max(self.steps.n_steps, 1) if self.n_past is None else self.n_past

    @cached_property
    def outcome(self) -> Bools:
        """(all pages, n_steps): whether a page changed `ahead` of a step."""
        return _later(self.steps.changed, self.ahead)

    @cached_property
    def known(self) -> Bools:
        """(all pages, n_steps): whether that is known, and the page was known at the step."""
        return np.asarray(_later(self.steps.judged, self.ahead) & (self.steps.at >= 0))

    @cached_property
    def usable(self) -> Bools:
        """Steps with an example: those that also had a window before them."""
        return np.asarray(self.known & (earlier(self.steps.at, self.back) >= 0))

    def experts(self, page: int) -> tuple[Ints, Floats]:
        """The page itself and its kin, with their weights. Measured as its kin are, a page beside itself has
        a weight of 1."""
        if self.kin is None:
            return np.array([page]), np.ones(1)
        related = np.flatnonzero((self.kin.of[page] >= 0) & (self.kin.weight[page] > 0.0))
        weight = self.kin.weight[page][related]
        mine = float(weight.max(initial=0.0)) or 1.0 if self.own_weight is None else self.own_weight
        return np.append(page, self.kin.of[page][related]), np.append(mine, weight)

    @cached_property
    def sheets(self) -> Sheets:
        return Sheets(self)


class Sheets:
    """The paper's features of the pages of a task, made when they are asked for."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._bands: dict[int, Floats] = {}
        blocks = own_blocks(task.back)
        self.own_share = _shares(blocks)
        self.both_share = np.append(self.own_share, _shares(relation_blocks(task.back)))
        self.n_own_blocks = len(set(blocks.tolist())) + 1  # and the words
        self.n_both_blocks = self.n_own_blocks + len(set(relation_blocks(task.back).tolist()))

    @cached_property
    def _unigrams(self) -> Bags:
        return unigrams(self._task.steps.bags)

    def own(self, pages: Ints) -> Floats:
        return own(self._task.steps, self._task.back, self._task.ahead, pages)

    def relation(self, page: int, kin: Ints) -> Floats:
        return relation(self._task.steps, np.full(len(kin), page), kin, self._task.back)

    def bands(self, pages: Ints) -> Floats:
        """The products of the words' shares at a step and d steps before, (n_pages, n_steps, d)."""
        for page in pages.tolist():
            if page not in self._bands:
                at = self._task.steps.at[[page]]
                width = self._task.n_train + self._task.ahead
                then = np.stack([earlier(at, d)[0] for d in range(width)], axis=1)
                now = np.broadcast_to(at[0][:, None], then.shape)
                self._bands[page] = dots(self._unigrams, now.ravel(), then.ravel()).reshape(then.shape)
        return np.stack([self._bands[page] for page in pages.tolist()])

    def products(self, shown: Ints) -> Floats:
        """Of the words' shares in one more bag of each page, as if it came after all steps, with its own and
        those at d steps before, (all pages, d)."""
        at = self._task.steps.at
        then = np.append(shown[:, None], at[:, ::-1], axis=1)
        now = np.broadcast_to(shown[:, None], then.shape)
        return dots(self._unigrams, now.ravel(), then.ravel()).reshape(then.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """(n_pages, len(at)), pages in the order of the task."""

    at: Ints  # the steps from which was foretold
    yes: Bools
    p: Floats  # calibrated
    said: Floats  # as the learner puts it, before calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What was chosen on a training window, and what was said and what came there. `ours` has that of its
    pages' own machines too."""

    c: float = 1.0
    coef0: float = 1.0
    said: Floats = field(default_factory=lambda: np.empty(0))
    so: Bools = field(default_factory=lambda: np.empty(0, dtype=bool))
    own: Tuning | None = None


def calibrated(task: Task, at: Ints, said: Floats, held: tuple[Floats, Bools], way: str) -> Floats:
    """What was said as probabilities, at each step by what had come to be known then. `held` is what was said
    of examples that were held out before the first step, and what came of them."""
    p = np.empty_like(said)
    known, so = task.known[task.pages][:, at], task.outcome[task.pages][:, at]
    for start in range(0, len(at), _EVERY):
        t = int(at[start])
        past = known & ((at + task.ahead <= t) & (at + task.ahead > t - task.n_train))
        heard = np.append(held[0], said[past]), np.append(held[1], so[past])
        p[:, start : start + _EVERY] = curve(*heard, way).of(said[:, start : start + _EVERY])
    return p


def _shares(blocks: Ints) -> Floats:
    """What each column counts: all columns of a block together 1."""
    return np.asarray(1.0 / np.bincount(blocks)[blocks])


def _later(column: Bools, ahead: int) -> Bools:
    shifted = np.zeros_like(column)
    shifted[:, : max(column.shape[1] - ahead, 0)] = column[:, ahead:]
    return shifted
