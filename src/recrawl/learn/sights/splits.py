"""Who is learned from and who is held out; and the extra that learning needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn import algebra
from recrawl.model import Floats, Ints


def scikit_learn(module: str = "") -> Any:
    """scikit-learn, or a module of it, looked for when it is needed: a second goes by until it is there."""
    from importlib import import_module

    try:
        return import_module(f"sklearn.{module}" if module else "sklearn")
    except ImportError as error:
        raise BadInputError(
            "Learning from first sights needs scikit-learn, which is not installed; install it with "
            "`pip install 'recrawl[learn]'`."
        ) from error


@contextmanager
def one_thread() -> Iterator[None]:
    """The same, and scikit-learn does not check the parameters of each of some hundred small trees."""
    with scikit_learn().config_context(skip_parameter_validation=True), algebra.one_thread():
        yield


def by_resource(n: int, n_folds: int, seed: int = 1) -> Ints:
    """A fold for each resource, all of about one size."""
    return np.random.default_rng(seed).permutation(n) % max(min(n_folds, n), 1)


def by_site(site: Ints, n_folds: int, seed: int = 1) -> Ints:
    """Whole sites in one fold: what is held out is of sites that nothing was learned from. The largest sites
    are placed first, each where there are fewest resources yet; fewer folds where there are fewer sites."""
    _, row, size = np.unique(site, return_inverse=True, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(size))
    filled = np.zeros(max(min(n_folds, len(size)), 1), dtype=np.int64)
    fold = np.zeros(len(size), dtype=np.int64)
    for one in shuffled[np.argsort(-size[shuffled], kind="stable")].tolist():
        fold[one] = filled.argmin()
        filled[fold[one]] += size[one]
    return fold[row]


def balanced(label: Ints, *, seed: int = 1, least: int = 0) -> Ints:
    """Rows of a training set in which no class has more than the smallest one has (or than `least`, where
    that is more): else whoever always says the largest is right most of the time."""
    rng = np.random.default_rng(seed)
    present, sizes = np.unique(label, return_counts=True)
    cap = max(int(sizes.min(initial=len(label))), least)
    kept = [rng.permutation(np.flatnonzero(label == one))[:cap] for one in present.tolist()]
    return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.int64)


def standard_error(gain: Floats, unit: Ints) -> float:
    """Of the sum of gains, where those of a unit come and go together; of few units, row by row."""
    _, row = np.unique(unit, return_inverse=True)
    sums = np.asarray(np.bincount(row, weights=gain), dtype=np.float64)
    sums = gain if len(sums) < 5 else sums
    return float(np.sqrt(len(sums)) * sums.std(ddof=1)) if len(sums) > 1 else np.inf
