from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import BadSettingError
from recrawl.model import DAY_S
from recrawl.simulate.processes import (
    Ageing,
    Bred,
    Bursty,
    Daily,
    Drifting,
    Dying,
    Given,
    Mixed,
    Never,
    Periodic,
    Poisson,
    Process,
    Switching,
    Weekly,
    week_of,
)

YEAR_S = 365 * DAY_S
MONDAY_AT = 4 * DAY_S  # 1970-01-05

EVERY_KIND: list[tuple[Process, float]] = [
    (Never(), 0.0),
    (Poisson(3.0), 3.0),
    (Periodic(6 * 3600.0, jitter_s=600.0), 4.0),
    (Daily(8.0, jitter_s=1800.0), 1.0),
    (Daily(8.0, jitter_s=1800.0, weekdays_only=True), 5 / 7),
    (Bursty(5.0, branching=0.7, decay_s=1800.0), 5.0),
    (Weekly(3.0), 3.0),
    (Bred(Weekly(2.0), branching=0.5, decay_s=1800.0), 4.0),
    (Switching(6.0, times=10.0, slow_s=4 * DAY_S, fast_s=DAY_S), 6.0),
]


@pytest.mark.parametrize(("process", "per_day"), EVERY_KIND)
def test_each_process_keeps_its_long_run_rate(process: Process, per_day: float) -> None:
    times_at = process.events(0.0, 20 * YEAR_S, np.random.default_rng(1))
    assert len(times_at) / (20 * 365) == pytest.approx(per_day, rel=0.03)


@pytest.mark.parametrize(("process", "per_day"), EVERY_KIND)
def test_windows_drawn_one_by_one_keep_the_rate_too(process: Process, per_day: float) -> None:
    rng = np.random.default_rng(2)
    n = sum(len(process.events(k * 7 * DAY_S, (k + 1) * 7 * DAY_S, rng)) for k in range(2000))
    assert n / (2000 * 7) == pytest.approx(per_day, rel=0.04)


@pytest.mark.parametrize("process", [process for process, _ in EVERY_KIND])
def test_the_same_seed_draws_the_same_sorted_times_inside_the_window(process: Process) -> None:
    start_at, end_at = 10.5 * DAY_S, 99.25 * DAY_S
    once = process.events(start_at, end_at, np.random.default_rng(7))
    again = process.events(start_at, end_at, np.random.default_rng(7))
    assert np.array_equal(once, again)
    assert once.dtype == np.float64
    assert np.all(np.diff(once) >= 0)
    assert np.all((once > start_at) & (once <= end_at))


@pytest.mark.parametrize("process", [Poisson(3.0), Bursty(3.0), Periodic(3600.0, 60.0), Daily(8.0, 60.0)])
def test_another_seed_draws_other_times(process: Process) -> None:
    one = process.events(0.0, 30 * DAY_S, np.random.default_rng(1))
    other = process.events(0.0, 30 * DAY_S, np.random.default_rng(2))
    assert not np.array_equal(one, other)


def test_whole_numbers_will_do_as_parameters() -> None:
    whole = Bursty(3, 0, 1800).events(0, 30 * 86_400, np.random.default_rng(1))
    assert np.array_equal(whole, Bursty(3.0, 0.0, 1800.0).events(0.0, 30 * DAY_S, np.random.default_rng(1)))
    assert len(Periodic(3600, 60).events(0, 86_400, np.random.default_rng(1))) == 24


def test_given_times_come_back_sorted_and_the_window_opens_after_its_start() -> None:
    assert Given((5.0, 1.0, 9.0)).events(1.0, 9.0, np.random.default_rng(0)).tolist() == [5.0, 9.0]


def test_daily_comes_within_its_jitter_and_keeps_weekends_free() -> None:
    times_at = Daily(6.0, jitter_s=900.0, weekdays_only=True).events(
        MONDAY_AT, MONDAY_AT + 700 * DAY_S, np.random.default_rng(3)
    )
    late_s = (times_at - MONDAY_AT) % DAY_S - 6 * 3600.0
    assert len(times_at) == 500
    assert np.all((late_s >= 0) & (late_s < 900.0))
    assert np.all((times_at - MONDAY_AT) // DAY_S % 7 < 5)


def test_bursty_counts_are_far_more_spread_than_poisson_counts() -> None:
    def spread(process: Process) -> float:
        times_at = process.events(0.0, 5 * YEAR_S, np.random.default_rng(4))
        per_day = np.histogram(times_at, bins=np.arange(0.0, 5 * YEAR_S + 1, DAY_S))[0]
        return float(per_day.var() / per_day.mean())

    assert spread(Poisson(5.0)) == pytest.approx(1.0, abs=0.15)
    # A Hawkes process's counts over windows much longer than a burst: 1 / (1 - branching)^2 = 11.1.
    assert spread(Bursty(5.0, branching=0.7, decay_s=900.0)) == pytest.approx(11.1, rel=0.2)


def test_bursts_under_way_when_a_window_opens_are_in_it() -> None:
    process, rng = Bursty(24.0, branching=0.8, decay_s=3600.0), np.random.default_rng(5)
    n = sum(len(process.events(k * 3600.0, (k + 1) * 3600.0, rng)) for k in range(8000))
    assert n / 8000 == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize(
    "impossible",
    [
        lambda: Poisson(-1.0),
        lambda: Bursty(1.0, branching=1.0),
        lambda: Periodic(0.0),
        lambda: Daily(24.0),
        lambda: Mixed(1.0, shape=0.0),
        lambda: Poisson(np.array([1.0, -1.0])),
        lambda: Weekly(1.0, (1.0,) * 24),
        lambda: Weekly(1.0, (0.0,) * 168),
        lambda: week_of([1.0] * 23),
        lambda: Drifting(1.0, spread_per_year=-0.1),
        lambda: Switching(1.0, times=0.0),
        lambda: Ageing(1.0, 0.0),
        lambda: Dying(Poisson(1.0), 0.0),
        lambda: Bred(Poisson(1.0), branching=1.0),
    ],
)
def test_an_impossible_process_is_refused_with_what_to_choose(impossible: type[Process]) -> None:
    with pytest.raises(BadSettingError, match="choose one"):
        impossible()
