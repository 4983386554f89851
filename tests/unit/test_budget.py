"""The price that the budget can pay, and the allowance that is never overdrawn."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.checks.policy import sample_forecasts
from recrawl.checks.predictor import sample_batch
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.model import DAY_S
from recrawl.schedule.budget import Allowance, demand_per_day, lowest_price, price_for
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.uniform import Uniform


def test_demand_meets_the_budget() -> None:
    batch = sample_batch(500)
    quote = Index(Fresh()).quote(batch, sample_forecasts(GammaFilter(), 500))
    for per_day in (10.0, 100.0, 1000.0):
        price = price_for(quote, per_day)
        assert demand_per_day(quote, price) <= per_day
        assert demand_per_day(quote, price) == pytest.approx(per_day, rel=1e-3)
        assert demand_per_day(quote, price * 0.99) > per_day


def test_uniform_shares_the_budget_out_evenly() -> None:
    batch = sample_batch(100)
    quote = Uniform().quote(batch, sample_forecasts(GammaFilter(), 100))
    gaps = quote.gaps(price_for(quote, 50.0))
    assert np.allclose(gaps, 2 * DAY_S, rtol=1e-4)


def test_a_budget_above_all_demand_costs_nothing() -> None:
    quote = Uniform().quote(sample_batch(10), sample_forecasts(GammaFilter(), 10))
    assert price_for(quote, 1e6) == 0.0


def test_what_is_asked_for_only_where_it_costs_nothing_has_a_price_above_nothing() -> None:
    """Under a calendar demand jumps at 0: what costs nothing waits for no better moment."""

    def asked(price: float) -> float:
        return 48.0 if price == 0.0 else 41.0 / (1.0 + price)

    assert lowest_price(asked, 48.0) == 0.0
    price = lowest_price(asked, 47.0)
    assert 0.0 < price < 1e-100
    assert asked(price) == 41.0
    assert asked(lowest_price(asked, 20.0)) == pytest.approx(20.0, rel=1e-4)


@pytest.mark.parametrize("guess", [1e-300, 4e-300, 1e300])
def test_from_a_price_that_was_next_to_none_it_is_not_far_to_another(guess: float) -> None:
    n_asked = 0

    def asked(price: float) -> float:
        nonlocal n_asked
        n_asked += 1
        return 41.0 / (1.0 + price / 1e4)

    assert lowest_price(asked, 20.5, guess=guess) == pytest.approx(1e4, rel=1e-4)
    assert n_asked < 30


def test_a_budget_below_the_largest_gaps_has_no_price() -> None:
    batch = replace(sample_batch(10), max_gap_s=np.full(10, DAY_S))
    quote = Uniform().quote(batch, sample_forecasts(GammaFilter(), 10))
    assert price_for(quote, 5.0) == inf


@given(guess=st.one_of(st.floats(1e-12, 1e12), st.just(float("nan")), st.just(inf), st.just(0.0)))
def test_the_guess_does_not_matter(guess: float) -> None:
    quote = Uniform().quote(sample_batch(20), sample_forecasts(GammaFilter(), 20))
    assert price_for(quote, 10.0, guess=guess) == pytest.approx(2 * DAY_S, rel=1e-4)


@given(
    per_day=st.floats(0.5, 5000.0),
    waits_s=st.lists(st.floats(0.0, 20_000.0), min_size=1, max_size=60),
)
def test_the_allowance_is_never_overdrawn(per_day: float, waits_s: list[float]) -> None:
    start_at = 1.7e9
    allowance = Allowance(per_day, max(1.0, per_day / 4.0), start_at)
    now, n_spent = start_at, 0
    for wait_s in waits_s:
        now += wait_s
        allowance = allowance.accrued(now)
        n_spent += allowance.n_free
        allowance = allowance.spent(allowance.n_free)
        assert n_spent <= allowance.most + per_day * (now - start_at) / DAY_S + 1e-6
        assert allowance.accrued(allowance.ready_at).n_free >= 1


@pytest.mark.parametrize("per_day", [1e6, 1e9, 1e12])
def test_a_visit_that_is_not_free_yet_never_is_at_this_very_moment(per_day: float) -> None:
    """A moment of ours is a quarter of a microsecond wide; less than that may be all that is missing."""
    allowance = Allowance(per_day, 1.0 - 2e-6, 1.7e9)
    assert allowance.n_free == 0
    for _ in range(3):  # rounding may take a little of what has accrued
        assert allowance.ready_at > allowance.at
        allowance = allowance.accrued(allowance.ready_at)
        if allowance.n_free:
            break
    assert allowance.n_free
    assert Allowance(per_day, 0.0, 1.7e9).after(0.0) > 1.7e9  # bytes: some must be there
