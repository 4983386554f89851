"""From first sights and what visits found later to a model: hunches, classes, and how sure to be of them."""

from __future__ import annotations

from math import log

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.algebra import one_thread
from recrawl.learn.estimators import likeliest
from recrawl.learn.groups import FEW, Classes, equal_classes
from recrawl.learn.groups import classes as best_classes
from recrawl.learn.histories import Histories
from recrawl.learn.priors import SHAPE, fitted, scaled
from recrawl.learn.sights.boosting import HeldOut, Regression, held_out, held_out_with, regressed
from recrawl.learn.sights.classifying import Classified, classified
from recrawl.learn.sights.evidence import Evidence
from recrawl.learn.sights.model import Trained
from recrawl.learn.sights.reporting import classifier_report, importance, log_rate_report
from recrawl.learn.sights.splits import by_resource, by_site, standard_error
from recrawl.model import DAY_S, Floats, Ints, Priors
from recrawl.model.sight import FEATURES, SIGHT_FORMAT

FEWEST = 30  # resources: fewer say nothing that would hold for others
MOST = 10_000  # resources: of more, so many are drawn
N_FOLDS = 4
N_TOLD = 3  # visits after the first, for a rate to say which class a resource is of


@one_thread()
def trained(
    values: Floats,
    seen: Histories,
    site: Ints,
    *,
    classes: Classes | None = None,
    k: int = 4,
    seed: int = 1,
    now: float,
    features: tuple[str, ...] | None = None,
) -> Trained:
    """`values` has a row for each resource of `seen`, `site` a number. Where no classes are given they are
    the best k, or k of equal size where one of the best would have proportionally few.

    All that is said of how good the model is, the spread of rates about hunches above all, comes from sites
    that were held out; where all resources are of one site, from resources that were.
    """
    names = tuple(one.name for one in FEATURES) if features is None else features
    _check(values, seen, site, names)
    rows = np.arange(seen.n)
    if seen.n > MOST:
        rows = np.sort(np.random.default_rng(seed).choice(seen.n, MOST, replace=False))
        values, seen, site = values[rows], seen.pick(rows), site[rows]
    plain = fitted(seen, np.zeros(seen.n, dtype=np.int64), now=now)
    per_day = likeliest(seen, plain.shape, plain.scale_s).per_s * DAY_S
    apart = len(np.unique(site)) > 1
    fold = by_site(site, N_FOLDS, seed) if apart else by_resource(seen.n, N_FOLDS, seed)
    unit = site if apart else rows
    evidence = Evidence.of(seen)
    held = held_out(values, evidence, fold, unit, seed=seed)
    ratio = _about(seen, held.guess)
    if held.n_trees and _gain(seen, evidence, held, ratio, plain).sum() <= 0.0:
        held = held_out_with(values, evidence, fold, n_trees=0, depth=held.depth, seed=seed)
    regression = regressed(values, evidence, held.n_trees, held.depth, seed=seed)
    if not held.n_trees:  # nothing to go by: the same for all
        ratio = _about(seen, np.full(seen.n, regression.middle))
    if classes is None:
        how, classes = _classes(per_day, k)
    else:
        how, k = "given", len(classes)
    telling = _telling(seen, per_day, classes)
    label = classes.of(per_day)
    made = classified(values[telling], label[telling], site[telling], len(classes), seed=seed)
    return Trained(
        features=names,
        format=SIGHT_FORMAT,
        middle=regression.middle + log(ratio.shape / (ratio.scale_s / DAY_S)),
        trees=regression.trees,
        ratio_shape=ratio.shape,
        ratio_scale=ratio.shape,  # the hunch is the mean
        classes=classes,
        tree=made.tree,
        leaf_class=made.leaf_class,
        leaf_p=made.leaf_p,
        trained_at=now,
        report=_report(
            values, seen, site, evidence, held, regression, ratio, plain, classes, (how, k), made, names
        ),
    )


def _check(values: Floats, seen: Histories, site: Ints, names: tuple[str, ...]) -> None:
    if values.shape != (seen.n, len(names)) or len(site) != seen.n:
        raise BadInputError(
            f"{len(values)} sights do not fit {seen.n} histories and {len(names)} features; give one of each."
        )
    if seen.n < FEWEST:
        raise BadInputError(
            f"There is too little to learn from: {seen.n} resources with a first sight that were looked at "
            f"again, and {FEWEST} are needed; visit more, and try again."
        )


def _about(seen: Histories, guess: Floats) -> Priors:
    """How rates lie about the guesses, as multiples of them."""
    return fitted(
        scaled(seen, np.exp(guess)), np.zeros(seen.n, dtype=np.int64), shape=SHAPE, scale_days=SHAPE
    )


def _gain(seen: Histories, evidence: Evidence, held: HeldOut, ratio: Priors, plain: Priors) -> Floats:
    """By how much likelier each resource's visits are under the priors that hunches lead to than under one
    for all: that is what they are for, and a bell that is better need not mean a better Gamma distribution.
    """
    hunched = Evidence.of(scaled(seen, np.exp(held.guess)))
    # a change whose time is known is a density there, and time was stretched
    stretched = seen.sums(seen.timed.astype(np.float64)) * held.guess
    gained = hunched.foretold_by(ratio.shape, ratio.scale_s / DAY_S) + stretched
    return np.asarray(gained - evidence.foretold_by(plain.shape, plain.scale_s / DAY_S))


def _classes(per_day: Floats, k: int) -> tuple[str, Classes]:
    found = best_classes(per_day, k)
    if len(found) < k or (found.n < FEW * len(per_day) / k).any():
        return "equal", equal_classes(per_day, k)
    return "k-means", found


def _telling(seen: Histories, per_day: Floats, classes: Classes) -> Ints:
    """Those whose rates say something: looked at often enough, where that leaves enough of each class."""
    often = np.flatnonzero(seen.n_visits >= N_TOLD)
    n_left = np.bincount(classes.of(per_day[often]), minlength=len(classes))
    return often if len(often) >= FEWEST and n_left.min() >= N_TOLD else np.arange(seen.n)


def _report(
    values: Floats,
    seen: Histories,
    site: Ints,
    evidence: Evidence,
    held: HeldOut,
    regression: Regression,
    ratio: Priors,
    plain: Priors,
    classes: Classes,
    by: tuple[str, int],
    made: Classified,
    names: tuple[str, ...],
) -> dict[str, object]:
    apart = len(np.unique(site)) > 1
    gain = _gain(seen, evidence, held, ratio, plain) if held.n_trees else np.zeros(seen.n)
    fold = by_resource(seen.n, N_FOLDS, 1)
    mixed = held_out_with(values, evidence, fold, n_trees=held.n_trees, depth=held.depth) if apart else held
    figures = {
        "by_resource": log_rate_report(evidence, mixed, None),
        "by_site": log_rate_report(evidence, held, site) if apart else None,
    }
    return {
        "resources": seen.n,
        "sites": len(np.unique(site)),
        "visits": len(seen),
        "log_rate": figures,
        "trees": held.n_trees,
        "tree_depth": held.depth,
        "gain_of_the_prior": float(gain.mean()),
        "gain_of_the_prior_error": standard_error(gain, site if apart else np.arange(seen.n)) / seen.n,
        "ratio_shape": ratio.shape,
        "plain_prior": {"shape": plain.shape, "scale_days": plain.scale_s / DAY_S},
        "classes": {
            "by": by[0],
            "asked": by[1],
            "interval_days": [x / DAY_S if np.isfinite(x) else None for x in classes.interval_s.tolist()],
            "n": classes.n.tolist(),
        },
        "classifier": classifier_report(made, names),
        "importance": importance(regression, values, names),
    }
