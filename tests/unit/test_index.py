"""Goals and the index policy: closed forms where they exist, the first crossing always."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import lambertw

from recrawl.checks import policy as policy_checks
from recrawl.checks.policy import sample_forecasts
from recrawl.checks.predictor import sample_batch
from recrawl.contracts import Goal, Policy, Predictor
from recrawl.learn.forecasts import GammaForecasts, TabulatedForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.model import Floats, Ints
from recrawl.pricing import Asked, priced
from recrawl.schedule.budget import demand_per_day, price_for
from recrawl.schedule.goals import Capture, Fresh, FreshHarmonic, Prompt
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.proportional import _Expected as Expected
from recrawl.schedule.policies.uniform import Uniform

DAY_S = 86_400.0
GOALS: list[Goal] = [Fresh(), FreshHarmonic(), Capture(), Prompt()]
POLICIES: list[Policy] = [*(Index(goal) for goal in GOALS), Index(Fresh(), jitter=0.07), Uniform()]


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


class Laid:
    """Gamma forecasts that do not say so: the index lays their worth out on a grid."""

    def __init__(self, of: GammaForecasts) -> None:
        self.survival = of.survival
        self.survival_integral = of.survival_integral
        self.survival_slope = of.survival_slope
        self.n_expected = of.n_expected
        self.n_expected_integral = of.n_expected_integral
        self._of = of

    def pick(self, rows: Ints) -> Laid:
        return Laid(self._of.pick(rows))


@pytest.mark.parametrize("goal", [*GOALS, Expected()], ids=lambda goal: goal.name)
def test_the_closed_form_and_the_grid_agree(goal: Goal) -> None:
    n = 400
    rng = np.random.default_rng(8)
    batch = replace(sample_batch(n), cost=rng.lognormal(0.0, 0.5, n))
    forecasts = GammaForecasts(rng.lognormal(0.0, 1.5, n), rng.lognormal(13.0, 1.5, n))
    closed, laid = Index(goal).quote(batch, forecasts), Index(goal).quote(batch, Laid(forecasts))
    assert type(closed) is not type(laid)
    weight = batch.weight / batch.cost
    worths = weight * goal.worth(forecasts, np.sqrt(batch.min_gap_s * batch.max_gap_s))
    for price in np.quantile(worths, [0.1, 0.5, 0.9]):
        one, other = closed.gaps(price), laid.gaps(price)
        assert np.median(np.abs(np.log(one / other))) < 2e-3
        assert np.quantile(np.abs(np.log(one / other)), 0.9) < 2e-2
        inside = (one > batch.min_gap_s * 1.001) & (one < batch.max_gap_s * 0.999)
        assert inside.sum() > 20
        met = (weight * goal.worth(forecasts, one))[inside]
        assert np.allclose(met, price, rtol=1e-9)  # the closed form to the last digits
        each = closed.gaps(np.full(n, price))
        assert np.array_equal(one, each)
        assert np.allclose(laid.gaps(np.full(n, price)), other)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
@pytest.mark.parametrize("a", [0.01, 1.0, 3.0, 1e9])
def test_closed_forms_hold_for_doubtful_and_for_certain_rates(goal: Goal, a: float) -> None:
    rate_per_day = np.geomspace(1e-4, 100.0, 60)
    forecasts = GammaForecasts(np.full(60, a), a / rate_per_day * DAY_S)
    batch = replace(
        sample_batch(60), weight=np.ones(60), min_gap_s=np.full(60, 60.0), max_gap_s=np.full(60, 1e9)
    )
    middle_s = np.full(60, 5 * DAY_S)
    for i, price in enumerate(goal.worth(forecasts, middle_s)):
        gap_s = Index(goal).quote(batch, forecasts).gaps(float(price))[i]
        # where the worth has long reached its limit, any later gap is worth the same
        if rate_per_day[i] * 5.0 < 8.0:
            assert gap_s == pytest.approx(middle_s[i], rel=1e-4)


def test_a_visit_that_costs_twice_as_much_is_worth_half() -> None:
    batch = replace(sample_batch(1), weight=np.ones(1))
    quote = Index(Fresh()).quote
    forecasts = known_rates(np.array([0.1]))
    dear = quote(replace(batch, cost=np.full(1, 2.0)), forecasts).gaps(DAY_S)
    assert dear == pytest.approx(quote(batch, forecasts).gaps(2.0 * DAY_S))


def test_jitter_is_the_same_for_the_same_visit_and_even_over_many() -> None:
    n = 4_000
    batch = replace(sample_batch(n), id=np.arange(1, n + 1))
    forecasts = known_rates(np.full(n, 0.1))
    plain, jittered = Index(Prompt()), Index(Prompt(), jitter=0.07)
    ratio = jittered.quote(batch, forecasts).gaps(DAY_S) / plain.quote(batch, forecasts).gaps(DAY_S)
    inside = (plain.quote(batch, forecasts).gaps(DAY_S) * 0.93 > batch.min_gap_s) & (
        plain.quote(batch, forecasts).gaps(DAY_S) * 1.07 < batch.max_gap_s
    )
    assert inside.sum() > 1_000
    assert np.histogram(ratio[inside], np.linspace(0.93, 1.07, 8))[0].min() > 0.11 * inside.sum()
    assert np.array_equal(
        ratio, jittered.quote(batch, forecasts).gaps(DAY_S) / plain.quote(batch, forecasts).gaps(DAY_S)
    )
    later = replace(batch, n_informative=batch.n_informative + 1)
    other = jittered.quote(later, forecasts).gaps(DAY_S) / plain.quote(later, forecasts).gaps(DAY_S)
    assert abs(np.corrcoef(ratio[inside], other[inside])[0, 1]) < 0.1


@pytest.mark.parametrize("jitter", [0.0, 0.07])
def test_what_flips_at_noon_and_midnight_is_not_hidden_by_an_even_gap(jitter: float) -> None:
    policy = Index(Prompt(), jitter=jitter)
    forecasts = known_rates(np.array([0.5]))
    at, seen = 0.0, []
    for n_visits in range(1, 81):
        batch = replace(
            sample_batch(1),
            weight=np.ones(1),
            n_informative=np.array([n_visits]),
            min_gap_s=np.array([3600.0]),
            max_gap_s=np.array([9 * DAY_S]),
        )
        at += float(policy.quote(batch, forecasts).gaps(4.0 * DAY_S)[0])  # four days, to the second
        seen.append(round(at / DAY_S * 2.0, 6) // 1 % 2)
    share = np.mean(np.diff(seen) != 0)
    assert share == 0.0 if jitter == 0.0 else share > 0.15


def test_a_heavier_resource_is_visited_sooner() -> None:
    batch = replace(sample_batch(2), weight=np.array([1.0, 5.0]))
    gaps = Index(Fresh()).quote(batch, known_rates(np.array([0.1, 0.1]))).gaps(DAY_S)
    assert gaps[1] < gaps[0]


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
@pytest.mark.parametrize("laid_out", [False, True])
def test_what_has_no_weight_gets_its_largest_gap_at_any_price(goal: Goal, laid_out: bool) -> None:
    batch = replace(sample_batch(4), weight=np.array([0.0, 1.0, 0.0, 1.0]))
    known = known_rates(np.full(4, 0.5))
    quote = Index(goal).quote(batch, Laid(known) if laid_out else known)
    for price in (0.0, 1e-310, 1e-6, 1e3, np.inf):
        assert quote.gaps(price)[::2] == pytest.approx(batch.max_gap_s[::2])
    assert quote.gaps(0.0)[1::2] == pytest.approx(batch.min_gap_s[1::2])


@pytest.mark.parametrize("predictor", [GammaFilter(), Rhythm()])
@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.name)
@pytest.mark.parametrize("weights", [[1e308], [5e-324], [1e308, 5e-324, 1.0], [1e308, 1e300, 0.0]])
def test_weights_at_the_ends_of_what_a_float_holds_have_a_price(
    predictor: Predictor, goal: Goal, weights: list[float]
) -> None:
    batch = replace(sample_batch(30), weight=np.resize(weights, 30))
    asked = Asked(
        policy=Index(goal),
        batch=batch,
        forecasts=sample_forecasts(predictor, 30),
        now=1.7e9,
        per_day=4.0,
    )
    found = priced(asked)
    assert 0.0 < found.price < np.inf
    assert ((batch.min_gap_s <= found.gap_s) & (found.gap_s <= batch.max_gap_s)).all()
    quote = asked.policy.quote(batch, asked.forecasts)
    assert demand_per_day(quote, price_for(quote, 4.0)) == pytest.approx(4.0, rel=0.01)
