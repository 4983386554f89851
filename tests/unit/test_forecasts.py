"""Forecasts in closed form and from a table, against numerical integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from recrawl.learn.forecasts import GammaForecasts, TabulatedForecasts

DAY_S = 86_400.0


@pytest.mark.parametrize("a", [0.2, 1.0, 1.0 + 1e-10, 3.5])
def test_the_gamma_integral_is_the_integral(a: float) -> None:
    forecasts = GammaForecasts(np.array([a]), np.array([5 * DAY_S]))
    for days in (0.01, 1.0, 50.0):
        exact = integrate.quad(lambda t: (5.0 / (5.0 + t)) ** a, 0, days)[0] * DAY_S
        assert forecasts.survival_integral(np.array([days * DAY_S]))[0] == pytest.approx(exact, rel=1e-8)


def calendar() -> TabulatedForecasts:
    """Two resources: one changes at night only, one evenly."""
    return TabulatedForecasts(
        np.array([0.0, 10.0, 20.0, 30.0]),
        np.array([[0.0, 0.2, 0.0, 0.05], [0.1, 0.1, 0.1, 0.1]]),
    )


def test_a_table_with_one_hazard_is_the_exponential() -> None:
    forecasts = calendar()
    times = np.array([[3.0, 3.0], [17.0, 17.0], [90.0, 90.0]])
    even = forecasts.survival(times)[:, 1]
    assert np.allclose(even, np.exp(-0.1 * times[:, 1]))
    assert np.allclose(forecasts.survival_integral(times)[:, 1], (1 - np.exp(-0.1 * times[:, 1])) / 0.1)
    assert np.allclose(forecasts.n_expected(times)[:, 1], 0.1 * times[:, 1])
    assert np.allclose(forecasts.n_expected_integral(times)[:, 1], 0.05 * times[:, 1] ** 2)


def test_a_table_integrates_over_its_steps() -> None:
    forecasts = calendar()
    for t in (5.0, 15.0, 25.0, 60.0):
        breaks = [x for x in (10.0, 20.0, 30.0) if x < t]
        survival = integrate.quad(
            lambda s: float(forecasts.survival(np.array([s, s]))[0]), 0, t, points=breaks or None
        )[0]
        expected = integrate.quad(
            lambda s: float(forecasts.n_expected(np.array([s, s]))[0]), 0, t, points=breaks or None
        )[0]
        at = np.array([t, t])
        assert forecasts.survival_integral(at)[0] == pytest.approx(survival, rel=1e-6)
        assert forecasts.n_expected_integral(at)[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_rows_are_picked_in_order() -> None:
    both = calendar()
    assert both.pick(np.array([1])).survival(np.array([15.0])) == both.survival(np.full(2, 15.0))[1]
