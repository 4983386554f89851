"""Our own learner: models for all pages together, beside each page's own machines.

A machine for each page has fifty examples; a model for all pages has fifty times as many as there are pages,
and what is peculiar to a page comes in through its own shares and lifts (`signs`). There are two, boosted
trees and a line (`ridge`), made anew when a fifth more is known, from all examples whose outcome is known, or
from the last `n_past` steps. Pages that are foretold weigh as much as all others together. How many trees
there ought to be, and what the line and the page's own machines (`experts`) are worth beside them, is told by
what came of what each said before (`blends`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.algebra import one_thread
from recrawl.learn.experts.blends import blended, blends, odds
from recrawl.learn.experts.ridge import Ridge, drawn_through
from recrawl.learn.experts.signs import Singles, signs
from recrawl.learn.experts.tasks import Task
from recrawl.model import Bools, Floats, Ints

_EVERY = 10  # steps: so long models are used at least
_GROWN = 5  # and until there is a fifth more to learn from
_MOST = 60_000  # examples, drawn where there are more: as many as are learned from in a second or two
_N_CLASSES = 63
_STAGES = (20, 50, 100, 150)  # numbers of trees that are blended


def asked_of_all(task: Task, pages: Ints, at: Ints, known: Bools, own: Floats, anew: bool = True) -> Floats:
    """Half the log odds of some pages at each step, which is how margins are spread. `own` are the
    probabilities by the pages' own machines. Models are made at the first step, and `anew` later on."""
    if not len(pages):
        return np.empty((0, len(at)))
    p = blends(*_said(task, signs(task), pages, at, anew), odds(own))
    return 0.5 * odds(blended(p, task.outcome[pages][:, at], known, at, task.ahead))


class Pool:
    """Models that are made once, from what is known at the newest step of a task."""

    def __init__(self, task: Task) -> None:
        with _one_thread():
            rng = np.random.default_rng(task.seed)
            self._models = _learned(task, signs(task), task.steps.n_steps - 1, rng)

    def asked(self, now: Task, own: Floats) -> Floats:
        """The same of the pages of a task at its newest step alone."""
        with _one_thread():
            line, trees = self._models.of(signs(now)[now.pages, -1])
        p, nothing = blends(line, trees, odds(own))[:, :, None], np.zeros((len(own), 1), dtype=bool)
        return 0.5 * odds(blended(p, nothing, nothing, np.zeros(1, dtype=np.int64), now.ahead))[:, 0]


def _said(task: Task, columns: Singles, pages: Ints, at: Ints, anew: bool) -> tuple[Floats, Floats]:
    """The log odds by the line, and by each number of trees."""
    line, trees = np.empty((len(pages), len(at))), np.empty((len(_STAGES), len(pages), len(at)))
    rng = np.random.default_rng(task.seed)
    with _one_thread():
        for part in _parts(at) if anew else [slice(0, len(at))]:
            models = _learned(task, columns, int(at[part][0]), rng)
            rows = columns[pages][:, at[part]]
            said = models.of(rows.reshape(-1, rows.shape[2]))
            line[:, part] = said[0].reshape(rows.shape[:2])
            trees[:, :, part] = said[1].reshape(len(_STAGES), *rows.shape[:2])
    return line, trees


def _parts(at: Ints) -> list[slice]:
    """Steps that are foretold by the same models, made at the first of each part."""
    begins = [0]
    for place, t in enumerate(at.tolist()):
        made_at = int(at[begins[-1]])
        if t - made_at >= max(_EVERY, made_at // _GROWN):
            begins.append(place)
    return [slice(*both) for both in zip(begins, [*begins[1:], len(at)], strict=True)]


@dataclass(frozen=True, slots=True)
class _Models:
    share: float  # of examples with a change
    line: Ridge | None  # None: all examples are of one kind, nothing can be learned but their share
    edges: Singles  # of the classes that trees know, (_N_CLASSES - 1, columns)
    trees: Any

    def of(self, columns: Singles) -> tuple[Floats, Floats]:
        if self.line is None:
            known = odds(np.full(len(columns), self.share))
            return known, np.tile(known, (len(_STAGES), 1))
        told = enumerate(self.trees.staged_predict_proba(_classed(columns, self.edges)), 1)
        stages = [odds(p[:, 1]) for n, p in told if n in _STAGES]
        return self.line.odds(columns.astype(np.float64)), np.stack(stages)


def _learned(task: Task, columns: Singles, t: int, rng: np.random.Generator) -> _Models:
    """From what is known at step t."""
    since, until = max(t - task.ahead - task.reach + 1, 0), max(t - task.ahead + 1, 0)
    page, step = np.nonzero(task.usable[:, since:until])
    if len(page) > _MOST:
        some = np.sort(rng.permutation(len(page))[:_MOST])
        page, step = page[some], step[some]
    so = task.outcome[page, since + step]
    share = float((so.sum() + 1.0) / (len(so) + 2.0))
    if not so.any() or so.all():
        return _Models(share, None, np.empty((0, columns.shape[2]), dtype=np.float32), None)
    rows, weight = columns[page, since + step], _weights(np.isin(page, task.pages))
    edges = np.quantile(rows, np.arange(1, _N_CLASSES) / _N_CLASSES, axis=0).astype(np.float32)
    trees = _scikit_learn("ensemble").HistGradientBoostingClassifier(
        max_iter=_STAGES[-1],
        learning_rate=0.08,
        max_leaf_nodes=15,
        max_bins=_N_CLASSES,
        min_samples_leaf=int(np.clip(len(so) // 200, 5, 100)),
        l2_regularization=1.0,
        early_stopping=False,
        random_state=task.seed,
    )
    line = drawn_through(rows.astype(np.float64), so, weight)
    return _Models(share, line, edges, trees.fit(_classed(rows, edges), so, sample_weight=weight))


def _classed(columns: Singles, edges: Singles) -> Singles:
    """In classes of about equally many examples each. Scikit-learn does that too, but where examples are
    weighed it takes longer than the trees."""
    found = [np.searchsorted(edges[:, k], columns[:, k], "right") for k in range(columns.shape[1])]
    return np.stack(found, axis=1).astype(np.float32)


def _weights(asked: Bools) -> Floats:
    """Of examples, with a mean of 1: those of pages that are foretold count at least as much as all others
    together."""
    n = max(int(asked.sum()), 1)
    weight = np.where(asked, max(1.0, (len(asked) - n) / n), 1.0)
    return np.asarray(weight / weight.mean())


def _scikit_learn(module: str) -> Any:
    """Looked for when it is needed: a second goes by until it is there."""
    try:
        return import_module(f"sklearn.{module}")
    except ImportError as error:
        raise BadInputError(
            "Learning from kin needs scikit-learn, which is not installed; install it with "
            "`pip install 'recrawl[learn]'`."
        ) from error


@contextmanager
def _one_thread() -> Iterator[None]:
    """What is not loaded yet cannot be limited."""
    _scikit_learn("ensemble")
    with one_thread():
        yield
