"""Measures on histories small enough to work out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.evaluate.measures import score


def test_one_resource_by_hand() -> None:
    # changes at 10, 12 and 30; visits at 0, 20 and 40; from 0 to 50
    result = score(
        [np.array([10.0, 12.0, 30.0])],
        np.array([0, 0, 0]),
        np.array([0.0, 20.0, 40.0]),
        start_at=0.0,
        end_at=50.0,
    )
    assert result.changes_true == 3
    assert result.changes_seen == 2
    assert result.recall == pytest.approx(2 / 3)
    assert result.precision == pytest.approx(2 / 3)
    # fresh in [0, 10), [20, 30) and [40, 50]
    assert result.freshness == pytest.approx(30 / 50)
    # delays 10, 8 and 10
    assert result.delay_days_mean * 86_400 == pytest.approx(28 / 3)


def test_a_resource_without_a_visit_is_never_fresh_and_its_changes_count_as_missed() -> None:
    result = score([np.array([5.0]), np.array([])], np.array([1]), np.array([0.0]), start_at=0.0, end_at=10.0)
    assert (result.changes_true, result.changes_seen) == (1, 0)
    assert result.freshness == pytest.approx(0.5)


def test_changes_outside_the_window_do_not_count() -> None:
    result = score(
        [np.array([-3.0, 4.0, 99.0])], np.array([0, 0]), np.array([0.0, 9.0]), start_at=0.0, end_at=10.0
    )
    assert result.changes_true == 1
    assert result.changes_seen == 1


def test_the_order_of_the_visits_given_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    events = [np.sort(rng.uniform(0, 100, 20)) for _ in range(5)]
    ids, at = rng.integers(0, 5, 60), rng.uniform(0, 100, 60)
    shuffled = rng.permutation(60)
    assert score(events, ids, at, start_at=0, end_at=100) == score(
        events, ids[shuffled], at[shuffled], start_at=0, end_at=100
    )
