"""The logarithm of the rate from a sight, by boosted trees.

Each tree is grown on what the visits say beyond the guess so far, weighted by how much they say: Newton's
steps towards the guesses under which the visits are likeliest, the rates being spread about the guesses as a
bell. No rate is estimated before; a page that was seen twice says its little. How many trees help is found
on held-out resources, by the probability of their visits. Where none helps there are none, and all resources
have the same guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from recrawl.learn.sights.evidence import Evidence, told, within
from recrawl.learn.sights.growing import Binned, grown
from recrawl.learn.sights.splits import standard_error
from recrawl.learn.sights.trees import Singles, Trees, joined, singles
from recrawl.model import Floats, Ints

MOST_TREES = 120
RATES = {1: 0.3, 3: 0.15}  # depths that are tried, with the share of each tree's say
PATIENCE = 12  # trees that may come without any help before it is enough
_N_GROWN_ON = 2_048  # resources that the shape of a tree is found on; its values come from all
_SMALLEST = 5.0  # resources of which all is known, in a leaf
_RIDGE = 5.0  # resources of which all is known, and that say nothing new: in each leaf
_FURTHEST = 6.0  # a single resource may pull so far


@dataclass(frozen=True, slots=True)
class Regression:
    """ln(changes a day) = middle + trees; spread: of the rates about that."""

    middle: float
    spread: float
    trees: Trees

    def guess(self, values: Floats) -> Floats:
        return self.middle + self.trees.sums(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Guesses for each resource by those who have not seen its fold."""

    n_trees: int
    depth: int
    guess: Floats
    without: Floats  # with no tree
    log_p: Floats  # of the visits
    log_p_without: Floats


class _Grown:
    """A regression that grows tree by tree on some rows; it keeps its guesses for all."""

    def __init__(
        self, values: Singles, binned: Binned, evidence: Evidence, rows: Ints, depth: int, seed: int
    ) -> None:
        self._values, self._binned, self._rows = values, binned, rows
        self._depth = depth
        self._rng = np.random.default_rng(seed)
        self._evidence = evidence.pick(rows)
        self.middle, self.spread = self._evidence.middle()
        self.guess = np.full(len(values), self.middle)
        self.trees: list[Trees] = []

    def grow(self) -> None:
        rows = self._rows
        guess = self.guess[rows]
        believed = self._evidence.believed(guess, self.spread)
        beyond, known = told(believed, guess, self.spread)
        beyond = np.clip(beyond, -_FURTHEST, _FURTHEST)
        some = np.arange(len(rows))
        if len(rows) > _N_GROWN_ON:
            some = np.sort(self._rng.choice(len(rows), _N_GROWN_ON, replace=False))
        tree = grown(
            self._binned,
            rows[some],
            (known * beyond)[some],
            known[some],
            depth=self._depth,
            ridge=_RIDGE,
            smallest=_SMALLEST,
        )
        leaf = tree.leaves(self._values)
        own = leaf[rows]
        size = len(tree.feature)
        pull = np.bincount(own, weights=known * beyond, minlength=size)
        value = RATES[self._depth] * pull / (np.bincount(own, weights=known, minlength=size) + _RIDGE)
        self.trees.append(_valued(tree, value))
        self.guess = self.guess + value[leaf]
        self.spread = within(sqrt(float((believed.variance + (believed.mean - guess) ** 2).mean())))


def regressed(values: Floats, evidence: Evidence, n_trees: int, depth: int, *, seed: int = 1) -> Regression:
    compared = singles(values)
    growing = _Grown(compared, Binned.of(compared), evidence, np.arange(len(values)), depth, seed)
    for _ in range(n_trees):
        growing.grow()
    return Regression(growing.middle, growing.spread, joined(growing.trees))


def held_out(values: Floats, evidence: Evidence, fold: Ints, unit: Ints, *, seed: int = 1) -> HeldOut:
    """As many trees of such a depth as make the visits of held-out resources likeliest; none, where their
    gain is no larger than its standard error. Gains of one `unit` (a site) count as one."""
    compared = singles(values)
    binned = Binned.of(compared)
    found = [_followed(compared, binned, evidence, fold, depth, seed) for depth in RATES]
    best = max(found, key=lambda one: float(one.log_p.sum()))
    gain = best.log_p - best.log_p_without
    if best.n_trees and gain.sum() <= standard_error(gain, unit):
        best = replace(best, n_trees=0, guess=best.without, log_p=best.log_p_without)
    return best


def held_out_with(
    values: Floats, evidence: Evidence, fold: Ints, *, n_trees: int, depth: int, seed: int = 1
) -> HeldOut:
    """The same with so many trees, whether they help or not."""
    compared = singles(values)
    return _followed(compared, Binned.of(compared), evidence, fold, depth, seed, n_trees)


def _followed(
    values: Singles,
    binned: Binned,
    evidence: Evidence,
    fold: Ints,
    depth: int,
    seed: int,
    n_trees: int | None = None,
) -> HeldOut:
    """All folds grow side by side, until no tree has helped for a while."""
    numbers = np.unique(fold).tolist()
    growing = [_Grown(values, binned, evidence, np.flatnonzero(fold != k), depth, seed + k) for k in numbers]
    guess, log_p = without, log_p_without = _foretold(growing, evidence, fold, numbers)
    best_at = 0
    for stage in range(1, (MOST_TREES if n_trees is None else n_trees) + 1):
        for one in growing:
            one.grow()
        now = _foretold(growing, evidence, fold, numbers)
        if n_trees is not None or now[1].sum() > log_p.sum():
            (guess, log_p), best_at = now, stage
        elif stage - best_at >= PATIENCE:
            break
    return HeldOut(
        n_trees=best_at, depth=depth, guess=guess, without=without, log_p=log_p, log_p_without=log_p_without
    )


def _foretold(
    growing: Sequence[_Grown], evidence: Evidence, fold: Ints, numbers: Sequence[int]
) -> tuple[Floats, Floats]:
    guess, log_p = np.empty(len(fold)), np.empty(len(fold))
    for one, k in zip(growing, numbers, strict=True):
        held = np.flatnonzero(fold == k)
        guess[held] = one.guess[held]
        log_p[held] = evidence.pick(held).foretold(one.guess[held], one.spread)
    return guess, log_p


def _valued(tree: Trees, value: Floats) -> Trees:
    return Trees(
        root=tree.root,
        feature=tree.feature,
        threshold=tree.threshold,
        left=tree.left,
        right=tree.right,
        unknown_left=tree.unknown_left,
        value=value,
        depth=tree.depth,
    )
