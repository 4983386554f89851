"""Visits at a price: by curves around predicted gaps, by goal capture, and aiming at an error; and how sure
the figures are."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.evaluate.tan.aiming import aimed, lives_s, posts_to_come
from recrawl.evaluate.tan.catching import caught
from recrawl.evaluate.tan.curved import curved
from recrawl.evaluate.tan.foreseen import mean_gaps_s, median_gaps_s
from recrawl.evaluate.tan.measures import Watched
from recrawl.evaluate.tan.paired import lower_by, mean
from recrawl.evaluate.tan.pricing import priced
from recrawl.evaluate.tan.rates import paced
from recrawl.evaluate.tan.speaking import Mind, minded
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.curves import N_CELLS, CurveForecasts
from recrawl.learn.threads.fitting import by_board, fitted
from recrawl.learn.threads.hawkes import DECAY, GRID_S, Hawkes
from recrawl.learn.threads.profile import EVEN, own_at
from recrawl.model import DAY_S, Floats, Ints

HOUR_S = 3_600.0


def threads_of(posts: list[Floats]) -> Threads:
    bounds = np.concatenate([[0], np.cumsum([len(one) for one in posts])])
    at = np.concatenate(posts)
    return Threads(bounds, at, np.full(len(at), -1), None, np.zeros(len(posts), dtype=np.int64))


@pytest.fixture(scope="module")
def board() -> tuple[Threads, Ints]:
    rng = np.random.default_rng(3)
    gaps = [np.exp(rng.normal(0.0, 2.0, 40)) * HOUR_S * np.exp(rng.normal()) for _ in range(12)]
    threads = threads_of([1e9 + np.concatenate([[0.0], np.cumsum(one)]) for one in gaps])
    return threads, np.full(threads.n, 30)


@pytest.fixture(scope="module")
def mind(board: tuple[Threads, Ints]) -> Mind:
    threads, _ = board
    return minded(threads, [fitted(threads)], np.zeros(threads.n, dtype=np.int64))


def quiet_thread() -> tuple[Threads, Ints]:
    """Somebody speaks twice, and once more a year later."""
    return threads_of([np.array([0.0, HOUR_S, 365 * DAY_S])]), np.array([2])


def waits_s(found: Watched, since_at: float) -> Floats:
    return np.diff(found.visit_at, prepend=since_at)


def test_by_a_curve_a_visit_is_due_when_it_is_worth_the_price() -> None:
    threads, n_train = quiet_thread()
    hazard = np.exp(np.random.default_rng(1).normal(0.0, 0.7, (1, N_CELLS)))
    gap_s, price = np.full(3, 7 * HOUR_S), 2 * DAY_S
    found = curved(threads, n_train, gap_s, hazard, price)
    quiet_s = np.concatenate([[0.0], found.visit_at[:-1] - HOUR_S])
    assert len(quiet_s) > 5
    for quiet, t in zip(quiet_s, waits_s(found, HOUR_S), strict=True):
        one = CurveForecasts(hazard, gap_s[:1], np.array([quiet]))
        at = np.array([t])
        worth = at * one.n_expected(at) - one.n_expected_integral(at)
        assert worth[0] == pytest.approx(price, rel=1e-4)


def test_in_a_thread_without_an_end_visits_are_to_find_something() -> None:
    """The survival, worked out by summing up: the liveliness is Gamma distributed about what is known."""
    threads, n_train = quiet_thread()
    weight, shape = np.full(len(DECAY), 0.08), 2.0
    known = minded(threads, [Hawkes(weight, weight, shape, EVEN)], np.zeros(1, dtype=np.int64))
    found = caught(threads, n_train, known, np.array([np.inf]), 10.0, 0.3)
    assert len(found.visit_at) == 3
    since_s = np.concatenate([[0.0], found.visit_at[:-1] - HOUR_S])
    for since, t in zip(since_s, waits_s(found, HOUR_S), strict=True):
        left = known.rate[1] * np.exp(-DECAY * since)
        due = known.due[1] + (known.rate[1] / DECAY * -np.expm1(-DECAY * since)).sum()
        total = (left / DECAY * -np.expm1(-DECAY * t)).sum()
        alive = ((shape + due) / (shape + due + total)) ** (shape + known.said[1])
        slope = -alive * (shape + known.said[1]) / (shape + due + total) * (left * np.exp(-DECAY * t)).sum()
        assert 1.0 - alive + t * slope == pytest.approx(0.3, rel=3e-3)


def test_the_dearer_the_fewer_visits(board: tuple[Threads, Ints], mind: Mind) -> None:
    threads, n_train = board
    life_s = lives_s(threads, n_train, 0.75)
    for few, many in [
        (
            caught(threads, n_train, mind, life_s, 10.0, 0.6),
            caught(threads, n_train, mind, life_s, 10.0, 0.2),
        ),
        (aimed(threads, n_train, mind, life_s, 10.0, 50.0), aimed(threads, n_train, mind, life_s, 10.0, 2.0)),
        (aimed(threads, n_train, mind, life_s, 10.0, 1.0), aimed(threads, n_train, mind, life_s, 10.0, 0.1)),
    ]:
        assert 0 < few.n_visits.sum() < many.n_visits.sum()
        assert (few.visit_at <= np.repeat(few.end_at, few.n_visits)).all()


def test_more_visits_find_something_than_at_a_fixed_rate(board: tuple[Threads, Ints], mind: Mind) -> None:
    threads, n_train = board
    n_visits, life_s = 120.0, np.full(threads.n, np.inf)
    ours = priced(lambda price: caught(threads, n_train, mind, life_s, 10.0, price), n_visits, 0.5)
    even = priced(lambda gap_s: paced(threads, n_train, gap_s), n_visits, DAY_S)
    assert ours.n_visits.sum() <= even.n_visits.sum()
    assert _n_telling(ours) > 1.1 * _n_telling(even)


def _n_telling(found: Watched) -> int:
    """Visits that find a post."""
    n = 0
    for row in range(found.n):
        posts = found.at[found.bounds[row] : found.bounds[row + 1]]
        visits = found.visit_at[found.visit_bounds[row] : found.visit_bounds[row + 1]]
        n += len(np.unique(np.searchsorted(visits, posts[posts <= visits[-1]]))) if len(visits) else 0
    return n


def test_the_shorter_a_thread_lives_the_more_its_delays_count() -> None:
    """A day or ten years, and hardly a post to come: the price is met sooner in the one that ends."""
    threads, n_train = quiet_thread()
    weight = np.full(len(DECAY), 0.08)
    known = minded(threads, [Hawkes(weight, weight, 2.0, EVEN)], np.zeros(1, dtype=np.int64))
    short, long = (
        caught(threads, n_train, known, np.array([days * DAY_S]), 0.1, 0.3) for days in (1.0, 3_650.0)
    )
    assert short.n_visits.sum() > long.n_visits.sum() >= 3


def test_a_thread_lives_on_as_long_for_its_age_as_threads_did_before() -> None:
    """Posts in even steps: after six of eight a thread is five steps old and lives for two more, so after
    eight, at seven steps, 2.8 are likely."""
    steps_s = np.array([600.0, 3_000.0, 60_000.0])
    threads = threads_of([np.arange(11) * step for step in steps_s])
    assert lives_s(threads, np.full(3, 8), 0.75) == pytest.approx(2.8 * steps_s)


def test_posts_to_come_are_those_of_the_last_part_of_what_is_known() -> None:
    """After six of eight there were two more, after nine of twelve three."""
    assert posts_to_come(np.array([8, 12]), 0.75) == 2.5


def test_how_many_posts_are_known_says_nothing_about_how_many_will_come() -> None:
    """Two threads of which the same is expected, but one is longer: its visits are no rarer for that. In the
    experiment the number of known posts tells exactly how many are to come."""
    posts: Floats = 1e9 + np.arange(41.0) * HOUR_S
    threads, n_train = threads_of([posts, posts[20:]]), np.array([30, 10])
    weight = np.full(len(DECAY), 0.1)
    known = minded(threads, [Hawkes(weight, weight, 2.0, EVEN)], np.zeros(2, dtype=np.int64))
    long = np.arange(41)
    alike = np.concatenate([long, long[20:]])  # each post of the shorter one is as its twin
    known = known._replace(rate=known.rate[alike], said=known.said[alike], due=known.due[alike])
    life_s, n_posts = np.full(2, DAY_S), posts_to_come(n_train, 0.75)
    for found in (
        aimed(threads, n_train, known, life_s, n_posts, 0.5),
        caught(threads, n_train, known, life_s, n_posts, 0.3),
    ):
        visits = np.split(found.visit_at, found.visit_bounds[1:-1])
        assert len(visits[0]) > 0
        assert np.array_equal(visits[0], visits[1])


def test_the_gap_that_is_foreseen_is_as_likely_as_not_to_be_longer() -> None:
    """Summed up as above; in a busy week's own time, and where all threads are alike too."""
    threads, _ = quiet_thread()
    weight = np.full(len(DECAY), 0.3)
    busy = np.where(np.arange(len(EVEN)) % 24 < 12, 1.5, 0.5)
    for shape in (2.0, np.inf):
        known = minded(threads, [Hawkes(weight, weight, shape, busy)], np.zeros(1, dtype=np.int64))
        gap_s = median_gaps_s(threads, known)
        t = own_at(threads.at + gap_s, busy) - known.own
        total = (known.rate / DECAY * -np.expm1(-DECAY * t[:, None])).sum(axis=1)
        before = shape + known.due
        alive = np.exp(-total) if shape == np.inf else (before / (before + total)) ** (shape + known.said)
        assert alive == pytest.approx(0.5, rel=1e-4)


def test_the_gap_that_is_foreseen_goes_by_posts_so_far(board: tuple[Threads, Ints]) -> None:
    threads, n_train = board
    later = threads_of(
        [
            np.concatenate([posts[:n], posts[n:] + DAY_S])
            for n, i in zip(n_train, range(threads.n), strict=True)
            for posts in [threads.at[threads.bounds[i] : threads.bounds[i + 1]]]
        ]
    )
    known = threads.place < np.repeat(n_train, threads.n_posts)
    found = []
    for one in (threads, later):
        mind = minded(one, *by_board(one.first(n_train)))
        found.append(np.array([median_gaps_s(one, mind), mean_gaps_s(one)])[:, known])
    assert np.array_equal(found[0], found[1])


def test_a_thread_that_is_likely_to_stay_silent_has_the_longest_gap() -> None:
    threads, _ = quiet_thread()
    weight = np.full(len(DECAY), 1e-3)
    known = minded(threads, [Hawkes(weight, weight, np.inf, EVEN)], np.zeros(1, dtype=np.int64))
    assert median_gaps_s(threads, known) == pytest.approx(GRID_S[-1])


def test_at_the_rate_so_far_gaps_are_the_age_over_the_posts() -> None:
    threads, _ = quiet_thread()
    assert mean_gaps_s(threads).tolist() == [60.0, HOUR_S / 2.0, 365 * DAY_S / 3.0]


def test_the_fewer_visits_the_more_of_them_go_to_threads_that_will_not_live_long() -> None:
    """Two threads that are alike, but that one is expected to live on for longer."""
    posts: Floats = 1e9 + np.arange(41.0) * HOUR_S
    threads, n_train = threads_of([posts, posts]), np.array([30, 30])
    weight = np.full(len(DECAY), 0.1)
    known = minded(threads, [Hawkes(weight, weight, 2.0, EVEN)], np.zeros(2, dtype=np.int64))
    life_s = np.array([1.0, 9.0]) * DAY_S
    cheap = aimed(threads, n_train, known, life_s, 10.0, 0.5).n_visits
    dear = aimed(threads, n_train, known, life_s, 10.0, 4.0).n_visits
    assert cheap[0] == cheap[1] > dear[0] > dear[1]


def test_the_price_is_found_at_which_there_are_as_many_visits_as_are_asked_for(
    board: tuple[Threads, Ints],
) -> None:
    threads, n_train = board
    for n_visits in (60.0, 1_000.0):
        found = priced(lambda gap_s: paced(threads, n_train, gap_s), n_visits, 1.0)
        assert found.n_visits.sum() == pytest.approx(n_visits, rel=0.02)


def test_more_visits_than_there_can_be_are_as_many_as_there_can_be() -> None:
    """Somebody who makes two visits at most, whatever they cost."""

    def run(price: float) -> Watched:
        n = 2 if price < 1.0 else 0
        end_at = np.array([9.0])
        return Watched(
            start_at=np.zeros(1), end_at=end_at, bounds=np.array([0, 1]), at=end_at,
            visit_bounds=np.array([0, n]), visit_at=np.arange(1.0, n + 1.0),
        )  # fmt: skip

    assert priced(run, 5.0).n_visits.sum() == 2
    assert priced(run, 1.9).n_visits.sum() == 2
    assert priced(run, 0.0, 0.1).n_visits.sum() == 0


def test_a_mean_leaves_out_threads_without_the_figure() -> None:
    found = mean(np.array([1.0, np.nan, 3.0] * 20), seed=1)
    assert found.value == 2.0
    assert 1.6 < found.low < 2.0 < found.high < 2.4


def test_differences_are_taken_on_the_same_threads() -> None:
    """Half of it in every thread, so there is no doubt about it, however unlike the threads are."""
    other = np.exp(np.random.default_rng(2).normal(0.0, 3.0, 30))
    found = lower_by(other / 2.0, other, seed=1)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0.5, 0.5))
    assert found.above is True
    assert lower_by(np.array([1.0, np.nan]), np.array([2.0, 5.0]), seed=1).value == 0.5
    mixed = lower_by(np.array([0.0, 4.0] * 10), np.array([2.0, 2.0] * 10), seed=1)
    assert mixed.above is None
