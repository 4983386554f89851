"""What a model's training report says, as JSON has it."""

from __future__ import annotations

import numpy as np

from recrawl.learn.sights.boosting import HeldOut, Regression
from recrawl.learn.sights.calibration import Reliability
from recrawl.learn.sights.classifying import Classified
from recrawl.learn.sights.evidence import Evidence, told
from recrawl.learn.sights.splits import standard_error
from recrawl.model import Floats, Ints

N_IMPORTANT = 12

Figures = dict[str, float | int | str | None]


def log_rate_report(evidence: Evidence, held: HeldOut, site: Ints | None) -> Figures:
    """The error of ln(rate) on what was held out, each resource counted for what its visits say of it; the
    share of the rates' variance that is explained; and by how much likelier its visits are."""
    gain = held.log_p - held.log_p_without
    unit = np.arange(len(gain)) if site is None else site
    spread, without = evidence.best_spread(held.guess), evidence.best_spread(held.without)
    at_all = evidence.believed(held.without, without)
    beyond, known = told(at_all, held.without, without)
    aim = held.without + np.clip(beyond, -6.0, 6.0)
    return {
        "error": _root_mean((held.guess - aim) ** 2, known),
        "error_without": _root_mean((held.without - aim) ** 2, known),
        "explained": max(0.0, 1.0 - (spread / without) ** 2),
        "gain": float(gain.mean()),  # of the logarithm of the probability, a resource
        "gain_error": standard_error(gain, unit) / len(gain),
    }


def classifier_report(made: Classified, names: tuple[str, ...]) -> dict[str, object]:
    return {
        "features": [names[column] for column in made.selection.columns.tolist()],
        "balanced_resources": made.n_trained,
        "leaves": int(made.tree.leaf.sum()),
        "depth": made.tree.depth,
        "error_by_resource": made.error_by_resource,
        "error_by_site": made.error_by_site,
        "error_of_the_largest": made.error_of_the_largest,
        "error_of_chance": 1.0 - 1.0 / len(made.confusion),
        "confusion": made.confusion.tolist(),
        "calibrated_by": made.by,
        "calibration_error_before": made.before.error,
        "calibration_error": made.after.error,
        "log_loss_uncalibrated": made.losses[0],
        "log_loss_calibrated": made.losses[1],
        "reliability": _rows(made.after),
    }


def importance(regression: Regression, values: Floats, names: tuple[str, ...]) -> list[Figures]:
    """How far hunches move (in ln(rate), root mean square) when one feature is shuffled; the first ones."""
    trees = regression.trees
    used = np.unique(trees.feature[~trees.leaf]) if len(trees) else np.empty(0, dtype=np.int64)
    some = values[:2_000]
    as_is = trees.sums(some)
    order = np.random.default_rng(1).permutation(len(some))
    found: list[Figures] = []
    for column in used.tolist():
        other = some.copy()
        other[:, column] = some[order, column]
        moved = float(np.sqrt(((trees.sums(other) - as_is) ** 2).mean()))
        found.append({"feature": names[column], "moves": moved})
    found.sort(key=lambda one: -float(one["moves"] or 0.0))
    return found[:N_IMPORTANT]


def _rows(made: Reliability) -> list[Figures]:
    columns = (made.said.tolist(), made.came.tolist(), made.n.tolist())
    return [{"p": p, "came": came, "n": n} for p, came, n in zip(*columns, strict=True)]


def _root_mean(squares: Floats, weight: Floats) -> float:
    return float(np.sqrt(squares @ weight / weight.sum()))
