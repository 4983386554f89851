"""Limits: by hand, against all schedules of small histories, and against random ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.unit.histories import TIMES, history, looks

from recrawl.errors import BadInputError
from recrawl.evaluate import placing
from recrawl.evaluate.limits import evenly, known_rates, omniscient, omniscient_within
from recrawl.evaluate.measures import measure
from recrawl.evaluate.protocol import Window, whole
from recrawl.simulate.traces import Visits

DAY_S = 86_400.0
MANY = settings(max_examples=60, deadline=None)
CASES = st.lists(TIMES, min_size=1, max_size=3)
EPS = 1e-9


def test_the_example_of_the_reference_by_hand() -> None:
    traces = history([[10 * DAY_S, 12 * DAY_S, 30 * DAY_S]])
    limit = omniscient(traces, whole(1, 0.0, 50 * DAY_S), 2)
    assert limit.recall == pytest.approx(2 / 3)
    assert limit.precision == 1.0
    assert limit.freshness == pytest.approx(48 / 50)
    assert limit.wait_days_mean == pytest.approx(2 / 3)
    assert limit.age_days == pytest.approx(2 / 50)


def test_without_changes_everything_stays_fresh() -> None:
    limit = omniscient(history([[]]), whole(1, 0.0, 10.0), 3)
    assert (limit.freshness, limit.precision) == (1.0, 0.0)


@MANY
@given(CASES, st.integers(0, 8))
def test_the_limit_is_the_best_of_all_schedules_at_changes(cases: list[list[int]], n_visits: int) -> None:
    traces = history(cases)
    window = whole(len(cases), 0.0, 25.0)
    limit = omniscient(traces, window, n_visits)
    places = [(i, t) for i, one in enumerate(cases) for t in one if 0 < t <= 25]
    assume(0 < len(places) <= 11)
    recall, freshness, wait, age = 0.0, 0.0, np.inf, np.inf
    for chosen in combinations(places, min(n_visits, len(places))):
        score = measure(
            traces, looks([[t for row, t in chosen if row == i] for i in range(len(cases))]), window
        ).total()
        recall, freshness = max(recall, score.recall), max(freshness, score.freshness)
        wait, age = min(wait, score.wait_days_mean), min(age, score.age_days)
    assert limit.recall == pytest.approx(recall)
    assert limit.freshness == pytest.approx(freshness)
    assert limit.wait_days_mean == pytest.approx(wait, abs=1e-12)
    assert limit.age_days <= age + 1e-12
    assert limit.age_days == pytest.approx(age, abs=1e-12)


@MANY
@given(CASES, st.integers(0, 2**32 - 1), st.booleans())
def test_no_random_schedule_beats_the_limits(cases: list[list[int]], seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    traces = history(cases, weight=list(rng.uniform(0.1, 3.0, len(cases))))
    window = whole(len(cases), 0.0, 25.0)
    visits = looks([sorted(rng.uniform(0, 25, rng.integers(0, 6))) for _ in cases])
    score = measure(traces, visits, window).total()
    assume(score.changes > 0)
    limit = omniscient(traces, window, score.visits, weighted=weighted)
    names = ("recall", "freshness", "wait_days_mean", "age_days")
    ours = [getattr(score, f"{name}_weighted" if weighted else name) for name in names]
    assert ours[0] <= limit.recall + EPS
    assert ours[1] <= limit.freshness + EPS
    assert ours[2] >= limit.wait_days_mean - EPS
    assert ours[3] >= limit.age_days - EPS


@MANY
@given(CASES, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([4.0, 9.0, 100.0]))
def test_no_schedule_within_the_gap_bounds_beats_their_limits(
    cases: list[list[int]], seed: int, min_gap: float, max_gap: float
) -> None:
    rng = np.random.default_rng(seed)
    first = rng.uniform(0, 7, len(cases))
    window = Window(start_at=0.0, end_at=25.0, rows=np.arange(len(cases)), first_gap_s=first)
    made = []
    for i, changes in enumerate(cases):
        at = [float(first[i])]
        while True:
            # now and then exactly on a change, or at a bound
            low, high = at[-1] + min_gap, at[-1] + max_gap
            wish = rng.choice([*changes, rng.uniform(low, high), low, high])
            at.append(float(np.clip(wish, max(low, at[-1] + 0.2), high)))
            if at[-1] > 25.0:
                break
        made.append(at[:-1])
    traces = history(cases)
    score = measure(traces, looks(made), window).total()
    assume(score.changes > 0)
    limit = omniscient_within(
        traces, window, score.visits, min_gap_s=min_gap, max_gap_s=max_gap, step_s=0.5 if seed % 2 else 0.05
    )
    free = omniscient(traces, window, score.visits)
    assert score.recall <= limit.recall + EPS
    assert score.freshness <= limit.freshness + EPS
    assert score.wait_days_mean >= limit.wait_days_mean - EPS
    assert limit.recall <= free.recall + EPS
    assert limit.freshness <= free.freshness + EPS
    assert limit.wait_days_mean >= free.wait_days_mean - EPS


def test_the_limit_within_gap_bounds_is_reached_where_the_bounds_leave_one_way() -> None:
    # changes at 3 and 4, the first visit at 3, gaps of at least 2: the second is found at 5, a second late
    traces = history([[3.0, 4.0]])
    window = Window(start_at=0.0, end_at=10.0, rows=np.arange(1), first_gap_s=np.array([3.0]))
    limit = omniscient_within(traces, window, 2, min_gap_s=2.0, max_gap_s=10.0)
    assert limit.recall == 1.0
    assert limit.freshness == pytest.approx(9 / 10)
    assert limit.wait_days_mean * DAY_S == pytest.approx(1 / 2)


def test_visits_that_the_largest_gap_demands_are_not_free() -> None:
    # ten quiet resources must be visited at 1, 3, 5, 7 and 9; of 60 visits 10 are left for the busy one
    busy = [float(t) for t in range(2, 20)]
    traces = history([busy, *([[]] * 10)])
    window = Window(start_at=0.0, end_at=10.0, rows=np.arange(11), first_gap_s=np.ones(11))
    assert omniscient_within(traces, window, 60, min_gap_s=0.5, max_gap_s=2.0).recall == 1.0
    tight = omniscient_within(traces, window, 55, min_gap_s=0.5, max_gap_s=2.0)
    assert tight.recall == pytest.approx(4 / 9, abs=0.01)
    assert omniscient(traces, window, 55).recall == 1.0


def test_fewer_visits_than_the_largest_gap_demands_are_taken_for_those_it_demands() -> None:
    traces = history([[float(t) for t in range(2, 20)], *([[]] * 10)])
    window = Window(start_at=0.0, end_at=10.0, rows=np.arange(11), first_gap_s=np.ones(11))
    fewest, fewer = (omniscient_within(traces, window, n, min_gap_s=0.5, max_gap_s=2.0) for n in (55, 7))
    assert fewer == fewest
    assert fewer.recall == pytest.approx(4 / 9, abs=0.01)
    assert 0.9 < fewer.freshness < 1.0


def schedules(at: list[int], low: int, high: int, end: int) -> Iterator[list[int]]:
    """All ways to go on in whole steps, up to the end."""
    if end - at[-1] <= high:
        yield at
    for gap in range(max(low, 1), high + 1):
        if at[-1] + gap <= end:
            yield from schedules([*at, at[-1] + gap], low, high, end)


@MANY
@given(
    st.lists(st.integers(1, 10), max_size=6, unique=True).map(sorted),
    st.integers(0, 4),
    st.integers(0, 3),
    st.integers(3, 11),
    st.sampled_from([0.0, 0.4, 1.5, 3.0]),
)
def test_the_cheapest_schedule_is_the_cheapest_of_all(
    changes: list[int], first: int, low: int, high: int, price: float
) -> None:
    traces = history([changes])
    window = whole(1, 0.0, 10.0)
    cheapest = {placing.STALE: np.inf, placing.UNSEEN: np.inf, placing.WAIT: np.inf}
    for at in schedules([first], low, high, 10):
        found = measure(traces, looks([at]), window)
        for what, cost in (
            (placing.STALE, 10.0 - found.fresh_s[0]),
            (placing.UNSEEN, -found.n_observed[0]),
            (placing.WAIT, found.behind_s[0]),
        ):
            cheapest[what] = min(cheapest[what], cost + price * len(at))
    for what, cost in cheapest.items():
        if what == placing.WAIT and high < 10:
            continue  # the wait knows no largest gap
        args = (traces.bounds, traces.at, traces.weight, np.array([float(first)]), 0.0, 10.0)
        assert placing.bounded(*args, 1.0, low, high, price, what)[0] == pytest.approx(cost)


def test_gap_bounds_that_hold_no_gap_are_refused() -> None:
    with pytest.raises(BadInputError):
        omniscient_within(history([[]]), whole(1, 0.0, 1.0), 1, min_gap_s=2.0, max_gap_s=1.0)


def poisson(n: int, days: float, seed: int) -> tuple[list[list[float]], Window]:
    rng = np.random.default_rng(seed)
    rates = np.exp(rng.normal(np.log(0.15), 1.5, n))
    changes = [sorted(rng.uniform(0, days * DAY_S, rng.poisson(rate * days))) for rate in rates]
    first = 7 * DAY_S * rng.random(n)
    return changes, Window(start_at=0.0, end_at=days * DAY_S, rows=np.arange(n), first_gap_s=first)


def test_known_rates_make_as_many_visits_as_asked_and_are_worth_what_is_promised() -> None:
    changes, window = poisson(600, 400, 1)
    traces = history(changes)
    n_visits = 60_000
    low, high = DAY_S, 180 * DAY_S
    scores = {}
    for goal in ("fresh", "fresh-harmonic", "prompt", "capture"):
        visits, promised = known_rates(traces, window, n_visits, goal=goal, min_gap_s=low, max_gap_s=high)
        assert len(visits) == pytest.approx(n_visits, rel=0.001)
        gaps = np.concatenate([np.diff(visits.of(i)) for i in range(600)])
        assert gaps.min() >= low * (1 - EPS)
        assert gaps.max() <= high * (1 + EPS)
        scores[goal] = score = measure(traces, visits, window).total()
        assert score.freshness == pytest.approx(promised.freshness, abs=0.01)
        assert score.harmonic == pytest.approx(promised.harmonic, rel=0.05)
        assert score.recall == pytest.approx(promised.recall, abs=0.01)
    assert max(scores, key=lambda goal: scores[goal].freshness) == "fresh"
    assert min(scores, key=lambda goal: scores[goal].harmonic) == "fresh-harmonic"
    assert min(scores, key=lambda goal: scores[goal].wait_days_mean) == "prompt"
    assert max(scores, key=lambda goal: scores[goal].recall) == "capture"
    limit = omniscient_within(traces, window, n_visits, min_gap_s=low, max_gap_s=high, step_s=DAY_S / 2)
    assert scores["fresh"].freshness < limit.freshness < 1.0
    assert scores["capture"].recall < limit.recall
    assert scores["prompt"].wait_days_mean > limit.wait_days_mean


def test_even_visits_begin_with_the_first_gap_and_end_with_the_window() -> None:
    window = Window(start_at=100.0, end_at=110.0, rows=np.arange(3), first_gap_s=np.array([1.0, 4.0, 11.0]))
    visits: Visits = evenly(np.array([3.0, np.inf, 1.0]), window)
    assert [visits.of(i).tolist() for i in range(3)] == [[101.0, 104.0, 107.0, 110.0], [104.0], []]
