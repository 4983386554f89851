"""Predictor `rhythm`: what it learns, from visits in any order, of resources alone and in groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss

from recrawl.checks.predictor import sample_batch
from recrawl.contracts import Goal
from recrawl.errors import UnknownPartError
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import PARTS, Rhythm
from recrawl.learn.rhythms.forecasts import Rhythms
from recrawl.learn.rhythms.rows import CHANGED_AT, HABIT, HEED, SCALE, SHARE, VERDICTS, T, X
from recrawl.model import DAY_S, Floats, Seen
from recrawl.schedule.goals import Capture, Fresh, FreshHarmonic, Prompt
from recrawl.schedule.policies.index import Index

START_AT = 1.7e9
N = 12
IDS = np.arange(1, N + 1)
GROUPS = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3])  # of none, of two that are shared, and of one alone


def visits(
    n_each: int = 12, *, seed: int = 1, gap_s: float = DAY_S, timed: bool = False, together: bool = True
) -> Seen:
    """Of all, again and again; groups change together in every fifth day, others at random."""
    rng = np.random.default_rng(seed)
    gaps_s = gap_s * rng.lognormal(0.0, 0.5, (N, n_each))
    at = START_AT + np.cumsum(gaps_s, axis=1)
    stirred = (at // (5 * gap_s) != (at - gaps_s) // (5 * gap_s)) & (GROUPS[:, None] > 0) & together
    changed = stirred | (rng.random((N, n_each)) < 0.15)
    event_at = np.where(changed & timed, at - gaps_s * rng.random((N, n_each)), np.nan)
    order = np.argsort(at.ravel(), kind="stable")
    return Seen(
        id=np.repeat(IDS, n_each),
        since_at=(at - gaps_s).ravel(),
        at=at.ravel(),
        changed=changed.ravel().astype(np.int8),
        event_at=event_at.ravel(),
        group=np.repeat(GROUPS, n_each),
    ).pick(order)


def taught(seen: Seen, *without: str) -> Rhythm:
    rhythm = Rhythm(without=without)
    rhythm.learn(seen)
    return rhythm


def check_alike(one: Rhythm, other: Rhythm, rel: float = 1e-12) -> None:
    assert np.allclose(one.memory(IDS), other.memory(IDS), rtol=rel, atol=0.0, equal_nan=True)
    assert np.allclose(one.lore(), other.lore(), rtol=rel)
    t_s = np.geomspace(3_600.0, 60 * DAY_S, 20)[:, None] * np.ones(N)
    assert np.allclose(forecast(one).own_s(t_s), forecast(other).own_s(t_s), rtol=max(rel, 1e-12))


def forecast(rhythm: Rhythm, since_at: float | Floats = START_AT + 12 * DAY_S) -> Rhythms:
    batch = sample_batch(N)
    return rhythm.rhythms(replace(batch, group=GROUPS, since_at=np.broadcast_to(np.asarray(since_at), N)))


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 2**32), st.lists(st.integers(1, N * 6 - 1), max_size=6))
def test_visits_in_any_order_and_in_batches_of_any_size_teach_as_one_by_one(
    seed: int, cuts: list[int]
) -> None:
    seen = visits(6)
    one_by_one = Rhythm()
    for k in range(len(seen)):
        one_by_one.learn(seen.pick(np.array([k])))
    rng = np.random.default_rng(seed)
    batched = Rhythm()
    for rows in np.split(np.arange(len(seen)), sorted(cuts)):
        batched.learn(seen.pick(rng.permutation(rows)))
    check_alike(one_by_one, batched)


def test_a_group_has_a_clock_from_its_second_member_on_in_the_middle_of_a_batch_too() -> None:
    seen = visits(6)
    alone = seen.pick(seen.id == 3)
    rhythm = taught(alone)
    assert (forecast(rhythm).slot == -1).all()
    other = visits(6, seed=2)
    late = replace(other, since_at=other.since_at + 9 * DAY_S, at=other.at + 9 * DAY_S)
    joining = late.pick((late.id == 4) | (late.id == 3))
    rhythm.learn(joining)
    slots = forecast(rhythm).slot
    assert (slots[GROUPS == 1] >= 0).all()
    assert (slots[GROUPS != 1] == -1).all()
    first = joining.at[joining.id == 4].min()  # before that nobody else was seen
    before, after = taught(alone), taught(alone)
    before.learn(joining.pick(joining.at < first))
    after.learn(joining.pick(joining.at <= first))
    assert (before.stirs.level == -1).all()
    assert (after.stirs.level >= 0).sum() == 1


def test_those_of_no_group_share_none() -> None:
    rhythm = taught(visits())
    slots = forecast(rhythm).slot
    assert (slots[GROUPS == 0] == -1).all()
    assert (slots[GROUPS == 3] == -1).all()
    assert len(set(slots[(GROUPS == 1) | (GROUPS == 2)].tolist())) == 2
    assert (rhythm.memory(IDS[GROUPS == 0])[:, HEED] == 0.0).all()


@pytest.mark.parametrize("timed", [False, True])
def test_the_first_visit_of_all_teaches_what_it_teaches_the_gamma_filter(timed: bool) -> None:
    seen = visits(1, timed=timed, seed=5)
    gamma = GammaFilter()
    gamma.learn(seen)
    for k in range(N):
        rhythm = taught(seen.pick(seen.id == k + 1), "rates")
        one, other = (np.array(it.state(IDS[k : k + 1], GROUPS[k : k + 1])) for it in (rhythm, gamma))
        assert one == pytest.approx(other)
    assert seen.changed.any()


def test_a_change_whose_time_is_known_is_one_change_and_the_own_time_since() -> None:
    rhythm = taught(visits(), "rates")
    at, event_at = START_AT + 40 * DAY_S, START_AT + 38 * DAY_S
    a, b_s = rhythm.state(IDS[:1], GROUPS[:1])
    before = rhythm.memory(IDS[:1])[0].copy()
    factor = rhythm.habits.factor[1 + int(before[VERDICTS])].copy()
    rhythm.learn(
        Seen(
            id=IDS[:1],
            since_at=np.array([START_AT + 30 * DAY_S]),
            at=np.array([at]),
            changed=np.ones(1, dtype=np.int8),
            event_at=np.array([event_at]),
        )
    )
    kept = max(0.95, min(1.0, 0.5 / a[0]))
    ends_s = np.concatenate([[0.0], before[SCALE] * 2.0 ** np.arange(-6.0, 5.0), [np.inf]])
    own_s = (factor * np.diff(np.clip(ends_s, 0.0, at - event_at))).sum()
    after = rhythm.memory(IDS[:1])[0]
    assert rhythm.state(IDS[:1], GROUPS[:1])[0] == pytest.approx(a * kept + 1.0)
    assert rhythm.state(IDS[:1], GROUPS[:1])[1] == pytest.approx(b_s * kept + own_s, rel=0.02)
    assert after[CHANGED_AT] == event_at
    assert after[HABIT] == 1 + before[VERDICTS]
    assert after[VERDICTS] == (2 * before[VERDICTS] + 1) % 8
    assert after[SHARE] == pytest.approx(kept * before[SHARE])


def test_whoever_was_never_looked_at_gets_the_prior_s_forecast() -> None:
    rhythm = taught(visits())
    batch = sample_batch(N + 1)
    known = replace(batch, since_at=np.full(N + 1, np.nan), group=np.append(GROUPS, 2))
    t_s = np.geomspace(60.0, 200 * DAY_S, 30)[:, None] * np.ones(N + 1)
    forecasts = rhythm.forecast(known, START_AT)
    for told in (
        forecasts.survival(t_s),
        forecasts.survival_integral(t_s),
        forecasts.n_expected_integral(t_s),
    ):
        assert np.isfinite(told).all()
    survival = forecasts.usual.survival(t_s)[:, N]
    factor = rhythm.habits.factor[0]
    assert (survival >= (10 * DAY_S / (10 * DAY_S + factor.max() * t_s[:, N])) ** 0.5 - 1e-12).all()
    assert (survival <= (10 * DAY_S / (10 * DAY_S + factor.min() * t_s[:, N])) ** 0.5 + 1e-12).all()


METHODS = ("survival", "survival_integral", "survival_slope", "n_expected", "n_expected_integral", "own_s")


@pytest.mark.parametrize("name", METHODS)
def test_who_does_not_heed_its_group_has_the_usual_forecast(name: str) -> None:
    rhythm = taught(visits(), "calendar")
    forecasts = forecast(rhythm, START_AT + 12 * DAY_S + np.linspace(0.0, DAY_S, N))
    t_s = np.geomspace(60.0, 200 * DAY_S, 60)[:, None] * np.ones(N)
    heeding = getattr(forecasts, name)(t_s)
    alone = getattr(replace(forecasts, heed=np.zeros(N)), name)(t_s)
    assert alone == pytest.approx(getattr(forecasts.usual, name)(t_s), rel=1e-7)
    assert heeding[:, GROUPS == 1] != pytest.approx(alone[:, GROUPS == 1], rel=0.01)


@pytest.mark.parametrize("usual", [False, True])
def test_integrals_and_slopes_belong_to_their_curves(usual: bool) -> None:
    rhythms = forecast(taught(visits()), START_AT + 8 * DAY_S)
    forecasts = rhythms.usual if usual else rhythms
    until_s, nodes = 9 * DAY_S, 4_000
    x, weight = leggauss(8)
    edge_s = np.linspace(0.0, until_s, nodes + 1)
    half_s = until_s / nodes / 2.0
    t_s = (edge_s[:-1, None] + half_s * (1.0 + x)).ravel()[:, None] * np.ones(N)
    summed = np.tile(weight * half_s, nodes) @ forecasts.survival(t_s)
    assert forecasts.survival_integral(np.full(N, until_s)) == pytest.approx(summed, rel=1e-6)
    summed = np.tile(weight * half_s, nodes) @ forecasts.n_expected(t_s)
    assert forecasts.n_expected_integral(np.full(N, until_s)) == pytest.approx(summed, rel=1e-6)
    summed = np.tile(weight * half_s, nodes) @ forecasts.survival_slope(t_s)
    assert forecasts.survival(np.full(N, until_s)) - 1.0 == pytest.approx(summed, rel=1e-3)


def test_times_without_end_end() -> None:
    rhythms = forecast(taught(visits()))
    assert (rhythms.n_expected_integral(np.full(N, np.inf)) == np.inf).all()


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 3),
    st.integers(0, 7),
    st.sampled_from([np.nan, np.inf, -np.inf, -1.0, 1e-300, 1e300, 9.0, -0.0, 2.5, 1e-9]),
)
def test_whatever_a_store_held_forecasts_stay_forecasts(row: int, column: int, value: float) -> None:
    """Rows that nobody wrote are passed over; what is left can be forecast and learned from."""
    seen = visits(4)
    rows = taught(seen).memory(IDS).copy()
    rows[row, column] = value
    rhythm = Rhythm()
    rhythm.recall(IDS, rows)
    if not np.isnan(value) or column != CHANGED_AT:
        refused = rhythm.memory(IDS[row : row + 1])[0, SHARE] == 1.0
        assert refused or (
            0.0 <= rows[row, SHARE] <= 1.0 and np.isfinite(np.delete(rows[row], CHANGED_AT)).all()
        )
    later = replace(seen, since_at=seen.since_at + 30 * DAY_S, at=seen.at + 30 * DAY_S)
    rhythm.learn(later)
    t_s = np.geomspace(60.0, 200 * DAY_S, 20)[:, None] * np.ones(N)
    survival = forecast(rhythm, START_AT + 40 * DAY_S).survival(t_s)
    assert (survival >= 0.0).all()
    assert (survival <= 1.0).all()
    assert (np.diff(survival, axis=0) <= 1e-12).all()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (X, -1.0),
        (T, np.inf),
        (SHARE, 1.5),
        (CHANGED_AT, -np.inf),
        (SCALE, 1e-300),
        (SCALE, 1e12),
        (HABIT, 9.0),
        (HEED, -1e308),
        (HEED, np.nan),
        (VERDICTS, 8.0),
    ],
)
def test_rows_that_it_cannot_have_written_are_passed_over(column: int, value: float) -> None:
    rows = taught(visits(4)).memory(IDS).copy()
    rows[4, column] = value
    rhythm = Rhythm()
    rhythm.recall(IDS, rows)
    assert np.array_equal(rhythm.memory(IDS[:4]), rows[:4], equal_nan=True)
    assert np.array_equal(rhythm.memory(IDS[4:5]), Rhythm().memory(IDS[4:5]), equal_nan=True)


@pytest.mark.parametrize("gap_s", [1.0, 300.0, 183 * DAY_S])
def test_very_fast_and_very_slow_resources_have_sound_forecasts(gap_s: float) -> None:
    rhythm = taught(visits(30, gap_s=gap_s))
    rows = rhythm.memory(IDS)
    assert np.isfinite(rows).all()
    assert ((rows[:, SCALE] == 0.0) | ((rows[:, SCALE] >= 60.0) & (rows[:, SCALE] <= 365 * DAY_S))).all()
    a, b_s = rhythm.state(IDS, GROUPS)
    assert (
        (a / b_s > 0.05 / DAY_S) == (gap_s < DAY_S)
    ).all()  # faster than is believed of anybody, or slower
    t_s = gap_s * np.geomspace(0.01, 100.0, 40)[:, None] * np.ones(N)
    forecasts = forecast(rhythm, START_AT + 30 * gap_s)
    own_s = forecasts.own_s(t_s)
    assert (np.diff(own_s, axis=0) > 0.0).all()
    assert forecasts.real_s(own_s[-1], 200.0 * t_s[-1]) == pytest.approx(t_s[-1], rel=1e-6, abs=1e-2)


@pytest.mark.parametrize("goal", [Fresh(), FreshHarmonic(), Capture(), Prompt()], ids=lambda goal: goal.name)
def test_gaps_by_a_group_s_clock_keep_their_bounds_and_are_never_shorter_when_dearer(goal: Goal) -> None:
    since_at = START_AT + np.linspace(6.0, 12.0, N) * DAY_S
    forecasts = forecast(taught(visits(), "calendar"), since_at)
    batch = replace(sample_batch(N), group=GROUPS, since_at=since_at)
    quote = Index(goal).quote(batch, forecasts)
    prices = [1e-9, *np.geomspace(1e-3, 1e3 * DAY_S, 60).tolist(), 1e15]
    gap_s = np.array([quote.gaps(price) for price in prices])
    assert (np.diff(gap_s, axis=0) >= -1e-6).all()
    assert gap_s[0] == pytest.approx(batch.min_gap_s)
    assert (gap_s[-1] <= batch.max_gap_s).all()
    steady = Index(goal).quote(batch, replace(forecasts, heed=np.zeros(N)))
    apart = np.array([steady.gaps(price) for price in prices]) != pytest.approx(gap_s, rel=1e-6)
    assert apart
    alone = GROUPS % 3 == 0
    assert gap_s[-1][alone] == pytest.approx(batch.max_gap_s[alone])  # the others scout, or are stirred
    assert np.array([steady.gaps(price)[alone] for price in prices]) == pytest.approx(
        gap_s[:, alone], rel=1e-6
    )


def test_with_all_its_parts_left_out_it_is_the_gamma_filter() -> None:
    bare, gamma = taught(visits(), *PARTS), GammaFilter()
    gamma.learn(visits())
    t_s = np.geomspace(60.0, 200 * DAY_S, 20)[:, None] * np.ones(N)
    batch = replace(sample_batch(N), group=GROUPS, since_at=np.full(N, START_AT + 12 * DAY_S))
    assert forecast(bare).survival(t_s) == pytest.approx(gamma.forecast(batch, START_AT).survival(t_s))
    with pytest.raises(UnknownPartError, match="no part called 'hats'"):
        Rhythm(without=("habits", "hats"))


def test_nobody_scouts_where_a_change_is_almost_sure() -> None:
    since_at = np.full(N, START_AT + 12 * DAY_S)
    rhythm = taught(visits(), "calendar", "stirs")
    sure = replace(forecast(rhythm, since_at), gamma=GammaForecasts(np.full(N, 1e3), np.full(N, 1e3 * DAY_S)))
    batch = replace(sample_batch(N), group=GROUPS, since_at=since_at, max_gap_s=np.full(N, 180 * DAY_S))
    apart = []
    for days in (0.1, 0.9, 8.0):  # a change a day is expected
        gap_s = [
            Index(Prompt()).quote(batch, replace(sure, scatter=np.full(N, share))).gaps(days**2 * DAY_S / 2)
            for share in (0.0, 0.3)
        ]
        apart.append(float(np.abs(gap_s[1] / gap_s[0] - 1.0).max()))
    assert 0.15 < apart[0] < 0.31
    assert 0.15 < apart[1] < 0.31
    assert apart[2] < 0.01
