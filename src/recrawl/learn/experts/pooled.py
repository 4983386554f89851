"""Our own learner: one model for all pages together, which learns from the same steps as the others do.

A machine for each page has fifty examples; one for all pages has fifty times as many as there are pages, and
what is peculiar to a page comes in through its own shares and lifts (`signs`). Boosted trees, made anew every
so many steps, from the examples of the last `n_train` steps whose outcome is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.experts.signs import Singles, signs
from recrawl.learn.experts.tasks import Task, Tuning
from recrawl.model import Floats, Ints

_EVERY = 10  # steps: so long a model is used
_MOST = 60_000  # examples, drawn where there are more: as many as are learned from in a second or two
_N_TREES = 150
_STRIDE = 10  # trees: numbers of them that are tried


def asked_of_all(task: Task, at: Ints, tuning: Tuning) -> Floats:
    """What the model says of each page of the task at each step."""
    said = np.empty((len(task.pages), len(at)))
    if not len(task.pages):
        return said
    columns = signs(task)
    rng = np.random.default_rng(task.seed)
    with _one_thread():
        model, made_at = _learned(task, columns, int(at[0]), task.n_train, tuning.n_trees, rng), int(at[0])
        for place, t in enumerate(at.tolist()):
            if t - made_at >= _EVERY:
                model, made_at = _learned(task, columns, t, task.n_train, tuning.n_trees, rng), t
            said[:, place] = _odds(model.predict_proba(columns[task.pages, t])[:, 1])
    return said


def tuned_for_all(task: Task, t: int) -> Tuning:
    """How many trees there are to be: as many as foretell the last third of the training window best, from
    what came before it. What they say there is what is calibrated by first."""
    n_held = max(task.n_train // 3, 1)
    since, until = max(t - task.ahead - n_held + 1, 0), max(t - task.ahead + 1, 0)
    row, step = np.nonzero(task.known[task.pages, since:until])
    if not len(row):
        return Tuning(n_trees=_N_TREES)
    page, step = task.pages[row], since + step
    so = task.outcome[page, step]
    columns = signs(task)
    best = (np.inf, _N_TREES, np.zeros(len(so)))
    with _one_thread():
        # what it learns from is known when the first of those that are held out is foretold
        model = _learned(
            task, columns, since, max(task.n_train - n_held, 1), _N_TREES, np.random.default_rng(task.seed)
        )
        for k, p in enumerate(model.staged_predict_proba(columns[page, step])):
            if (k + 1) % _STRIDE == 0:
                said = _odds(p[:, 1])
                loss = float(np.logaddexp(0.0, np.where(so, -2.0 * said, 2.0 * said)).mean())
                best = min(best, (loss, k + 1, said), key=lambda one: one[0])
    return Tuning(n_trees=best[1], said=best[2], so=so)


def _odds(p: Floats) -> Floats:
    """Half the log odds, which is how margins are spread."""
    inside = np.clip(p, 0.005, 0.995)
    return np.asarray(0.5 * np.log(inside / (1.0 - inside)))


class _Constant:
    """Where all examples are of one kind, or there are none, nothing can be learned but their share."""

    def __init__(self, p: float) -> None:
        self._p = p

    def predict_proba(self, columns: Singles) -> Floats:
        return np.tile([1.0 - self._p, self._p], (len(columns), 1))

    def staged_predict_proba(self, columns: Singles) -> Iterator[Floats]:
        return (self.predict_proba(columns) for _ in range(_N_TREES))


def _learned(
    task: Task, columns: Singles, t: int, n_train: int, n_trees: int, rng: np.random.Generator
) -> Any:
    """From what is known at step t."""
    since, until = max(t - task.ahead - n_train + 1, 0), max(t - task.ahead + 1, 0)
    page, step = np.nonzero(task.usable[:, since:until])
    if len(page) > _MOST:
        some = np.sort(rng.permutation(len(page))[:_MOST])
        page, step = page[some], step[some]
    so = task.outcome[page, since + step]
    if not so.any() or so.all():
        return _Constant((so.sum() + 1.0) / (len(so) + 2.0))
    model = _scikit_learn("ensemble").HistGradientBoostingClassifier(
        max_iter=n_trees,
        learning_rate=0.08,
        max_leaf_nodes=15,
        min_samples_leaf=int(np.clip(len(so) // 200, 5, 100)),
        l2_regularization=1.0,
        early_stopping=False,
        random_state=task.seed,
    )
    return model.fit(columns[page, since + step], so)


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
    """Whoever measures shares the machine with others."""
    _scikit_learn("ensemble")
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # scikit-learn needs it too

    with threadpool_limits(limits=1):
        yield
