"""The self-exciting model of threads: its own time, its memories, its fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.errors import BadInputError
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.fitting import by_board, fitted, likely_shape
from recrawl.learn.threads.hawkes import ANSWERED, DECAY, GRID_S, KEPT, N_MEMORIES, Hawkes, excited
from recrawl.learn.threads.profile import EVEN, HOUR_S, N_HOURS, WEEK_S, own_at, profile, real_at
from recrawl.learn.threads.sparks import heat, sparks
from recrawl.model import DAY_S, Bags, Floats

START_AT = 1_000 * WEEK_S


def board(times: list[Floats], boards: list[int] | None = None) -> Threads:
    n = [len(one) for one in times]
    return Threads(
        np.concatenate([[0], np.cumsum(n)]).astype(np.int64),
        np.concatenate(times),
        np.zeros(sum(n), dtype=np.int64),
        None,
        np.array(boards or [0] * len(n), dtype=np.int64),
    )


def bursty(n: int, seed: int) -> list[Floats]:
    """Threads whose posts are mostly answers, and which fall silent for weeks in between."""
    rng = np.random.default_rng(seed)
    return [
        START_AT
        + np.cumsum(
            np.where(rng.random(30) < 0.7, rng.exponential(HOUR_S, 30), rng.exponential(7 * DAY_S, 30))
        )
        for _ in range(n)
    ]


def some_hawkes(shape: float = 20.0) -> Hawkes:
    return Hawkes(np.linspace(0.3, 0.05, N_MEMORIES), np.full(N_MEMORIES, 0.2), shape, EVEN)


def test_own_time_runs_fast_in_busy_hours_and_is_right_after_a_week() -> None:
    noon = START_AT + np.arange(500, dtype=np.float64) * DAY_S + 12 * HOUR_S
    hours = profile(noon)
    assert hours.mean() == pytest.approx(1.0)
    assert hours[12] > 10.0 * hours[3]
    at = START_AT + np.linspace(0.0, 3 * WEEK_S, 1_000)
    own = own_at(at, hours)
    assert np.allclose(real_at(own, hours), at)
    assert own_at(np.array([START_AT + WEEK_S]), hours)[0] == pytest.approx(START_AT + WEEK_S)
    eve, noon_to_one = own_at(START_AT + HOUR_S * np.array([[3.0, 4.0], [12.0, 13.0]]), hours) @ [-1.0, 1.0]
    assert noon_to_one == pytest.approx(hours[12] * HOUR_S)
    assert eve == pytest.approx(hours[3] * HOUR_S)


def test_a_profile_of_few_posts_leans_on_what_was_believed() -> None:
    believed = np.tile(np.repeat([0.5, 1.5], 12), 7)
    night = START_AT + 2 * HOUR_S + np.arange(7, dtype=np.float64) * DAY_S
    assert np.corrcoef(profile(night, believed), believed)[0, 1] > 0.7
    assert np.corrcoef(profile(np.repeat(night, 1_000), believed), believed)[0, 1] < 0.2


def test_memories_fade_with_time_and_with_every_post() -> None:
    threads = board([START_AT + np.array([0.0, HOUR_S, 5 * HOUR_S])])
    hawkes = some_hawkes()
    found = excited(threads, hawkes)
    for j, decay in enumerate(DECAY):
        memory = (np.exp(-decay * HOUR_S) * KEPT + 1.0) * np.exp(-decay * 4 * HOUR_S) * KEPT + 1.0
        born = hawkes.birth[j] * np.exp(-decay * 5 * HOUR_S)
        assert found.rate[2, j] == pytest.approx(decay * (hawkes.weight[j] * memory + born))
    first = (hawkes.weight + hawkes.birth) @ -np.expm1(-DECAY * HOUR_S)
    assert found.due[:2] == pytest.approx([0.0, KEPT * first])
    assert found.said == pytest.approx([0.0, KEPT, KEPT * (KEPT + 1.0)])


def test_the_worth_of_a_visit_is_the_integral_of_time_and_expected_rate_with_answers() -> None:
    hawkes = some_hawkes()
    memory, until = 3, 200
    rates = np.zeros(N_MEMORIES)
    rates[memory] = 1.0
    steps = np.linspace(0.0, GRID_S[until], 20_001)
    h_s = steps[1]
    worth = n = 0.0
    for t_s in steps[:-1] + h_s / 2.0:  # by small steps, each to second order
        slope = _slope(hawkes, rates)
        rates = rates + h_s * slope + h_s * h_s / 2.0 * _slope(hawkes, slope)
        between = rates - h_s / 2.0 * _slope(hawkes, rates)
        worth += t_s * between.sum() * h_s
        n += between.sum() * h_s
    assert hawkes.worth()[memory, until] == pytest.approx(worth, rel=1e-3)
    assert hawkes.expected()[memory, until] == pytest.approx(n, rel=1e-3)
    assert (np.diff(hawkes.worth(), axis=1) > 0.0).all()


def _slope(hawkes: Hawkes, rates: Floats) -> Floats:
    return np.asarray(-DECAY * rates + ANSWERED * hawkes.weight * DECAY * rates.sum())


def test_what_is_fitted_expects_as_many_posts_as_there_were_and_fits_no_worse_than_its_neighbours() -> None:
    threads = board(bursty(40, seed=1))
    hawkes = fitted(threads)
    assert _due(threads, hawkes).sum() == pytest.approx(len(threads.at) - threads.n, rel=1e-6)
    best = _likelihood(threads, hawkes)
    for j in range(N_MEMORIES):
        for factor in (0.8, 1.25):
            other = hawkes.weight.copy()
            other[j] = factor * max(other[j], 0.01)
            assert _likelihood(threads, replace(hawkes, weight=other)) < best + 0.5


def _due(threads: Threads, hawkes: Hawkes) -> Floats:
    """What was expected from each post to the next one."""
    due, before = excited(threads, hawkes).due, np.flatnonzero(threads.place > 0) - 1
    return np.asarray(due[before + 1] / KEPT - due[before])


def _likelihood(threads: Threads, hawkes: Hawkes) -> float:
    found, before = excited(threads, hawkes), np.flatnonzero(threads.place > 0) - 1
    left = np.exp(-np.outer(found.own[before + 1] - found.own[before], DECAY))
    rate = (found.rate[before] * left).sum(axis=1)
    return float(np.log(rate).sum() - _due(threads, hawkes).sum())


def test_bursts_and_long_silences_are_told_apart() -> None:
    weight = fitted(board(bursty(40, seed=2))).weight
    steady = fitted(
        board([START_AT + np.arange(1, 31, dtype=np.float64) * DAY_S + i * HOUR_S for i in range(40)])
    ).weight
    assert weight[:3].sum() > 5.0 * steady[:3].sum()  # answers within hours


def test_the_shape_of_liveliness_is_the_one_that_makes_the_next_posts_likeliest() -> None:
    rng = np.random.default_rng(3)
    said, due = rng.uniform(0.0, 9.0, (2, 20_000))
    waited = rng.exponential(1.0 / rng.gamma(4.0 + said, 1.0 / (4.0 + due)))
    assert likely_shape(said, due, waited) == pytest.approx(4.0, rel=0.3)
    assert likely_shape(said, due, rng.exponential(1.0, 20_000)) > 100.0  # all alike


def test_a_board_of_few_posts_leans_on_all_boards() -> None:
    many, few = bursty(40, seed=4), [START_AT + np.arange(1, 4, dtype=np.float64) * 30.0 * DAY_S]
    all_boards = fitted(board(many))
    alone, leaning = fitted(board(few)), fitted(board(few), all_boards)
    gap = [
        np.abs(np.log(one.weight[:4] + 1e-3) - np.log(all_boards.weight[:4] + 1e-3)).sum()
        for one in (alone, leaning)
    ]
    assert gap[1] < 0.2 * gap[0]


def test_every_board_has_its_own_figures_leaning_on_all() -> None:
    times, boards = bursty(12, seed=5), [7 if i % 2 else 3 for i in range(12)]
    threads = board(times, boards)
    figures, of = by_board(threads)
    assert of.tolist() == [i % 2 for i in range(12)]
    for number, found in enumerate(figures):
        alone = fitted(threads.pick(np.flatnonzero(of == number)), fitted(threads))
        assert np.array_equal(found.weight, alone.weight)


def test_threads_without_answers_teach_nothing_and_that_is_said() -> None:
    with pytest.raises(BadInputError, match="take a longer past"):
        fitted(board([np.array([START_AT]), np.array([START_AT + 1.0])]))


def test_a_profile_has_an_hour_for_each_of_the_week() -> None:
    assert fitted(board(bursty(3, seed=6))).profile.shape == (N_HOURS,)


def test_words_that_are_answered_sooner_bring_on_more() -> None:
    rng = np.random.default_rng(7)
    times, words = [], []
    for _ in range(60):
        asks = rng.random(40) < 0.5
        gap_s = rng.exponential(np.where(asks, 0.3, 1.0) * HOUR_S)
        times.append(START_AT + np.concatenate([[0.0], np.cumsum(gap_s[:-1])]))
        words += [{0: 1.0, 1: 1.0} if one else {0: 1.0} for one in asks]
    threads = replace(board(times), bags=Bags.of(words))
    hawkes = fitted(threads)
    assert hawkes.sparks is not None
    found = heat(threads, hawkes.sparks)
    asks = np.array([1 in one for one in words])
    assert found[asks].min() > 1.1 > found[~asks].max()
    silent = replace(threads, bags=None)
    assert (heat(silent, hawkes.sparks) == 1.0).all()
    assert fitted(silent).sparks is None
    assert excited(threads, hawkes).rate[asks].sum() > excited(silent, hawkes).rate[asks].sum()


def test_a_word_of_few_threads_says_nothing() -> None:
    times = bursty(30, seed=8)
    threads = replace(board(times), bags=Bags.of([{0: 1.0} if i < 300 else {} for i in range(900)]))
    place = np.arange(900)
    due = np.where(place % 30 == 29, np.nan, np.where(place < 300, 3.0, 1.0))
    assert not len(sparks(threads, due).term)
    everywhere = replace(threads, bags=Bags.of([{0: 1.0} if i % 3 else {} for i in range(900)]))
    due = np.where(place % 30 == 29, np.nan, np.where(place % 3, 3.0, 1.0))
    assert len(sparks(everywhere, due).term) == 1
