"""The tree that puts sights into classes: its features chosen, pruned, its probabilities calibrated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.sights.calibration import Reliability, as_said, calibration, log_loss, reliability
from recrawl.learn.sights.learners import pruned_tree
from recrawl.learn.sights.selection import Selection, selected
from recrawl.learn.sights.splits import balanced, by_resource, by_site, one_thread
from recrawl.learn.sights.trees import Trees, exported, singles
from recrawl.model import Floats, Ints

N_FOLDS = 4
_N_SELECTION_FOLDS = 3
_LEAST = 20  # of each class in a balanced set, where the smallest has fewer
_MOST = 500  # of each class: features are chosen and trees pruned by growing hundreds of trees


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    tree: Trees
    leaf_class: Ints
    leaf_p: Floats
    selection: Selection
    n_trained: int  # in the balanced set
    by: str  # how probabilities were calibrated; `none` where that would not have helped
    error_by_resource: float  # of all resources, as they are, held out
    error_by_site: float | None
    error_of_the_largest: float  # of always saying the largest class
    confusion: Ints  # what they are (rows), and what was said; by site where there are several
    before: Reliability  # of what the tree says …
    after: Reliability  # … and of what it is taken for; both on what was held out of everything
    losses: tuple[float, float]  # of its logarithms: without calibration, and with it


def classified(values: Floats, label: Ints, site: Ints, n_classes: int, *, seed: int = 1) -> Classified:
    with one_thread():
        return _classified(values, label, site, n_classes, seed)


def _classified(values: Floats, label: Ints, site: Ints, n_classes: int, seed: int) -> Classified:
    rows = _training(label, seed)
    apart = len(np.unique(site)) > 1
    choosing = _folds(site[rows], apart, _N_SELECTION_FOLDS, seed)
    selection = selected(values[rows], label[rows], choosing)
    own = values[:, selection.columns]
    grown = pruned_tree(own[rows], label[rows], site[rows], seed=seed)
    mixed = by_resource(len(label), N_FOLDS, seed)
    p_mixed, said_mixed = _held_out(own, label, site, mixed, n_classes, seed)
    fold, p, said = mixed, p_mixed, said_mixed
    if apart:
        fold = by_site(site, N_FOLDS, seed)
        p, said = _held_out(own, label, site, fold, n_classes, seed)
    # Curves are kept where those of each half of the folds help the other; few rows teach them little.
    taken, left = _crossed(p, label, fold), as_said(n_classes).of(p)
    losses = log_loss(left, label), log_loss(taken, label)
    curves = calibration(p, label) if losses[1] < losses[0] else as_said(n_classes)
    confusion = np.bincount(label * n_classes + said, minlength=n_classes**2).reshape(n_classes, n_classes)
    at_leaves = np.zeros((grown.tree_.node_count, n_classes))
    at_leaves[:, grown.classes_] = grown.tree_.value[:, 0, :]
    return Classified(
        tree=exported(grown, selection.columns),
        leaf_class=at_leaves.argmax(axis=1).astype(np.int64),
        leaf_p=curves.of(at_leaves),
        selection=selection,
        n_trained=len(rows),
        by=curves.by,
        error_by_resource=float((said_mixed != label).mean()),
        error_by_site=float((said != label).mean()) if apart else None,
        error_of_the_largest=1.0 - float(np.bincount(label).max()) / len(label),
        confusion=confusion,
        before=reliability(p, label),
        after=reliability(left if curves.by == "none" else taken, label),
        losses=losses,
    )


def _training(label: Ints, seed: int) -> Ints:
    """A balanced set, not too large to be gone through many times."""
    rows = balanced(label, seed=seed, least=_LEAST)
    sizes = np.bincount(label[rows])
    if sizes.max() <= _MOST:
        return rows
    rng = np.random.default_rng(seed)
    each = [rng.permutation(rows[label[rows] == k])[:_MOST] for k in np.flatnonzero(sizes).tolist()]
    return np.sort(np.concatenate(each))


def _folds(site: Ints, apart: bool, n_folds: int, seed: int) -> Ints:
    if apart and len(np.unique(site)) > 1:
        return by_site(site, n_folds, seed)
    return by_resource(len(site), n_folds, seed)


def _held_out(
    values: Floats, label: Ints, site: Ints, fold: Ints, n_classes: int, seed: int
) -> tuple[Floats, Ints]:
    """Probabilities and classes of all rows, by trees that were grown on balanced sets of the other folds."""
    p = np.zeros((len(label), n_classes))
    for k in np.unique(fold).tolist():
        others, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        rows = others[_training(label[others], seed)]
        tree = pruned_tree(values[rows], label[rows], site[rows], seed=seed)
        p[np.ix_(held, tree.classes_)] = tree.predict_proba(singles(values[held]))
    return p, p.argmax(axis=1).astype(np.int64)


def _crossed(p: Floats, label: Ints, fold: Ints) -> Floats:
    """Each half of the folds, taken as the other half teaches: nobody judges what they were taught."""
    taken = np.empty_like(p)
    for half in (0, 1):
        held = np.flatnonzero(fold % 2 == half)
        others = np.flatnonzero(fold % 2 != half)
        taken[held] = calibration(p[others], label[others]).of(p[held]) if len(others) else p[held]
    return taken
