"""The Gamma filter against the exact posterior, and against the contract."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from recrawl.checks import predictor as predictor_checks
from recrawl.checks.predictor import MakePredictor, sample_batch
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.model import DAY_S, Seen


def seen(resource: int, gaps_days: list[float], changed: list[int]) -> Seen:
    at = 1e9 + np.cumsum(np.array(gaps_days) * DAY_S)
    return Seen(
        id=np.full(len(at), resource),
        since_at=at - np.array(gaps_days) * DAY_S,
        at=at,
        changed=np.array(changed, dtype=np.int8),
        event_at=np.full(len(at), np.nan),
    )


def state(gamma: GammaFilter, group: int = 0) -> tuple[float, float]:
    a, b_s = gamma.state(np.array([1]), np.array([group]))
    return float(a[0]), float(b_s[0])


@pytest.mark.parametrize("check", predictor_checks.CHECKS)
def test_the_gamma_filter_keeps_the_contract(check: object) -> None:
    make: MakePredictor = GammaFilter
    check(make)  # type: ignore[operator]


def test_an_unchanged_gap_only_adds_to_the_time_observed() -> None:
    gamma = GammaFilter(forgetting=0.0)
    gamma.learn(seen(1, [3.0], [0]))
    assert state(gamma) == (0.5, 13.0 * DAY_S)
    assert gamma.memory(np.array([1])).tolist() == [[0.0, 3.0 * DAY_S, 1.0]]  # the prior is kept apart


@given(
    shape=st.floats(0.1, 20.0),
    scale_days=st.floats(0.1, 400.0),
    gap_days=st.floats(0.01, 400.0),
)
def test_a_change_gives_the_exact_posterior_mean_and_variance(
    shape: float, scale_days: float, gap_days: float
) -> None:
    gamma = GammaFilter(shape=shape, scale_days=scale_days, forgetting=0.0)
    gamma.learn(seen(1, [gap_days], [1]))
    a, b_s = state(gamma)

    # moments of Gamma(a, b) weighted by P(change in the gap), from its moment generating function
    def moment(k: int) -> float:
        rising = float(np.prod(shape + np.arange(k)))
        return float(rising / scale_days**k * -np.expm1(-(shape + k) * np.log1p(gap_days / scale_days)))

    mean = moment(1) / moment(0)
    variance = moment(2) / moment(0) - mean**2
    assert a / (b_s / DAY_S) == pytest.approx(mean, rel=1e-4)
    assert a / (b_s / DAY_S) ** 2 == pytest.approx(variance, rel=2e-2)


def test_the_moments_used_above_are_those_of_the_integral() -> None:
    shape, scale, gap = 1.7, 12.0, 5.0

    def density(lam: float) -> float:
        return float(lam ** (shape - 1) * np.exp(-scale * lam) * -np.expm1(-gap * lam))

    total = integrate.quad(density, 0, 20)[0]
    mean = integrate.quad(lambda lam: lam * density(lam), 0, 20)[0] / total
    gamma = GammaFilter(shape=shape, scale_days=scale, forgetting=0.0)
    gamma.learn(seen(1, [gap], [1]))
    a, b_s = state(gamma)
    assert a / (b_s / DAY_S) == pytest.approx(mean, rel=1e-5)


def test_a_thousand_changes_in_a_row_stay_finite_and_so_do_a_thousand_silences() -> None:
    gamma = GammaFilter(forgetting=0.0)
    gamma.learn(seen(1, [0.001] * 1000, [1] * 1000))
    gamma.learn(seen(2, [180.0] * 1000, [0] * 1000))
    rows = np.array(gamma.state(np.array([1, 2]), np.zeros(2, dtype=np.int64)))
    assert np.isfinite(rows).all()
    assert (rows > 0.0).all()
    survival = gamma.forecast(sample_batch(2), 2e9).survival(np.full(2, DAY_S))
    assert survival[0] < 0.01 < 0.99 < survival[1]


def test_the_estimate_comes_close_to_the_true_rate() -> None:
    rng = np.random.default_rng(7)
    gamma = GammaFilter(forgetting=0.0)
    gaps_days = rng.uniform(0.5, 6.0, 400)
    changed = (rng.random(400) < -np.expm1(-0.2 * gaps_days)).astype(int)
    gamma.learn(seen(1, gaps_days.tolist(), changed.tolist()))
    a, b_s = state(gamma)
    assert a / b_s * DAY_S == pytest.approx(0.2, rel=0.15)


@pytest.mark.parametrize("per_day", [0.02, 0.2, 2.0, 6.0])
def test_with_its_own_forgetting_it_still_learns_slow_and_fast_rates(per_day: float) -> None:
    rng = np.random.default_rng(3)
    gamma = GammaFilter()
    gaps_days = rng.uniform(0.5, 1.5, 3000) / max(per_day, 0.3) / 2.0
    changed = (rng.random(3000) < -np.expm1(-per_day * gaps_days)).astype(int)
    estimates = []
    for i in range(0, 3000, 10):  # averaged over time: what is forgotten makes each of them noisy
        gamma.learn(seen(1, gaps_days[i : i + 10].tolist(), changed[i : i + 10].tolist()))
        a, b_s = state(gamma)
        estimates.append(a / b_s * DAY_S)
    assert np.median(estimates[50:]) == pytest.approx(per_day, rel=0.35)


def test_changes_at_every_visit_raise_the_rate_only_as_far_as_visits_can_tell() -> None:
    gamma = GammaFilter()
    gamma.learn(seen(1, [1.0 / 24.0] * 1000, [1] * 1000))
    a, b_s = state(gamma)
    assert a / b_s * DAY_S == pytest.approx(72.0, rel=0.1)


def test_forgetting_lets_a_new_habit_win() -> None:
    habits = [1] * 50 + [0] * 15
    with_, without = GammaFilter(forgetting=0.1), GammaFilter(forgetting=0.0)
    for gamma in (with_, without):
        gamma.learn(seen(1, [1.0] * len(habits), habits))
    p = [g.forecast(sample_batch(1), 2e9).survival(np.array([DAY_S]))[0] for g in (with_, without)]
    assert p[0] > p[1]


def test_a_change_whose_time_is_known_adds_itself_and_the_time_since() -> None:
    gamma = GammaFilter(shape=0.5, scale_days=10.0, forgetting=0.0)
    visits = seen(1, [4.0, 4.0, 4.0, 4.0], [1, 0, 1, 1])
    visits.event_at[:] = visits.at - DAY_S * np.array([3.0, np.nan, 1.0, 5.0])
    gamma.learn(visits.pick(np.array([0, 1, 2])))
    assert state(gamma) == pytest.approx((2.5, (10.0 + 3.0 + 4.0 + 1.0) * DAY_S))
    other = GammaFilter(shape=0.5, scale_days=10.0, forgetting=0.0)
    for filter_ in (gamma, other):  # before the last visit: that cannot be when it changed
        filter_.learn(visits.pick(np.array([3])))
    untimed = GammaFilter(shape=0.5, scale_days=10.0, forgetting=0.0)
    untimed.learn(seen(1, [4.0], [1]))
    assert state(other) == state(untimed)


def test_times_tell_rates_that_visits_alone_cannot() -> None:
    rng = np.random.default_rng(4)
    visits = seen(1, [1.0] * 200, [1] * 200)
    visits.event_at[:] = visits.at - np.minimum(rng.exponential(1.0 / 20.0, 200), 0.9) * DAY_S
    gamma = GammaFilter()
    gamma.learn(visits)
    a, b_s = state(gamma)
    assert a / b_s * DAY_S == pytest.approx(20.0, rel=0.5)
    gamma.learn(seen(1, [1.0] * 200, [1] * 200))
    a, b_s = state(gamma)
    assert a / b_s * DAY_S == pytest.approx(20.0, rel=0.5)  # a change at every visit denies nothing


@given(a=st.floats(0.05, 100.0), gap=st.floats(1e-5, 1e5), forgetting=st.sampled_from([0.0, 0.05, 0.5]))
def test_visits_only_add_to_what_is_kept_apart_from_the_prior(
    a: float, gap: float, forgetting: float
) -> None:
    gamma = GammaFilter(shape=a, scale_days=1.0, forgetting=forgetting)
    for changed in (1, 1, 0, 1):
        before = gamma.memory(np.array([1]))[0]
        gamma.learn(seen(1, [gap], [changed]))
        after = gamma.memory(np.array([1]))[0]
        kept = after[2] / before[2]
        assert 1.0 - forgetting <= kept <= 1.0
        assert after[0] >= before[0] * kept * (1 - 1e-9) - 1e-9
        assert after[1] >= before[1] * kept * (1 - 1e-9) - 1e-6 * gap


def test_rows_that_another_kind_of_filter_wrote_are_passed_over() -> None:
    gamma = GammaFilter()
    gamma.recall(np.array([1, 2, 3]), np.array([[1.0, 2.0, 3e9], [1.0, -2.0, 0.5], [1.0, 2.0, 0.5]]))
    assert gamma.memory(np.array([1, 2, 3])).tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 2.0, 0.5]]
