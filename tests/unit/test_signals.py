"""How far sources are believed, and what their tellings do to a forecast."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from recrawl.compiled import callable_when_compiled
from recrawl.learn.rhythms.signals import (
    ALL,
    DOUBT,
    FIRST,
    MOST,
    Register,
    Sources,
    all_believed,
    before_leap_s,
    before_leaps_s,
    believed,
    check,
    leaps_s,
    leapt_s,
    more_sources,
    no_sources,
    recorded,
)
from recrawl.model import DAY_S, Bools, Floats

A, B = 1, 2  # rows of two sources
shapes = st.floats(0.05, 50.0)
scales = st.floats(60.0, 1e9)
owns = st.floats(0.0, 1e9)
beliefs = st.floats(0.0, MOST)


def survival(own_s: float, a: float, b_s: float) -> float:
    return float((1.0 + own_s / b_s) ** -a)


def checked(sources: Sources, row: int, n: int, *, changed: bool, survival: float = 0.9) -> None:
    for _ in range(n):
        check(sources, row, survival, changed)


@given(owns, shapes, scales, beliefs)
def test_who_was_told_of_survives_as_far_as_the_source_is_not_believed(
    own_s: float, a: float, b_s: float, q: float
) -> None:
    told = survival(leapt_s(own_s, a, b_s, q), a, b_s)
    assert told == pytest.approx((1.0 - q) * survival(own_s, a, b_s), rel=1e-6, abs=1e-12)


@given(owns, shapes, scales, beliefs)
def test_the_way_back_leads_to_where_the_leap_began(own_s: float, a: float, b_s: float, q: float) -> None:
    there = leapt_s(own_s, a, b_s, q)
    assert before_leap_s(there, a, b_s, q) == pytest.approx(own_s, rel=1e-6, abs=1e-6 * b_s)


@given(owns, shapes, scales, beliefs)
def test_who_counts_changes_has_so_many_more_of_them(own_s: float, a: float, b_s: float, q: float) -> None:
    asked_s = own_s + q * b_s / a  # by then as many more are expected: a t / b
    assert before_leap_s(asked_s, a, b_s, q, True) == pytest.approx(own_s, rel=1e-6, abs=1e-6 * asked_s)


def test_what_the_leap_goes_beyond_is_reached_at_once() -> None:
    assert before_leap_s(DAY_S, 1.0, DAY_S, 0.9) == 0.0
    assert before_leap_s(DAY_S, 1.0, 2 * DAY_S, 0.9, True) == 0.0


def test_a_leap_of_hardly_any_shape_ends_somewhere() -> None:
    assert np.isfinite(leapt_s(0.0, 1e-4, DAY_S, MOST))
    assert before_leap_s(1e9, 1e-4, DAY_S, MOST) == 0.0


def test_columns_leap_as_each_alone_does() -> None:
    rng = np.random.default_rng(1)
    own_s, a, b_s = rng.uniform(0, 1e6, 50), rng.uniform(0.01, 5, 50), rng.uniform(1, 1e6, 50)
    q = rng.uniform(0, MOST, 50)
    rows = list(zip(own_s.tolist(), a.tolist(), b_s.tolist(), q.tolist(), strict=True))
    assert np.allclose(leaps_s(own_s, a, b_s, q), [leapt_s(*row) for row in rows], rtol=1e-12)
    for counting in (False, True):
        alone = [before_leap_s(*row, counting) for row in rows]
        assert np.allclose(before_leaps_s(own_s, a, b_s, q, counting), alone, rtol=1e-9)


def test_before_anything_was_checked_all_are_believed_alike() -> None:
    sources = no_sources(2)
    assert believed(sources, ALL) == believed(sources, A) == pytest.approx(FIRST)


def test_one_telling_counts_as_far_as_it_was_the_one_told_of() -> None:
    sources = no_sources(2)
    check(sources, A, 0.8, True)
    share = FIRST / (1.0 - (1.0 - FIRST) * 0.8)
    assert (sources.n[A], sources.right[A]) == (1.0, pytest.approx(share))
    usual = (DOUBT * FIRST + share) / (DOUBT + 1.0)
    assert believed(sources, B) == pytest.approx(usual)
    own = (DOUBT * usual + share) / (DOUBT + 1.0)
    assert believed(sources, A) == pytest.approx(own * sources.same[A])
    check(sources, A, 0.8, False)
    assert sources.n[A] > 1.9
    assert sources.right[A] < share


@pytest.mark.parametrize("truth", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("foretold", [0.5, 0.95])
def test_a_source_is_believed_about_as_far_as_it_is_right(truth: float, foretold: float) -> None:
    """Whatever else changes the resources that it tells of."""
    rng = np.random.default_rng(5)
    sources = no_sources(2)
    found: list[float] = []
    for i in range(3_000):
        changed = bool(rng.random() < truth) or bool(rng.random() > foretold)
        check(sources, A, foretold, changed)
        if i >= 500:
            found.append(believed(sources, A))
    assert np.mean(found) == pytest.approx(truth, abs=0.12)


def test_a_source_that_begins_to_lie_is_soon_disbelieved() -> None:
    sources = no_sources(2)
    checked(sources, A, 1_000, changed=True)
    assert believed(sources, A) > 0.9
    checked(sources, A, 20, changed=False)
    assert believed(sources, A) < 0.1


def test_a_liar_among_the_truthful_is_disbelieved_alone() -> None:
    sources = no_sources(2)
    for _ in range(1_000):
        check(sources, A, 0.9, True)
        check(sources, B, 0.9, True)
    for _ in range(20):
        check(sources, A, 0.9, False)
        check(sources, B, 0.9, True)
    assert believed(sources, A) < 0.1
    assert believed(sources, B) > 0.9


def test_a_liar_that_tells_the_truth_again_is_believed_again() -> None:
    sources = no_sources(2)
    checked(sources, A, 1_000, changed=True)
    checked(sources, A, 500, changed=False)
    assert believed(sources, A) < 0.05
    checked(sources, A, 100, changed=True)
    assert believed(sources, A) > 0.6


def test_one_wrong_telling_does_not_end_all_belief() -> None:
    sources = no_sources(2)
    checked(sources, A, 1_000, changed=True)
    checked(sources, A, 1, changed=False)
    assert believed(sources, A) > 0.5


@given(st.lists(st.tuples(st.integers(0, 2), st.floats(0.0, 1.0), st.booleans()), max_size=40))
def test_whatever_is_found_belief_stays_a_probability(visits: list[tuple[int, float, bool]]) -> None:
    sources = no_sources(2)
    for row, foretold, changed in visits:
        check(sources, row, foretold, changed)
    rows = np.arange(3)
    found = all_believed(sources, rows)
    assert found.tolist() == pytest.approx([believed(sources, row) for row in rows.tolist()])
    assert ((found >= 0.0) & (found <= MOST)).all()
    assert np.isfinite(np.stack(sources)).all()


def test_room_is_made_without_forgetting() -> None:
    sources = no_sources(1)
    checked(sources, A, 3, changed=True)
    grown = more_sources(sources, 4)
    assert [len(column) for column in grown] == [5, 5, 5]
    assert believed(grown, A) == believed(sources, A)
    assert believed(grown, B) == believed(sources, ALL)


def test_every_source_has_a_row_and_the_unknown_go_by_all() -> None:
    register = Register()
    register.enrol(np.array([0, 70, 7, 70]))
    assert len(register) == 2
    assert register.rows(np.array([7, 0, 70, 9])).tolist() == [1, ALL, 2, ALL]
    register.enrol(np.array([9]))
    assert register.rows(np.array([9, 7])).tolist() == [3, 1]


def _checked(sources: Sources, survival: Floats, changed: Bools) -> float:
    for i in range(len(survival)):
        check(sources, 1, survival[i], changed[i])
    return leapt_s(1.0, 2.0, 3.0, believed(sources, 1)) + before_leap_s(9.0, 2.0, 3.0, believed(sources, 2))


def test_compiled_it_comes_to_the_same() -> None:
    rng = np.random.default_rng(3)
    foretold, changed = rng.random(200), rng.random(200) < 0.5
    one, other = no_sources(2), no_sources(2)
    callable_when_compiled(recorded, believed, check, leapt_s, before_leap_s)
    made = njit(error_model="numpy")(_checked)  # not kept: the next release's would be another
    assert made(other, foretold, changed) == pytest.approx(_checked(one, foretold, changed), rel=1e-12)
    assert np.allclose(np.stack(one), np.stack(other), rtol=1e-12)
