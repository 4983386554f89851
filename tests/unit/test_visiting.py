"""Visits at a price: by the rate so far, by the self-exciting model, and by one who knows all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from recrawl.evaluate.tan.measures import Watched, delays_s
from recrawl.evaluate.tan.omniscient import omniscient
from recrawl.evaluate.tan.pricing import priced
from recrawl.evaluate.tan.rates import rooted
from recrawl.evaluate.tan.speaking import Mind, minded, spoken
from recrawl.evaluate.tan.visiting import watched
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.fitting import by_board, fitted
from recrawl.learn.threads.hawkes import DECAY, GRID_S, Hawkes, excited
from recrawl.learn.threads.profile import EVEN, own_at, real_at
from recrawl.model import DAY_S, Floats, Ints

START_AT = 1_000 * 7 * DAY_S


def threads_of(times: list[Floats]) -> Threads:
    n = [len(one) for one in times]
    bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    nobody, board = np.zeros(sum(n), dtype=np.int64), np.zeros(len(n), dtype=np.int64)
    return Threads(bounds, np.concatenate(times), nobody, None, board)


def talk(n: int, seed: int, n_posts: int = 40) -> Threads:
    """Quick answers follow quick ones, and silences of weeks are followed by others."""
    rng = np.random.default_rng(seed)
    times = []
    for _ in range(n):
        pace, gap_s = rng.normal(0.0, 1.5), np.empty(n_posts)
        for i in range(n_posts):
            pace = 0.8 * pace + rng.normal(0.0, 1.5)
            gap_s[i] = 6.0 * 3_600.0 * np.exp(pace)
        times.append(START_AT + np.cumsum(np.maximum(np.round(gap_s / 60.0), 1.0) * 60.0))
    return threads_of(times)


def train(threads: Threads) -> Ints:
    return np.asarray(3 * threads.n_posts // 4)


def own_mind(threads: Threads) -> Mind:
    return minded(threads, [fitted(threads)], np.zeros(threads.n, dtype=np.int64))


def in_plain_python(
    threads: Threads, n_train: Ints, gap_s: Callable[[int, int, float], float]
) -> list[float]:
    """`gap_s` is told the thread, its last known post and the present."""
    visits = []
    for row, first in enumerate(threads.bounds[:-1]):
        own = threads.at[first : threads.bounds[row + 1]]
        now = float(own[n_train[row] - 1])
        while True:
            known = int(np.searchsorted(own, now, side="right")) - 1
            now += max(gap_s(row, int(first) + known, now), 60.0)
            if now > own[-1]:
                break
            visits.append(now)
    return visits


def test_the_square_root_rule_is_as_it_is_in_plain_python() -> None:
    threads = talk(8, seed=1)
    price = 3e5

    def gap_s(row: int, known: int, now: float) -> float:
        first = threads.bounds[row]
        rate = (known - first + 1) / max(now - threads.at[first], 60.0)
        return float(np.sqrt(2.0 * price / rate))

    found = rooted(threads, train(threads), price)
    assert found.visit_at.tolist() == pytest.approx(in_plain_python(threads, train(threads), gap_s))


def test_a_steady_thread_is_visited_at_the_root_of_twice_the_price_over_the_rate() -> None:
    hour_s = 3_600.0
    threads = threads_of(
        [START_AT + np.arange(300, dtype=np.float64) * hour_s]
    )  # sqrt(2 * 50 / 1) = 10 hours
    found = rooted(threads, np.array([200]), price=50.0 * hour_s)
    assert np.diff(found.visit_at) == pytest.approx(10.0 * hour_s, rel=0.01)


def test_the_model_visits_as_it_does_in_plain_python() -> None:
    threads = talk(8, seed=2)
    hawkes = replace(fitted(talk(30, seed=3)), shape=10.0)
    mind = minded(threads, [hawkes], np.zeros(threads.n, dtype=np.int64))
    told, price = excited(threads, hawkes), 1e4
    asked = np.sqrt([np.roll(hawkes.profile, -hour)[:4].mean() for hour in range(len(hawkes.profile))])
    asked /= asked.mean()

    def gap_s(_: int, known: int, now: float) -> float:
        own = _own(hawkes, now)
        left = np.exp(-DECAY * (own - told.own[known]))
        due = told.due[known] + (told.rate[known] / DECAY * (1.0 - left)).sum()
        lively = (10.0 + told.said[known]) / (10.0 + due)
        worth = lively * (told.rate[known] * left) @ hawkes.worth()
        for ahead_s in np.arange(0.0, 30 * DAY_S, 60.0):  # minute by minute
            waited = _own(hawkes, now + ahead_s) - own
            reached = float(np.interp(np.log(max(waited, 1e-3)), np.log(GRID_S), np.log(worth), left=-np.inf))
            if reached >= np.log(price * asked[int((now + ahead_s) / 3_600.0) % len(asked)]):
                return float(ahead_s)
        raise AssertionError

    found = spoken(threads, train(threads), mind, price)
    assert len(found.visit_at) > 50
    for row in range(threads.n):
        posts = slice(int(threads.bounds[row]), int(threads.bounds[row + 1]))
        now = found.start_at[row]
        for visit_at in found.visit_at[found.visit_bounds[row] : found.visit_bounds[row + 1]]:
            known = posts.start + int(np.searchsorted(threads.at[posts], now, side="right")) - 1
            assert max(gap_s(row, known, now), 60.0) == pytest.approx(visit_at - now, abs=61.0)
            now = visit_at


def test_a_visit_is_made_in_the_evening_rather_than_in_the_morning() -> None:
    """Nearly all is said between 8 and 20 o'clock, posts come three times a day, and so do visits."""
    rng = np.random.default_rng(10)
    hours = np.where((np.arange(len(EVEN)) % 24 >= 8) & (np.arange(len(EVEN)) % 24 < 20), 1.9, 0.1)
    own = START_AT + np.cumsum(rng.exponential(8.0 * 3_600.0, 400))
    threads = threads_of([real_at(own, hours)])
    weight = np.full(len(DECAY), 0.1)
    mind = minded(threads, [Hawkes(weight, weight, np.inf, hours)], np.zeros(1, dtype=np.int64))
    n_train = np.array([50])
    found = priced(partial(spoken, threads, n_train, mind), 350.0, guess=1e5)
    plain = priced(
        partial(spoken, threads, n_train, mind._replace(asked=np.ones((1, len(EVEN))))), 350.0, guess=1e5
    )
    hour = found.visit_at // 3_600.0 % 24
    assert ((hour >= 17) & (hour < 22)).sum() > 2.0 * ((hour >= 6) & (hour < 11)).sum()
    assert delays_s(found).sum() < 0.9 * delays_s(plain).sum()


def _own(hawkes: Hawkes, now: float) -> float:
    return float(own_at(np.array([now]), hawkes.profile)[0])


def test_no_visit_goes_by_what_comes_after_it() -> None:
    threads = talk(6, seed=4)
    mind = own_mind(threads)
    hawkes = fitted(threads)
    late = threads.place >= 35
    later = replace(threads, at=np.where(late, threads.at + 3.3 * DAY_S, threads.at))
    other = minded(later, [hawkes], np.zeros(threads.n, dtype=np.int64))
    for one, two in (
        (spoken(threads, train(threads), mind, 1e5), spoken(later, train(threads), other, 1e5)),
        (rooted(threads, train(threads), 1e5), rooted(later, train(threads), 1e5)),
    ):
        for row in range(threads.n):
            until = threads.at[threads.bounds[row] + 35]
            a, b = (each.visit_at[each.visit_bounds[row] : each.visit_bounds[row + 1]] for each in (one, two))
            assert np.array_equal(a[a < until], b[b < until])


def test_dearer_visits_are_fewer_and_as_many_as_asked_for_are_made() -> None:
    threads = talk(40, seed=5)
    mind, n_train = own_mind(threads), train(threads)
    runs = (partial(spoken, threads, n_train, mind), partial(rooted, threads, n_train))
    for run in runs:
        n = [run(price).n_visits.sum() for price in (1e4, 1e5, 1e6, 1e9)]
        assert n == sorted(n, reverse=True)
        for asked in (200.0, 400.0, 800.0):
            assert priced(run, asked, guess=1e5).n_visits.sum() == pytest.approx(asked, rel=0.01)


def test_a_thread_that_counts_for_less_is_visited_as_at_a_higher_price() -> None:
    threads = talk(5, seed=6)
    mind, n_train = own_mind(threads), train(threads)
    assert np.array_equal(
        spoken(threads, n_train, mind._replace(weight=1.0 / n_train), 1e4).visit_at,
        spoken(threads, n_train, mind, 1e4 * n_train[0]).visit_at,
    )


def test_silence_makes_visits_rarer_and_a_post_brings_them_back() -> None:
    quiet = START_AT + np.concatenate(
        [np.arange(30, dtype=np.float64) * 3_600.0, [60 * DAY_S, 60 * DAY_S + 3_600.0, 90 * DAY_S]]
    )
    threads = threads_of([quiet])
    hawkes = replace(fitted(talk(30, seed=7)), profile=EVEN)
    mind = minded(threads, [hawkes], np.zeros(1, dtype=np.int64))
    visit_at = spoken(threads, np.array([30]), mind, 1e4).visit_at
    before, after = visit_at[visit_at < quiet[30]], visit_at[visit_at >= quiet[30]]
    gap_s = np.diff(before)
    assert gap_s[-1] > 2.0 * gap_s[0]
    assert after[1] - after[0] < gap_s[-1] / 2.0


def test_the_model_has_a_sixth_less_delay_than_the_square_root_rule_and_none_less_than_the_limit() -> None:
    threads = talk(80, seed=8)
    n_train = train(threads)
    figures, of = by_board(threads.first(n_train))
    mind = minded(threads, figures, of)
    n = len(watched(threads, n_train, np.zeros(threads.n + 1, dtype=np.int64), np.zeros(0)).at)
    for share in (0.5, 1.0, 2.0):
        ours = priced(partial(spoken, threads, n_train, mind), share * n, guess=1e5)
        root = priced(partial(rooted, threads, n_train), share * n, guess=1e5)
        assert delays_s(ours).sum() < 0.85 * delays_s(root).sum()
    best = priced(partial(omniscient, threads, n_train), 0.5 * n, guess=1e5)
    ours = priced(partial(spoken, threads, n_train, mind), 0.5 * n, guess=1e5)
    assert delays_s(best).sum() < 0.1 * delays_s(ours).sum()


def test_who_knows_all_visits_no_worse_than_the_best_of_all_schedules() -> None:
    rng = np.random.default_rng(9)
    for trial in range(40):
        n = int(rng.integers(3, 9))
        minutes = np.sort(rng.integers(0, 40, n)).astype(np.float64) * 60.0  # some posts bear the same time
        threads = threads_of([START_AT + (minutes if trial % 2 else np.cumsum(rng.lognormal(8.0, 2.0, n)))])
        n_train = np.array([int(rng.integers(1, n))])
        price = float(rng.lognormal(7.0, 2.0))
        posts = threads.at[n_train[0] :]
        costs = [
            _cost(watched(threads, n_train, np.array([0, k]), posts[list(some)]), price)
            for k in range(len(posts) + 1)
            for some in combinations(range(len(posts)), k)
        ]
        assert _cost(omniscient(threads, n_train, price), price) == pytest.approx(min(costs))


def _cost(watched: Watched, price: float) -> float:
    return float(delays_s(watched).sum() + price * watched.n_visits.sum())
