"""Goals and the index policy: closed forms where they exist, the first crossing always."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import lambertw

from recrawl.checks import policy as policy_checks
from recrawl.checks.predictor import sample_batch
from recrawl.contracts import Goal, Policy
from recrawl.learn.forecasts import GammaForecasts, TabulatedForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.model import Floats
from recrawl.schedule.goals import Capture, Fresh, FreshHarmonic, Prompt
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.uniform import Uniform

DAY_S = 86_400.0
GOALS: list[Goal] = [Fresh(), FreshHarmonic(), Capture(), Prompt()]
POLICIES: list[Policy] = [*(Index(goal) for goal in GOALS), Uniform()]


def known_rates(per_day: Floats) -> GammaForecasts:
    """A Gamma that is as good as certain: the Poisson process of this rate."""
    sure = 1e9
    return GammaForecasts(np.full(len(per_day), sure), sure / per_day * DAY_S)


@pytest.mark.parametrize("check", policy_checks.CHECKS)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: getattr(getattr(p, "goal", p), "name", ""))
def test_every_policy_keeps_the_contract(check: object, policy: Policy) -> None:
    check(lambda: policy, GammaFilter())  # type: ignore[operator]


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_worth_is_zero_at_once_and_grows(goal: Goal) -> None:
    forecasts = GammaForecasts(np.array([0.5, 1.0, 4.0]), np.array([1.0, 10.0, 100.0]) * DAY_S)
    times = np.geomspace(1.0, 1000 * DAY_S, 200)[:, None] * np.ones(3)
    worth = goal.worth(forecasts, times)
    assert np.allclose(goal.worth(forecasts, np.zeros(3)), 0.0)
    assert (np.diff(worth, axis=0) >= -1e-9 * np.abs(worth[1:])).all()


def test_fresh_gaps_are_those_of_cho_and_garcia_molina() -> None:
    per_day = np.array([0.05, 0.2, 1.0, 3.0])
    batch = replace(sample_batch(4), weight=np.ones(4))
    price = 0.2 * DAY_S
    c = price / DAY_S * per_day  # price times rate, dimensionless
    x = np.real(-1.0 - lambertw(-(1.0 - c) / np.e, k=-1))
    exact = np.where(c < 1.0, x / per_day * DAY_S, batch.max_gap_s)
    gaps = Index(Fresh()).quote(batch, known_rates(per_day)).gaps(price)
    assert np.allclose(gaps, np.clip(exact, batch.min_gap_s, batch.max_gap_s), rtol=1e-2)


def test_prompt_gaps_follow_the_square_root_law() -> None:
    per_day = np.array([0.01, 0.1, 1.0])
    batch = replace(sample_batch(3), weight=np.ones(3))
    price = 3.0 * DAY_S
    gaps = Index(Prompt()).quote(batch, known_rates(per_day)).gaps(price)
    assert np.allclose(gaps, np.sqrt(2.0 * price / DAY_S / per_day) * DAY_S, rtol=1e-3)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
def test_a_gap_is_where_worth_meets_the_price(goal: Goal) -> None:
    n = 200
    rng = np.random.default_rng(3)
    batch = sample_batch(n)
    forecasts = GammaForecasts(rng.lognormal(0, 1, n), rng.lognormal(13, 1.5, n))
    middle_s = np.exp(rng.uniform(np.log(2 * batch.min_gap_s), np.log(batch.max_gap_s / 2)))
    prices = batch.weight * goal.worth(forecasts, middle_s)
    gaps = [Index(goal).quote(batch, forecasts).gaps(price)[i] for i, price in enumerate(prices)]
    error = np.abs(np.array(gaps) / middle_s - 1.0)
    assert np.median(error) < 2e-3
    assert np.quantile(error, 0.9) < 1e-2
    # where the gap is further off, the worth of the visit is not: the curve is flat there
    assert np.allclose(batch.weight * goal.worth(forecasts, np.array(gaps)), prices, rtol=1e-2)


def test_a_visit_is_due_at_the_first_crossing_when_the_hazard_rises_and_falls() -> None:
    day = np.array([0.0, 6.0, 8.0, 24.0, 30.0, 32.0]) * 3600.0
    hazard = np.array([[0.0, 1e-4, 0.0, 0.0, 1e-4, 0.0]])
    forecasts = TabulatedForecasts(day, hazard)
    batch = replace(sample_batch(1), weight=np.ones(1), max_gap_s=np.array([5 * DAY_S]))
    quote = Index(Capture()).quote(batch, forecasts)
    worth = Capture().worth(forecasts, np.linspace(3600.0, 5 * DAY_S, 20_000)[:, None])
    price = 0.9 * float(worth[:, 0].max())
    first = 3600.0 + (5 * DAY_S - 3600.0) * int(np.argmax(worth[:, 0] >= price)) / 19_999
    assert quote.gaps(price)[0] == pytest.approx(first, rel=0.2)


def test_a_heavier_resource_is_visited_sooner() -> None:
    batch = replace(sample_batch(2), weight=np.array([1.0, 5.0]))
    gaps = Index(Fresh()).quote(batch, known_rates(np.array([0.1, 0.1]))).gaps(DAY_S)
    assert gaps[1] < gaps[0]
