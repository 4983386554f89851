"""Hunches for test pages, learned from training pages alone, and priors about them, as the loop has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recrawl.evaluate.barbosa.daily import Daily
from recrawl.evaluate.barbosa.tables import Part
from recrawl.learn import hunches
from recrawl.learn.algebra import one_thread
from recrawl.learn.histories import Histories
from recrawl.learn.priors import SHAPE, doubted, fitted, foretold
from recrawl.learn.sights.boosting import held_out, held_out_with, regressed
from recrawl.learn.sights.evidence import Evidence
from recrawl.learn.sights.splits import by_resource, by_site, standard_error
from recrawl.learn.sights.training import N_FOLDS
from recrawl.model import Floats, Ints, Priors


@dataclass(frozen=True, slots=True)
class Size:
    """Of the boosted trees, and the bands of the priors: chosen once, on one split's training pages."""

    n_trees: int
    depth: int
    n_bands: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunched:
    per_day: Floats  # of the test pages
    priors: Priors  # from training pages, with those about hunches
    size: Size
    error: float  # of the logarithm of the rate, on test pages: root of the mean square
    error_of_mean: float  # of the mean of the training pages, said of all


@one_thread()
def hunched(
    values: Floats, first: Floats, site: Ints, seen: Daily, split: Part, size: Size | None
) -> Hunched:
    """`values` are from when the daily visits began, `first` from when they ended: test pages are new then.
    Priors about hunches are fitted to hunches that each training page had no part in, nor, where sites are
    held out, any page of its site."""
    rows, test = split.train, split.test
    histories = seen.histories(rows)
    evidence = Evidence.of(histories)
    own, seed = site[rows], split.seed
    if size is None:
        several = len(np.unique(own)) > 1
        of = by_site(own, N_FOLDS, seed) if several else by_resource(len(own), N_FOLDS, seed)
        best = held_out(values[rows], evidence, of, own if several else np.arange(len(own)), seed=seed)
        n_trees, depth = best.n_trees, best.depth
    else:
        n_trees, depth = size.n_trees, size.depth
    fold = _folds(split, own, N_FOLDS)
    held = held_out_with(values[rows], evidence, fold, n_trees=n_trees, depth=depth, seed=seed)
    trees = regressed(values[rows], evidence, n_trees, depth, seed=seed)
    guess = trees.guess(values[test])
    # without a tree there is only the mean, and what folds make of that says nothing of a page
    of_train = held.guess if n_trees else np.full(len(rows), held.guess.mean())
    truth = seen.log_per_day
    tried = hunches.BANDS if size is None else (size.n_bands,)
    priors, n_bands = _priors(histories, own + 1, np.exp(of_train), _folds(split, own, 2), tried)
    return Hunched(
        per_day=np.exp(trees.guess(first[test])),
        priors=priors,
        size=Size(n_trees, depth, n_bands),
        error=float(np.sqrt(np.mean((truth[test] - _scaled(guess, of_train, truth[rows])) ** 2))),
        error_of_mean=float(np.sqrt(np.mean((truth[test] - truth[rows].mean()) ** 2))),
    )


def _folds(split: Part, site: Ints, n_folds: int) -> Ints:
    """As the test pages are held out."""
    if split.by == "site":
        return by_site(site, n_folds, split.seed)
    return by_resource(len(site), n_folds, split.seed)


def _priors(
    seen: Histories, group: Ints, per_day: Floats, fold: Ints, tried: Sequence[int]
) -> tuple[Priors, int]:
    """Plain ones, and those about hunches where they foretell what was held out better, by more than a
    standard error: else no hunch is heeded, as in the loop. And how many bands these have."""
    plain = doubted(fitted(seen, group))
    if np.ptp(per_day) == 0.0:
        return plain, 1
    some = hunches.Hunched.of(seen, group, per_day)
    fit = hunches.Fit(shape=SHAPE, scale_days=SHAPE)
    n_bands, gained = fit.banded(some, fold, tried)
    for k in np.unique(fold).tolist():
        held, others = np.flatnonzero(fold == k), np.flatnonzero(fold != k)
        known = fitted(seen.pick(others), group[others])
        gained[held] -= foretold(seen.pick(held), *known.of(group[held]))
    if gained.sum() <= standard_error(gained, group):
        return plain, n_bands
    return replace(plain, hunched=fit.about(some, n_bands)), n_bands


def _scaled(guess: Floats, held: Floats, truth: Floats) -> Floats:
    """The guesses as estimates of what is measured: what never changed is measured as half a change, however
    slow it is, so guesses are spread wider; by as much as they are for training pages."""
    about = held - held.mean()
    slope = float(about @ truth / (about @ about)) if np.ptp(held) > 0.0 else 0.0
    return np.asarray(truth.mean() + slope * (guess - held.mean()))
