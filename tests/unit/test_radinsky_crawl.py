"""The crawl of the experiment about content and kin, and its tests of differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_experts import following

from recrawl.evaluate.radinsky.crawling import COIN, INDEX, Crawl, Seen, crawled, likely
from recrawl.evaluate.radinsky.paired import mean, quantile, two_sided
from recrawl.learn.experts import foretold, tuned
from recrawl.learn.experts.calibration import curve
from recrawl.learn.features.content import Steps
from recrawl.learn.kin import Kin
from recrawl.model import Bags, Floats


def test_students_distribution_is_that_of_the_tables() -> None:
    assert quantile(10) == pytest.approx(2.228, abs=5e-4)
    assert quantile(1) == pytest.approx(12.706, abs=5e-3)
    assert quantile(120) == pytest.approx(1.980, abs=5e-4)
    assert two_sided(2.764, 10) == pytest.approx(0.02, abs=1e-4)
    assert two_sided(0.0, 5) == 1.0


def test_a_mean_is_above_nothing_only_where_chance_cannot_be_blamed() -> None:
    sure, unsure = mean(np.array([1.0, 1.2, 0.8, 1.1, np.nan])), mean(np.array([1.0, -2.0, 3.0]))
    assert (sure.above, unsure.above, mean(np.array([-1.0, -1.2, -0.8])).above) == (True, None, False)
    assert sure.n == 4
    assert sure.value == pytest.approx(1.025)
    assert sure.p < 0.05 < unsure.p
    assert mean(np.array([2.0])).above is None
    assert mean(np.zeros(5)).p == 1.0


def world(changed: list[list[int]]) -> Crawl:
    """Pages that change at these steps, seen until step 3."""
    bits = np.array(changed, dtype=bool)
    at = np.cumsum(bits, axis=1) + np.arange(len(bits))[:, None] * bits.shape[1]
    return Crawl(
        steps=Steps(Bags.of([{i: 1.0} for i in range(int(at.max()) + 1)]), at, bits),
        kin=Kin(np.full((len(bits), 1), -1), np.zeros((len(bits), 1))),
        group=np.zeros(len(bits), dtype=np.int64),
        start=3,
        n_days=bits.shape[1] - 4,
        n_train=2,
        back=1,
        budget=0.5,
        seed=1,
    )


def test_a_crawl_fetches_within_its_budget_and_copies_are_fresh_until_the_page_changes() -> None:
    crawl = world([[0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0]])
    first = crawled(crawl, lambda _: np.array([0.9, 0.1]), INDEX)
    # the first is fetched as soon as it changes, the second when its visit is worth more
    assert crawl.n_visits == 1
    assert first[0].all()
    assert not first[1, 1]
    assert first[1, -1]
    assert crawled(crawl, None, COIN).sum() >= 6  # in turn


def test_a_crawl_knows_nothing_of_pages_that_it_does_not_fetch() -> None:
    crawl = world([[0, 1, 0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 1, 1, 1, 1]])
    seen = Seen(crawl)
    seen.see(4, np.array([0]), np.array([True, True]))
    seen.see(5, np.array([0]), np.array([True, True]))
    task = seen.task()
    assert task.steps.changed[:, -2:].tolist() == [[True, True], [False, False]]
    assert (task.steps.at[1, -3:] == crawl.steps.at[1, 3]).all()
    assert not task.known[:, 3:].any()  # nothing that the crawl saw is learned from
    assert task.known[:, 1:3].all()


@pytest.mark.parametrize("name", ["single", "experts", "ours"])
def test_a_learner_that_is_trained_once_says_day_after_day_what_one_trained_anew_would(name: str) -> None:
    steps, kin, _ = following(n_followers=5, n_steps=60)
    crawl = Crawl(
        steps=steps, kin=kin, group=np.zeros(8, dtype=np.int64), start=30, n_days=25, n_train=24, back=2,
        budget=0.4, seed=3,
    )  # fmt: skip
    tuning = tuned(name, Seen(crawl).task(), 26)
    asked, told = likely(name, crawl, tuning), []

    def both(seen: Seen) -> Floats:
        task = seen.task()
        said = foretold(name, task, np.array([task.steps.n_steps - 1]), tuning=tuning).said[:, 0]
        anew = curve(tuning.said, tuning.so).of(said)
        told.append(np.array_equal(asked(seen), anew))
        return anew

    crawled(crawl, both, COIN)
    assert told == [True] * 25


def test_the_index_policy_beats_a_coin_that_knows_as_much() -> None:
    rng = np.random.default_rng(5)
    p = np.repeat([0.9, 0.05], [10, 30])
    crawl = replace(world([[0] * 124]), steps=world((rng.random((40, 124)) < p[:, None]).tolist()).steps)
    crawl = replace(crawl, n_days=120, budget=0.1, kin=Kin(np.full((40, 1), -1), np.zeros((40, 1))))
    fresh = {rule: crawled(crawl, lambda _: p, rule).mean() for rule in (COIN, INDEX)}
    assert fresh[INDEX] > fresh[COIN] + 0.1
