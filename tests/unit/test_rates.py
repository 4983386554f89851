"""What is believed of a rate over a grid of rates, beside the Gamma filter and beside exact sums."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.learn.predictors.gamma import TELLING
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.rates import (
    UNHEARD,
    believe,
    gamma_of,
    gammas_of,
    prior,
    priors_of,
    rates_of,
)
from recrawl.learn.rhythms.rows import BLANK, N_RATES, RATES, SHARE, T, X
from recrawl.model import DAY_S, Floats, Priors, Seen

SHAPE, SCALE_S = 0.5, 10 * DAY_S
START_AT = 1.7e9


def row_of(*visits: tuple[float, bool], shape: float = SHAPE, scale_s: float = SCALE_S) -> Floats:
    """After gaps in days, each with a change or none."""
    row = np.array(BLANK)
    for days, changed in visits:
        believe(row, shape, scale_s, days * DAY_S, changed, nan, 1.0)
        row[T] += days * DAY_S  # it was seen
    return row


def per_day(row: Floats, shape: float = SHAPE, scale_s: float = SCALE_S) -> float:
    a, b_s = gamma_of(row, 1.0, shape, scale_s)
    return a / b_s * DAY_S


def exact(*visits: tuple[float, bool]) -> float:
    """The mean rate a day that is left of the prior, by a sum over a fine grid."""
    rate = np.geomspace(1e-9, 1e3, 200_000)
    weight = rate ** (SHAPE - 1.0) * np.exp(-rate * SCALE_S / DAY_S) * rate
    for days, changed in visits:
        weight *= -np.expm1(-rate * days) if changed else np.exp(-rate * days)
    return float((weight * rate).sum() / weight.sum())


@pytest.mark.parametrize(
    "visits",
    [
        [(3.0, False)],
        [(3.0, True)],
        [(30.0, False), (30.0, False)],
        [(5.0, True), (1.0, False), (9.0, True)],
    ],
)
def test_few_visits_leave_what_an_exact_sum_leaves(visits: list[tuple[float, bool]]) -> None:
    assert per_day(row_of(*visits)) == pytest.approx(exact(*visits), rel=0.1)


def test_after_a_long_silence_changes_are_believed_sooner_than_by_the_gamma_filter() -> None:
    visits = [(7.0, False)] * 60 + [(7.0, True)] * 3
    grid, gamma = Rhythm(), Rhythm(without=("rates",))
    at = START_AT + 7 * DAY_S * np.arange(1.0, len(visits) + 1)
    for rhythm in (grid, gamma):
        rhythm.learn(
            Seen(
                id=np.ones(len(at), dtype=np.int64),
                since_at=at - 7 * DAY_S,
                at=at,
                changed=np.array([changed for _, changed in visits], dtype=np.int8),
                event_at=np.full(len(at), np.nan),
            )
        )
    rates = [
        float((a / b_s * DAY_S)[0])
        for a, b_s in (one.state(np.ones(1, int), np.zeros(1, int)) for one in (grid, gamma))
    ]
    assert rates[0] > 1.5 * rates[1]


def test_a_visit_that_can_tell_no_fast_rates_apart_makes_nothing_fast() -> None:
    """A prior with much at rates that no such gap can follow."""
    shape, scale_s = 0.05, 0.1 * DAY_S
    prior_per_day = shape / scale_s * DAY_S
    row = row_of(*[(30.0, True)] * 5, shape=shape, scale_s=scale_s)
    assert per_day(row, shape, scale_s) < 1.1 * max(prior_per_day, TELLING / 30.0)


def test_what_was_believed_fast_stays_so_after_a_long_gap() -> None:
    fast = row_of(*[(0.05, True)] * 30)
    before = per_day(fast)
    believe(fast, SHAPE, SCALE_S, 60 * DAY_S, True, nan, 1.0)
    assert before > 5.0
    assert per_day(fast) > 0.8 * before


def test_a_change_that_somebody_told_of_teaches_as_far_as_it_was_not_that() -> None:
    rows = [np.array(BLANK) for _ in range(3)]
    for row, due in zip(rows, (0.0, 0.5, 1.0), strict=True):
        believe(row, SHAPE, SCALE_S, 5 * DAY_S, True, nan, due)
        row[X] = 1.0
    rates = [per_day(row) for row in rows]
    assert rates[0] == pytest.approx(SHAPE / SCALE_S * DAY_S, rel=0.02)
    assert rates[0] < rates[1] < rates[2]


def test_a_moment_counts_as_one_change_and_the_time_since() -> None:
    row = np.array(BLANK)
    believe(row, SHAPE, SCALE_S, 20 * DAY_S, True, 4 * DAY_S, 1.0)
    row[X] = 1.0
    assert per_day(row) == pytest.approx((SHAPE + 1.0) / 14.0, rel=0.05)


def test_a_new_prior_moves_what_was_seen() -> None:
    row = row_of((20.0, False))
    hopeful, hopeless = per_day(row, 5.0, 5 * DAY_S), per_day(row, 0.1, 100 * DAY_S)
    assert hopeful > 50 * hopeless
    assert gamma_of(np.array(BLANK), 1.0, 0.3, 7.0) == (
        0.3,
        7.0,
    )  # of whoever was never seen: it is the prior


def test_many_are_believed_as_each_is() -> None:
    rng = np.random.default_rng(1)
    shape, scale_s = rng.lognormal(-1.0, 1.0, 60), DAY_S * rng.lognormal(1.0, 2.0, 60)
    rows = np.array(
        [
            row_of(*((float(days), bool(days < 2.0)) for days in rng.lognormal(0.0, 2.0, n % 12)))
            for n in range(60)
        ]
    )
    for lean in (0.0, 0.5, 1.0):
        one_by_one = [gamma_of(*each) for each in zip(rows, [lean] * 60, shape, scale_s, strict=True)]
        assert (
            pytest.approx(np.array(one_by_one), rel=1e-6) == np.array(gammas_of(rows, lean, shape, scale_s)).T
        )
    assert (
        pytest.approx(np.array([prior(*each) for each in zip(shape, scale_s, strict=True)]), rel=1e-9)
        == np.array(priors_of(shape, scale_s)).T
    )


@settings(deadline=None)
@given(
    st.floats(1e-3, 1e7),
    st.floats(1e-3, 1e13),
    st.lists(st.tuples(st.sampled_from([1e-9, 1e-3, 1.0, 1e3, 1e9]), st.booleans()), min_size=1, max_size=20),
)
def test_whatever_comes_beliefs_stay_beliefs(
    shape: float, scale_s: float, visits: list[tuple[float, bool]]
) -> None:
    row = row_of(*visits, shape=shape, scale_s=scale_s)
    assert (row[RATES:] > 0.0).all()
    assert np.isfinite(row[RATES:]).all()
    a, b_s = gamma_of(row, 0.5, shape, scale_s)
    assert 0.0 < a < inf
    assert 0.0 < b_s < inf
    assert prior(shape, scale_s).sum() == pytest.approx(1.0 + N_RATES * UNHEARD)


def test_rows_from_before_there_were_rates_are_taken_over() -> None:
    rhythm = Rhythm()
    old = np.tile(np.array(BLANK[:RATES]), (2, 1))
    old[:, [X, T, SHARE]] = [[3.0, 2 * DAY_S, 0.0], [0.1, 90 * DAY_S, 0.2]]
    rhythm.recall(np.array([1, 2]), old)
    a, b_s = rhythm.state(np.array([1, 2]), np.zeros(2, dtype=np.int64))
    filtered = [(3.0, 2.0), (0.1 + 0.2 * 0.5, 92.0)]
    assert a / b_s * DAY_S == pytest.approx([x / t for x, t in filtered], rel=0.05)
    rhythm.ground(Priors(shape=2.0, scale_s=DAY_S))
    assert rhythm.state(np.array([2]), np.zeros(1, dtype=np.int64))[0][0] != a[1]


def test_rates_of_a_belief_and_the_prior_are_that_belief() -> None:
    a, b_s = np.array([2.0, 0.3]), DAY_S * np.array([8.0, 40.0])
    rows = np.tile(np.array(BLANK), (2, 1))
    rows[:, RATES:], rows[:, X] = rates_of(a, b_s, SHAPE, SCALE_S), 1.0
    found = gammas_of(rows, 1.0, np.full(2, SHAPE), np.full(2, SCALE_S))
    assert found[0] / found[1] == pytest.approx(a / b_s, rel=0.05)
    assert found[0] == pytest.approx(a, rel=0.25)  # as far as the grid's steps can tell
