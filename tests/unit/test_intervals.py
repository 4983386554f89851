"""Intervals: do they hold what they promise?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.histories import history, looks

from recrawl.errors import BadInputError
from recrawl.evaluate.intervals import Draws, by_host, difference, groups_of, interval, spread
from recrawl.evaluate.measures import Measured, measure
from recrawl.evaluate.protocol import whole
from recrawl.model import Floats, Ints

N = 60


def counted(fresh_s: Floats, *, host: Ints | None = None, out_of: float = 10.0) -> Measured:
    """A row per resource that was fresh for so many seconds; the rest is of no account."""
    n = len(fresh_s)
    blank = measure(history([[]] * n), looks([[]] * n), whole(n, 0.0, 1.0))
    return replace(
        blank,
        fresh_s=fresh_s,
        window_s=np.full(n, out_of),
        host=np.arange(n) if host is None else host,
    )


def test_the_value_is_the_measure_itself() -> None:
    one = counted(np.arange(10.0))
    found = interval(by_host([one]), "freshness", seed=1)
    assert found.value == one.value("freshness") == pytest.approx(0.45)
    assert found.low < 0.45 < found.high
    assert (found.n_groups, found.n_draws) == (10, 1)
    assert found == interval(by_host([one]), "freshness", seed=1)


def test_nineteen_in_twenty_intervals_hold_the_truth() -> None:
    rng = np.random.default_rng(1)
    held = 0
    for trial in range(200):
        found = interval(
            by_host([counted(rng.binomial(10, 0.3, N).astype(float))]),
            "freshness",
            n_replicates=300,
            seed=trial,
        )
        held += found.low <= 0.3 <= found.high
    assert 180 <= held <= 198  # four standard deviations around 190


def test_resources_that_change_together_are_resampled_together() -> None:
    # each host's ten resources are alike, so that there are only as many facts as hosts
    rng = np.random.default_rng(2)
    by_group = by_alone = 0
    for trial in range(100):
        host = np.repeat(np.arange(20), 10)
        observed = np.repeat(rng.binomial(10, 0.3, 20).astype(float), 10)
        grouped = interval(by_host([counted(observed, host=host)]), "freshness", n_replicates=200, seed=trial)
        alone = interval(by_host([counted(observed)]), "freshness", n_replicates=200, seed=trial)
        by_group += grouped.low <= 0.3 <= grouped.high
        by_alone += alone.low <= 0.3 <= alone.high
    assert by_group >= 85
    assert by_alone <= 65


def test_what_two_policies_share_cancels_out_of_their_difference() -> None:
    rng = np.random.default_rng(3)
    easy = rng.uniform(0, 8, N)
    ours = by_host([counted(easy + 1 + 0.1 * rng.random(N)) for _ in range(3)])
    theirs = by_host([counted(easy) for _ in range(3)])
    found = difference(ours, theirs, "freshness")
    one = interval(ours, "freshness")
    assert 0.1 < found.low < found.value < found.high < 0.11
    assert one.high - one.low > 10 * (found.high - found.low)


def test_the_spread_of_draws_widens_the_interval() -> None:
    same = [counted(np.full(N, 5.0)) for _ in range(4)]
    spread_out = [counted(np.full(N, level)) for level in (2.0, 4.0, 6.0, 8.0)]
    still, moving = interval(by_host(same), "freshness"), interval(by_host(spread_out), "freshness")
    assert still.value == pytest.approx(moving.value)
    assert still.high - still.low == pytest.approx(0.0)
    assert moving.high - moving.low > 0.2


def test_a_resource_that_is_missing_from_a_draw_is_missing_from_its_sums_alone() -> None:
    first = counted(np.array([10.0, 0.0, 5.0]))
    second = counted(np.array([10.0, 5.0]), host=np.array([0, 2]))
    found = interval(Draws([first, second], [first.host, second.host]), "freshness")
    assert found.n_groups == 3
    assert found.value == pytest.approx((0.5 + 0.75) / 2)


def test_a_single_group_has_no_interval() -> None:
    found = interval(by_host([counted(np.ones(5), host=np.zeros(5, dtype=np.int64))]), "freshness")
    assert found.document() == {"value": pytest.approx(0.1), "low": None, "high": None}


def test_policies_measured_on_different_draws_are_not_compared() -> None:
    one = counted(np.ones(3))
    with pytest.raises(BadInputError):
        difference(by_host([one]), by_host([one, one]), "freshness")


def test_the_spread_over_draws() -> None:
    assert spread([1.0, 3.0, float("nan")]) == pytest.approx((2.0, 2.0**0.5))
    assert np.isnan(spread([1.0])[1])


def test_hosts_are_groups_where_there_are_enough_of_them() -> None:
    groups, by = groups_of(history([[]] * 30, host=[i // 2 for i in range(30)]))
    assert by == "host"
    assert len(np.unique(groups)) == 15


def test_on_one_host_those_that_change_in_the_same_moments_are_a_group() -> None:
    rng = np.random.default_rng(4)
    changes = []
    for _ in range(12):
        moments = np.sort(rng.uniform(0, 1e7, 20))
        changes += [sorted(moments + rng.uniform(0, 0.01, 20)) for _ in range(3)]
    groups, by = groups_of(history(changes, host=[0] * 36))
    assert by == "batch"
    assert np.array_equal(groups_of(history(changes))[0], groups)  # as where each has a host of its own
    assert [len(set(groups[i : i + 3])) for i in range(0, 36, 3)] == [1] * 12
    assert len(set(groups.tolist())) == 12


def test_resources_with_nothing_in_common_stand_for_themselves() -> None:
    rng = np.random.default_rng(5)
    groups, by = groups_of(history([sorted(rng.uniform(0, 1e9, 5)) for _ in range(20)], host=[0] * 20))
    assert (by, len(set(groups.tolist()))) == ("resource", 20)
