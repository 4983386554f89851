"""What resources do after a change: the bins, and what a visit counts."""

from __future__ import annotations

from math import inf, isinf, isnan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.habits import (
    LEAST,
    MOST,
    N_BINS,
    N_ROWS,
    bin_of,
    count,
    counted,
    end_of,
    known_after,
    no_habits,
    row_after,
    settle,
)
from recrawl.model import DAY_S, Floats, Seen

START_AT = 1.7e9


@given(st.floats())
@example(inf)
@example(float("nan"))
@example(1.0 / 64.0)
@example(16.0)
@example(32.0)
def test_every_age_is_in_the_bin_that_holds_it(age: float) -> None:
    bin_ = bin_of(age)
    assert 0 <= bin_ < N_BINS
    if not isnan(age):
        assert bin_ == 0 or end_of(bin_ - 1) <= age
        assert bin_ == N_BINS - 1 or age < end_of(bin_)
        assert not isinf(age) or bin_ in (0, N_BINS - 1)


def test_the_three_verdicts_before_a_change_choose_its_row() -> None:
    assert [row_after(verdicts) for verdicts in (0, 1, 5, 7, 8, 13)] == [1, 2, 6, 8, 1, 6]


@given(st.floats(1e-3, 30.0), st.floats(0.05, 50.0))
def test_what_visits_tell_adds_up_to_what_was_believed_before(own_s: float, a: float) -> None:
    b_s = 2.0
    still = (1.0 + own_s / b_s) ** -a
    per_s, share = known_after(own_s, True, a, b_s)
    slow_per_s, none = known_after(own_s, False, a, b_s)
    assert none == 0.0
    assert (1.0 - still) * per_s + still * slow_per_s == pytest.approx(a / b_s, rel=1e-6)
    assert (1.0 - still) * per_s * share == pytest.approx(a / b_s, rel=1e-6)


def test_counts_of_a_row_count_for_all_and_row_0_counts_once() -> None:
    habits = no_habits()
    habits.factor[3, 4] = 2.0
    count(habits, 3, 4, 0.5, 1.5)
    count(habits, 0, 4, 0.25, 0.0)
    assert habits.x[:, 4].tolist() == [0.75, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert habits.n[:, 4].tolist() == [1.5, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert habits.x.sum() == 1.25


@given(st.lists(st.tuples(st.floats(0.0, 1e4), st.floats(0.0, 1e4)), min_size=2, max_size=2))
def test_what_is_settled_step_by_step_is_what_the_counts_come_to(pairs: list[tuple[float, float]]) -> None:
    habits = no_habits()
    for row, (n, x) in enumerate(pairs):
        habits.n[row, 2], habits.x[row, 2] = n, x
    settle(habits, 1, 2)
    whole = counted(habits.n, habits.x)
    assert habits.factor[:2, 2] == pytest.approx(whole.factor[:2, 2])
    assert (whole.factor >= LEAST).all()
    assert (whole.factor <= MOST).all()


def seen(since_at: Floats, at: Floats, changed: Floats) -> Seen:
    """Of one resource without a group."""
    return Seen(
        id=np.ones(len(at), dtype=np.int64),
        since_at=since_at,
        at=at,
        changed=changed.astype(np.int8),
        event_at=np.full(len(at), np.nan),
    )


@given(st.lists(st.tuples(st.floats(60.0, 90 * DAY_S), st.booleans()), min_size=2, max_size=12))
def test_a_visit_is_shared_out_over_the_bins_and_nothing_of_it_is_lost(
    visits: list[tuple[float, bool]],
) -> None:
    rhythm = Rhythm(without=("calendar",))
    at = START_AT + np.cumsum([gap_s for gap_s, _ in visits])
    since_at = np.concatenate([[START_AT], at[:-1]])
    changed = np.array([verdict for _, verdict in visits], dtype=np.float64)
    rhythm.learn(seen(since_at[:-1], at[:-1], changed[:-1]))
    before = np.stack([rhythm.habits.n, rhythm.habits.x])
    factor = rhythm.habits.factor.copy()
    a, b_s = (one[0] for one in rhythm.state(np.array([1]), np.array([0])))
    rhythm.learn(seen(since_at[-1:], at[-1:], changed[-1:]))
    n, x = np.stack([rhythm.habits.n, rhythm.habits.x]) - before
    gap_s = at[-1] - since_at[-1]
    row = int(np.argmax(x[1:].sum(axis=1))) + 1 if x[1:].any() else 0
    own_s = (x[0] / x[0].sum() * gap_s * factor[row]).sum()
    per_s, share = known_after(own_s, bool(changed[-1]), a, a / min(a / b_s, 3.0 / gap_s))
    assert x[0].sum() == pytest.approx(per_s * gap_s)
    assert n[0] == pytest.approx(x[0] * factor[row] * share)
    if row:
        assert n[row] == pytest.approx(n[0])


def test_the_first_gap_says_nothing_of_habits() -> None:
    rhythm = Rhythm()
    rhythm.learn(seen(np.array([START_AT]), np.array([START_AT + DAY_S]), np.ones(1)))
    assert not rhythm.lore().any()


def learned_habits(after_s: Floats, mean_s: float) -> Floats:
    """From one resource that is looked at all the time, and changes again so long after each change. Nothing
    is forgotten: else the habits make up for that too."""
    rhythm = Rhythm(forgetting=0.0, without=("rates",))
    change_at = START_AT + np.cumsum(after_s)
    at = START_AT + np.arange(1.0, change_at[-1] - START_AT, mean_s / 12.0)
    n_changes = np.searchsorted(change_at, at, side="right")
    changed = np.diff(np.concatenate([[0], n_changes])) > 0
    rhythm.learn(seen(np.concatenate([[START_AT], at[:-1]]), at, changed.astype(np.float64)))
    return rhythm.habits.factor


SOON, AROUND = slice(2, 5), 6  # up to half a mean gap after the change; from one mean gap to two


def test_what_changes_regularly_rests_after_a_change_and_is_due_around_a_mean_gap() -> None:
    rng = np.random.default_rng(1)
    factor = learned_habits(DAY_S * rng.uniform(0.9, 1.1, 250), DAY_S)
    assert (factor[0, SOON] < 0.85).all()
    assert factor[0, SOON].mean() < 0.7
    assert factor[0, AROUND] > 2.0


def test_what_changes_in_bursts_is_busy_after_a_change_and_rests_later() -> None:
    rng = np.random.default_rng(2)
    mean_s = np.where(rng.random(600) < 0.8, 0.1 * DAY_S, 4.6 * DAY_S)
    after_s = rng.exponential(mean_s)
    factor = learned_habits(after_s, DAY_S)
    assert (factor[0, SOON] > 1.5).all()
    assert factor[0, AROUND] < 0.7


def test_what_changes_at_random_has_no_habit() -> None:
    rng = np.random.default_rng(3)
    factor = learned_habits(DAY_S * rng.exponential(1.0, 800), DAY_S)
    told = factor[0, 2:8]
    assert told / told.mean() == pytest.approx(np.ones(6), abs=0.2)
    assert factor.shape == (N_ROWS, N_BINS)
