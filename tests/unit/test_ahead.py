"""What lies ahead: retries of what fails, and gaps at prices that nothing can reach."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.model import DAY_S
from recrawl.schedule.closed import CAPTURE, FRESH, reached
from recrawl.schedule.retry import n_retries, waits_s
from recrawl.simulate.scalar import reached_gap


def waits(n_failures: list[int], gap_s: float, max_gap_s: float = 180 * DAY_S) -> list[float]:
    n = np.array(n_failures)
    return [float(one) for one in waits_s(n, np.full(len(n), gap_s), np.full(len(n), max_gap_s))]


def test_what_fails_is_tried_again_sooner_than_it_would_be_looked_at_and_less_and_less() -> None:
    hour_s = 3_600.0
    assert waits([1, 2, 3], hour_s) == [900.0, 1_800.0, 3_600.0]
    assert waits([1, 2, 3], 8 * hour_s) == [hour_s, 2 * hour_s, 4 * hour_s]
    assert waits([1, 2, 3], 30 * DAY_S) == [DAY_S, 2 * DAY_S, 4 * DAY_S]
    assert waits([1, 9], hour_s, max_gap_s=600.0) == [600.0, 600.0]


@pytest.mark.parametrize("gap_s", [60.0, 3_600.0, DAY_S, 4 * DAY_S, 30 * DAY_S])
def test_what_is_away_for_long_is_tried_after_a_quarter_of_that_time(gap_s: float) -> None:
    waited_s = np.array(waits(list(range(1, 120)), gap_s, max_gap_s=np.inf))
    away_s = np.cumsum(waited_s)
    assert (np.diff(waited_s) >= 0.0).all()
    longest_s = max(gap_s, DAY_S)
    long = away_s[:-1] > 5 * longest_s
    assert (waited_s[1:] / away_s[:-1])[long] == pytest.approx(0.25, abs=0.03)
    assert waited_s[1:][~long].max() <= 1.4 * longest_s  # and before that daily, or at its gap


@pytest.mark.parametrize("n_failures", [1, 4, 7, 8, 10, 15, 500])
@pytest.mark.parametrize("days", [0.5, 1.0, 9.0, 500.0])
@pytest.mark.parametrize("gap_days", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("max_gap_days", [0.5, 180.0])
def test_retries_are_as_many_as_the_waits_leave_time_for(
    n_failures: int, days: float, gap_days: float, max_gap_days: float
) -> None:
    gap_s, max_gap_s = gap_days * DAY_S, max_gap_days * DAY_S
    n, at_s = 0, 0.0
    while (at_s := at_s + waits([n_failures + n], gap_s, max_gap_s)[0]) <= days * DAY_S:
        n += 1
    row = np.array([0, n_failures]), np.full(2, gap_s), np.full(2, max_gap_s)
    assert n_retries(*row, days * DAY_S) == pytest.approx(n, abs=1.0)


def test_what_was_never_seen_is_counted_like_the_others() -> None:
    n_failures = np.array([3, 3, 0, 0])
    most_s = np.full(4, 180 * DAY_S)
    gap_s = np.array([np.nan, 8 * DAY_S, 8 * DAY_S, 8 * DAY_S])
    both = n_retries(n_failures, gap_s, most_s, DAY_S)
    assert both == 2 * n_retries(n_failures[1:], gap_s[1:], most_s[1:], DAY_S) > 0.0
    assert n_retries(n_failures[:1], gap_s[:1], most_s[:1], DAY_S) > 0.0  # nothing was ever seen
    assert n_retries(n_failures[2:], gap_s[2:], most_s[2:], DAY_S) == 0.0


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
