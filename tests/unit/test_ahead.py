"""What lies ahead: retries of what fails, and gaps at prices that nothing can reach."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.model import DAY_S
from recrawl.schedule.ahead import n_retries
from recrawl.schedule.closed import CAPTURE, FRESH, reached
from recrawl.schedule.retry import retry_gap_s
from recrawl.simulate.scalar import reached_gap


@pytest.mark.parametrize("n_failures", [1, 4, 7, 8, 10, 15, 500])
@pytest.mark.parametrize("days", [0.5, 1.0, 9.0])
def test_retries_are_as_many_as_the_waits_leave_time_for(n_failures: int, days: float) -> None:
    n, at_s = 0, 0.0
    while (at_s := at_s + retry_gap_s(n_failures + n, 180 * DAY_S)) <= days * DAY_S:
        n += 1
    assert n_retries(np.array([0, n_failures]), days * DAY_S) == pytest.approx(n, abs=1.0)


def test_what_fails_for_weeks_is_tried_every_day() -> None:
    assert n_retries(np.array([30, 300, 0]), 10 * DAY_S) == pytest.approx(20.0)
    assert n_retries(np.zeros(3, dtype=np.int64), DAY_S) == 0.0


@pytest.mark.parametrize("goal", [CAPTURE, FRESH])
@pytest.mark.parametrize("level", [1e-300, 0.5, 1.0, 1.5, 1e300])
def test_whatever_is_wanted_there_is_a_gap(goal: int, level: float) -> None:
    """A visit catches one version at the most: at that price too, where the curve is flat."""
    a, b_s = (one.ravel() for one in np.meshgrid(np.logspace(-3, 3, 13), np.logspace(1, 9, 17)))
    low, high = np.full(len(a), 3600.0), np.full(len(a), 180 * DAY_S)
    gap_s = reached(goal, a, b_s, np.full(len(a), level), low, high)
    assert np.isfinite(gap_s).all()
    assert ((gap_s >= low) & (gap_s <= high)).all()
    alone = [reached_gap(goal, *of, 1.0, level, low[0], high[0]) for of in zip(a, b_s, strict=True)]
    assert alone == pytest.approx(gap_s.tolist(), rel=1e-3)
