"""The best gaps for known rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import exp1, lambertw

from recrawl.errors import BadSettingError
from recrawl.schedule.optimum import GOALS, KnownRates, ein, expected, optimum

DAY_S = 86_400.0


def town(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rate = np.clip(np.exp(rng.normal(np.log(0.15), 1.5, n)), 0.0005, 7) / DAY_S
    return rate, np.ceil(rng.pareto(1.3, n) * 50 + 1)


def test_the_square_root_law_by_hand() -> None:
    # rates 1 and 4 a day, 3 visits a day: visits as the roots of the rates, 1 and 2 a day
    found = optimum(np.array([1.0, 4.0]) / DAY_S, 3.0, goal="prompt")
    assert (found.gap_s / DAY_S).tolist() == pytest.approx([1.0, 0.5], rel=1e-4)
    assert found.wait_s / DAY_S == pytest.approx((1 * 0.5 + 4 * 0.25) / 5, rel=1e-4)


def test_gaps_are_those_of_lamberts_function() -> None:
    rate, weight = town(5_000)
    fresh = optimum(rate, 1_000.0, goal="fresh", weight=weight)
    c = fresh.price * rate / weight
    visited = c < 1 - 1e-9
    x = -1 - lambertw(-(1 - c[visited]) / np.e, -1).real
    assert rate[visited] * fresh.gap_s[visited] == pytest.approx(x, rel=1e-4)
    assert np.isinf(fresh.gap_s[c >= 1]).all()
    harmonic = optimum(rate, 1_000.0, goal="fresh-harmonic", weight=weight)
    c = harmonic.price * rate / weight
    assert rate * harmonic.gap_s == pytest.approx(1 + c + lambertw(-np.exp(-(1 + c))).real, rel=1e-5)


@pytest.mark.parametrize("goal", GOALS)
def test_no_other_gaps_for_the_same_budget_are_better(goal: str) -> None:
    rate, weight = town(300)
    low, high = DAY_S, 90 * DAY_S
    best = optimum(rate, 60.0, goal=goal, weight=weight, min_gap_s=low, max_gap_s=high)
    assert (DAY_S / best.gap_s).sum() == pytest.approx(60.0, rel=1e-4)
    assert best.gap_s.min() >= low
    assert best.gap_s.max() <= high
    rng = np.random.default_rng(1)
    for _ in range(200):
        # move some visits from one resource to another
        a, b = rng.choice(300, 2, replace=False)
        often = 1 / best.gap_s
        moved = 0.2 * rng.random() * often[a]
        often[a] -= moved
        often[b] += moved
        if 1 / often[a] > high or 1 / often[b] < low:
            continue
        other = expected(rate, weight, 1 / often)
        if goal == "fresh":
            assert other.freshness <= best.freshness + 1e-9
        elif goal == "fresh-harmonic":
            assert other.harmonic >= best.harmonic - 1e-9
        elif goal == "prompt":
            assert other.wait_s >= best.wait_s - 1e-6
        else:
            assert other.recall <= best.recall + 1e-9


@pytest.mark.parametrize("goal", GOALS)
def test_dearer_is_never_sooner_and_what_never_changes_waits_longest(goal: str) -> None:
    rate, weight = town(50)
    rate[0] = weight[1] = 0.0
    quote = KnownRates(goal=goal, rate_per_s=rate, weight=weight, min_gap_s=60.0, max_gap_s=1e9)
    prices = np.geomspace(1e-6, 1e12, 40)
    gaps = np.array([quote.gaps(price) for price in [0.0, *prices]])
    assert (np.diff(gaps, axis=0) >= 0).all()
    assert (gaps[:, :2] == 1e9).all()


@pytest.mark.parametrize("goal", GOALS)
def test_no_other_gaps_within_hosts_limits_are_better(goal: str) -> None:
    n, n_hosts = 240, 8
    rate, weight = town(n)
    rng = np.random.default_rng(5)
    host = rng.integers(0, n_hosts, n)
    most = np.array([1.0, 2.0, 3.0, 4.0, 100.0, 100.0, 100.0, 100.0])
    low, high = DAY_S, 900 * DAY_S
    best = optimum(
        rate, 60.0, goal=goal, weight=weight, min_gap_s=low, max_gap_s=high, host=host, host_per_day=most
    )
    often = DAY_S / best.gap_s
    assert often.sum() == pytest.approx(60.0, rel=1e-3)
    per_host = np.bincount(host, often, minlength=n_hosts)
    assert (per_host <= most * (1 + 1e-3)).all()
    assert per_host[:2] == pytest.approx(most[:2], rel=1e-3)  # and they are full
    value = {"fresh": "freshness", "fresh-harmonic": "harmonic", "prompt": "wait_s", "capture": "recall"}[
        goal
    ]
    sign = 1.0 if value in ("freshness", "recall") else -1.0
    n_tried = 0
    for _ in range(600):
        a, b = rng.choice(n, 2, replace=False)
        moved = 0.2 * rng.random() * often[a]
        changed = often.copy()
        changed[a] -= moved
        changed[b] += moved
        after = np.bincount(host, changed, minlength=n_hosts)
        if (after > per_host * (1 + 1e-9)).any() and (after > most).any():
            continue  # the host of b is full
        if DAY_S / changed[a] > high or DAY_S / changed[b] < low:
            continue
        n_tried += 1
        other = expected(rate, weight, DAY_S / changed)
        assert sign * getattr(other, value) <= sign * getattr(best, value) + 1e-6 * abs(getattr(best, value))
    assert n_tried > 100


def test_hosts_with_room_to_spare_change_nothing() -> None:
    rate, weight = town(200)
    free = optimum(rate, 50.0, weight=weight)
    held = optimum(rate, 50.0, weight=weight, host=np.arange(200) % 7, host_per_day=np.full(7, 1e6))
    assert free.gap_s == pytest.approx(held.gap_s, rel=1e-9)  # visits are added up in another order


@pytest.mark.parametrize("goal", GOALS)
def test_what_has_no_weight_takes_nothing_and_counts_for_nothing(goal: str) -> None:
    rate, weight = town(20)
    weight[3] = weight[7] = 0.0
    counts = weight > 0.0
    found = optimum(rate, 5.0, goal=goal, weight=weight)
    same = optimum(rate[counts], 5.0, goal=goal, weight=weight[counts])
    assert np.isinf(found.gap_s[[3, 7]]).all()
    assert found.gap_s[counts] == pytest.approx(same.gap_s, rel=1e-4)
    for what in ("freshness", "harmonic", "recall", "wait_s"):
        assert getattr(found, what) == pytest.approx(getattr(same, what), rel=1e-4)


def test_where_nothing_has_weight_there_is_no_average() -> None:
    found = optimum(np.full(3, 1.0 / DAY_S), 2.0, weight=np.zeros(3))
    assert np.isinf(found.gap_s).all()
    assert np.isnan([found.freshness, found.harmonic, found.recall, found.wait_s]).all()


@pytest.mark.parametrize("goal", GOALS)
def test_the_table_is_read_off_in_order(goal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anywhere in it takes several times as long as beside the place before: counted, not timed."""
    rate, weight = town(3_000)
    host = np.random.default_rng(2).integers(0, 10, 3_000)
    n_read = n_back = 0
    interp = np.interp

    def counting(x: np.ndarray, xp: np.ndarray, fp: np.ndarray, *, right: float) -> np.ndarray:
        nonlocal n_read, n_back
        n_read, n_back = n_read + len(x), n_back + int((np.diff(x) < 0.0).sum())
        return np.asarray(interp(x, xp, fp, right=right))

    monkeypatch.setattr(np, "interp", counting)
    optimum(rate, 600.0, goal=goal, weight=weight, host=host, host_per_day=np.linspace(5.0, 100.0, 10))
    assert n_read > 10_000
    assert n_back < n_read / 100


def test_the_mean_harmonic_number_of_a_poisson_count() -> None:
    x = np.geomspace(1e-5, 1e4, 500)
    assert ein(x) == pytest.approx(np.euler_gamma + np.log(x) + exp1(x), rel=1e-8)
    counts = np.random.default_rng(0).poisson(3.0, 100_000)
    harmonic = np.concatenate([[0], np.cumsum(1 / np.arange(1, counts.max() + 1))])
    assert ein(np.array([3.0]))[0] == pytest.approx(harmonic[counts].mean(), rel=0.01)


def test_a_goal_without_a_closed_form_is_refused() -> None:
    with pytest.raises(BadSettingError, match="capture"):
        optimum(np.ones(1), 1.0, goal="beauty")


def test_a_host_that_may_not_be_visited_is_refused() -> None:
    rate, host = np.full(4, 1 / DAY_S), np.array([0, 0, 1, 1])
    with pytest.raises(BadSettingError, match="leave its resources out"):
        optimum(rate, 2.0, host=host, host_per_day=np.array([0.0, 5.0]))
