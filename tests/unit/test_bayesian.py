"""The Bayesian class estimator: Bayes' rule worked out at length, and the paper's example."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from tests.unit.test_classes import in_class, seen

from recrawl.checks import predictor as predictor_checks
from recrawl.checks.predictor import sample_batch
from recrawl.errors import BadInputError
from recrawl.learn.forecasts import MixtureForecasts
from recrawl.learn.predictors.bayesian import Bayesian
from recrawl.memberships import Weighed
from recrawl.model import DAY_S, TABLE_2, TABLE_4
from recrawl.schedule.policies.classes import bayesian

ONE = np.array([1])


@pytest.mark.parametrize("check", predictor_checks.CHECKS)
def test_the_predictor_keeps_the_contract(check: object) -> None:
    check(Bayesian)  # type: ignore[operator]


def p_classes(of: Weighed, hunch_days: float = np.nan) -> list[float]:
    found: list[float] = of.p_classes(ONE, np.array([hunch_days * DAY_S]))[0].tolist()
    return found


def test_a_visit_without_a_change_makes_the_slower_class_likelier_as_in_the_paper() -> None:
    """A page believed to be of the class of a week (0.9) rather than of a month (0.1), unchanged after a
    week. The paper has 0.89 and 0.11 then, by a likelihood that it does not tell; Poisson's moves further."""
    of = Weighed(TABLE_2[1:3], belief=0.9)
    assert p_classes(of, 7.0) == pytest.approx([0.9, 0.1])
    of.learn(seen([7.0], [0], hunch_days=7.0))
    week, month = 0.9 * exp(-1.0), 0.1 * exp(-7 / 30)
    assert p_classes(of, 7.0) == pytest.approx([week / (week + month), month / (week + month)])
    assert 0.8 < p_classes(of, 7.0)[0] < 0.89
    assert in_class(of, 7.0) == 0  # where a window of one visit would have moved it
    changed = Weighed(TABLE_2[1:3], belief=0.9)
    changed.learn(seen([7.0], [1], hunch_days=7.0))
    assert p_classes(changed, 7.0)[0] > 0.9


@given(
    visits=st.lists(st.tuples(st.floats(0.01, 300.0), st.booleans()), max_size=12),
    hunch=st.one_of(st.none(), st.integers(0, 3)),
)
def test_it_is_bayes_rule_for_gaps_of_any_length(visits: list[tuple[float, bool]], hunch: int | None) -> None:
    of = Weighed(TABLE_4, belief=0.7)
    hunch_days = np.nan if hunch is None else TABLE_4[hunch].interval_s / DAY_S
    of.learn(seen([gap for gap, _ in visits], [int(changed) for _, changed in visits], hunch_days))
    weight = []
    for place, one in enumerate(TABLE_4):
        product = Fraction(1, 4) if hunch is None else Fraction(7, 10) if place == hunch else Fraction(1, 10)
        for gap, changed in visits:
            x = gap * DAY_S / one.interval_s
            product *= Fraction(-float(np.expm1(-x))) if changed else Fraction(exp(-x))
        weight.append(product)
    expected = [float(one / sum(weight)) for one in weight]
    assert p_classes(of, hunch_days) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_no_number_of_visits_is_too_many_and_nothing_is_ever_certain_for_good() -> None:
    of = Weighed(TABLE_4)
    of.learn(seen([1.0] * 5_000, [1] * 5_000))
    assert p_classes(of) == pytest.approx([1.0, 0.0, 0.0, 0.0])
    assert np.isfinite(of.memory(ONE)).all()
    assert of.memory(ONE).max() == 0.0
    for gap_days, place in ((2_000.0, 0), (25_000.0, 1), (2.5e6, 3)):  # a long silence outweighs it all
        of.learn(seen([gap_days], [0]))
        assert in_class(of) == place


def test_rows_hold_for_any_hunch_and_without_one_all_classes_are_alike() -> None:
    of = Weighed(TABLE_4, belief=0.85)
    assert p_classes(of) == pytest.approx([0.25] * 4)
    assert p_classes(of, 31.0) == pytest.approx([0.05, 0.05, 0.85, 0.05])
    of.learn(seen([3.0], [1]))
    odds = np.array(p_classes(of, 31.0)) / np.array(p_classes(of))
    assert odds / odds[0] == pytest.approx([1.0, 1.0, 17.0, 1.0])
    for belief in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(BadInputError, match="give one between 0 and 1"):
            Weighed(TABLE_4, belief=belief)


def test_of_a_single_class_everybody_is() -> None:
    of = Weighed(TABLE_4[:1])
    of.learn(seen([1.0, 9.0], [1, 0]))
    assert (p_classes(of), p_classes(of, 5.0), in_class(of)) == ([1.0], [1.0], 0)


def test_the_mixture_is_the_mean_over_its_rates() -> None:
    rng = np.random.default_rng(7)
    p = rng.dirichlet(np.ones(4), 5)
    p[4] = [0.0, 1.0, 0.0, 0.0]
    per_s = np.broadcast_to(1.0 / (np.array([1.0, 3.0, 31.0, 96.0]) * DAY_S), p.shape)
    of = MixtureForecasts(p, per_s)
    t_s = np.array([[60.0], [DAY_S], [40 * DAY_S], [4_000 * DAY_S]]) * np.ones(5)
    for i in range(5):
        alone = of.pick(np.array([i]))

        def survival(t: float, row: MixtureForecasts = alone) -> float:
            return float(row.survival(np.array([t]))[0])

        for j, t in enumerate(t_s[:, i].tolist()):
            expected = sum(p[i] * np.exp(-per_s[i] * t))
            assert of.survival(t_s)[j, i] == pytest.approx(expected)
            whole = integrate.quad(survival, 0.0, t, limit=400, points=np.geomspace(t / 1e3, t, 7)[:-1])[0]
            assert of.survival_integral(t_s)[j, i] == pytest.approx(whole, rel=1e-6)
            slope = (survival(t * 1.0001) - survival(t * 0.9999)) / (2e-4 * t)
            assert of.survival_slope(t_s)[j, i] == pytest.approx(slope, rel=1e-5, abs=1e-18)
            assert of.n_expected(t_s)[j, i] == pytest.approx(t * (p[i] * per_s[i]).sum())
            assert of.n_expected_integral(t_s)[j, i] == pytest.approx(t * t * (p[i] * per_s[i]).sum() / 2.0)
    hazard = -of.survival_slope(t_s) / np.maximum(of.survival(t_s), 1e-300)
    assert (np.diff(hazard, axis=0) <= 1e-18).all()


def test_policy_and_predictor_go_by_the_same_probabilities() -> None:
    policy, predictor, batch = bayesian(), Bayesian(), sample_batch(3)
    told = [seen([3.0] * 4, [1, 0, 0, 1]), seen([31.0] * 3, [0, 0, 0], resource=2)]
    for visits in told:
        policy.learn(visits)
        predictor.learn(visits)
    forecasts = predictor.forecast(batch, 2e9)
    assert (policy.quote(batch, forecasts).gaps(5.0) / DAY_S).tolist() == [3.0, 96.0, 3.0]
    account = predictor.account(batch, 2e9)
    assert (account["class_interval_s"] / DAY_S).tolist() == [3.0, 96.0, 3.0]
    assert account["class_belief"].tolist() == pytest.approx(forecasts.p[[0, 1, 2], [1, 3, 1]].tolist())
    assert np.array_equal(policy.memory(batch.id), predictor.memory(batch.id))
