"""The models of Tan (2012) as predictors: they say in the loop what they say in the experiment."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.threads import batch, drawn, moments

from recrawl.checks.predictor import sample_visits
from recrawl.errors import BadInputError
from recrawl.learn.predictors.gaps import GapPredictor
from recrawl.learn.predictors.machines import N_LEARNED, REFIT_EVERY, DiscountedSvr, Svr
from recrawl.learn.predictors.threads import Fixed, Mean
from recrawl.learn.threads.models import predicted
from recrawl.learn.threads.svr import LEAST, plain, summed, taught
from recrawl.model import Floats, Seen
from recrawl.registry import part

MACHINES: list[type[Svr]] = [Svr, DiscountedSvr]


def told_s(predictor: GapPredictor, number: int, at: float) -> float:
    return float(predictor.forecast(batch(number, at), at).gap_s[0])


def walk(predictor: GapPredictor, number: int, posts: Floats, step: int = 1) -> list[float]:
    """The gap that is predicted after each visit, a second after every so many posts."""
    found, before_at = [], np.nan
    for last in range(step - 1, len(posts), step):
        visit_at = posts[last] + 1.0
        predictor.learn(moments(number, posts[last + 1 - step : last + 1], visit_at, before_at))
        found.append(told_s(predictor, number, visit_at))
        before_at = visit_at
    return found


@pytest.mark.parametrize("name", ["fixed", "mean", "window-mean", "sgd", "svr", "svr-discounted"])
def test_each_is_to_be_had_by_its_name(name: str) -> None:
    assert isinstance(part("predictors", f"thread-{name}")(), GapPredictor)


def test_the_mean_in_the_loop_is_that_of_the_model() -> None:
    threads = drawn(n=3, n_posts=60)
    model = predicted("mean", threads, threads.n_posts)
    for row in range(threads.n):
        own = slice(int(threads.bounds[row]), int(threads.bounds[row + 1]))
        assert walk(Mean(), 1, threads.at[own], 5) == pytest.approx(model[own][4::5])


def test_the_fixed_gap_is_the_mean_of_all_that_have_ended_in_any_thread() -> None:
    threads, predictor = drawn(n=4, n_posts=40), Fixed()
    for row in range(threads.n):
        walk(predictor, row + 1, threads.at[threads.bounds[row] : threads.bounds[row + 1]])
    mean_s = np.nanmean(threads.gap_s)
    for number in (1, 2, 99):  # of one that nobody has heard of too
        assert told_s(predictor, number, 2e9) == pytest.approx(mean_s)


def test_a_fixed_gap_is_learned_alike_from_visits_together_and_one_by_one() -> None:
    """What all threads go by is learned in the order of visits, whoever they are to."""
    visits = sample_visits(6, 9)
    together, apart = Fixed(), Fixed()
    together.learn(visits)
    for row in np.argsort(visits.at, kind="stable"):
        apart.learn(visits.pick(np.array([row])))
    assert together.lore() == pytest.approx(apart.lore())
    told = Fixed()
    told.learn(replace(visits, changed=np.zeros(len(visits), dtype=np.int8)))
    assert not told.lore()[:, -1].any()  # nothing has ended


@pytest.mark.parametrize("make", MACHINES)
def test_a_machine_says_what_one_fitted_to_the_same_posts_says(make: type[Svr]) -> None:
    """At the tenth gap it is fitted for the first time, at the 18th anew; in between it stays as it is."""
    threads = drawn(n=1, n_posts=80)
    assert threads.n_posts[0] > 40
    x = (plain if make is Svr else summed)(threads)
    found = walk(make(), 1, threads.at)
    for n_fitted in (LEAST, LEAST + REFIT_EVERY, LEAST + 2 * REFIT_EVERY):
        machine = taught(x[:n_fitted], threads.gap_s[:n_fitted])
        said = np.maximum(machine.predicted(x[n_fitted : n_fitted + REFIT_EVERY]), 60.0)
        assert found[n_fitted : n_fitted + REFIT_EVERY] == pytest.approx(said)
    mean_s = predicted("mean", threads, threads.n_posts)
    assert found[1:LEAST] == pytest.approx(mean_s[1:LEAST])  # too few to learn from


@pytest.mark.parametrize("make", MACHINES)
def test_who_goes_on_from_the_rows_has_the_same_machine(make: type[Svr]) -> None:
    """In a thread longer than what is kept, at every place between two fits."""
    posts: Floats = 1e9 + np.cumsum(np.random.default_rng(1).lognormal(8.0, 1.5, N_LEARNED + 40))
    old = make()
    walk(old, 1, posts[: N_LEARNED + 20])
    for last in range(N_LEARNED + 20, len(posts)):
        new = make()
        new.recall(np.array([1]), old.memory(np.array([1])))
        new.take_lore(old.lore())
        visit = moments(1, posts[last : last + 1], posts[last] + 1.0, posts[last - 1] + 1.0)
        for predictor in (old, new):
            predictor.learn(visit)
        assert np.array_equal(old.memory(np.array([1])), new.memory(np.array([1])))
        assert np.array_equal(old.lore(), new.lore())


@pytest.mark.parametrize("make", MACHINES)
def test_a_past_of_many_posts_is_learned_as_if_each_had_been_visited(make: type[Svr]) -> None:
    posts: Floats = 1e9 + 60.0 * np.cumsum(np.round(np.random.default_rng(2).lognormal(4.0, 1.5, 150)))
    at_once, apart = make(), make()
    at_once.learn(moments(1, posts, posts[-1] + 1.0))
    walk(apart, 1, posts)
    assert told_s(at_once, 1, posts[-1] + 1.0) == pytest.approx(told_s(apart, 1, posts[-1] + 1.0))


def test_a_change_before_the_last_known_post_is_one_at_the_same_moment() -> None:
    """Its time is only guessed at: the middle between two visits."""
    predictor = Svr()
    at = np.arange(1.0, 41.0) * 1000.0
    predictor.learn(
        Seen(
            id=np.ones(40, dtype=np.int64),
            since_at=at - 5000.0,
            at=at,
            changed=np.ones(40, dtype=np.int8),
            event_at=np.where(np.arange(40) % 3 == 1, at - 0.25, np.nan),
        )
    )
    assert np.isfinite(told_s(predictor, 1, at[-1]))


@pytest.mark.parametrize("make", MACHINES)
def test_without_scikit_learn_the_remedy_is_named_at_once(
    make: type[Svr], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(BadInputError, match=r"recrawl\[learn\]"):
        make()
