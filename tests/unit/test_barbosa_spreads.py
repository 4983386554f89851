"""How sure the figures of the experiment are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.evaluate.barbosa.losses import Lost
from recrawl.evaluate.barbosa.spreads import at_least, lowest, spread
from recrawl.evaluate.barbosa.stretches import Stretch, Sums


def test_intervals_over_splits_are_wider_than_those_of_splits_with_nothing_in_common() -> None:
    values = [10.0, 12.0, 11.0, 13.0, 9.0]
    found = spread(values)
    alone = 2.776 * np.std(values, ddof=1) / np.sqrt(5)
    assert found.value == 11.0
    assert found.high - found.value == pytest.approx(alone * np.sqrt(1 + 5 / 2), rel=5e-3)
    assert np.isnan(spread([1.0]).low)


def test_no_interval_leaves_what_a_share_can_be() -> None:
    found = spread([1.0, 0.0, 3.0], 0.0, 100.0)
    assert found.low == 0.0 < found.value < found.high < 100.0
    assert spread([99.0, 100.0, 97.0], 0.0, 100.0).high == 100.0


def lost_of(stale: dict[str, list[float]], group: list[int], n_splits: int = 6) -> Lost:
    """The same pages in every split, each watched for 100 s and stale for so long, by way."""
    n = len(group)

    def sums(stale_s: list[float]) -> Sums:
        none = np.zeros(n)
        made = Stretch(
            length_s=np.full(n, 100.0),
            stale_s=np.array(stale_s),
            n_visits=none + 1.0,
            n_wasted=none,
            n_changes=none + 1.0,
        )
        return made.total(np.array(group), max(group) + 1)

    return Lost({way: [sums(stale_s)] * n_splits for way, stale_s in stale.items()})


def test_what_one_site_decides_is_not_sure() -> None:
    knowing, without = [10.0] * 12, [30.0] * 12
    alike = {"alike": without, "without": without, "knowing": knowing}
    # each page is 10 s less stale, or the three of one site alone are, by four times as much
    evenly = lost_of({**alike, "with": [20.0] * 12}, [k // 3 for k in range(12)])
    once = lost_of({**alike, "with": [*[-10.0] * 3, *[30.0] * 9]}, [k // 3 for k in range(12)])
    pages = lost_of({**alike, "with": [*[-10.0] * 3, *[30.0] * 9]}, list(range(12)))
    for one in (evenly, once, pages):
        assert one.lost_cut.value == one.told_apart.value == pytest.approx(0.5)
        assert one.fresher.value == one.fresher_than_alike.value == pytest.approx(10.0)
        assert one.possible.value == pytest.approx(2 / 3)
    assert (evenly.lost_cut.low, evenly.lost_cut.high) == pytest.approx((0.5, 0.5))
    assert once.lost_cut.low <= 0.0
    assert once.lost_cut.high - once.lost_cut.low > pages.lost_cut.high - pages.lost_cut.low > 0.5


def test_a_split_without_the_pages_that_were_drawn_is_left_out() -> None:
    stale = {"alike": [30.0, 50.0], "without": [30.0, 50.0], "with": [20.0, 40.0], "knowing": [10.0, 30.0]}
    # of two groups each split has one: half of all draws lack the one or the other
    parts = [lost_of({way: [s[k]] for way, s in stale.items()}, [0], 1).sums for k in (0, 1)]
    sums = {
        way: [
            replace(parts[k][way][0], stale_by_group=np.eye(2)[k] * s[k], length_by_group=np.eye(2)[k] * 100)
            for k in (0, 1)
        ]
        for way, s in stale.items()
    }
    found = Lost(sums).lost_cut
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))


def test_nothing_is_a_share_of_nothing() -> None:
    same = [10.0] * 4
    found = lost_of({"alike": same, "without": same, "with": same, "knowing": same}, [0, 1, 2, 3])
    assert np.isnan(found.lost_cut.value)
    assert found.cut.document() == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert found.lost_cut.document() == {"value": None, "low": None, "high": None}


def test_one_is_the_lowest_only_where_it_is_so_on_the_same_splits() -> None:
    hard = np.array([0.0, 30.0, 10.0, 20.0])  # for all of them, on some splits
    a, b, c = hard, hard + np.array([2.0, 2.1, 1.9, 2.0]), hard + np.array([-9.0, 9.0, 8.0, -3.0])
    assert lowest({"a": a.tolist(), "b": b.tolist()}, "a") is True
    assert lowest({"a": a.tolist(), "b": b.tolist()}, "b") is False
    three = {"a": a.tolist(), "b": b.tolist(), "c": c.tolist()}
    assert lowest(three, "a") is None
    assert lowest(three, "b") is False
    assert lowest({"a": [1.0, 2.0], "b": [1.0, 2.0]}, "a") is None
    assert at_least(spread([0.44, 0.46, 0.45]), 1 / 3) is True
    assert at_least(spread([0.1, 0.5, 0.45]), 1 / 3) is None
    assert at_least(spread([0.1, 0.12, 0.11]), 1 / 3) is False
    assert at_least(spread([0.1])) is None
