"""Which features a learner should see: found by its own error on held-out rows (a wrapper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.learn.sights.learners import grown_tree
from recrawl.learn.sights.splits import one_thread
from recrawl.learn.sights.trees import singles
from recrawl.model import Floats, Ints

MOST = 12  # features that are taken, going forward
_N_TRIED = 20  # of all, those that are best alone
_BACKWARD = 8  # columns at most: then the search begins with all of them

Errors = Callable[[Floats, Ints, Floats], Ints]  # classes for held-out values, by what the others teach


@dataclass(frozen=True, slots=True)
class Selection:
    columns: Ints  # rising
    error: float  # of the learner with them, on held-out rows
    error_of_all: float


def selected(
    values: Floats, label: Ints, fold: Ints, *, taught: Errors | None = None, backward: bool | None = None
) -> Selection:
    """Few columns: begin with all and leave out whichever makes the error less, or no greater. Many: begin
    with none and add. Either ends when no step helps, and after as many steps as there are columns or
    `MOST`. The learner is a coarse tree where nothing else is given."""
    taught = _by_tree if taught is None else taught
    usable = _telling(values)
    tried: dict[tuple[int, ...], float] = {}

    def error(columns: tuple[int, ...]) -> float:
        if columns not in tried:
            tried[columns] = _error(values, label, fold, columns, taught)
        return tried[columns]

    with one_thread():
        everything = error(tuple(usable))
        if len(usable) <= _BACKWARD if backward is None else backward:
            best = _backward(error, tuple(usable))
        else:
            best = _forward(error, usable)
    if error(best) > everything:
        best = tuple(usable)
    return Selection(np.array(best, dtype=np.int64), error(best), everything)


def _forward(error: Callable[[tuple[int, ...]], float], usable: list[int]) -> tuple[int, ...]:
    alone = sorted(usable, key=lambda column: error((column,)))[:_N_TRIED]
    best: tuple[int, ...] = ()
    while len(best) < MOST:
        steps = [tuple(sorted((*best, column))) for column in alone if column not in best]
        if not steps:
            break
        step = min(steps, key=error)
        if best and error(step) >= error(best):
            break
        best = step
    return best


def _backward(error: Callable[[tuple[int, ...]], float], best: tuple[int, ...]) -> tuple[int, ...]:
    while len(best) > 1:
        step = min((tuple(c for c in best if c != column) for column in best), key=error)
        if error(step) > error(best):
            break
        best = step
    return best


def _telling(values: Floats) -> list[int]:
    """Columns in which rows differ at all."""
    found = []
    for column, x in enumerate(singles(values).T):
        known = x[~np.isnan(x)]
        if len(known) and (len(known) < len(x) or bool((known != known[0]).any())):
            found.append(column)
    return found or [0]


def _error(values: Floats, label: Ints, fold: Ints, columns: tuple[int, ...], taught: Errors) -> float:
    own, wrong = values[:, columns], 0
    for k in np.unique(fold).tolist():
        rows, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if len(rows):
            wrong += int((taught(own[rows], label[rows], own[held]) != label[held]).sum())
    return wrong / len(label)


def _by_tree(values: Floats, label: Ints, held: Floats) -> Ints:
    # about as coarse as a pruned one, at a small part of its cost
    tree = grown_tree(values, label, smallest=max(5, len(label) // 40))
    return np.asarray(tree.predict(singles(held)), dtype=np.int64)
