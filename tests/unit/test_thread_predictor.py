"""The predictor of threads for the loop, against the contract and against whole threads fitted at once."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.checks import predictor as predictor_checks
from recrawl.checks.predictor import MakePredictor, sample_batch
from recrawl.learn.predictors.thread import Thread
from recrawl.learn.rhythms.signals import before_leaps_s
from recrawl.learn.threads.forecasts import SpokenForecasts
from recrawl.learn.threads.hawkes import DECAY
from recrawl.model import DAY_S, Floats, Seen
from recrawl.model.moments import unfolded


@pytest.mark.parametrize("check", predictor_checks.CHECKS)
def test_the_predictor_of_threads_keeps_the_contract(check: object) -> None:
    make: MakePredictor = Thread
    check(make)  # type: ignore[operator]


def first_look(ids: list[int], times: list[Floats], at: float) -> Seen:
    """First visits at one moment, each of which shows when all was said."""
    n = len(ids)
    seen = Seen(
        id=np.array(ids),
        since_at=np.full(n, np.nan),
        at=np.full(n, at),
        changed=np.full(n, -1, dtype=np.int8),
        event_at=np.full(n, np.nan),
    )
    return unfolded(seen, times)


def test_after_a_burst_the_next_post_is_near_and_after_a_long_silence_far() -> None:
    thread = Thread()
    burst = 1e9 + np.arange(30, dtype=np.float64) * 600.0
    thread.learn(first_look([1], [burst], float(burst[-1]) + 1.0))
    thread.learn(first_look([2], [burst], float(burst[-1]) + 200 * DAY_S))
    survival = thread.forecast(sample_batch(2), 2e9).survival(np.full(2, DAY_S))
    assert survival[0] < 0.3
    assert survival[1] > 0.9


def test_threads_teach_each_other_how_soon_posts_are_answered() -> None:
    rng = np.random.default_rng(1)
    times = [1e9 + np.cumsum(rng.exponential(900.0, 40)) for _ in range(20)]
    quick, slow = Thread(), Thread()
    quick.learn(first_look(list(range(10, 30)), times, 1e9 + DAY_S))
    slow.learn(
        first_look(list(range(10, 30)), [1e9 + 500.0 * (one - 1e9) for one in times], 1e9 + 300 * DAY_S)
    )
    n = [one.forecast(sample_batch(1), 2e9).n_expected(np.array([DAY_S]))[0] for one in (quick, slow)]
    assert n[0] > 3.0 * n[1]


def test_a_thread_livelier_than_expected_is_expected_to_stay_so() -> None:
    thread = Thread()
    times = 1e9 + np.arange(60, dtype=np.float64) * 7_200.0
    thread.learn(first_look([1], [times], float(times[-1])))
    told = thread.account(sample_batch(1), 2e9)
    lively = (20.0 + told["posts_lately"][0]) / (20.0 + told["posts_due"][0])
    assert told["liveliness"][0] == pytest.approx(lively)
    assert told["posts_lately"][0] == pytest.approx(9.0, rel=0.01)  # a tenth fades with every post


@pytest.mark.parametrize("counting", [False, True])
def test_before_a_telling_so_many_posts_are_due_that_the_telling_makes_up_the_rest(counting: bool) -> None:
    rng = np.random.default_rng(2)
    n = 200
    rate = rng.gamma(0.2, 1.0, (n, len(DECAY))) * DECAY * rng.lognormal(0.0, 2.0, (n, 1))
    a, b = rng.lognormal(0.0, 1.0, n), rng.lognormal(0.0, 1.0, n)
    one = SpokenForecasts(rate, a, b, rate, np.tile(DECAY, (n, 1)))
    own_s, q = np.geomspace(1.0, 1e9, n), rng.uniform(0.0, 0.99, n)
    found_s = one.before_leap_s(own_s, q, counting)
    assert (found_s >= 0.0).all()
    assert (found_s <= own_s).all()
    wanted = before_leaps_s(one.due(own_s), a, b, q, counting)
    assert one.due(found_s) == pytest.approx(wanted, rel=1e-6, abs=1e-9)
