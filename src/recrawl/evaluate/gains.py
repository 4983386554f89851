"""By how much ours is better than another policy, as a share of what that leaves to do, over many budgets.

What is left of a cost (staleness, delay, the harmonic number) is what can be cut; recall can be lifted. All
budgets are resampled together, since the same resources and the same draws stand behind them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from recrawl.errors import BadInputError
from recrawl.evaluate.intervals import N_REPLICATES, Draws, Interval
from recrawl.model import Floats

# goal: the measure that it is for, and whether more of it is better
AIMS = {
    "fresh": ("freshness", True),
    "fresh-harmonic": ("harmonic", False),
    "capture": ("recall", True),
    "prompt": ("delay_days_mean", False),
}


_DIGITS = 5  # of replicates that are written down


def aim(goal: str) -> tuple[str, bool]:
    if goal not in AIMS:
        raise BadInputError(f"Nobody knows how {goal!r} is measured; choose one of: {', '.join(AIMS)}.")
    return AIMS[goal]


@dataclass(frozen=True, slots=True)
class Gain:
    """As a share: 0.1 is a tenth cut off the cost, or a tenth more recall. `replicates` are resampled."""

    value: float
    replicates: Floats
    n_groups: int
    n_draws: int

    def interval(self, level: float = 0.95) -> Interval:
        known = self.replicates[~np.isnan(self.replicates)]
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]) if len(known) else (nan, nan)
        return Interval(
            value=self.value, low=float(low), high=float(high), n_groups=self.n_groups, n_draws=self.n_draws
        )

    def document(self) -> dict[str, Any]:
        """All of it, so that `gain_of` has the same again, its replicates to five digits."""
        return {
            "value": None if np.isnan(self.value) else self.value,
            "n_groups": self.n_groups,
            "n_draws": self.n_draws,
            "replicates": [None if np.isnan(r) else round(r, _DIGITS) for r in self.replicates.tolist()],
        }


def gain_of(document: Mapping[str, Any]) -> Gain:
    replicates = np.array([nan if r is None else r for r in document["replicates"]])
    value = nan if document["value"] is None else float(document["value"])
    return Gain(value, replicates, document["n_groups"], document["n_draws"])


def mean_gain(gains: Sequence[Gain]) -> Gain:
    """Over corpora and settings, each counting alike. Those of one corpus are resampled alike where the seed
    is the same; those of two are independent where it is not. One that is not known counts for nothing, and
    neither does a draw of one that tells nothing; one that cannot be resampled stands as it is."""
    gains = [one for one in gains if not np.isnan(one.value)]
    if not gains:
        raise BadInputError("There is no gain to take the mean of; compare on one corpus at least.")
    drawn = np.array([one.replicates for one in gains])
    told = ~np.isnan(drawn)
    if told.any():
        alone = ~told.any(axis=1)
        drawn[alone] = np.array([one.value for one in gains])[alone, None]
        told[alone] = True
    n = told.sum(axis=0)
    return Gain(
        float(np.mean([one.value for one in gains])),
        np.where(n, np.where(told, drawn, 0.0).sum(axis=0) / np.maximum(n, 1), nan),
        sum(one.n_groups for one in gains),
        min(one.n_draws for one in gains),
    )


def gain(
    pairs: Sequence[tuple[Draws, Draws]],
    measure: str,
    *,
    n_replicates: int = N_REPLICATES,
    seed: int | Sequence[int] = 0,
) -> Gain:
    """The mean over budgets, each of them a pair: ours, and what it is measured against."""
    n_draws = len(pairs[0][0].measured)
    groups = np.unique(np.concatenate([group for pair in pairs for one in pair for group in one.groups]))
    sums = np.zeros((len(groups), len(pairs), 2, n_draws, 2))
    for p, pair in enumerate(pairs):
        for who, one in enumerate(pair):
            for d, (measured, group) in enumerate(zip(one.measured, one.groups, strict=True)):
                place = np.searchsorted(groups, group)
                for which, column in enumerate(measured.ratio(measure)):
                    sums[:, p, who, d, which] = np.bincount(place, weights=column, minlength=len(groups))
    flat = sums.reshape(len(groups), -1)
    rng = np.random.default_rng(seed)
    value = _gain(flat.sum(axis=0)[None, :], np.ones((1, n_draws)), sums.shape, measure)
    if len(groups) < 2:
        return Gain(float(value[0]), np.full(n_replicates, nan), len(groups), n_draws)
    of_groups = rng.multinomial(len(groups), np.full(len(groups), 1 / len(groups)), n_replicates)
    of_draws = rng.multinomial(n_draws, np.full(n_draws, 1 / n_draws), n_replicates)
    replicates = _gain(of_groups @ flat, of_draws.astype(np.float64), sums.shape, measure)
    return Gain(float(value[0]), replicates, len(groups), n_draws)


def _gain(totals: Floats, weights: Floats, shape: tuple[int, ...], measure: str) -> Floats:
    _, n_pairs, _, n_draws, _ = shape
    each = totals.reshape(len(totals), n_pairs, 2, n_draws, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = each[..., 0] / each[..., 1]
        # a part without a change has no recall, though it may have caught one from before
        there = np.isfinite(ratio)
        known = np.where(there, weights[:, None, None, :], 0.0)
        level = (np.where(there, ratio, 0.0) * known).sum(axis=-1) / known.sum(axis=-1)
        if measure == "freshness":
            level = 1.0 - level
        ours, theirs = level[..., 0], level[..., 1]
        better = ours / theirs - 1.0 if measure == "recall" else 1.0 - ours / theirs
    told = np.isfinite(better)
    n = told.sum(axis=1)
    return np.asarray(np.where(n, np.where(told, better, 0.0).sum(axis=1) / np.maximum(n, 1), nan))
