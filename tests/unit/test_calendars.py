"""Calendars: clocks that are set by the hours and days at which changes are seen."""

from __future__ import annotations

from itertools import pairwise
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.learn.rhythms.calendars import (
    CAUTION,
    N_CELLS,
    WEEK_S,
    Calendars,
    Rows,
    calendar_of,
    mark,
    moment,
    moments,
    more_calendars,
    no_calendars,
    pace_at,
    paces,
    settle,
    shown_at,
    shown_many,
)
from recrawl.model import DAY_S, HOUR_S, Floats

MONDAY_AT = 4 * DAY_S + 2_000 * WEEK_S  # the epoch was a Thursday


def clock(seed: int) -> Rows:
    hours = np.cumsum(np.random.default_rng(seed).gamma(0.3, 1.0, N_CELLS) + 0.02)
    return np.concatenate([[0.0], hours / hours[-1] * WEEK_S]).astype(np.float32)


def daily(hour: float) -> Floats:
    return np.arange(7.0) * DAY_S + np.float64(hour * HOUR_S)


def seen(
    calendars: Calendars,
    events_at: Floats,
    *,
    row: int = 0,
    weeks: int = 60,
    gap_s: float = 9 * HOUR_S,
    seed: int = 1,
) -> None:
    """A resource that changes at these moments of each week is looked at now and then; its mean rate is
    known."""
    rng = np.random.default_rng(seed)
    at = MONDAY_AT + np.cumsum(rng.uniform(0.5, 1.5, int(weeks * WEEK_S / gap_s)) * gap_s)
    events = (MONDAY_AT + np.arange(weeks + 2)[:, None] * WEEK_S + events_at).ravel()
    n = np.searchsorted(events, at)
    per_s = len(events_at) / WEEK_S
    for k in range(1, len(at)):
        own_s = shown_at(calendars.shown[row], at[k]) - shown_at(calendars.shown[row], at[k - 1])
        mark(
            calendars,
            row,
            at[k - 1],
            at[k],
            bool(n[k] > n[k - 1]),
            own_s,
            50.0,
            50.0 / per_s,
            1.0,
            of_all=True,
        )


def hours(calendars: Calendars, row: int = 0) -> Floats:
    """How fast the clock runs in each hour of a week that begins on Monday."""
    at = np.float64(MONDAY_AT) + (np.arange(N_CELLS) + np.float64(0.5)) * HOUR_S
    return paces(calendars.shown, np.full(N_CELLS, row), at)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 5), st.floats(-1e9, 4e9), st.floats(0.0, 2e7))
def test_a_clock_never_goes_back_and_is_read_both_ways(seed: int, at: float, later_s: float) -> None:
    shown = clock(seed)
    assert moment(shown, shown_at(shown, at)) == pytest.approx(at, abs=2e-2)
    assert shown_at(shown, at + later_s) >= shown_at(shown, at) - 1e-6
    assert shown_at(shown, at + WEEK_S) - shown_at(shown, at) == pytest.approx(WEEK_S)
    pace, end = pace_at(shown, shown_at(shown, at))
    assert moment(shown, end) - at <= HOUR_S + 2e-2
    assert pace > 0.0


def test_many_clocks_are_read_as_one_by_one() -> None:
    shown = np.stack([clock(seed) for seed in range(4)])
    rng = np.random.default_rng(3)
    row = rng.integers(0, 4, 500)
    at = np.concatenate([rng.uniform(0.0, 4e9, 490), np.arange(10) * HOUR_S])
    told = shown_many(shown, row, at)
    assert told == pytest.approx([shown_at(shown[r], t) for r, t in zip(row, at.tolist(), strict=True)])
    back = moments(shown, row, told)
    assert back == pytest.approx([moment(shown[r], t) for r, t in zip(row, told.tolist(), strict=True)])
    slope = (shown_many(shown, row, at + 1e-3 * HOUR_S) - told) / (1e-3 * HOUR_S)
    assert np.median(np.abs(paces(shown, row, at) / slope - 1.0)) < 1e-3
    never = np.array([np.inf, -np.inf, np.nan])
    for read in (shown_many, moments):
        assert np.array_equal(read(shown, np.zeros(3, dtype=np.int64), never), never, equal_nan=True)


def test_the_hour_of_changes_is_found_from_visits_that_only_tell_of_gaps() -> None:
    calendars = no_calendars(1)
    seen(calendars, daily(9.5))  # every morning
    of_day = hours(calendars).reshape(7, 24).mean(axis=0)
    assert of_day.argmax() == 9
    assert of_day[9] > 3.0
    assert of_day[[0, 2, 18, 20]].max() < 0.55
    assert calendars.belief[0] > 0.9


def test_working_days_are_found_from_gaps_of_days() -> None:
    calendars = no_calendars(1)
    seen(calendars, np.array([0.3, 1.1, 2.8, 4.2]) * DAY_S, gap_s=2.5 * DAY_S, weeks=300)
    of_week = hours(calendars).reshape(7, 24).mean(axis=1)
    assert of_week[:5].min() > 1.2 * of_week[5:].max()
    of_day = hours(calendars).reshape(7, 24).mean(axis=0)
    assert np.ptp(of_day) < 0.2  # few gaps are short enough to tell of hours


def test_gaps_of_weeks_tell_nothing() -> None:
    calendars = no_calendars(1)
    seen(calendars, np.array([DAY_S]), gap_s=30 * DAY_S, weeks=300)
    assert hours(calendars) == pytest.approx(np.ones(N_CELLS))
    assert calendars.loss[0].sum() == 0.0


@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("n_hours", [1, 3])
def test_who_has_looked_in_few_hours_credits_them_with_nothing(row: int, n_hours: int) -> None:
    calendars = no_calendars(2)
    at = np.arange(MONDAY_AT + 9 * HOUR_S, MONDAY_AT + (9 + n_hours) * HOUR_S, 60.0)
    believed = 2.0  # changes a day: there is one a minute, which is learned with every visit
    for since_at, now in pairwise(at.tolist()):
        mark(calendars, row, since_at, now, True, 60.0, 5.0, 5.0 * DAY_S / believed, 1.0, of_all=True)
        believed += 1.0
    assert calendars.n[row].sum() > 5.0 * calendars.x[row].sum()  # far more than was expected
    assert np.ptp(hours(calendars, row)[[8, 9, 20, 40]]) < 0.3 * (n_hours - 1) + 1e-6
    assert calendars.spread[row] < 1.3 * n_hours


def test_what_all_do_holds_for_a_group_that_was_seen_in_one_hour() -> None:
    calendars = no_calendars(2)
    seen(calendars, daily(9.5))
    usual = hours(calendars)
    for minute in range(50):
        at = MONDAY_AT + 9 * HOUR_S + 60.0 * minute
        mark(calendars, 1, at, at + 60.0, True, 60.0, 5.0, 5.0 * DAY_S, 1.0, of_all=False)
    own = calendars.n[1]
    assert own.sum() > 20.0
    calendars.belief[1], calendars.loss[1] = 1.0, calendars.loss[0]
    settle(calendars, 1)
    assert hours(calendars, 1) == pytest.approx(usual, rel=0.1)


def test_changes_at_any_hour_are_given_no_calendar() -> None:
    calendars = no_calendars(1)
    rng = np.random.default_rng(7)
    per_s, at = 7.0 / WEEK_S, MONDAY_AT
    for gap_s in rng.uniform(0.5, 1.5, 3_000) * 9 * HOUR_S:
        changed = rng.random() < -np.expm1(-per_s * gap_s)
        own_s = shown_at(calendars.shown[0], at + gap_s) - shown_at(calendars.shown[0], at)
        mark(calendars, 0, at, at + gap_s, bool(changed), own_s, 50.0, 50.0 / per_s, 1.0, of_all=True)
        at += gap_s
    assert calendars.belief[0] < 0.3
    assert np.abs(np.log(hours(calendars))).max() < log(1.3)


def test_a_group_begins_from_what_all_do_and_goes_its_own_way() -> None:
    calendars = no_calendars(4)
    seen(calendars, daily(8.5), row=1)
    seen(calendars, daily(8.5), row=2, weeks=2)  # knows little yet
    seen(calendars, daily(19.5), row=3, weeks=120)
    of_day = [hours(calendars, row).reshape(7, 24).mean(axis=0) for row in range(4)]
    assert of_day[1].argmax() == 8
    assert of_day[2].argmax() == 8
    assert of_day[3].argmax() == 19
    assert calendars.loss[0].sum() == 0.0  # it foretold nobody's visits


def test_a_calendar_can_be_unlearned() -> None:
    calendars = no_calendars(1)
    seen(calendars, daily(9.5), weeks=100)
    seen(calendars, daily(21.5), weeks=200, seed=2)
    of_day = hours(calendars).reshape(7, 24).mean(axis=0)
    assert of_day.argmax() == 21
    assert of_day[21] > 2.5 * of_day[9]
    assert calendars.halved[0] > 0  # which others need to know


def test_more_room_leaves_all_as_it_was() -> None:
    calendars = no_calendars(2)
    seen(calendars, daily(0.0), row=1)
    wide = more_calendars(calendars, 9)
    assert len(wide.loss) == 9
    assert np.array_equal(calendars.shown, wide.shown[:2])
    assert np.array_equal(calendars.n, wide.n[:2])
    assert np.array_equal(calendars.loss, wide.loss[:2])
    assert hours(wide, 8) == pytest.approx(np.ones(N_CELLS))
    assert calendar_of(-1) == 0


def test_before_anything_was_seen_a_calendar_is_doubted() -> None:
    assert 0.0 < 1.0 / (1.0 + np.exp(-CAUTION)) < 0.2
    assert hours(no_calendars(1)) == pytest.approx(np.ones(N_CELLS))
