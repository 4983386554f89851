"""Hunches for test pages, learned from training pages alone, and priors about them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.evaluate.barbosa.daily import Daily
from recrawl.evaluate.barbosa.tables import Part
from recrawl.learn.priors import fitted, scaled
from recrawl.learn.sights.boosting import held_out, held_out_with, regressed
from recrawl.learn.sights.evidence import Evidence
from recrawl.learn.sights.splits import by_site
from recrawl.learn.sights.training import N_FOLDS
from recrawl.model import Floats, Ints, Priors


@dataclass(frozen=True, slots=True)
class Size:
    """Of the boosted trees: chosen once, on one split's training pages."""

    n_trees: int
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunched:
    per_day: Floats  # of the test pages
    priors: Priors  # from training pages, with those about hunches
    size: Size
    error: float  # of the logarithm of the rate, on test pages: root of the mean square
    error_of_mean: float  # of the mean of the training pages, said of all


def hunched(values: Floats, site: Ints, seen: Daily, split: Part, size: Size | None) -> Hunched:
    """Priors about hunches are fitted to hunches that each training page had no part in: those of other
    sites' pages."""
    rows, test = split.train, split.test
    histories = seen.histories(rows)
    evidence = Evidence.of(histories)
    fold = by_site(site[rows], N_FOLDS, split.seed)
    if size is None:
        held = held_out(values[rows], evidence, fold, site[rows], seed=split.seed)
        size = Size(held.n_trees, held.depth)
    else:
        held = held_out_with(
            values[rows], evidence, fold, n_trees=size.n_trees, depth=size.depth, seed=split.seed
        )
    model = regressed(values[rows], evidence, size.n_trees, size.depth, seed=split.seed)
    guess = model.guess(values[test])
    group = site[rows] + 1
    own = fitted(scaled(histories, np.exp(held.guess)), group, shape=0.5, scale_days=0.5)
    truth = seen.log_per_day
    return Hunched(
        per_day=np.exp(guess),
        priors=replace(fitted(histories, group), hunched=own),
        size=size,
        error=float(np.sqrt(np.mean((truth[test] - _scaled(guess, held.guess, truth[rows])) ** 2))),
        error_of_mean=float(np.sqrt(np.mean((truth[test] - truth[rows].mean()) ** 2))),
    )


def _scaled(guess: Floats, held: Floats, truth: Floats) -> Floats:
    """The guesses as estimates of what is measured: what never changed is measured as half a change, however
    slow it is, so guesses are spread wider; by as much as they are for training pages."""
    about = held - held.mean()
    slope = float(about @ truth / (about @ about)) if about @ about > 0.0 else 0.0
    return np.asarray(truth.mean() + slope * (guess - held.mean()))
