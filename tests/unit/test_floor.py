"""The floor: the plain filter and its gaps, against sums worked out another way."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from tests.unit.test_contenders import history

from recrawl import registry
from recrawl.errors import BadInputError
from recrawl.evaluate.contenders import contender
from recrawl.model import DAY_S
from recrawl.schedule.closed import CAPTURE, FRESH, FRESH_HARMONIC, PROMPT
from recrawl.simulate.floor import FORGETTING, SCALE_S, SHAPE, floor_gap, updated

GAPS = (0.0, 1e9 * DAY_S)


def test_a_visit_is_learned_as_the_posterior_has_it() -> None:
    a, b_s, gap_s = 2.0, 9 * DAY_S, 4 * DAY_S
    faded = (a + FORGETTING * (SHAPE - a), b_s + FORGETTING * (SCALE_S - b_s))
    assert updated(a, b_s, gap_s, False) == pytest.approx((faded[0], faded[1] + gap_s))
    rate = np.linspace(1e-12, 60.0, 2_000_001) / faded[1]
    weight = rate ** (faded[0] - 1) * np.exp(-rate * faded[1]) * -np.expm1(-rate * gap_s)
    mean = (weight * rate).sum() / weight.sum()
    variance = (weight * rate**2).sum() / weight.sum() - mean**2
    after_a, after_b = updated(a, b_s, gap_s, True)
    assert after_a / after_b == pytest.approx(mean, rel=1e-4)
    assert after_a / after_b**2 == pytest.approx(variance, rel=1e-3)


def test_a_change_after_no_time_is_one_sure_change() -> None:
    near, far = updated(1.0, 1e9, 100.0, True), updated(1.0, 1e9, 5_000.0, True)
    assert near == pytest.approx(far, rel=1e-4)


def test_forgetting_goes_back_to_the_prior() -> None:
    a, b_s = 40.0, 400 * DAY_S
    for _ in range(300):
        a, b_s = updated(a, b_s, 1e-3, False)
    assert (a, b_s) == pytest.approx((SHAPE, SCALE_S), rel=1e-4)


def test_prompt_goes_by_the_square_root_and_capture_by_a_chance() -> None:
    slow = floor_gap(PROMPT, 1.0, 16 * DAY_S, DAY_S, *GAPS)
    assert floor_gap(PROMPT, 4.0, 16 * DAY_S, DAY_S, *GAPS) == pytest.approx(slow / 2)
    a, b_s, odds = 0.7, 5 * DAY_S, 0.25
    gap_s = floor_gap(CAPTURE, a, b_s, odds, *GAPS)
    assert 1.0 - (b_s / (b_s + gap_s)) ** a == pytest.approx(odds / (1 + odds))


@pytest.mark.parametrize("goal", [FRESH, FRESH_HARMONIC, CAPTURE, PROMPT])
def test_gaps_keep_their_bounds_and_grow_with_the_price(goal: int) -> None:
    low_s, high_s = DAY_S, 50 * DAY_S
    gaps = [
        floor_gap(goal, 0.8, 6 * DAY_S, price, low_s, high_s) for price in (0.0, 0.01, 1.0, 3e4, 1e6, inf)
    ]
    assert gaps[0] == pytest.approx(low_s)
    assert gaps[-1] == pytest.approx(high_s)
    assert gaps == sorted(gaps)


@pytest.mark.parametrize("goal", ["fresh-harmonic", "capture", "prompt"])
def test_it_makes_the_visits_it_is_paid_for_whatever_the_goal(goal: str) -> None:
    traces, window = history()
    one = contender("floor", goal=goal, min_gap_s=DAY_S, max_gap_s=180 * DAY_S)
    assert len(one.visits(traces, window, n_visits=1500)) == pytest.approx(1500, rel=0.01)


def test_a_goal_that_it_has_no_form_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "part", lambda *_: object)
    with pytest.raises(BadInputError, match="no form for the goal 'fame'"):
        contender("floor", goal="fame", min_gap_s=1.0, max_gap_s=2.0)
