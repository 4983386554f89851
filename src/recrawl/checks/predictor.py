"""What every predictor must do. For plug-in authors: run each of `CHECKS` on a function that makes yours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from recrawl.contracts import Accountable, Alert, Forgetting, Predictor, Shared
from recrawl.learn.priors import Grounded
from recrawl.model import DAY_S, Batch, Priors, Seen, unfolded

MakePredictor = Callable[[], Predictor]


def sample_batch(n: int, seed: int = 0) -> Batch:
    """Resources of every sort: never visited, often, rarely; all with ordinary bounds."""
    rng = np.random.default_rng(seed)
    n_informative = rng.integers(0, 40, n)
    return Batch(
        id=np.arange(1, n + 1),
        weight=rng.lognormal(0.0, 1.0, n),
        min_gap_s=np.full(n, 3_600.0),
        max_gap_s=np.full(n, 180 * DAY_S),
        since_at=np.where(n_informative > 0, 1e9 + rng.uniform(0, 30 * DAY_S, n), np.nan),
        gap_s=np.where(n_informative > 0, rng.lognormal(12.0, 1.0, n), np.nan),
        n_informative=n_informative,
        n_changes=rng.binomial(n_informative, 0.3),
        n_failures=np.zeros(n, dtype=np.int64),
        bits=rng.integers(0, 2**40, n).astype(np.uint64),
    )


def sample_visits(n: int, n_each: int = 8, seed: int = 0) -> Seen:
    """Visits to resources 1 … n that change at rates far apart."""
    rng = np.random.default_rng(seed)
    per_day = np.repeat(np.geomspace(0.01, 10.0, n), n_each)
    gap_s = rng.lognormal(np.log(DAY_S), 1.0, n * n_each)
    ids = np.repeat(np.arange(1, n + 1), n_each)
    at = 1e9 + np.concatenate([np.cumsum(gap_s[i * n_each : (i + 1) * n_each]) for i in range(n)])
    changed = rng.random(n * n_each) < -np.expm1(-per_day * gap_s / DAY_S)
    return Seen(
        id=ids,
        since_at=at - gap_s,
        at=at,
        changed=changed.astype(np.int8),
        event_at=np.full(len(ids), np.nan),
    )


def check_a_forecast_needs_no_visit(make: MakePredictor) -> None:
    """A resource that was never visited gets a forecast too."""
    batch = sample_batch(5)
    survival = make().forecast(batch, 1e9).survival(np.full(5, DAY_S))
    assert survival.shape == (5,)
    assert np.isfinite(survival).all()


def check_survival_is_a_survival_curve(make: MakePredictor) -> None:
    """S starts at 1, never rises, stays within 0 and 1; its integral and slope belong to it."""
    predictor = make()
    predictor.learn(sample_visits(20))
    forecasts = predictor.forecast(sample_batch(20), 2e9)
    times = np.geomspace(1.0, 400 * DAY_S, 60)[:, None] * np.ones(20)
    survival = forecasts.survival(times)
    assert np.allclose(forecasts.survival(np.zeros(20)), 1.0)
    assert (np.diff(survival, axis=0) <= 1e-12).all()
    assert ((survival >= 0.0) & (survival <= 1.0)).all()
    step_s = times[:-1] * 1e-4
    slope = (forecasts.survival(times[:-1] + step_s) - forecasts.survival(times[:-1])) / step_s
    assert np.allclose(slope, forecasts.survival_slope(times[:-1]), rtol=1e-2, atol=1e-12)
    grown = forecasts.survival_integral(times[:-1] + step_s) - forecasts.survival_integral(times[:-1])
    assert np.allclose(grown / step_s, survival[:-1], rtol=1e-2, atol=1e-6)


def check_expected_changes_fit_the_survival(make: MakePredictor) -> None:
    """M never falls, and at least P(any change) changes are expected; its integral belongs to it."""
    predictor = make()
    predictor.learn(sample_visits(20))
    forecasts = predictor.forecast(sample_batch(20), 2e9)
    times = np.geomspace(60.0, 400 * DAY_S, 60)[:, None] * np.ones(20)
    expected = forecasts.n_expected(times)
    assert (np.diff(expected, axis=0) >= 0.0).all()
    assert (expected >= 1.0 - forecasts.survival(times) - 1e-9).all()
    step_s = times * 1e-4
    grown = forecasts.n_expected_integral(times + step_s) - forecasts.n_expected_integral(times)
    assert np.allclose(grown / step_s, expected, rtol=1e-2, atol=1e-9)


def check_forecasting_changes_nothing(make: MakePredictor) -> None:
    """Asking twice gives the same answer, and leaves the memory as it was."""
    predictor = make()
    predictor.learn(sample_visits(10))
    batch = sample_batch(10)
    before = predictor.memory(batch.id).copy()
    first = predictor.forecast(batch, 2e9).survival(np.full(10, DAY_S))
    second = predictor.forecast(batch, 2e9).survival(np.full(10, DAY_S))
    assert np.array_equal(first, second)
    assert np.array_equal(before, predictor.memory(batch.id), equal_nan=True)


def check_memory_carries_all_that_was_learned(make: MakePredictor) -> None:
    """Memory put into a fresh predictor makes it forecast and learn as the old one does; with the lore, where
    resources teach each other."""
    old, new = make(), make()
    visits = sample_visits(10)
    old.learn(visits)
    batch = sample_batch(10)
    rows = old.memory(batch.id)
    assert rows.shape == (10, old.width)
    new.recall(batch.id, rows)
    if isinstance(old, Shared) and isinstance(new, Shared):
        lore = old.lore()
        old.take_lore(lore)  # as workers do that have noted it
        new.take_lore(lore)
    later = sample_visits(10, seed=1)
    old.learn(later)
    new.learn(later)
    times = np.full(10, 3 * DAY_S)
    assert np.allclose(old.forecast(batch, 2e9).survival(times), new.forecast(batch, 2e9).survival(times))


def check_rows_of_nan_are_passed_over(make: MakePredictor) -> None:
    """A resource without memory keeps what the predictor knows of it."""
    predictor = make()
    predictor.learn(sample_visits(3))
    ids = np.array([1, 2, 3])
    before = predictor.memory(ids).copy()
    predictor.recall(ids, np.full((3, predictor.width), np.nan))
    assert np.array_equal(before, predictor.memory(ids), equal_nan=True)


def check_a_batch_is_its_rows(make: MakePredictor) -> None:
    """Learning visits together is learning them one by one."""
    together, apart = make(), make()
    visits = sample_visits(6)
    together.learn(visits)
    for row in np.argsort(visits.at, kind="stable"):
        apart.learn(visits.pick(np.array([row])))
    ids = np.arange(1, 7)
    assert np.allclose(together.memory(ids), apart.memory(ids), equal_nan=True)


def check_change_makes_change_likelier(make: MakePredictor) -> None:
    """Who was seen to change is expected to change sooner than who was not; unless nothing is kept of
    anybody, so that nothing is learned."""
    predictor = make()
    if not predictor.width:
        return
    n_each = 6
    at = 1e9 + DAY_S * np.tile(np.arange(1.0, n_each + 1.0), 2)
    ids = np.repeat([1, 2], n_each)
    predictor.learn(
        Seen(
            id=ids,
            since_at=at - DAY_S,
            at=at,
            changed=(ids == 1).astype(np.int8),
            event_at=np.full(len(ids), np.nan),
        )
    )
    survival = predictor.forecast(sample_batch(2), 2e9).survival(np.full(2, DAY_S))
    assert survival[0] < survival[1]


def check_other_priors_change_beliefs_and_no_memory(make: MakePredictor) -> None:
    """Of predictors that begin from priors: what visits told stays, who told nothing goes by the prior."""
    predictor = make()
    if not isinstance(predictor, Grounded):
        return
    predictor.learn(sample_visits(10))
    batch = sample_batch(30)
    before = predictor.memory(batch.id).copy()
    survival = []
    for shape, scale_days in ((4.0, 1.0), (0.1, 100.0)):
        predictor.ground(Priors(shape=shape, scale_s=scale_days * DAY_S))
        survival.append(predictor.forecast(batch, 2e9).survival(np.full(30, DAY_S)))
    assert np.array_equal(before, predictor.memory(batch.id), equal_nan=True)
    assert (survival[0][10:] < survival[1][10:]).all()
    if not predictor.width:
        return  # nobody has told anything
    moved = survival[1] - survival[0]
    assert moved[:10].mean() < moved[10:].mean()


def check_lore_adds_up_and_can_be_begun_anew(make: MakePredictor) -> None:
    """Of predictors whose resources teach each other: counts, which a fresh one can be given."""
    predictor, fresh = make(), make()
    forgets = isinstance(predictor, Forgetting)
    if not (isinstance(predictor, Shared) and isinstance(fresh, Shared)):
        return
    assert not fresh.lore().any()
    predictor.learn(sample_visits(10))
    lore = predictor.lore()
    assert lore.any()
    assert (np.isfinite(lore) & (lore >= 0.0)).all()
    fresh.take_lore(lore)
    assert np.array_equal(fresh.lore(), lore)
    predictor.learn(sample_visits(10, seed=1))
    assert forgets or (predictor.lore() >= lore).all()
    assert np.array_equal(fresh.lore(), lore)  # it is nobody else's
    fresh.take_lore(np.zeros_like(lore))
    assert not fresh.lore().any()
    assert predictor.n_heard > 0


def check_what_two_counted_is_joined(make: MakePredictor) -> None:
    """Of predictors that let go of old counts, and so say themselves how lore is joined and made less."""
    one, other, fresh = make(), make(), make()
    if not (isinstance(one, Forgetting) and isinstance(other, Forgetting) and isinstance(fresh, Forgetting)):
        return
    one.learn(sample_visits(10))
    other.learn(sample_visits(10, seed=1))
    nothing = np.zeros_like(one.lore())
    both = one.joined(other.lore(), nothing)
    np.testing.assert_allclose(both, other.joined(one.lore(), nothing), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fresh.joined(both, nothing), both, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.joined(other.lore(), one.lore()), other.lore(), rtol=1e-9, atol=1e-9)
    assert max(one.lore().sum(), other.lore().sum()) < both.sum()
    less = one.lessened(both, 0.5)
    assert (np.isfinite(both) & np.isfinite(less)).all()
    assert less.sum() < both.sum()
    fresh.take_lore(both)
    np.testing.assert_allclose(fresh.lore(), both, rtol=1e-9, atol=1e-9)


def check_overhearing_writes_no_memory(make: MakePredictor) -> None:
    """Whoever learned from a visit has written its row and counted it; others only hear of it."""
    predictor = make()
    if not isinstance(predictor, Shared):
        return
    visits = sample_visits(10)
    grouped = replace(visits, group=1 + visits.id % 2)
    predictor.learn(grouped.pick(visits.at < np.median(visits.at)))
    ids = np.arange(1, 11)
    rows, lore = predictor.memory(ids).copy(), predictor.lore()
    predictor.overhear(grouped.pick(visits.at >= np.median(visits.at)))
    predictor.overhear(grouped.pick(np.zeros(len(grouped), dtype=np.bool_)))
    assert np.array_equal(predictor.memory(ids), rows, equal_nan=True)
    assert np.array_equal(predictor.lore(), lore)
    batch = replace(sample_batch(10), group=1 + ids % 2)
    assert np.isfinite(predictor.forecast(batch, 2e9).survival(np.full(10, DAY_S))).all()


def check_an_account_is_columns_and_changes_nothing(make: MakePredictor) -> None:
    """Of predictors that say what their forecasts rest on: also of whoever was never visited."""
    predictor = make()
    if not isinstance(predictor, Accountable):
        return
    ids = np.arange(1, 11)
    for n_learned in (0, 8):
        predictor.learn(sample_visits(10, n_learned))
        rows = predictor.memory(ids).copy()
        told = predictor.account(sample_batch(10), 2e9)
        assert told
        assert {column.shape for column in told.values()} == {(10,)}
        assert not any(np.isinf(column).any() for column in told.values())
        assert np.array_equal(predictor.memory(ids), rows, equal_nan=True)


def check_a_longer_silence_is_less_probable(make: MakePredictor) -> None:
    """Of predictors that notice silences: after a change they begin as sure things."""
    predictor = make()
    if not isinstance(predictor, Alert):
        return
    visits = sample_visits(10)
    batch = sample_batch(10)
    assert np.isnan(predictor.silences(batch, np.full(10, 2e9))).all()
    predictor.learn(visits)
    changed_at, _ = predictor.silences(batch, np.full(10, 2e9))
    found = visits.pick(visits.changed == 1)
    seen = np.array([found.at[found.id == i].max(initial=-np.inf) for i in batch.id])
    changed = np.isfinite(seen)
    assert np.array_equal(changed_at[changed], seen[changed])
    spans = (0.0, DAY_S, 30 * DAY_S, 3_000 * DAY_S)
    p = [predictor.silences(batch, np.where(changed, seen, 0.0) + s)[1][changed] for s in spans]
    assert np.allclose(p[0], 1.0)
    assert all((later < before).all() for before, later in pairwise(p))
    assert (p[-1] >= 0.0).all()


def check_moments_can_be_learned_from(make: MakePredictor) -> None:
    """Several at one instant, one at the very visit, a past before the first visit: rows without any length
    are rows too."""
    predictor, visits = make(), sample_visits(10)
    firsts = replace(visits, since_at=np.full(len(visits), np.nan), changed=np.full(len(visits), -1, np.int8))
    for seen in (firsts, replace(visits, changed=np.ones(len(visits), np.int8))):
        predictor.learn(unfolded(seen, [at - np.array([900.0, 900.0, 9.0, 0.0]) for at in seen.at]))
    survival = predictor.forecast(sample_batch(10), 2e9).survival(np.geomspace(60.0, 1e7, 9)[:, None])
    assert ((survival >= 0.0) & (survival <= 1.0)).all()
    assert np.isfinite(predictor.forecast(sample_batch(10), 2e9).n_expected(np.full(10, DAY_S))).all()


CHECKS = [
    check_a_forecast_needs_no_visit,
    check_survival_is_a_survival_curve,
    check_expected_changes_fit_the_survival,
    check_forecasting_changes_nothing,
    check_memory_carries_all_that_was_learned,
    check_rows_of_nan_are_passed_over,
    check_a_batch_is_its_rows,
    check_change_makes_change_likelier,
    check_other_priors_change_beliefs_and_no_memory,
    check_lore_adds_up_and_can_be_begun_anew,
    check_what_two_counted_is_joined,
    check_overhearing_writes_no_memory,
    check_an_account_is_columns_and_changes_nothing,
    check_a_longer_silence_is_less_probable,
    check_moments_can_be_learned_from,
]
