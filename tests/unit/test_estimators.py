"""Estimators against brute force, against each other, and on data whose rates are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recrawl.learn import estimators
from recrawl.learn.histories import STAMP_S, Histories, histories
from recrawl.learn.priors import fitted
from recrawl.model import DAY_S, Floats, Seen
from recrawl.schedule.optimum import expected, optimum


def drawn(
    per_day: Floats, n_each: int, *, seed: int = 0, timed: bool = False, even: bool = False
) -> Histories:
    """Visits at gaps of a day, even or exponentially distributed, of resources that change so often."""
    rng = np.random.default_rng(seed)
    row = np.repeat(np.arange(len(per_day)), n_each)
    gap = np.ones(len(row)) if even else rng.exponential(1.0, len(row))
    after = rng.exponential(1.0, len(row)) / per_day[row]  # back to the last change
    changed = after < gap
    after_s = np.where(changed & timed, after * DAY_S, np.nan)
    return Histories(n=len(per_day), row=row, gap_s=gap * DAY_S, changed=changed, after_s=after_s)


def log_likelihood(seen: Histories, row: int, per_s: Floats) -> Floats:
    own = seen.row == row
    total = np.zeros_like(per_s)
    for gap_s, changed, after_s in zip(seen.gap_s[own], seen.changed[own], seen.after_s[own], strict=True):
        if np.isfinite(after_s):
            total += np.log(per_s) - per_s * after_s
        else:
            total += np.log(-np.expm1(-per_s * gap_s)) if changed else -per_s * gap_s
    return total


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("prior", [(0.0, 0.0), (0.7, 6.0)])
def test_the_likeliest_rate_is_the_best_of_a_fine_grid(timed: bool, prior: tuple[float, float]) -> None:
    seen = drawn(np.array([0.05, 0.1, 0.5, 2.0, 6.0]), 60, timed=timed)
    found = estimators.likeliest(seen, prior[0], prior[1] * DAY_S)
    grid = np.geomspace(1e-4, 100.0, 40_001) / DAY_S
    for row in range(seen.n):
        posterior = log_likelihood(seen, row, grid) + prior[0] * np.log(grid) - prior[1] * DAY_S * grid
        assert found.per_s[row] == pytest.approx(grid[np.argmax(posterior)], rel=1e-3)
        at = np.argmax(posterior)
        step = np.log(grid[1] / grid[0])
        bent = -(posterior[at - 50] - 2 * posterior[at] + posterior[at + 50]) / (50 * step) ** 2
        assert found.log_error[row] == pytest.approx(bent**-0.5, rel=0.35)  # expected for observed


def test_never_and_always_are_set_aside_and_a_prior_brings_them_back() -> None:
    row, gap_s = np.repeat([0, 1, 2], 4), np.tile([1.0, 2.0, 3.0, 4.0], 3) * DAY_S
    seen = Histories(
        n=4, row=row, gap_s=gap_s, changed=np.repeat([False, True, False], 4), after_s=np.full(12, np.nan)
    )
    seen.changed[8:10] = True
    for per_s in (estimators.likeliest(seen).per_s, estimators.matched(seen)):
        assert per_s[0] == 0.0
        assert per_s[1] == np.inf
        assert 0.0 < per_s[2] < np.inf
    assert np.isinf(estimators.likeliest(seen).log_error[:2]).all()
    found = estimators.likeliest(seen, 0.5, 10 * DAY_S)
    assert found.per_s[0] == pytest.approx(0.5 / (20.0 * DAY_S))  # half a change in ten days and ten more
    assert found.per_s[3] == pytest.approx(0.5 / (10.0 * DAY_S))  # never visited: the prior
    assert found.per_s[0] < found.per_s[3] < found.per_s[2] < found.per_s[1] < np.inf
    assert np.isfinite(found.log_error).all()
    regular = estimators.regular(seen)[:3] * DAY_S * 2.5
    assert regular == pytest.approx([0.0, np.log(4.5 / 0.5), np.log(4.5 / 2.5)])
    assert np.isfinite(estimators.averaged(seen)[:3]).all()


@pytest.mark.filterwarnings("error")
def test_of_what_was_never_visited_no_estimator_says_anything() -> None:
    seen = Histories(
        n=2,
        row=np.zeros(3, dtype=np.int64),
        gap_s=np.full(3, DAY_S),
        changed=np.full(3, True),
        after_s=np.full(3, np.nan),
    )
    for estimate in (estimators.regular, estimators.corrected, *ALL[:4]):
        found = estimate(seen)
        assert np.isnan(found[1])
        assert found[0] > 0.0
    assert str(estimators.averaged(seen, spare=0.0).tolist()) == "[inf, nan]"  # three of three, none to spare
    assert np.isnan(estimators.counted(np.zeros(1), np.zeros(1))).all()
    assert estimators.likeliest(seen).log_error.tolist() == [np.inf, np.inf]
    assert np.isfinite(ALL[4](seen)).all()  # what the prior says


def test_with_times_never_and_always_need_no_setting_aside() -> None:
    seen = drawn(np.full(3, 9.0), 5, timed=True, even=True)
    assert seen.changed.all()
    found = estimators.likeliest(seen)
    assert found.per_s == pytest.approx(5.0 / seen.watched_s)
    assert found.per_s == pytest.approx(estimators.counted(np.full(3, 5.0), seen.watched_s))
    assert estimators.corrected(seen) == pytest.approx(4.0 / seen.watched_s)
    assert estimators.counted(np.array([3.0]), np.array([6.0]), 1.0, 2.0).tolist() == [0.5]


@pytest.mark.parametrize("per_day", [0.2, 0.7])
def test_what_is_corrected_for_few_visits_is_near_to_unbiased(per_day: float) -> None:
    few = drawn(np.full(40_000, per_day), 10, even=True)
    assert estimators.regular(few).mean() * DAY_S == pytest.approx(per_day, rel=0.02)
    naive = -np.log(np.maximum(1.0 - few.n_changed / 10.0, 0.05)).mean()  # 0.05: else some are infinite
    assert naive > 1.03 * per_day
    timed = drawn(np.full(40_000, per_day), 10, even=True, timed=True)
    assert estimators.corrected(timed).mean() * DAY_S == pytest.approx(per_day, rel=0.02)
    assert (timed.n_changed / timed.watched_s).mean() * DAY_S > 1.05 * per_day


ALL: list[Callable[[Histories], Floats]] = [
    estimators.matched,
    estimators.averaged,
    estimators.approached,
    lambda seen: estimators.likeliest(seen).per_s,
    lambda seen: estimators.likeliest(seen, 0.5, 10 * DAY_S).per_s,
]


@pytest.mark.parametrize("estimate", ALL)
def test_many_visits_tell_the_rate_to_all_of_them(estimate: Callable[[Histories], Floats]) -> None:
    per_day = np.geomspace(0.1, 3.0, 20)
    found = estimate(drawn(per_day, 4_000)) * DAY_S
    assert np.median(np.abs(np.log(found / per_day))) < 0.08


def test_the_error_said_is_the_error_made() -> None:
    for timed in (False, True):
        found = estimators.likeliest(drawn(np.full(3_000, 1.5), 60, timed=timed))
        made = np.log(found.per_s * DAY_S / 1.5)
        assert np.std(made) == pytest.approx(np.mean(found.log_error), rel=0.1)
    bits, times = (estimators.likeliest(drawn(np.full(500, 4.0), 30, timed=t)) for t in (False, True))
    assert np.nanmean(times.log_error) < 0.8 * np.mean(bits.log_error[np.isfinite(bits.log_error)])


def test_histories_take_a_time_only_where_it_can_be_true() -> None:
    since, at = 1e9, 1e9 + 100.0
    told = [np.nan, 1e9 + 40.0, 1e9 - 5.0, at + 7.0, at - STAMP_S / 2.0, 1e9 + 40.0]
    seen = Seen(
        id=np.array([5, 5, 5, 5, 3, 3]),
        since_at=np.full(6, since),
        at=np.full(6, at),
        changed=np.array([1, 1, 1, 1, 1, 0], dtype=np.int8),
        event_at=np.array(told),
    )
    found, ids = histories(seen)
    assert ids.tolist() == [3, 5]
    assert found.row.tolist() == [0, 0, 1, 1, 1, 1]
    assert np.array_equal(found.after_s[2:], [np.nan, 60.0, np.nan, np.nan], equal_nan=True)
    assert np.isnan(found.after_s[:2]).all()
    assert found.watched_s.tolist() == [100.0, 60.0]


def test_planning_with_a_prior_loses_least_and_without_one_most() -> None:
    """The order of the table that bench/estimators.py prints, on a tenth of it and ten visits each."""
    rng = np.random.default_rng(8)
    n = 2_000
    per_day = np.clip(np.exp(rng.normal(np.log(0.15), 1.5, n)), 0.0005, 7.0)
    timed = drawn(per_day, 10, timed=True)
    seen = Histories(
        n=n, row=timed.row, gap_s=timed.gap_s, changed=timed.changed, after_s=np.full(10 * n, np.nan)
    )
    priors = fitted(seen, np.zeros(n, dtype=np.int64))
    stale = 1.0 - optimum(per_day / DAY_S, 0.2 * n).freshness
    lost = {}
    for name, found in {
        "fitted": estimators.likeliest(seen, priors.shape, priors.scale_s).per_s,
        "timed": estimators.likeliest(timed, priors.shape, priors.scale_s).per_s,
        "default": estimators.likeliest(seen, 0.5, 10 * DAY_S).per_s,
        "plain": estimators.likeliest(seen).per_s,
        "moments": estimators.matched(seen),
        "regular": estimators.regular(seen),
        "average": estimators.averaged(seen),
    }.items():
        plan = optimum(np.clip(found, 0.0005 / DAY_S, 7.0 / DAY_S), 0.2 * n)
        lost[name] = (1.0 - expected(per_day / DAY_S, np.ones(n), plan.gap_s).freshness) / stale - 1.0
    assert 0.0 < lost["timed"] <= lost["fitted"] < lost["default"] < 0.15
    for name in ("plain", "moments", "regular", "average"):
        assert lost[name] > 4.0 * lost["fitted"], name
