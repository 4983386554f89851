"""The historic classifier: the paper's worked examples, Algorithm 1 against a plain reading of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.test_classes import in_class, seen

from recrawl.checks import predictor as predictor_checks
from recrawl.checks.predictor import sample_batch
from recrawl.learn.predictors.historic import Historic
from recrawl.memberships import Counted
from recrawl.model import DAY_S, TABLE_2, TABLE_4, RateClass
from recrawl.schedule.policies.classes import historic, historic_example

DAY, WEEK, MONTH, GREATER = range(4)  # of Table 2
HUNCHES = (1.0, 7.0, 30.0, 100.0)


@pytest.mark.parametrize("check", predictor_checks.CHECKS)
def test_the_predictor_keeps_the_contract(check: object) -> None:
    check(Historic)  # type: ignore[operator]


def after(place: int, changed: list[int], table: tuple[RateClass, ...] = TABLE_2) -> int:
    """The class after visits from the begin of a window on."""
    of = Counted(table)
    of.recall(np.array([1]), np.array([[place, 0.0, 0.0]]))
    of.learn(seen([table[place].interval_s / DAY_S] * len(changed), changed))
    return in_class(of)


def test_the_worked_examples_of_the_paper() -> None:
    assert after(WEEK, [1, 1, 0, 1, 1, 0, 1, 1]) == DAY  # 6 in 8: 0.75 is above 0.7
    assert after(WEEK, [0, 0, 0, 1, 0, 0, 0, 0]) == MONTH  # 1 in 8: 0.125 is below 0.3
    # of two groups, one week and one month, with a window of one visit: no change moves it at once
    pair = tuple(
        RateClass(name=one.name, interval_s=one.interval_s, window=1, low=0.3, high=0.7)
        for one in TABLE_2[1:3]
    )
    assert after(0, [0], pair) == 1


def test_a_share_at_a_threshold_is_neither_below_nor_above_it() -> None:
    assert after(DAY, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]) == DAY  # 0.3
    assert after(DAY, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]) == WEEK  # 0.2
    table = tuple(
        RateClass(name=one.name, interval_s=one.interval_s, window=10, low=0.3, high=0.7) for one in TABLE_2
    )
    assert after(WEEK, [1] * 7 + [0] * 3, table) == WEEK  # 0.7
    assert after(WEEK, [1] * 8 + [0] * 2, table) == DAY
    fifth = tuple(
        RateClass(name=one.name, interval_s=one.interval_s, window=5, low=0.2, high=0.8) for one in TABLE_4
    )
    assert [after(1, [1] * n + [0] * (5 - n), fifth) for n in range(6)] == [2, 1, 1, 1, 1, 0]


def test_nothing_is_decided_before_the_window_is_full_and_then_it_begins_anew() -> None:
    assert after(WEEK, [1] * 7) == WEEK
    assert after(WEEK, [1] * 8) == DAY
    assert after(WEEK, [1, 0, 0, 0, 0, 0, 1, 1] + [1] * 7) == WEEK  # 3 in 8 stays; seven more decide nothing
    assert after(WEEK, [1, 0, 0, 0, 0, 0, 1, 1] + [1] * 8) == DAY
    of = Counted(TABLE_2)
    of.learn(seen([7.0] * 8, [1, 0, 0, 0, 0, 0, 1, 1]))
    assert of.memory(np.array([1])).tolist() == [[WEEK, 0.0, 0.0]]
    of.learn(seen([7.0] * 3, [1, 0, 1]))
    assert of.memory(np.array([1])).tolist() == [[WEEK, 3.0, 2.0]]


def test_the_fastest_and_the_slowest_class_have_no_neighbour_beyond() -> None:
    assert after(DAY, [1] * 40) == DAY
    assert after(GREATER, [0] * 40) == GREATER


def test_it_moves_by_one_class_at_a_time() -> None:
    assert after(DAY, [0] * 10) == WEEK
    assert after(DAY, [0] * 18) == MONTH
    assert after(DAY, [0] * 24) == GREATER
    assert after(3, [1], TABLE_4) == 2
    assert after(3, [1] * 3, TABLE_4) == 1
    assert after(3, [1] * 5, TABLE_4) == 0


@given(
    bits=st.lists(st.integers(0, 1), max_size=80),
    start=st.integers(0, 3),
    which=st.sampled_from([TABLE_2, TABLE_4]),
)
def test_columns_do_what_the_algorithm_says_line_by_line(
    bits: list[int], start: int, which: tuple[RateClass, ...]
) -> None:
    current, n_visits, n_changes = start, 0, 0
    for bit in bits:
        n_visits, n_changes = n_visits + 1, n_changes + bit
        if n_visits == which[current].window:
            average = n_changes / which[current].window
            if average < which[current].low:
                current = min(current + 1, 3)
            elif average > which[current].high:
                current = max(current - 1, 0)
            n_visits = n_changes = 0
    of = Counted(which)
    others = np.random.default_rng(len(bits)).integers(0, 2, len(bits)).tolist()
    of.recall(np.array([1, 2]), np.array([[start, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    of.learn(seen([1.0] * len(bits), bits))
    of.learn(seen([2.0] * len(bits), others, resource=2))
    assert of.memory(np.array([1])).tolist() == [[current, n_visits, n_changes]]


def test_it_expects_changes_at_the_rate_of_the_class() -> None:
    predictor = Historic()
    predictor.learn(seen([31.0, 31.0], [0, 0], hunch_days=31.0))  # into the class of 96 days
    batch = sample_batch(2)
    t_s = np.full(2, 48 * DAY_S)
    forecasts = predictor.forecast(batch, 2e9)
    assert forecasts.survival(t_s) == pytest.approx([np.exp(-48 / 96), np.exp(-48 / 3)])
    assert forecasts.n_expected(t_s) == pytest.approx([0.5, 16.0])
    told = predictor.account(batch, 2e9)
    assert (told["class_interval_s"] / DAY_S).tolist() == [96.0, 3.0]
    predictor.learn(seen([3.0], [1], resource=2))
    told = predictor.account(batch, 2e9)
    assert (told["window_visits"].tolist(), told["window_changes"].tolist()) == ([0.0, 1.0], [0.0, 1.0])


def test_the_policy_visits_at_the_interval_of_the_class_within_the_bounds() -> None:
    batch, forecasts = sample_batch(4), Historic().forecast(sample_batch(4), 2e9)
    for policy, days in ((historic(), (1.0, 3.0, 31.0, 96.0)), (historic_example(), HUNCHES)):
        policy.recall(batch.id, np.array([[place, 0.0, 0.0] for place in range(4)]))
        assert (policy.quote(batch, forecasts).gaps(0.0) / DAY_S).tolist() == list(days)
        narrow = sample_batch(4)
        narrow.min_gap_s[:], narrow.max_gap_s[:] = 2 * DAY_S, 50 * DAY_S
        gap_s = policy.quote(narrow, forecasts).gaps(1e9)
        assert (gap_s / DAY_S).tolist() == [2.0, days[1], days[2], 50.0]


def test_a_later_hunch_moves_nobody_who_has_begun() -> None:
    of = Counted(TABLE_4)
    assert in_class(of, 100.0) == 3
    of.learn(seen([3.0], [1], hunch_days=3.0))
    assert in_class(of, 100.0) == 1
