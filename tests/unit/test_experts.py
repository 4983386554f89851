"""Learners that foretell from a page's own past and from its kin's, on small worlds of known making."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_content_features import drawn, kin_of, other_after

from recrawl.errors import BadInputError
from recrawl.learn.experts.calibration import curve
from recrawl.learn.experts.learners import LEARNERS, foretold, foretold_by_counts, tuned
from recrawl.learn.experts.margins import alone, decided
from recrawl.learn.experts.stacks import bagged, boosted
from recrawl.learn.experts.tasks import Task
from recrawl.learn.features.content import Steps
from recrawl.learn.kin import Kin
from recrawl.model import Bags, Bools


def separable(n: int, seed: int) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], Bools]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + 1, 4))
    return x, x[:, 0] + 0.5 * x[:, 1] ** 2 + rng.normal(size=n + 1) > 0.3


@pytest.mark.parametrize(("c", "coef0"), [(0.1, 0.0), (1.0, 1.0), (10.0, 1.0)])
def test_a_machine_decides_as_that_of_scikit_learn_does(c: float, coef0: float) -> None:
    svm = pytest.importorskip("sklearn.svm")
    for seed in range(3):
        x, so = separable(50, seed)
        kernel = (x @ x[:-1].T / 4 + coef0) ** 3
        y = np.where(so[:-1], 1.0, -1.0)
        theirs = svm.SVC(C=c, kernel="precomputed", tol=1e-6).fit(kernel[:-1], y).decision_function(kernel)
        assert decided(kernel, y, np.full(50, c)) == pytest.approx(theirs, abs=0.02)


def test_examples_that_weigh_more_are_decided_for() -> None:
    kernel = np.array([[1.0, 0.9], [0.9, 1.0], [0.95, 0.95]])
    y = np.array([1.0, -1.0])
    heavy = decided(kernel, y, np.array([5.0, 5.0]))
    assert heavy[0] > 0.0 > heavy[1]
    assert heavy[2] == pytest.approx(0.0)


def test_examples_of_one_kind_decide_for_it_and_none_for_nothing() -> None:
    kernel = np.eye(4)[:, :3]
    assert decided(kernel, np.ones(3), np.ones(3)).tolist() == [1, 1, 1, 1]
    assert decided(kernel, -np.ones(3), np.ones(3)).tolist() == [-1, -1, -1, -1]
    assert decided(np.zeros((1, 0)), np.zeros(0), np.zeros(0)).tolist() == [0]
    assert boosted(kernel, -np.ones(3), 1.0, 5) == -1.0
    assert bagged(kernel, np.ones(3), 1.0, np.random.default_rng(1).random((4, 3))) == 1.0


def test_blocks_count_alike_whatever_their_units() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(1, 60, 2))
    so = values[0, :, 0] > 0.0
    at = np.arange(40, 59)
    told = [
        alone(
            np.zeros((1, 60, 0)),
            values * unit + 7.0,
            np.ones(2),
            so,
            np.ones(60, bool),
            at,
            30,
            1,
            2,
            1.0,
            1.0,
        )
        for unit in (1.0, np.array([1e-3, 1e4]))
    ]
    assert told[0] == pytest.approx(told[1], abs=0.02)
    assert ((told[0][0] > 0.0) == so[at]).mean() > 0.8


def test_boosting_stops_at_a_machine_that_is_always_right() -> None:
    x, _ = separable(30, 1)
    y = np.where(x[:-1, 0] > 0.0, 1.0, -1.0)
    kernel = (x @ x[:-1].T / 4 + 1.0) ** 3
    assert boosted(kernel, y, 100.0, 10) == np.sign(decided(kernel, y, np.full(30, 100.0))[-1])


def following(
    n_followers: int = 6, n_steps: int = 110, seed: int = 1
) -> tuple[Steps, Kin, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Three leaders go together, busy or still for a while; a step later their followers do what they did."""
    rng = np.random.default_rng(seed)
    lead = np.zeros(n_steps, dtype=bool)
    for t in range(1, n_steps):
        lead[t] = lead[t - 1] if rng.random() < 0.8 else not lead[t - 1]
    leaders = lead ^ (rng.random((3, n_steps)) < 0.05)
    followers = np.roll(lead, 1) ^ (rng.random((n_followers, n_steps)) < 0.05)
    changed = np.concatenate([leaders, followers])
    changed[:, 0] = False
    words = rng.integers(1, 6, (len(changed), n_steps, 5))
    shown = np.maximum.accumulate(np.where(changed, np.arange(n_steps), 0), axis=1)
    bags = Bags.of(dict(enumerate(words[p, t])) for p in range(len(changed)) for t in range(n_steps))
    at = shown + np.arange(len(changed))[:, None] * n_steps
    of = np.tile(np.arange(3), (len(changed), 1))
    of[0], of[1], of[2] = [1, 2, -1], [0, 2, -1], [0, 1, -1]
    return Steps(bags, at, changed), Kin(of, np.where(of >= 0, 1.0, 0.0)), np.arange(3, len(changed))


def test_kin_that_lead_by_a_step_help_more_than_a_page_and_that_more_than_its_rate() -> None:
    steps, kin, pages = following()
    task = Task(steps=steps, pages=pages, kin=kin, n_train=40)
    at = np.arange(task.first, steps.n_steps - 1)
    right = {
        name: (foretold(name, task, at).yes == task.outcome[pages][:, at]).mean()
        for name in ("frequency", "single", "experts", "union", "bagging", "boosting", "ours")
    }
    assert right["frequency"] < 0.6 < right["single"] < 0.76
    assert min(right["experts"], right["union"], right["bagging"], right["boosting"]) > right["single"] + 0.05
    assert right["ours"] > 0.85
    assert right["experts"] > 0.85


@pytest.mark.parametrize("name", LEARNERS)
def test_no_learner_knows_what_is_to_come(name: str) -> None:
    steps, kin, pages = following(n_followers=3, n_steps=44)
    at, until = np.arange(20, 36), 11  # models are made at steps 20 and 30
    told = []
    for world in (steps, other_after(steps, int(at[until - 1]))):
        task = Task(steps=world, pages=pages, kin=kin, n_train=12, cycles=(5,))
        told.append(foretold(name, task, at))
    for before, after in ((told[0].said, told[1].said), (told[0].p, told[1].p)):
        assert np.array_equal(before[:, :until], after[:, :until])
        assert not np.array_equal(before[:, until + 1 :], after[:, until + 1 :])  # it goes on learning


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("changes", [False, True])
def test_pages_that_always_or_never_change_are_foretold_to_go_on(name: str, changes: bool) -> None:
    steps = drawn(4)
    steps = Steps(steps.bags, steps.at, np.full(steps.changed.shape, changes))
    steps.changed[:, 0] = False
    task = Task(steps=steps, pages=np.arange(4), n_train=12)
    told = foretold(name, task, np.array([task.first, 30]))
    assert (told.yes == changes).all()
    assert ((told.p > 0.5) == changes).all()


@pytest.mark.parametrize("way", ["platt", "isotonic"])
def test_calibrated_probabilities_come_as_often_as_they_say(way: str) -> None:
    rng = np.random.default_rng(1)
    said = rng.normal(size=4000)
    p = 1.0 / (1.0 + np.exp(-(0.5 + 2.0 * said)))
    meant = curve(said, rng.random(4000) < p, way).of(said)
    assert np.abs(meant - p).mean() < 0.04
    assert (np.diff(meant[np.argsort(said)]) >= 0.0).all()


def test_platt_counts_one_more_of_each_kind() -> None:
    sigmoid = curve(np.zeros(8), np.ones(8, dtype=bool))
    assert sigmoid.of(np.zeros(1))[0] == pytest.approx(0.9, abs=1e-3)  # (8 + 1) / (8 + 2)
    against = curve(np.array([1.0, -1.0] * 20), np.array([False, True] * 20))
    assert against.of(np.array([-1.0, 1.0])).tolist() == pytest.approx([0.5, 0.5])


def test_the_coin_says_yes_as_often_as_the_page_changed() -> None:
    steps = drawn(60, 60)
    task = Task(steps=steps, pages=np.arange(60), n_train=20)
    told = foretold("frequency", task, np.arange(25, 59))
    assert told.yes.mean() == pytest.approx(told.p.mean(), abs=0.03)
    sure = foretold("frequency-threshold", task, np.arange(25, 59))
    assert (sure.yes == (sure.p > 0.5)).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_tuning_can_be_used_again(name: str) -> None:
    task = Task(steps=drawn(), pages=np.arange(3), kin=kin_of(8), n_train=12)
    at = np.array([20, 25])
    again = foretold(name, task, at, tuning=tuned(name, task, 20))
    assert np.array_equal(again.p, foretold(name, task, at).p)


def test_experts_that_are_asked_once_say_with_each_number_of_kin_what_they_say_alone() -> None:
    steps, kin, pages = following(n_followers=3, n_steps=44)
    task, at = Task(steps=steps, pages=pages, kin=kin, n_train=12), np.arange(20, 36)
    tuning = tuned("experts", task, 20)
    for n, told in zip((1, 2, 3), foretold_by_counts(task, at, (1, 2, 3), tuning), strict=True):
        alone = foretold("experts", replace(task, kin=kin.nearest(n)), at, tuning=tuning)
        assert np.array_equal(told.yes, alone.yes)
        assert np.array_equal(told.p, alone.p)


def test_ours_need_not_ask_experts_again() -> None:
    steps, kin, pages = following(n_followers=3, n_steps=44)
    task, at = Task(steps=steps, pages=pages, kin=kin, n_train=12), np.arange(20, 36)
    tuning = tuned("ours", task, 20)
    own = foretold("experts", task, at, tuning=tuning.own)
    told = foretold("ours", task, at, tuning=tuning)
    assert np.array_equal(foretold("ours", task, at, tuning=tuning, own=own).p, told.p)
    other = foretold("single", task, at)
    assert not np.array_equal(foretold("ours", task, at, tuning=tuning, own=other).p, told.p)


@pytest.mark.parametrize("name", LEARNERS)
def test_of_no_pages_nothing_is_foretold(name: str) -> None:
    done: list[int] = []
    nobody = Task(steps=drawn(), pages=np.arange(0), n_train=12)
    told = foretold(name, nobody, np.array([20, 25]), heard=done.append)
    assert told.p.shape == told.yes.shape == (0, 2)
    assert done == [0]


def test_one_hears_how_many_pages_are_done() -> None:
    done: list[int] = []
    foretold("single", Task(steps=drawn(), pages=np.arange(3), n_train=12), np.array([20]), heard=done.append)
    assert done == [0, 1, 2, 3]


def test_what_cannot_be_asked_is_refused() -> None:
    task = Task(steps=drawn(), pages=np.arange(3))
    with pytest.raises(BadInputError, match="no learner 'oracle'"):
        foretold("oracle", task, np.array([5]))
    with pytest.raises(BadInputError, match="between 0 and 39"):
        foretold("single", task, np.array([40]))
    with pytest.raises(BadInputError, match="counted from 1"):
        Task(steps=drawn(), pages=np.arange(3), ahead=0)
    with pytest.raises(BadInputError, match="do not fit"):
        Task(steps=drawn(), pages=np.arange(3), kin=kin_of(3))
    with pytest.raises(BadInputError, match="no calibration 'magic'"):
        foretold("single", task, np.array([30]), calibration="magic")
