"""Learners of classes: each learns what is there, copes with what is not known, and says how sure it is."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.unit.sights import sighted

from recrawl.errors import BadInputError
from recrawl.learn.sights.calibration import calibration, reliability
from recrawl.learn.sights.classifying import classified
from recrawl.learn.sights.learners import LEARNERS, grown_tree, learned, pruned_tree
from recrawl.learn.sights.selection import selected
from recrawl.learn.sights.splits import balanced, by_resource, scikit_learn
from recrawl.model import FEATURES, Floats, Ints


def blobs(n: int, *, noise: float = 0.0, seed: int = 1) -> tuple[Floats, Ints]:
    """Three classes along two of four columns, on very different scales, with gaps."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n)
    values = rng.standard_normal((n, 4))
    values[:, 0] = np.exp(2.0 * label + 0.5 * values[:, 0])
    values[:, 1] = 1e6 * np.exp(-1.0 * (label == 1) + 0.3 * values[:, 1])
    values[rng.random((n, 4)) < 0.05] = np.nan
    wrong = rng.random(n) < noise
    return values, np.where(wrong, rng.integers(0, 3, n), label)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_learns_and_copes_with_what_is_not_known(name: str) -> None:
    values, label = blobs(400)
    others, truth = blobs(400, seed=2)
    others[0] = np.nan
    values, others = (np.column_stack([some, np.full(400, np.nan)]) for some in (values, others))
    made = learned(name, values, label, n_classes=4)
    assert (made.classify(others) == truth).mean() > 0.8
    p = made.p_classes(others)
    assert p.shape == (400, 4)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert (p[:, 3] == 0.0).all()  # never seen
    assert (p.argmax(axis=1) == made.classify(others)).mean() > 0.99


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_copes_with_next_to_nothing(name: str) -> None:
    values = np.array([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan]])
    made = learned(name, values, np.array([1, 1, 1]))
    assert made.classify(values).tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", LEARNERS)
def test_where_all_look_alike_the_shares_of_the_classes_are_all_there_is(name: str) -> None:
    values, label = np.zeros((12, len(FEATURES))), np.array([0] * 4 + [1] * 8)
    said = learned(name, values, label)
    shares = said.p_classes(values[:2])
    if name.startswith("knn"):  # of so many that are as near, some
        assert np.isfinite(shares).all()
    else:
        np.testing.assert_allclose(shares, [[1 / 3, 2 / 3]] * 2, atol=0.02)


def test_pruning_makes_a_smaller_tree_that_is_better_where_labels_are_noisy() -> None:
    values, label = blobs(400, noise=0.3)
    others, truth = blobs(2_000, seed=2)
    whole, pruned = grown_tree(values, label), pruned_tree(values, label, None)
    errors = [(tree.predict(others.astype(np.float32)) != truth).mean() for tree in (whole, pruned)]
    assert pruned.tree_.n_leaves < whole.tree_.n_leaves / 2
    assert errors[1] < errors[0]


def test_a_balanced_set_has_as_many_of_each_and_is_always_the_same() -> None:
    label = np.repeat([0, 1, 3], [50, 7, 200])
    rows = balanced(label)
    assert np.bincount(label[rows]).tolist() == [7, 7, 0, 7]
    assert rows.tolist() == balanced(label).tolist()
    assert rows.tolist() != balanced(label, seed=2).tolist()
    assert np.bincount(label[balanced(label, least=20)]).tolist() == [20, 7, 0, 20]
    assert len(balanced(np.empty(0, dtype=np.int64))) == 0


@pytest.mark.parametrize("backward", [True, False])
def test_features_that_tell_are_chosen_and_others_left_out(backward: bool) -> None:
    values, label = blobs(300)
    values = np.column_stack([values, np.full(300, 7.0)])  # the same everywhere: cannot tell
    found = selected(values, label, by_resource(300, 3), backward=backward)
    assert {0, 1} <= {*found.columns.tolist()}
    assert 4 not in found.columns
    assert len(found.columns) < 5
    assert found.error <= found.error_of_all


def test_a_learner_of_ones_own_says_which_features_it_wants() -> None:
    values, label = blobs(150)

    def sees_only_the_last(taught: Floats, known: Ints, held: Floats) -> Ints:
        return np.full(len(held), int(np.bincount(known).argmax()) if taught.shape[1] > 1 else 3)

    found = selected(values, label, by_resource(150, 3), taught=sees_only_the_last, backward=True)
    assert len(found.columns) == 2  # one alone is always wrong for it


@pytest.mark.parametrize("n", [600, 3_000])
def test_calibrated_probabilities_mean_what_they_say(n: int) -> None:
    rng = np.random.default_rng(3)
    truth = rng.dirichlet([0.6, 0.3, 0.2], 2 * n)
    label = (rng.random(2 * n)[:, None] > truth.cumsum(axis=1)).sum(axis=1).clip(0, 2)
    said = truth**3 / (truth**3).sum(axis=1, keepdims=True)  # much too sure
    curves = calibration(said[:n], label[:n])
    assert curves.by == ("sigmoid" if n < 1_000 else "isotonic")
    before, after = reliability(said[n:], label[n:]), reliability(curves.of(said[n:]), label[n:])
    assert before.error > 0.06
    assert after.error < before.error / 2
    assert after.n.sum() == 3 * n


def test_probabilities_that_tell_nothing_become_the_classes_shares() -> None:
    rng = np.random.default_rng(4)
    label = (rng.random(500) < 0.2).astype(np.int64)
    said = rng.dirichlet([0.3, 0.3], 500)
    p = calibration(said, label).of(said)
    assert p[:, 1] == pytest.approx(0.2, abs=0.12)


def test_calibration_is_kept_only_where_it_helps_those_who_were_held_out() -> None:
    kept = []
    for seed in (3, 4):
        world = sighted(60, 0.6, seed=seed, n_noise=1)
        label = (world.per_day > np.median(world.per_day)).astype(np.int64)
        made = classified(world.values, label, world.site, 2)
        without, with_it = made.losses
        assert (made.by == "none") == (with_it >= without)
        kept.append(made.by)
        if made.by == "none":  # as the tree says, and never for sure
            assert made.leaf_p.min() >= 0.0009
            assert made.after.error == pytest.approx(made.before.error, abs=0.002)
    assert kept == ["sigmoid", "none"]


def test_the_chosen_tree_beats_chance_on_sites_it_has_not_seen() -> None:
    world = sighted(500, 0.6)
    label = np.searchsorted(np.quantile(world.per_day, [1 / 3, 2 / 3]), world.per_day).astype(np.int64)
    made = classified(world.values, label, world.site, 3)
    assert made.error_by_site is not None
    assert made.error_by_site < 0.56 < made.error_of_the_largest
    assert made.confusion.sum() == 500
    assert made.confusion.trace() == round(500 * (1.0 - made.error_by_site))
    assert made.leaf_p.sum(axis=1) == pytest.approx(1.0)
    assert made.after.error < 0.06
    assert {*made.selection.columns.tolist()} & {0, 1, 2, 3}


def test_a_learner_that_there_is_not_and_nothing_to_learn_are_refused() -> None:
    with pytest.raises(BadInputError, match="choose one of: tree-unpruned, tree-pruned"):
        learned("forest", np.ones((2, 1)), np.array([0, 1]))
    with pytest.raises(BadInputError, match="visit something"):
        learned("knn-1", np.ones((0, 1)), np.empty(0, dtype=np.int64))


def test_without_the_extra_its_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(BadInputError, match=r"pip install 'recrawl\[learn\]'"):
        scikit_learn("tree")
