"""What predictor `thread` learns of boards: their hours and days, and how soon posts are answered there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.test_thread_predictor import first_look

from recrawl.checks.predictor import sample_batch
from recrawl.contracts import Clocked
from recrawl.learn.predictors.thread import N_PLAIN, Thread
from recrawl.learn.threads.common import N_BOARDS, profile_of
from recrawl.learn.threads.profile import EVEN, real_at
from recrawl.learn.threads.spoken import Spoken
from recrawl.model import DAY_S, HOUR_S, Batch, Floats, Seen
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.index import Index

WEEK_S = 7 * DAY_S
BEGIN_AT = 2_000 * WEEK_S  # where weeks begin
OFFICE = np.where(
    (np.arange(168) % 24 >= 8) & (np.arange(168) % 24 < 18) & (np.arange(168) // 24 != 2), 1.0, 0.1
)
OFFICE = OFFICE / OFFICE.mean()


def talk(rng: np.random.Generator, n: int, mean_s: float, profile: Floats, n_posts: int = 40) -> list[Floats]:
    """Threads in which posts come evenly in a time that runs by the profile."""
    own = (
        BEGIN_AT + rng.uniform(0.0, WEEK_S, (n, 1)) + np.cumsum(rng.exponential(mean_s, (n, n_posts)), axis=1)
    )
    return [real_at(one, profile) for one in own]


def told_by(predictor: Thread, times: list[Floats], group: int, first_id: int = 1) -> None:
    ids = list(range(first_id, first_id + len(times)))
    end_at = max(float(one[-1]) for one in times) + 1.0
    seen = first_look(ids, times, end_at)
    predictor.learn(replace(seen, group=np.full(len(seen), group)))


def watched(group: int, since_at: float, id_: int = 900) -> Batch:
    return replace(
        sample_batch(1),
        id=np.array([id_]),
        since_at=np.array([since_at]),
        group=np.array([group]),
        weight=np.ones(1),
    )


def spoken(predictor: Thread, batch: Batch) -> Spoken:
    made = predictor.forecast(batch, 2e9)
    assert isinstance(made, Spoken)
    return made


def test_hours_and_days_are_learned_from_posts() -> None:
    thread = Thread()
    told_by(thread, talk(np.random.default_rng(1), 60, 6 * HOUR_S, OFFICE), 3)
    found = profile_of(thread.lore(), 1 + 3)
    assert np.corrcoef(found, OFFICE)[0, 1] > 0.95
    assert thread.account(watched(3, BEGIN_AT), BEGIN_AT)["calendar_belief"][0] > 0.99
    morning, evening = BEGIN_AT + 8 * HOUR_S, BEGIN_AT + 18 * HOUR_S
    ten_hours = np.array([10 * HOUR_S])
    by_day = spoken(thread, watched(3, morning)).n_expected(ten_hours)[0]
    by_night = spoken(thread, watched(3, evening)).n_expected(ten_hours)[0]
    assert by_day > 4.0 * by_night
    assert by_day + by_night == pytest.approx(
        spoken(thread, watched(3, morning)).n_expected(np.array([20 * HOUR_S]))[0], rel=0.3
    )


def test_where_hours_foretell_nothing_the_week_stays_even() -> None:
    thread = Thread()
    told_by(thread, talk(np.random.default_rng(1), 60, 6 * HOUR_S, EVEN), 3)
    told = thread.account(watched(3, BEGIN_AT), BEGIN_AT)
    assert told["calendar_belief"][0] < 0.3
    assert spoken(thread, watched(3, BEGIN_AT)).own_s(np.array([HOUR_S]))[0] == pytest.approx(
        HOUR_S, rel=0.05
    )


def test_bursts_are_taken_for_answers_and_not_for_hours() -> None:
    """A few threads that were spoken in for some hours of one day: counts have hours, exchanges have not."""
    rng, thread = np.random.default_rng(2), Thread()
    times = [BEGIN_AT + 9 * HOUR_S + np.cumsum(rng.exponential(300.0, 40)) for _ in range(3)]
    told_by(thread, times, 3)
    assert profile_of(thread.lore(), 1 + 3).max() > 3.0
    assert thread.account(watched(3, BEGIN_AT), BEGIN_AT)["calendar_belief"][0] < 0.5


def test_boards_differ_and_a_new_one_is_taken_for_what_all_are() -> None:
    rng, thread = np.random.default_rng(1), Thread()
    told_by(thread, talk(rng, 30, 600.0, EVEN), 3, 1)
    told_by(thread, talk(rng, 30, 5 * DAY_S, EVEN), 4, 101)
    n = [spoken(thread, watched(group, BEGIN_AT)).n_expected(np.array([DAY_S]))[0] for group in (3, 4, 5, 0)]
    assert n[0] > 10.0 * n[1]
    assert n[1] < n[2] < n[0]
    assert n[2] == pytest.approx(n[3], rel=0.01)


def test_lore_is_no_larger_for_many_hosts() -> None:
    thread = Thread()
    size = thread.lore().size
    for group in (1, 70_000, 100_000):
        told_by(thread, talk(np.random.default_rng(group), 1, 600.0, EVEN), group, group)
    assert thread.lore().size == size
    assert (thread.lore().sum(axis=1) > 0.0).sum() == 4
    assert size < 100 * (1 + N_BOARDS)


def told_of(batch: Batch, after_s: float, by: int = 7) -> Batch:
    return replace(batch, told_at=batch.since_at + after_s, told_by=np.array([by]))


def test_what_a_board_tells_brings_the_visit_forward() -> None:
    thread = Thread()
    told_by(thread, talk(np.random.default_rng(1), 30, 5 * DAY_S, EVEN), 3)
    batch, policy = replace(watched(3, BEGIN_AT), min_gap_s=np.array([300.0])), Index(Prompt())
    heard = told_of(batch, HOUR_S)
    now = BEGIN_AT + 2 * HOUR_S
    untold, told = thread.forecast(batch, now), thread.forecast(heard, now)
    assert isinstance(told, Clocked)
    price = 2e5
    usual_s = policy.quote(batch, untold).gaps(price)[0]
    assert usual_s > DAY_S
    assert policy.quote(heard, told).gaps(price)[0] == pytest.approx(HOUR_S)
    t_s, q = np.array([[0.5], [1.5]]) * HOUR_S, thread.account(heard, now)["signal_belief"][0]
    assert 0.5 < q < 1.0
    assert np.allclose(told.survival(t_s)[:, 0], untold.survival(t_s)[:, 0] * [1.0, 1.0 - q])
    assert np.allclose(told.n_expected(t_s)[:, 0], untold.n_expected(t_s)[:, 0] + [0.0, q])
    before = thread.forecast(heard, BEGIN_AT + HOUR_S / 2)  # nobody knows of it yet
    assert policy.quote(heard, before).gaps(price)[0] == pytest.approx(usual_s)


def visits_told(n: int, by: int, right: bool) -> Seen:
    """Threads that were looked at an hour before, and told of since; somebody spoke in them, or not."""
    at = BEGIN_AT + DAY_S * np.arange(1.0, n + 1.0)
    return Seen(
        id=100 * by + np.arange(n),
        since_at=at - HOUR_S,
        at=at,
        changed=np.full(n, right, dtype=np.int8),
        event_at=np.full(n, np.nan),
        told_at=at - 60.0,
        told_by=np.full(n, by),
    )


def test_tellers_are_believed_by_the_visits_that_follow_also_by_whoever_overhears_them() -> None:
    learned, heard = Thread(), Thread()
    lore = heard.lore()
    for by, right in ((7, True), (8, False)):
        learned.learn(visits_told(20, by, right))
        heard.overhear(visits_told(20, by, right))
    assert learned.lore().any()
    assert np.array_equal(heard.lore(), lore)
    assert not heard.knows(np.array([700, 800])).any()
    for thread in (learned, heard):
        new = watched(0, BEGIN_AT)
        q = [thread.account(told_of(new, HOUR_S, by), 2e9)["signal_belief"][0] for by in (7, 8)]
        assert q[0] > 0.7
        assert q[1] < 0.25


@pytest.mark.parametrize("n", [6, 200])  # by plain Python, and compiled
def test_a_restart_and_learning_anew_give_the_same_forecasts(n: int) -> None:
    times = talk(np.random.default_rng(3), n, 6 * HOUR_S, OFFICE)
    lived, anew = Thread(), Thread()
    told_by(lived, times, 3)
    assert (n * 40 > N_PLAIN) == (n == 200)
    restarted = Thread()
    restarted.take_lore(lived.lore())
    ids = np.arange(1, n + 1)
    restarted.recall(ids, lived.memory(ids))
    told_by(anew, times, 3)
    batch = replace(sample_batch(n), group=np.full(n, 3), since_at=lived.memory(ids)[:, 4])
    t_s = np.geomspace(60.0, 100 * DAY_S, 9)[:, None] * np.ones(n)
    expected = lived.forecast(batch, 2e9).n_expected(t_s)
    for other in (restarted, anew):
        assert np.array_equal(other.forecast(batch, 2e9).n_expected(t_s), expected)


def test_integrals_go_by_the_hours() -> None:
    thread = Thread()
    told_by(thread, talk(np.random.default_rng(1), 60, 6 * HOUR_S, OFFICE), 3)
    forecasts = spoken(thread, watched(3, BEGIN_AT + 15.5 * HOUR_S, 5))
    for end_s in (600.0, DAY_S, 40 * DAY_S):
        edges = np.linspace(0.0, end_s, 40_001)
        middle = (edges[1:] + edges[:-1])[:, None] / 2.0
        for curve, integral in (
            (forecasts.survival, forecasts.survival_integral),
            (forecasts.n_expected, forecasts.n_expected_integral),
        ):
            assert integral(np.array([end_s]))[0] == pytest.approx(curve(middle).mean() * end_s, rel=1e-4)
