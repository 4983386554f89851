from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recrawl.model import DAY_S, HOUR_S, Floats
from recrawl.simulate.processes import (
    Ageing,
    Bred,
    Bursty,
    Clocked,
    Daily,
    Drawn,
    Drifting,
    Dying,
    Given,
    Law,
    Mixed,
    Never,
    Periodic,
    Poisson,
    Rated,
    Switching,
    Weekly,
    week_of,
    working_hours,
)

YEAR_S = 365.25 * DAY_S
MONDAY_AT = 4 * DAY_S
SPAN_S = 40 * DAY_S

LAWS: dict[str, Law] = {
    "never": Never(),
    "given": Given((5 * DAY_S, 2 * DAY_S)),
    "poisson": Poisson(0.5),
    "mixed": Mixed(0.5, shape=0.7),
    "periodic": Periodic(DAY_S, HOUR_S, phase_s=None, drift_s=600.0),
    "daily": Daily(7.0, HOUR_S, weekdays_only=True),
    "weekly": Weekly(0.5),
    "clocked": Clocked(Bred(Ageing(1.0, 5 * DAY_S), 0.4, HOUR_S)),
    "bursty": Bursty(0.5, 0.6, HOUR_S),
    "bred": Bred(Ageing(1.0, 5 * DAY_S), 0.4, HOUR_S),
    "drifting": Drifting(0.5, spread_per_year=2.0),
    "switching": Switching(0.5, times=20.0, slow_s=8 * DAY_S, fast_s=2 * DAY_S),
    "ageing": Ageing(2.0, 4 * DAY_S),
    "dying": Dying(Poisson(0.5), 20 * DAY_S),
}
RATED: dict[str, Rated] = {
    "poisson": Poisson(1.0),
    "mixed": Mixed(1.0, shape=50.0),
    "periodic": Periodic(DAY_S, phase_s=None),
    "weekly": Weekly(1.0),
    "clocked": Clocked(Bursty(1.0, 0.5, 600.0)),
    "bursty": Bursty(1.0, 0.5, 600.0),
    "bred": Bred(Weekly(1.0), 0.5, 600.0),
    "drifting": Drifting(1.0, spread_per_year=0.1),
    "switching": Switching(1.0, times=3.0, slow_s=2 * DAY_S, fast_s=DAY_S),
    "dying": Dying(Poisson(1.0), 1000 * YEAR_S),
}


def drawn(law: Law, n: int, span_s: float = SPAN_S, seed: int = 1) -> Drawn:
    return law.draw(np.zeros(n), np.full(n, span_s), np.random.default_rng(seed))


def counts(law: Law, n: int, span_s: float) -> Floats:
    return np.diff(drawn(law, n, span_s)[0]).astype(np.float64)


@pytest.mark.parametrize("name", LAWS)
def test_each_row_lies_sorted_in_its_own_window(name: str) -> None:
    start_at = np.array([0.0, 3.0, 10.0, 10.0, 0.0]) * DAY_S
    end_at = np.array([20.0, 9.0, 10.0, 4.0, 60.0]) * DAY_S  # one is empty and one ends before it starts
    bounds, at = LAWS[name].draw(start_at, end_at, np.random.default_rng(3))
    assert len(bounds) == 6
    assert bounds[0] == 0
    assert bounds[-1] == len(at)
    assert bounds[2] == bounds[4]
    for i in range(5):
        own = at[bounds[i] : bounds[i + 1]]
        assert np.all((own > start_at[i]) & (own <= end_at[i]))
        assert np.all(np.diff(own) >= 0)


@pytest.mark.parametrize("name", LAWS)
def test_no_resources_at_all_are_no_events(name: str) -> None:
    bounds, at = LAWS[name].draw(np.zeros(0), np.zeros(0), np.random.default_rng(3))
    assert bounds.tolist() == [0]
    assert len(at) == 0


@pytest.mark.parametrize("name", [name for name in LAWS if name not in ("never", "given", "daily")])
def test_one_resource_at_a_time_follows_the_same_law_as_many(name: str) -> None:
    law = LAWS[name]
    bounds, at = drawn(law, 2000)
    rng = np.random.default_rng(2)
    singles = [law.events(0.0, SPAN_S, rng) for _ in range(500)]
    if name != "periodic":
        assert stats.ks_2samp(np.diff(bounds), [len(one) for one in singles]).pvalue > 0.001
    firsts = at[bounds[:-1][np.diff(bounds) > 0]]
    assert stats.ks_2samp(firsts, [one[0] for one in singles if len(one)]).pvalue > 0.001
    lasts = at[bounds[1:][np.diff(bounds) > 0] - 1]
    assert stats.ks_2samp(lasts, [one[-1] for one in singles if len(one)]).pvalue > 0.001


@pytest.mark.parametrize("name", RATED)
def test_each_resource_changes_at_the_rate_of_its_own(name: str) -> None:
    per_day = np.repeat([0.05, 0.4, 3.0], 400)
    bounds, _ = (
        RATED[name]
        .at_rates(per_day)
        .draw(np.zeros(1200), np.full(1200, 100 * DAY_S), np.random.default_rng(5))
    )
    found = np.diff(bounds).reshape(3, 400).mean(axis=1) / 100
    assert found == pytest.approx([0.05, 0.4, 3.0], rel=0.1)


def test_columns_of_other_parameters_hold_row_by_row() -> None:
    decay_s = np.repeat([60.0, 20 * HOUR_S], 300)
    bounds, at = Bursty(0.5, np.repeat([0.5, 0.5], 300), decay_s).draw(
        np.zeros(600), np.full(600, SPAN_S), np.random.default_rng(6)
    )
    quick = np.diff(at[: bounds[300]])
    slow = np.diff(at[bounds[300] :])
    assert np.mean(quick[quick > 0] < 300) > 0.4
    assert np.mean(slow[slow > 0] < 300) < 0.05


def test_the_same_seed_draws_the_same_columns_and_another_one_others() -> None:
    for law in (LAWS["bursty"], LAWS["switching"], LAWS["drifting"]):
        assert np.array_equal(drawn(law, 50)[1], drawn(law, 50)[1])
        assert not np.array_equal(drawn(law, 50)[1][:20], drawn(law, 50, seed=2)[1][:20])


def test_gamma_mixed_counts_are_negative_binomial() -> None:
    n = counts(Mixed(0.5, shape=0.7), 20_000, SPAN_S)
    assert n.mean() == pytest.approx(20.0, rel=0.03)
    assert n.var() == pytest.approx(20 + 400 / 0.7, rel=0.06)


def test_poisson_and_bursty_counts_vary_as_their_laws_say() -> None:
    plain = counts(Poisson(0.5), 20_000, SPAN_S)
    assert plain.var() / plain.mean() == pytest.approx(1.0, rel=0.04)
    bursts = counts(Bursty(0.5, 0.6, 600.0), 20_000, SPAN_S)
    assert bursts.mean() == pytest.approx(20.0, rel=0.03)
    assert bursts.var() / bursts.mean() == pytest.approx(1 / (1 - 0.6) ** 2, rel=0.06)


def test_a_weekly_profile_is_found_again_in_local_time() -> None:
    profile = working_hours(first=8, last=18, night=0.2, weekend=0.3)
    zone_s = np.where(np.arange(2000) < 1000, 0.0, -5 * HOUR_S)
    end_at = np.full(2000, MONDAY_AT + 20 * 7 * DAY_S)
    bounds, at = Weekly(4.0, profile, zone_s).draw(np.full(2000, MONDAY_AT), end_at, np.random.default_rng(7))
    local_s = at + np.repeat(zone_s, np.diff(bounds)) - MONDAY_AT
    found = np.bincount((local_s // HOUR_S % 168).astype(np.int64), minlength=168)
    expected = np.array(profile) / sum(profile) * len(at)
    assert len(at) == pytest.approx(2000 * 4 * 140, rel=0.01)
    assert np.max(np.abs(found / expected - 1)) < 0.1
    west_s = at[bounds[1000] :] - MONDAY_AT
    at_nine = np.bincount((west_s // HOUR_S % 24).astype(np.int64), minlength=24)
    assert at_nine[9] < at_nine[14] / 2  # nine in the morning in London is the middle of the night there


def test_the_week_of_a_day_keeps_its_weekends_apart() -> None:
    week = week_of([float(hour) for hour in range(24)], weekend=0.5)
    assert week[:24] == week[96:120] == tuple(float(hour) for hour in range(24))
    assert week[120:144] == week[144:] == tuple(hour / 2 for hour in range(24))


def test_a_drifting_clock_loses_its_phase_and_a_steady_one_keeps_it() -> None:
    def phases(drift_s: float) -> Floats:
        bounds, at = drawn(Periodic(DAY_S, drift_s=drift_s), 500, 400 * DAY_S)
        return (at[bounds[1:] - 1] + DAY_S / 2) % DAY_S - DAY_S / 2

    assert np.max(np.abs(phases(0.0))) == 0
    # The last of 400 rounds has gone the way of 400 steps.
    assert phases(300.0).std() == pytest.approx(300 * 20, rel=0.1)
    bounds, at = drawn(Periodic(DAY_S, drift_s=300.0), 500, 400 * DAY_S)
    inner = np.diff(at)[np.diff(at) > 0]
    assert inner.std() == pytest.approx(300, rel=0.05)
    assert np.diff(bounds).mean() == pytest.approx(400, rel=0.01)


def test_random_phases_are_spread_over_the_period() -> None:
    bounds, at = drawn(Periodic(DAY_S, phase_s=None), 2000, 3 * DAY_S)
    assert np.all(np.diff(bounds) == 3)
    assert stats.kstest(at[bounds[:-1]] / DAY_S, "uniform").pvalue > 0.001


def test_a_drifting_rate_keeps_its_mean_and_spreads_with_time() -> None:
    bounds, at = drawn(Drifting(10.0, spread_per_year=0.7), 1500, YEAR_S)
    row = np.repeat(np.arange(1500), np.diff(bounds))
    late = np.bincount(row[at > YEAR_S - 14 * DAY_S], minlength=1500) / 14
    assert late.mean() == pytest.approx(10.0, rel=0.06)
    assert np.log(late).var() == pytest.approx(0.7**2, rel=0.12)
    early = np.bincount(row[at <= 7 * DAY_S], minlength=1500)
    assert early.var() / early.mean() == pytest.approx(1.0, rel=0.12)


def test_switching_counts_vary_as_two_rates_in_turn_do() -> None:
    law = Switching(2.0, times=9.0, slow_s=6 * DAY_S, fast_s=2 * DAY_S)
    n = counts(law, 4000, 400 * DAY_S)
    slow, fast, p_fast, memory_days = 2 / 3, 6.0, 0.25, 1 / (1 / 6 + 1 / 2)
    extra = 2 * (fast - slow) ** 2 * p_fast * (1 - p_fast) * memory_days / 2.0
    assert n.mean() == pytest.approx(800, rel=0.02)
    assert n.var() / n.mean() == pytest.approx(1 + extra, rel=0.1)


def test_an_ageing_process_fades_at_its_pace() -> None:
    bounds, at = drawn(Ageing(3.0, 4 * DAY_S), 5000, 400 * DAY_S)
    assert len(at) / 5000 == pytest.approx(12.0, rel=0.02)
    assert stats.kstest(at / (4 * DAY_S), "expon").pvalue > 0.001
    cut = drawn(Ageing(3.0, 4 * DAY_S), 5000, 4 * DAY_S)[1]
    assert len(cut) / 5000 == pytest.approx(12 * (1 - np.exp(-1)), rel=0.02)
    assert bounds[-1] == len(at)


def test_the_dead_change_no_more() -> None:
    bounds, at = drawn(Dying(Periodic(HOUR_S), 5 * DAY_S), 4000, 400 * DAY_S)
    ages_s = np.diff(bounds) * HOUR_S  # an event every hour until the end
    assert stats.kstest((ages_s + HOUR_S / 2) / (5 * DAY_S), "expon").pvalue > 0.001
    assert np.max(np.diff(at)[np.diff(at) > 0]) == HOUR_S


def test_bursts_of_a_life_begin_with_the_birth() -> None:
    bounds, at = drawn(Bred(Ageing(2.0, 4 * DAY_S), 0.5, HOUR_S), 5000, 400 * DAY_S)
    assert len(at) / 5000 == pytest.approx(8.0 / 0.5, rel=0.03)
    first = at[bounds[:-1][np.diff(bounds) > 0]]
    assert np.mean(first < DAY_S / 2) == pytest.approx(1 - np.exp(-2 * 4 * (1 - np.exp(-1 / 8))), abs=0.03)
