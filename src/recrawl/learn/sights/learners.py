"""Learners that put a sight into a class of change rates; all but the trees are there for comparison.

Trees meet values that are not known as they are, and so does the boosted model. For naive Bayes and nearest
neighbours those stand at the middle of what is known; columns are taken by their logarithms there, and for
neighbours brought to one scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.sights.splits import by_resource, by_site, one_thread, scikit_learn
from recrawl.learn.sights.trees import Singles, singles
from recrawl.model import Floats, Ints

N_FOLDS = 3
_N_ALPHAS = 14
SMALLEST = 2  # resources in a leaf, as J48 has it
_N_ROUNDS = 60


class Classifier(Protocol):
    """Knows classes by their numbers; what it never saw has probability 0."""

    def classify(self, values: Floats) -> Ints: ...
    def p_classes(self, values: Floats) -> Floats: ...  # a column for each class


@dataclass(frozen=True, slots=True)
class _Learned:
    model: Any  # of scikit-learn
    prepared: Callable[[Floats], Any]
    n_classes: int

    def classify(self, values: Floats) -> Ints:
        with one_thread():
            return np.asarray(self.model.predict(self.prepared(values)), dtype=np.int64)

    def p_classes(self, values: Floats) -> Floats:
        p = np.zeros((len(values), self.n_classes))
        with one_thread():
            p[:, self.model.classes_] = self.model.predict_proba(self.prepared(values))
        return p


def learned(
    name: str, values: Floats, label: Ints, site: Ints | None = None, *, n_classes: int = 0, seed: int = 1
) -> Classifier:
    """A learner by its name, taught these rows. Sites say how it holds out what it prunes by; None: row by
    row."""
    if name not in LEARNERS:
        raise BadInputError(f"There is no learner {name!r}; choose one of: {', '.join(LEARNERS)}.")
    if not len(label):
        raise BadInputError("There is nothing to learn from; visit something at least twice.")
    n_classes = max(n_classes, int(label.max()) + 1)
    with one_thread():
        model, prepared = LEARNERS[name](values, label, site, seed)
    return _Learned(model, prepared, n_classes)


def grown_tree(
    values: Floats, label: Ints, *, alpha: float = 0.0, smallest: int = SMALLEST, seed: int = 1
) -> Any:
    tree = scikit_learn("tree").DecisionTreeClassifier(
        min_samples_leaf=min(smallest, len(label)), ccp_alpha=alpha, random_state=seed
    )
    return tree.fit(singles(values), label)


def pruned_tree(values: Floats, label: Ints, site: Ints | None, *, seed: int = 1) -> Any:
    """Cut back as far as held-out rows say that it should be: of all the steps of cost-complexity pruning the
    one with the least error, and of those the one that cuts most."""
    fold = by_resource(len(label), N_FOLDS, seed)
    if site is not None and len(np.unique(site)) >= N_FOLDS:
        fold = by_site(site, N_FOLDS, seed)
    whole = grown_tree(values, label, seed=seed)
    steps = whole.cost_complexity_pruning_path(singles(values), label).ccp_alphas
    steps = np.unique(np.maximum(steps, 0.0))
    middles = np.sqrt(steps[:-1] * steps[1:]) if len(steps) > 1 else steps  # each in the middle of its trees
    # small trees differ most from each other: those are tried one by one, large ones in strides
    back = np.unique(np.geomspace(1, len(middles), _N_ALPHAS).round().astype(np.int64))
    alphas = np.sort(middles[len(middles) - back])
    wrong = np.zeros(len(alphas))
    for k in np.unique(fold).tolist():
        rows, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        if not len(rows):
            continue
        for i, alpha in enumerate(alphas.tolist()):
            tree = grown_tree(values[rows], label[rows], alpha=alpha, seed=seed)
            wrong[i] += (tree.predict(singles(values[held])) != label[held]).sum()
    best = alphas[np.flatnonzero(wrong == wrong.min())[-1]]
    return grown_tree(values, label, alpha=float(best), seed=seed)


def _unpruned(values: Floats, label: Ints, site: Ints | None, seed: int) -> tuple[Any, Any]:  # noqa: ARG001
    return grown_tree(values, label, seed=seed), singles


def _pruned(values: Floats, label: Ints, site: Ints | None, seed: int) -> tuple[Any, Any]:
    return pruned_tree(values, label, site, seed=seed), singles


def _bayes(values: Floats, label: Ints, site: Ints | None, seed: int) -> tuple[Any, Any]:  # noqa: ARG001
    prepared = _filled(values)
    filled = prepared(values)
    if not np.ptp(filled, axis=0).any():  # all look alike: there is no spread to smooth with
        return scikit_learn("dummy").DummyClassifier(strategy="prior").fit(filled, label), prepared
    # a column that is the same in all of a class would rule every other value out
    model = scikit_learn("naive_bayes").GaussianNB(var_smoothing=1e-3)
    return model.fit(filled, label), prepared


def _neighbours(k: int) -> Callable[[Floats, Ints, Ints | None, int], tuple[Any, Any]]:
    def taught(values: Floats, label: Ints, site: Ints | None, seed: int) -> tuple[Any, Any]:  # noqa: ARG001
        prepared = _filled(values, scaled=True)
        model = scikit_learn("neighbors").KNeighborsClassifier(min(k, len(label)), n_jobs=1)
        return model.fit(prepared(values), label), prepared

    return taught


def _boosted(values: Floats, label: Ints, site: Ints | None, seed: int) -> tuple[Any, Any]:  # noqa: ARG001
    model = scikit_learn("ensemble").HistGradientBoostingClassifier(
        max_iter=_N_ROUNDS,
        max_leaf_nodes=15,
        min_samples_leaf=min(10, max(1, len(label) // 10)),
        early_stopping=False,
        random_state=seed,
    )
    if len(np.unique(label)) < 2:  # it would refuse
        return grown_tree(values, label, seed=seed), singles
    known = np.flatnonzero(~np.isnan(values).all(axis=0))  # a column of which nothing is known has no bins

    def ready(some: Floats) -> Singles:
        return singles(some[:, known])

    return model.fit(ready(values), label), ready


def _filled(values: Floats, scaled: bool = False) -> Callable[[Floats], Floats]:
    """Makes columns without gaps out of values: by their logarithms, the unknown at the middle of the known,
    and with `scaled` of mean 0 and spread 1."""
    even = _even(values)
    known = ~np.isnan(even)
    middle = np.array(
        [np.median(column[own]) if own.any() else 0.0 for column, own in zip(even.T, known.T, strict=True)]
    )
    full = np.where(known, even, middle)
    mean, spread = full.mean(axis=0), full.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)

    def prepared(others: Floats) -> Floats:
        even = _even(others)
        full = np.where(np.isnan(even), middle, even)
        return np.asarray((full - mean) / spread) if scaled else full

    return prepared


def _even(values: Floats) -> Floats:
    """Counts and lengths are spread over powers of ten; flags stay flags, whatever is done to them."""
    whole = singles(values).astype(np.float64)
    return np.asarray(np.sign(whole) * np.log1p(np.abs(whole)))


LEARNERS: dict[str, Callable[[Floats, Ints, Ints | None, int], tuple[Any, Any]]] = {
    "tree-unpruned": _unpruned,
    "tree-pruned": _pruned,
    "naive-bayes": _bayes,
    "knn-1": _neighbours(1),
    "knn-2": _neighbours(2),
    "boosted": _boosted,
}
