"""Contenders: all by name, and equal visits where there is a price."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from recrawl import registry
from recrawl.errors import BadInputError, UnknownPartError
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.contenders import NAMES, PRICED, contender
from recrawl.evaluate.protocol import FIRST_GAP_S, Window
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.model import DAY_S
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.rules.named import RULES
from recrawl.simulate.traces import Traces, Visits

START_AT, DAYS, N = 1.7e9, 200.0, 60


def history() -> tuple[Traces, Window]:
    rng = np.random.default_rng(2)
    n_changes = rng.poisson(np.geomspace(0.3, 300.0, N))
    at = [np.sort(START_AT + DAYS * DAY_S * rng.random(n)) for n in n_changes]
    traces = Traces(
        born_at=np.full(N, START_AT - DAY_S),
        bounds=np.concatenate([[0], np.cumsum(n_changes)]).astype(np.int64),
        at=np.concatenate(at),
        digest=np.zeros(int(n_changes.sum()), dtype=np.uint64),
        first_digest=np.zeros(N, dtype=np.uint64),
        host=np.arange(N),
        weight=np.ones(N),
    )
    return traces, Window(
        start_at=START_AT,
        end_at=START_AT + DAYS * DAY_S,
        rows=np.arange(N),
        first_gap_s=FIRST_GAP_S * rng.random(N),
    )


@pytest.mark.parametrize("name", PRICED)
@pytest.mark.parametrize("n_visits", [400, 1500, 6000])
def test_a_policy_with_a_price_makes_the_visits_it_is_paid_for(name: str, n_visits: int) -> None:
    traces, window = history()
    one = contender(name, min_gap_s=DAY_S, max_gap_s=180 * DAY_S)
    visits = one.visits(traces, window, n_visits=n_visits)
    assert len(visits) == pytest.approx(n_visits, rel=0.01)
    assert len(visits.bounds) == N + 1


def test_round_robin_goes_in_turn_from_the_start_and_uniform_begins_in_the_first_week() -> None:
    traces, window = history()
    begun = {}
    for name in ("uniform", "round-robin"):
        visits = contender(name, min_gap_s=DAY_S, max_gap_s=180 * DAY_S).visits(traces, window, n_visits=400)
        begun[name] = (np.array([visits.of(i)[0] for i in range(N)]) - START_AT) / DAY_S
    assert begun["uniform"].max() < 7.0
    assert 25.0 < begun["round-robin"].max() < 31.0  # sixty resources, 400 visits, 200 days: a gap of 30 days
    assert np.array_equal(np.argsort(begun["uniform"]), np.argsort(begun["round-robin"]))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "round-robin"])
def test_everybody_begins_with_the_windows_first_visits(name: str) -> None:
    traces, window = history()
    one = contender(name, min_gap_s=DAY_S, max_gap_s=180 * DAY_S)
    visits = one.visits(traces, window, n_visits=2000)
    assert visits.at[visits.bounds[:-1]].tolist() == (START_AT + window.first_gap_s).tolist()


def test_every_goal_makes_them_too_and_a_price_found_once_can_be_used_again() -> None:
    traces, window = history()
    for goal in ("fresh-harmonic", "capture", "prompt"):
        one = contender("index", goal=goal, min_gap_s=DAY_S, max_gap_s=180 * DAY_S)
        visits = one.visits(traces, window, n_visits=2000)
        assert len(visits) == pytest.approx(2000, rel=0.01)
        price = one.price(traces, window, 2000)
        assert np.array_equal(one.visits(traces, window, price=price).at, visits.at)


@pytest.mark.parametrize("name", ["index", "proportional"])
def test_any_other_predictor_is_asked_in_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(GammaFilter):
        pass

    parts = {("predictors", "mine"): Mine, ("goals", "prompt"): Prompt}
    monkeypatch.setattr(registry, "part", lambda group, name: parts[group, name])
    traces, window = history()
    mine = contender(name, goal="prompt", predictor="mine", min_gap_s=DAY_S, max_gap_s=180 * DAY_S)
    price = DAY_S if name == "index" else 0.5
    visits = mine.visits(traces, window, price=price)
    walked = replace(mine, predictor="gamma").visits(traces, window, price=price)
    assert visits.bounds.tolist() == walked.bounds.tolist()
    assert np.allclose(visits.at, walked.at, rtol=0.0, atol=1e-3)


def test_more_visits_than_the_bounds_allow_are_not_made() -> None:
    traces, window = history()
    for name in PRICED:
        one = contender(name, min_gap_s=DAY_S, max_gap_s=20 * DAY_S)
        most = one.visits(traces, window, n_visits=10**9)
        least = one.visits(traces, window, n_visits=1)
        assert len(most) == pytest.approx(N * DAYS, rel=0.05)
        assert len(least) == pytest.approx(N * DAYS / 20, rel=0.2)


def test_rules_run_by_name_within_the_bounds_and_ignore_what_is_paid() -> None:
    traces, window = history()
    for name in RULES:
        rule = contender(name, min_gap_s=2 * DAY_S, max_gap_s=40 * DAY_S)
        visits = rule.visits(traces, window, n_visits=5)
        gaps_s = np.concatenate([np.diff(visits.of(i)) for i in range(N)])
        assert gaps_s.min() >= 2 * DAY_S * (1 - 1e-9)
        assert gaps_s.max() <= 40 * DAY_S * (1 + 1e-9)
        assert not rule.priced


def test_gold_looks_as_often_as_there_are_changes() -> None:
    traces, window = history()
    visits = contender("gold", min_gap_s=60.0, max_gap_s=1e9).visits(traces, window)
    gap_s = DAYS * DAY_S / np.maximum(traces.n_changes, 1e-9)
    for i in range(N):
        # one after each gap, from the first visit on: of the first week it may miss a part
        assert np.diff(visits.of(i)) == pytest.approx(gap_s[i])
        assert -1.0 <= traces.n_changes[i] - len(visits.of(i)) <= FIRST_GAP_S / gap_s[i]


def test_without_bounds_a_rule_keeps_its_own() -> None:
    traces, window = history()
    own = contender("hydra").visits(traces, window)
    gaps_s = np.concatenate([np.diff(own.of(i)) for i in range(N)])
    assert set(np.round(gaps_s / 3600.0).tolist()) <= {12.0, 24.0, 168.0, 720.0}


def test_a_rule_that_the_bounds_leave_one_gap_makes_the_visits_of_that_fixed_gap() -> None:
    traces, window = history()
    daily = contender("changedetection", min_gap_s=DAY_S, max_gap_s=180 * DAY_S).visits(traces, window)
    for name in ("miniflux", "commafeed", "freshrss-autottl"):  # none of them waits longer than a day
        visits = contender(name, min_gap_s=DAY_S, max_gap_s=180 * DAY_S).visits(traces, window)
        assert visits.bounds.tolist() == daily.bounds.tolist()
        np.testing.assert_allclose(visits.at, daily.at)


def test_wrong_words_are_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownPartError, match="choose some of: fix, dyn"):
        contender("nuch", min_gap_s=1.0, max_gap_s=2.0)
    with pytest.raises(UnknownPartError, match="choose one of: capture"):
        contender("index", goal="fame", min_gap_s=1.0, max_gap_s=2.0)
    with pytest.raises(BadInputError, match="give a smallest and a largest gap"):
        contender("index")
    traces, window = history()
    with pytest.raises(BadInputError, match="how many visits"):
        contender("index", min_gap_s=DAY_S, max_gap_s=9 * DAY_S).visits(traces, window)
    with pytest.raises(BadInputError, match="one for each"):
        contender("week").visits(traces.pick(np.arange(3)), window)
    assert len(set(NAMES)) == len(NAMES) == 23


def test_a_price_is_found_in_few_runs() -> None:
    asked: list[float] = []

    def run(price: float) -> Visits:
        asked.append(price)
        n = round(1e6 / (1.0 + price) ** 0.7)
        return Visits(bounds=np.array([0, n]), at=np.zeros(n))

    price, found = bid(run, 5000, 1.0, 0.005)
    assert len(found) == pytest.approx(5000, rel=0.005)
    assert price == pytest.approx(200.0 ** (1 / 0.7), rel=0.02)
    assert len(asked) <= 8


def test_a_price_that_bounds_forbid_is_given_up_in_few_runs() -> None:
    asked: list[float] = []

    def run(price: float) -> Visits:
        asked.append(price)
        return Visits(bounds=np.array([0, 1020]), at=np.zeros(1020))

    price, found = bid(run, 1000, 1.0, 0.005)
    assert (price, len(found)) == (1.0, 1020)
    assert len(asked) <= 12
    assert asked[-1] == inf
