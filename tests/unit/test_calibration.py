"""Scores of forecasts, by hand and on forecasts whose quality is known."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from recrawl.errors import BadInputError
from recrawl.evaluate.calibration import SUREST, brier, calibration_error, log_loss, reliability

P = np.array([0.1, 0.4, 0.8, 1.0])
CHANGED = np.array([False, True, True, False])


def test_scores_by_hand() -> None:
    assert brier(P, CHANGED) == pytest.approx((0.01 + 0.36 + 0.04 + 1.0) / 4)
    surely = log(1 / SUREST)  # of the forecast that said 1 and was wrong
    assert log_loss(P, CHANGED) == pytest.approx((-log(0.9) - log(0.4) - log(0.8) + surely) / 4, rel=1e-6)


def test_the_curve_by_hand() -> None:
    bins = reliability(P, CHANGED, 2)
    assert [(one.low, one.high, one.n) for one in bins] == [(0.0, 0.5, 2), (0.5, 1.0, 2)]
    assert [one.forecast for one in bins] == pytest.approx([0.25, 0.9])
    assert [one.happened for one in bins] == [0.5, 0.5]
    assert calibration_error(bins) == pytest.approx((0.25 + 0.4) / 2)
    assert all(one.least < 0.5 < one.most for one in bins)


def test_a_calibrated_forecast_lies_on_the_line_and_a_bolder_one_does_not() -> None:
    rng = np.random.default_rng(4)
    p = rng.random(40_000)
    changed = rng.random(len(p)) < p
    bins = reliability(p, changed)
    assert sum(one.least <= one.forecast <= one.most for one in bins) >= 8  # of ten, at 95 % each
    assert calibration_error(bins) < 0.02
    bold = np.clip(2.0 * p - 0.5, 0.0, 1.0)
    assert calibration_error(reliability(bold, changed)) > 0.1
    assert brier(bold, changed) > brier(p, changed)
    assert log_loss(bold, changed) > log_loss(p, changed)


def test_nothing_to_judge_is_no_score() -> None:
    none = np.empty(0), np.empty(0, dtype=np.bool_)
    assert np.isnan([brier(*none), log_loss(*none), calibration_error(reliability(*none))]).all()
    assert reliability(*none)[0].document()["happened"] is None


def test_what_is_no_chance_is_refused() -> None:
    with pytest.raises(BadInputError, match="between 0 and 1"):
        brier(np.array([1.2]), np.array([True]))
    with pytest.raises(BadInputError, match="one for each visit"):
        log_loss(P, CHANGED[:2])
    with pytest.raises(BadInputError, match="1 or more"):
        reliability(P, CHANGED, 0)
