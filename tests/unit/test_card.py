"""The report card: what it says of visits that were made up."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import pytest
from tests.cards import END_AT, hosts, looked, prospects, tallied, told

from recrawl.evaluate.card.card import card, forecast_at
from recrawl.evaluate.card.delays import delay
from recrawl.evaluate.card.missed import missed
from recrawl.evaluate.card.past import Past
from recrawl.evaluate.card.rates import gammas, rates
from recrawl.evaluate.card.rivals import Spent, even_gaps, made, rivals
from recrawl.evaluate.card.words import words
from recrawl.evaluate.report import card as shown
from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import DAY_S, HOUR_S
from recrawl.schedule.optimum import optimum

T0 = END_AT - 21 * DAY_S


def test_a_plans_two_figures_give_its_distribution_back() -> None:
    rng = np.random.default_rng(1)
    known = GammaForecasts(np.exp(rng.uniform(-2, 5, 200)), np.exp(rng.uniform(8, 16, 200)))
    gap_s = known.b_s / known.a * np.exp(rng.uniform(-1, 1, 200))
    found = gammas(1.0 - known.survival(gap_s), known.n_expected(gap_s) / gap_s * DAY_S, gap_s)
    assert np.allclose(found.survival(3.0 * gap_s), known.survival(3.0 * gap_s), rtol=1e-3, atol=1e-4)
    assert np.allclose(found.a / found.b_s, known.a / known.b_s, rtol=1e-9)


def test_who_is_sure_has_a_sure_rate() -> None:
    sure = gammas(np.array([-np.expm1(-0.5)]), np.array([0.5]), np.array([DAY_S]))
    assert sure.survival(np.array([4 * DAY_S]))[0] == pytest.approx(np.exp(-2.0), rel=1e-4)


def test_the_interval_of_missed_changes_holds_the_truth_as_often_as_it_says() -> None:
    rng, n_held, off = np.random.default_rng(2), 0, []
    for _ in range(60):
        gamma = GammaForecasts(np.full(80, 60.0), 60.0 * DAY_S / rng.uniform(0.1, 1.5, 80))
        rows = rng.integers(0, 80, 300)
        gap_s = DAY_S * rng.uniform(0.5, 1.2, 300)
        n = rng.poisson((rng.gamma(gamma.a) / gamma.b_s)[rows] * gap_s)
        said = missed(gap_s[n > 0], rows[n > 0], gamma)
        truth = int((n[n > 0] - 1).sum())
        n_held += said.least <= truth <= said.most
        off.append(said.expected / truth)
        assert said.n_crowded == 0
    assert 52 <= n_held <= 60
    assert np.mean(off) == pytest.approx(1.0, abs=0.05)


def test_gaps_that_are_sure_to_hold_changes_are_counted_apart() -> None:
    gamma = GammaForecasts(np.array([50.0, 50.0]), np.array([500 * DAY_S, 10 * DAY_S]))  # 0.1 and 5 a day
    said = missed(np.full(40, DAY_S), np.repeat([0, 1], 20), gamma)
    assert (said.n_found, said.n_crowded) == (20, 20)
    assert said.expected == pytest.approx(20 * 0.05, rel=0.1)
    assert 50.0 < said.crowded_least < 20 * 4.03


def test_an_even_schedule_is_worth_what_uniform_visits_are() -> None:
    rate = np.geomspace(0.02, 2.0, 40)
    gap_s = np.full(40, 4 * DAY_S)
    last_at = END_AT - np.linspace(0.0, 3.99, 40) * DAY_S
    turns = np.arange(10)
    at = (last_at[:, None] - turns * 4 * DAY_S).ravel()
    spent = Spent(
        prospects=prospects(rate, gap_s, last_at),
        rate_per_s=rate / DAY_S,
        looked=looked(at=at, since_at=at - 4 * DAY_S),
        rows=np.repeat(np.arange(40), 10),
        from_at=END_AT - 40 * DAY_S,
        until_at=END_AT,
    )
    inside = spent.looked.at >= spent.from_at
    spent = replace(spent, looked=spent.looked.pick(inside), rows=spent.rows[inside])
    ours, even, best = rivals(spent, "fresh")
    x = rate * 4.0
    assert even.freshness == pytest.approx(np.mean(-np.expm1(-x) / x), rel=1e-3)
    assert even.recall == pytest.approx((-np.expm1(-x) / 4.0).sum() / rate.sum(), rel=1e-3)
    assert even.wait_s == pytest.approx(2 * DAY_S, rel=1e-3)
    for name in ("freshness", "recall", "wait_s"):
        assert getattr(ours, name) == pytest.approx(getattr(even, name), rel=0.02)
    assert (
        best.freshness
        == optimum(rate / DAY_S, spent.per_day, min_gap_s=60.0, max_gap_s=1e4 * DAY_S).freshness
    )
    assert best.freshness > even.freshness


def test_even_gaps_keep_to_bounds_and_to_the_number_of_visits() -> None:
    some = prospects(np.ones(10), np.full(10, DAY_S), np.full(10, T0))
    some = replace(some, min_gap_s=np.where(np.arange(10) < 5, 4 * DAY_S, 60.0))
    gap_s = even_gaps(some, 6.0)
    assert (gap_s[:5] == 4 * DAY_S).all()
    assert (DAY_S / gap_s).sum() == pytest.approx(6.0)


def test_what_was_not_looked_at_counts_while_it_goes_stale() -> None:
    some = prospects(np.array([1.0]), np.array([DAY_S]), np.array([END_AT - 30 * DAY_S]))
    spent = Spent(
        prospects=some,
        rate_per_s=np.array([1.0 / DAY_S]),
        looked=looked(at=[]),
        rows=np.empty(0, dtype=np.int64),
        from_at=END_AT - 7 * DAY_S,
        until_at=END_AT,
    )
    assert made(spent).freshness < 1e-9


def test_a_change_that_says_its_own_time_has_an_exact_delay() -> None:
    seen = looked(
        at=[T0 + 100.0, T0 + 100.0],
        since_at=[T0, T0],
        event_at=[T0 + 70.0, T0 - 5.0],  # the other cannot be the change that was found
    )
    flat = GammaForecasts(np.array([1.0, 1.0]), np.array([1e9, 1e9]))
    late = delay(seen, flat, np.array([True, True]))
    assert late.n_exact == 1
    assert late.mean_s == pytest.approx((30.0 + 50.0) / 2, rel=1e-3)
    assert (late.mean_least_s, late.mean_most_s) == (15.0, 65.0)


def test_delays_are_those_of_the_newest_change_in_each_gap() -> None:
    rng, n = np.random.default_rng(7), 4_000
    gap_s, rate_per_s = DAY_S * rng.uniform(0.5, 2.0, n), np.full(n, 2.0 / DAY_S)
    before_s = rng.exponential(1.0 / rate_per_s)  # back in time from the visit
    inside = before_s < gap_s
    seen = looked(at=np.full(n, T0), since_at=T0 - gap_s).pick(inside)
    sure = GammaForecasts(np.full(n, 1e4), np.full(n, 1e4) / rate_per_s).pick(np.flatnonzero(inside))
    late = delay(seen, sure, np.ones(len(seen), dtype=np.bool_))
    assert late.mean_s == pytest.approx(before_s[inside].mean(), rel=0.03)
    assert late.median_s == pytest.approx(np.median(before_s[inside]), rel=0.05)
    unknown = delay(seen, sure, np.zeros(len(seen), dtype=np.bool_))
    assert unknown.mean_s == pytest.approx(gap_s[inside].mean() / 2)


def test_a_gap_that_began_before_the_time_counts_from_its_beginning_on() -> None:
    from_at = END_AT - 7 * DAY_S
    spent = Spent(
        prospects=prospects(np.array([1.0]), np.array([DAY_S]), np.array([END_AT])),
        rate_per_s=np.array([1.0 / DAY_S]),
        looked=looked(at=[END_AT], since_at=[from_at - 3 * DAY_S]),
        rows=np.zeros(1, dtype=np.int64),
        from_at=from_at,
        until_at=END_AT,
    )
    assert made(spent).freshness == pytest.approx((np.exp(-3.0) - np.exp(-10.0)) / 7.0)


def test_of_whoever_is_tried_again_the_last_forecast_holds() -> None:
    some = prospects(np.array([1.0, 1.0]), np.full(2, DAY_S), np.full(2, T0))
    some = replace(some, p_changed=np.array([nan, nan]), per_day=np.array([nan, nan]))
    seen = looked(
        id=[1, 1],
        at=[T0 + DAY_S, T0 + 2 * DAY_S],
        since_at=[T0, T0 + DAY_S],
        due_at=[T0 + DAY_S, T0 + 2 * DAY_S],
        p_changed=[0.9, -np.expm1(-0.25)],
        per_day=[9.0, 0.25],
    )
    found = rates(some, seen, seen.id - 1)
    assert found.known.tolist() == [True, False]
    assert found.per_s[0] * DAY_S == pytest.approx(0.25)


def test_a_visit_that_told_nothing_says_nothing_of_its_forecast() -> None:
    seen = looked(
        at=[END_AT - 60.0] * 2,
        since_at=[END_AT - DAY_S] * 2,
        due_at=[END_AT - 60.0] * 2,
        informative=[False, True],
        changed=[-1, 0],
        p_changed=[0.5, 0.5],
        per_day=[0.7, 0.7],
    )
    waste = told(seen, prospects(np.ones(2), np.full(2, DAY_S), seen.at)).waste
    assert (waste.n_looked, waste.n_forecast) == (1, 1)


def test_a_visit_that_came_late_has_the_chance_of_its_own_moment() -> None:
    seen = looked(
        at=[T0 + 2 * DAY_S, T0 + DAY_S, T0 + HOUR_S, T0 + DAY_S],
        since_at=[T0] * 4,
        due_at=[T0 + DAY_S, T0 + DAY_S, T0 + DAY_S, nan],
        p_changed=[0.5, 0.5, 0.5, 0.5],
        per_day=[np.log(2.0)] * 4,
    )
    p = forecast_at(seen)
    assert p[:2].tolist() == pytest.approx([0.75, 0.5], rel=1e-4)
    assert np.isnan(p[2:]).all()  # before its time, and without a plan


def test_days_end_now_and_have_their_share_of_the_budget() -> None:
    at = END_AT - DAY_S * np.array([2.4, 1.5, 0.5, 0.25])
    seen = looked(at=at, id=[1, 1, 1, 1], changed=[0, 1, 0, 0], informative=[True, True, True, False])
    some = prospects(np.ones(1), np.full(1, DAY_S), at[2:3])
    days = told(seen, some, per_day=10.0, days=2.5).days
    assert [(day.n_visits, day.n_changes, day.n_failed) for day in days] == [(1, 0, 0), (1, 1, 0), (2, 0, 1)]
    assert [day.budget for day in days] == pytest.approx([5.0, 10.0, 10.0])


def test_visits_that_could_not_be_expected_to_find_anything_are_counted() -> None:
    seen = looked(
        at=[END_AT - 60.0] * 3,
        since_at=[END_AT - DAY_S] * 3,
        due_at=[END_AT - 60.0] * 3,
        changed=[0, 0, 1],
        p_changed=[0.05, 0.5, 0.05],
        per_day=[0.05, 0.7, 0.05],
    )
    waste = told(seen, prospects(np.ones(3), np.full(3, DAY_S), seen.at)).waste
    assert (waste.n_looked, waste.n_nothing, waste.n_unlikely) == (3, 2, 1)
    assert waste.expected == pytest.approx(0.95 + 0.5 + 0.95)


def test_hosts_whose_visits_tell_nothing_are_in_trouble() -> None:
    seen = looked(
        at=[END_AT - 60.0] * 6,
        id=[1, 1, 2, 2, 2, 3],
        informative=[False, False, True, True, False, False],
    )
    some = prospects(np.ones(4), np.full(4, DAY_S), np.full(4, T0))
    found = told(seen, some)
    assert [(one.host, one.n_visits, one.n_failed) for one in found.troubles] == [("h1.example", 2, 2)]
    failing = card(
        Past(
            looked=seen,
            tally=tallied(seen, 1.0),
            prospects=some,
            hosts=hosts(4, np.array([0, 0, 1, 5])),
            from_at=END_AT - DAY_S,
            until_at=END_AT,
            rule="",
            per_day=nan,
        )
    )
    assert [one.host for one in failing.troubles] == ["h1.example", "h3.example"]


def test_where_there_is_too_little_the_card_says_so() -> None:
    seen = looked(at=[END_AT - 60.0], since_at=[END_AT - DAY_S], changed=[1])
    found = told(seen, prospects(np.ones(1), np.full(1, DAY_S), seen.at))
    assert (found.delay, found.missed, found.calibration, list(found.rivals)) == (None, None, None, [])
    said = dict(words(found))
    for name in ("delay", "missed", "forecasts", "against"):
        assert said[name].startswith("too little to judge"), name


@pytest.mark.parametrize(
    ("n", "days", "said"),
    [
        (20, 1.0, "20 of 40 in the budget (50 %), on 1 of 1 resources"),
        (40, 1.0, "40 of 40 in the budget (100 %), on 1 of 1 resources"),
        (9, 0.1, "9 (4 in the budget of that time, 5 of up to 10 saved up before), on 1 of 1 resources"),
        (
            19,
            0.1,
            "19 (4 in the budget of that time, 10 of up to 10 saved up before and 5 beyond it), on 1 of 1 "
            "resources",
        ),
    ],
)
def test_what_was_saved_up_is_not_held_against_the_budget(n: int, days: float, said: str) -> None:
    at = END_AT - 60.0 * np.arange(1.0, n + 1.0)
    some = prospects(np.ones(1), np.full(1, DAY_S), at[:1])
    found = told(looked(at=at, id=np.ones(n, dtype=np.int64)), some, per_day=40.0, days=days)
    assert dict(words(found))["visits"] == said


@pytest.mark.parametrize(
    ("n", "days", "per_day", "said"),
    [
        (20, 1.0, 40.0, "20 and 6 second looks: 26 of 40 in the budget (65 %), on 1 of 1 resources"),
        (
            4,
            0.1,
            40.0,
            "4 and 6 second looks (4 in the budget of that time, 6 of up to 10 saved up before), on 1 of 1 "
            "resources",
        ),
        (20, 1.0, nan, "20 and 6 second looks on 1 of 1 resources; no budget of visits was set"),
    ],
)
def test_second_looks_are_charged_beside_visits(n: int, days: float, per_day: float, said: str) -> None:
    at = END_AT - 60.0 * np.arange(1.0, n + 1.0)
    some = prospects(np.ones(1), np.full(1, DAY_S), at[:1])
    seen = looked(at=at, id=np.ones(n, dtype=np.int64))
    tally = tallied(seen, days)
    tally[0, 3] = 6
    past = Past(
        looked=seen,
        tally=tally,
        prospects=some,
        hosts=hosts(1),
        from_at=END_AT - days * DAY_S,
        until_at=END_AT,
        rule="index:fresh",
        per_day=per_day,
    )
    found = card(past)
    assert dict(words(found))["visits"] == said
    assert (found.document()["second_looks"], found.document()["days"][0]["second_looks"]) == (6, 6)
    assert shown.days(found)[0][1:3] == [str(n), "6"]
