"""Learners that are trained once and asked again and again, as a crawl asks them from day to day.

Examples stay as they were; what is foretold from is the newest step. The answers are those that `foretold`
gives when it is asked anew every day (a test holds the two to the same bits), but no machine is trained
twice, and of the paper's features only those of the newest step are worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.learn.experts.calibration import curve
from recrawl.learn.experts.margins import again, trained
from recrawl.learn.experts.pooled import Pool
from recrawl.learn.experts.tasks import Task, Tuning
from recrawl.learn.features.content import Steps, own
from recrawl.learn.features.relation import relation
from recrawl.model import Floats, Ints

Schooled = Callable[[Task], Floats]  # the chance of each page of a task to change `ahead` of its newest step


def schooled(name: str, task: Task, tuning: Tuning) -> Schooled:
    """Trained on the examples of all steps of this task, which is its training size. It may be asked of tasks
    that begin with the same steps, go on with others, and have no more examples."""
    sure = curve(tuning.said, tuning.so)
    if name == "ours":
        pool, by_own = Pool(task), schooled("experts", task, tuning.own or tuning)
        return lambda now: sure.of(pool.asked(now, by_own(now)))
    machines = _Machines(task, tuning, with_kin=name == "experts")
    return lambda now: sure.of(machines.said(now))


@dataclass(frozen=True, slots=True)
class _Page:
    """Its own machine and those of its kin."""

    related: Ints
    weight: Floats
    rows: Ints  # the steps with examples, and at the end the place of the newest step
    y: Floats
    values: Floats  # (related, steps of the examples, columns)
    alpha: Floats
    b: Floats


class _Machines:
    """One for each page, or one for it and each of its kin."""

    def __init__(self, task: Task, tuning: Tuning, with_kin: bool) -> None:
        self._sheets = sheets = task.sheets
        self._with_kin, self._tuning, self._n_steps = with_kin, tuning, task.steps.n_steps
        self._share = sheets.both_share if with_kin else sheets.own_share
        self._n_blocks = sheets.n_both_blocks if with_kin else sheets.n_own_blocks
        self._of = [self._trained(task, page) for page in task.pages.tolist()]
        self._pair = (
            np.repeat(task.pages, [len(one.related) for one in self._of]),
            np.concatenate([one.related for one in self._of]) if self._of else task.pages,
        )

    def said(self, now: Task) -> Floats:
        """Of each page at the newest step, as `foretold` has it before it is calibrated."""
        values, words = self._newest(now), self._sheets.products(now.steps.at[:, -1])
        said, first = np.empty(len(self._of)), 0
        for place, one in enumerate(self._of):
            own = slice(first, first + len(one.related))
            heard = again(
                np.append(self._sheets.bands(one.related), words[one.related][:, None], axis=1),
                np.append(one.values, values[own][:, None], axis=1),
                self._share, one.rows, one.y, self._n_blocks, self._tuning.coef0, one.alpha, one.b,
            )  # fmt: skip
            said[place] = one.weight @ np.clip(heard, -1.0, 1.0) if self._with_kin else heard[0]
            first = own.stop
        return said

    def _trained(self, task: Task, page: int) -> _Page:
        sheets = self._sheets
        related, weight = task.experts(page) if self._with_kin else (np.array([page]), np.ones(1))
        values = sheets.own(related)
        if self._with_kin:
            values = np.concatenate([values, sheets.relation(page, related)], axis=2)
        known = np.flatnonzero(task.usable[page, : self._n_steps - task.ahead])
        rows, y = np.append(known, self._n_steps), np.where(task.outcome[page, known], 1.0, -1.0)
        # whatever stands in the place of the newest step, examples and their machine are the same
        alpha, b = trained(
            np.pad(sheets.bands(related), ((0, 0), (0, 1), (0, 0))),
            np.pad(values, ((0, 0), (0, 1), (0, 0))),
            self._share, rows, y, self._n_blocks, self._tuning.c, self._tuning.coef0,
        )  # fmt: skip
        return _Page(related, weight / weight.sum(), rows, y, values, alpha, b)

    def _newest(self, now: Task) -> Floats:
        """The features of all pairs at the newest step, from the few steps that they reach back."""
        few = slice(-(now.back + now.ahead + 1), None)
        tail: Steps = now.steps.seen_as(now.steps.at[:, few], now.steps.changed[:, few])
        page, kin = self._pair
        values = own(tail, now.back, now.ahead)[kin, -1]
        if self._with_kin:
            values = np.append(values, relation(tail, page, kin, now.back)[:, -1], axis=1)
        return np.asarray(values)
