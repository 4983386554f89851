"""Classes of change rates: the best there are, whatever the start, and a number of them with reasons."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import BadInputError
from recrawl.learn.estimators import likeliest
from recrawl.learn.groups import chosen, classes, equal_classes, p_own, rates_of, report, sizes_said, why_not
from recrawl.learn.histories import Histories
from recrawl.model import DAY_S, Floats

RATES = st.lists(st.integers(0, 40).map(lambda n: n**3 / 100), min_size=1, max_size=9)


def squares(per_day: Floats, label: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
    parts = [per_day[label == one] for one in np.unique(label)]
    return float(sum(((part - part.mean()) ** 2).sum() for part in parts))


def least(per_day: Floats, k: int) -> float:
    """Every way to cut the sorted rates."""
    line = np.sort(per_day)
    ways = combinations(range(1, len(line)), min(k, len(line)) - 1)
    return min(squares(line, np.searchsorted(np.array(cuts), np.arange(len(line)), "right")) for cuts in ways)


def test_a_rate_comes_from_visits_as_the_paper_has_it() -> None:
    rates = rates_of(np.array([100, 100, 8]), np.array([0, 100, 6]))
    assert rates.tolist() == pytest.approx([0.0, -np.log(0.5 / 100.5), -np.log(2.5 / 8.5)])


@settings(max_examples=150, deadline=None)
@given(rates=RATES, k=st.integers(1, 6))
def test_no_other_classes_lie_closer_to_their_means(rates: list[float], k: int) -> None:
    per_day = np.array(rates)
    made = classes(per_day, k)
    label = made.of(per_day)
    assert squares(per_day, label) == pytest.approx(least(per_day, k), abs=1e-7)
    assert np.bincount(label, minlength=len(made)).tolist() == made.n.tolist()
    assert len(made) == min(k, len(np.unique(per_day)))
    for one in range(len(made)):
        mean = per_day[label == one].mean()
        assert made.interval_s[one] == pytest.approx(DAY_S / mean if mean else np.inf)
    assert (np.diff(made.interval_s) > 0.0).all()
    assert (np.diff(made.bounds) < 0.0).all()


def test_every_number_of_classes_comes_out_of_one_run_as_it_would_alone() -> None:
    per_day = np.random.default_rng(1).lognormal(-2.0, 1.5, 3_000)
    for one in report(per_day, ks=(2, 3, 5)):
        alone = classes(per_day, one.k)
        assert one.classes.interval_s.tolist() == alone.interval_s.tolist()
        label = alone.of(per_day)
        whole = ((per_day - per_day.mean()) ** 2).sum()
        assert one.explained == pytest.approx(1.0 - squares(per_day, label) / whole)


def test_a_rate_at_a_bound_belongs_to_the_faster_and_beyond_the_ends_there_is_a_class_too() -> None:
    made = classes(np.array([1.0, 1.0, 3.0, 9.0, 9.0]), 3)
    assert made.bounds.tolist() == [6.0, 2.0]
    assert made.of(np.array([100.0, 6.0, 5.9, 2.0, 1.9, 0.0])).tolist() == [0, 0, 1, 1, 2, 2]


def test_classes_of_equal_size_keep_equal_rates_together() -> None:
    assert equal_classes(np.arange(1.0, 13.0), 4).n.tolist() == [3, 3, 3, 3]
    per_day = np.array([0.0] * 6 + [1.0, 2.0, 3.0, 4.0])
    made = equal_classes(per_day, 4)
    assert made.n.tolist() == [2, 2, 6]
    assert np.isinf(made.interval_s[-1])
    assert equal_classes(np.ones(5), 3).n.tolist() == [5]


def around(*places: tuple[float, int]) -> Floats:
    rng = np.random.default_rng(2)
    return np.concatenate([rate * (1.0 + 0.02 * rng.standard_normal(n)) for rate, n in places])


def test_four_are_chosen_where_three_leave_the_fastest_together() -> None:
    """About as in the paper: of two or three classes the fastest is one, of four it is two, and a fifth or
    sixth class has few."""
    found = report(around((1.0, 2_000), (0.8, 1_500), (0.4, 2_000), (1 / 31, 4_000)))
    assert [one.n_fast for one in found][:3] == [1, 1, 2]
    assert chosen(found).k == 4
    assert why_not(found[0]) == "the fastest are all in one class"
    assert why_not(found[2]) == ""


def test_a_class_with_proportionally_few_is_a_reason_against() -> None:
    found = report(around((1.0, 300), (0.6, 300), (0.01, 600), (40.0, 2)))
    assert all(one.few.any() for one in found)
    assert "proportionally few in a class (2)" in why_not(found[0])
    choice = chosen(found)
    assert choice.k == 2
    assert "every number of classes leaves one with proportionally few" in choice.why


def test_where_the_fastest_cannot_be_parted_the_fullest_classes_are_taken() -> None:
    found = report(around((1.0, 500), (0.1, 500), (0.02, 500)), ks=(2, 3))
    assert [one.splits_the_fast for one in found] == [False, False]
    assert chosen(found).k == 3


def test_what_is_no_rate_is_refused() -> None:
    for wrong in (np.empty(0), np.array([1.0, np.nan]), np.array([1.0, -1.0]), np.array([np.inf])):
        with pytest.raises(BadInputError, match=r"visit|visited"):
            classes(wrong, 2)
    with pytest.raises(BadInputError, match="choose 2 or more"):
        classes(np.ones(3), 0)


def test_classes_of_equal_size_are_only_said_to_be_so_where_they_are() -> None:
    per_day = np.array([1.0, 1.0, 1.0, 2.0, 3.0, 4.0])
    assert sizes_said(equal_classes(per_day, 2).n, 2) == "2 of equal size"
    assert sizes_said(equal_classes(per_day, 3).n, 3).startswith("3 of as equal size as can be (many")
    assert sizes_said(equal_classes(per_day, 6).n, 6).startswith("4 of as equal size as can be (not 6:")


@pytest.mark.parametrize("n_visits", [6, 60])
def test_how_many_are_of_the_class_they_were_put_into_is_foretold_from_the_errors_of_their_rates(
    n_visits: int,
) -> None:
    rng = np.random.default_rng(2)
    n = 3_000
    per_day = rng.gamma(0.8, 1.0 / 2.0, n)
    row = np.repeat(np.arange(n), n_visits)
    changed = rng.random(len(row)) < -np.expm1(-per_day[row])
    seen = Histories(
        n=n, row=row, gap_s=np.full(len(row), DAY_S), changed=changed, after_s=np.full(len(row), np.nan)
    )
    found = likeliest(seen, 0.8, 2.0 * DAY_S)
    estimated = found.per_s * DAY_S
    for made in (classes(estimated, 3), equal_classes(estimated, 3)):
        came = (made.of(estimated) == made.of(per_day)).mean()
        assert p_own(made, estimated, found.log_error) == pytest.approx(came, abs=0.06)
