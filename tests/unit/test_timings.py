"""The best moments for visits, where hours are unlike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.learn.rhythms.calendars import N_CELLS, WEEK_S, Calendars, no_calendars, shown_at
from recrawl.learn.rhythms.timings import timed_many, timed_s
from recrawl.model import DAY_S, HOUR_S, Floats

MONDAY_AT = 4 * DAY_S + 2_000 * WEEK_S  # the epoch was a Thursday


def calendars(hours: Floats) -> Calendars:
    """One, of hours that are as busy as this, Thursday's first."""
    found = no_calendars(1)
    found.shown[0, 1:] = np.cumsum(hours) / hours.sum() * WEEK_S
    found.spread[0] = hours.max() / hours.min()
    return found


def drawn(seed: int) -> Calendars:
    return calendars(np.random.default_rng(seed).gamma(0.4, 1.0, N_CELLS) + 0.02)


def working_hours() -> Calendars:
    return calendars(np.tile(np.where((np.arange(24) >= 9) & (np.arange(24) < 17), 1.0, 0.01), 7))


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 9), st.floats(0.0, WEEK_S), st.floats(600.0, 100 * DAY_S))
def test_no_moment_nearby_is_better(seed: int, into_s: float, gap_s: float) -> None:
    made, since_at = drawn(seed), MONDAY_AT + into_s
    shown = made.shown[0]

    def worth(w_s: float, later_s: float) -> float:
        return (shown_at(shown, since_at + w_s) - shown_at(shown, since_at)) * (later_s - w_s)

    best_s = timed_s(made, 0, since_at, gap_s)
    assert 0.4 * gap_s - 1e-3 <= best_s
    assert abs(best_s - gap_s) <= DAY_S + 1e-3
    passed = shown_at(shown, since_at + gap_s) - shown_at(shown, since_at)
    later_s = next(
        t_s
        for t_s in np.arange(gap_s, 10 * gap_s + 20 * DAY_S, 60.0)
        if shown_at(shown, since_at + t_s) - shown_at(shown, since_at) >= 2.0 * passed
    )
    high_s = min(gap_s + DAY_S, gap_s + 0.6 * (later_s - gap_s))
    others = np.linspace(max(gap_s - DAY_S, 0.4 * gap_s), high_s, 200).tolist()
    assert worth(best_s, later_s) >= max(worth(w_s, later_s) for w_s in others) * (1.0 - 2e-2) - 60.0 * passed


def test_many_are_timed_as_one_by_one() -> None:
    rng = np.random.default_rng(1)
    made = drawn(3)
    since_at = MONDAY_AT + rng.uniform(0.0, WEEK_S, 200)
    gap_s = np.geomspace(60.0, 180 * DAY_S, 200)
    found = timed_many(made, np.zeros(200, dtype=np.int64), since_at, gap_s)
    looped = [timed_s(made, 0, at, s) for at, s in zip(since_at.tolist(), gap_s.tolist(), strict=True)]
    assert found == pytest.approx(looped, rel=1e-9, abs=2e-2)
    assert found != pytest.approx(gap_s, rel=0.05)


def test_where_hours_are_alike_nothing_moves() -> None:
    made = no_calendars(1)
    assert timed_s(made, 0, MONDAY_AT + 5e3, 7e4) == 7e4
    made.spread[0] = 2.0  # it looks closer, and finds the same
    assert timed_s(made, 0, MONDAY_AT + 5e3, 7e4) == pytest.approx(7e4, abs=1e-2)


def test_a_dearer_visit_is_never_sooner() -> None:
    gap_s = np.geomspace(600.0, 60 * DAY_S, 400)
    for seed in range(4):
        found = timed_many(drawn(seed), np.zeros(400, dtype=np.int64), np.full(400, MONDAY_AT + 7e3), gap_s)
        assert (np.diff(found) >= -0.1).all()


def test_visits_come_when_the_working_day_is_over() -> None:
    made, at = working_hours(), MONDAY_AT + 13 * HOUR_S
    hours = []
    for _ in range(20):
        at += timed_s(made, 0, at, DAY_S)
        hours.append(at % DAY_S / HOUR_S)
    assert hours[-1] == pytest.approx(17.0, abs=0.5)
