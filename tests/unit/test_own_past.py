"""One's own past under other policies: what can be known of it, and what cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recrawl.errors import BadInputError
from recrawl.evaluate.contenders import contender
from recrawl.evaluate.measures import measure
from recrawl.evaluate.own.backtest import (
    N_COHORTS,
    Wanted,
    _Replay,
    backtest,
    entered_together,
    since_entered,
)
from recrawl.evaluate.own.bounds import bounds
from recrawl.evaluate.own.past import Past, past_of
from recrawl.evaluate.own.results import MEASURES, OWN
from recrawl.evaluate.protocol import whole
from recrawl.model import DAY_S, HOUR_S, Floats, Seen
from recrawl.simulate.traces import Traces, Visits

START_AT = 1.8e9


def watched(
    n: int, days: float, seed: int, *, entered_at: Floats | None = None
) -> tuple[Seen, list[list[float]]]:
    """Visits of `n` resources at random moments, and when each of the changes that they saw had come."""
    rng = np.random.default_rng(seed)
    entered = np.full(n, START_AT) if entered_at is None else entered_at
    end_at = START_AT + days * DAY_S
    rows: list[tuple[int, float, float, int]] = []
    truth: list[list[float]] = []
    for i in range(n):
        at = np.sort(rng.uniform(entered[i], end_at, rng.integers(4, 12)))
        edges = np.concatenate([[entered[i]], at])
        changed = rng.random(len(at)) < rng.uniform(0.1, 0.9)
        truth.append([float(rng.uniform(a, b)) for a, b, c in zip(edges, at, changed, strict=False) if c])
        rows += [(i + 1, float(a), float(b), int(c)) for a, b, c in zip(edges, at, changed, strict=False)]
    ids, since_at, at_, bits = zip(*rows, strict=True)
    seen = Seen(
        id=np.array(ids),
        since_at=np.array(since_at),
        at=np.array(at_),
        changed=np.array(bits, dtype=np.int8),
        event_at=np.full(len(rows), np.nan),
        group=1 + np.array(ids) // 5,
    )
    return seen.pick(np.argsort(seen.at, kind="stable")), truth


def as_it_was(past: Past, truth: list[list[float]]) -> Traces:
    at = np.array([moment for i in past.ids.tolist() for moment in truth[i - 1]])
    assert len(at) == past.n_changes
    traces = past.traces(0.0)
    return Traces(
        born_at=traces.born_at,
        bounds=traces.bounds,
        at=at,
        digest=traces.digest,
        first_digest=traces.first_digest,
        host=traces.host,
        weight=traces.weight,
    )


def one_change(since_days: float, until_days: float) -> Past:
    """A resource watched for twenty days, with a single change."""
    return Past(
        ids=np.array([1]),
        group=np.array([1]),
        entered_at=np.array([START_AT]),
        bounds=np.array([0, 1]),
        since_at=np.array([START_AT + since_days * DAY_S]),
        until_at=np.array([START_AT + until_days * DAY_S]),
        visits=Visits(bounds=np.array([0, 0]), at=np.empty(0)),
        start_at=START_AT,
        end_at=START_AT + 20 * DAY_S,
        n_left=0,
        n_timed=0,
    )


@pytest.mark.parametrize(
    ("since_days", "until_days", "least_days", "most_days", "seen"),
    [
        (0.0, 2.0, 2.0, 4.0, (1.0, 1.0)),  # before the first visit, for sure
        (0.0, 10.0, 0.0, 6.0, (1.0, 1.0)),  # perhaps right after the second
        (8.0, 10.0, 0.0, 6.0, (1.0, 1.0)),
        (14.0, 16.0, 0.0, 5.0, (0.0, 1.0)),  # perhaps after the last
        (16.0, 18.0, 2.0, 4.0, (0.0, 0.0)),
    ],
)
def test_a_change_waits_from_its_worst_moment_at_most_and_from_its_best_at_least(
    since_days: float, until_days: float, least_days: float, most_days: float, seen: tuple[float, float]
) -> None:
    at = START_AT + DAY_S * np.array([4.0, 9.0, 15.0])
    found = bounds(one_change(since_days, until_days), Visits(bounds=np.array([0, 3]), at=at))
    assert found["wait_days_mean"] == pytest.approx((least_days, most_days))
    assert found["recall"] == seen
    assert found["freshness"] == pytest.approx((1.0 - most_days / 20.0, 1.0 - least_days / 20.0))


@pytest.mark.parametrize("seed", range(4))
def test_the_truth_is_never_outside_the_bounds(seed: int) -> None:
    seen, truth = watched(40, 30.0, seed)
    past = past_of([seen])
    rng = np.random.default_rng(100 + seed)
    at = [np.sort(rng.uniform(START_AT, past.end_at, rng.integers(0, 9))) for _ in range(len(past))]
    sizes = np.cumsum([0, *(len(one) for one in at)])
    visits = Visits(bounds=sizes.astype(np.int64), at=np.concatenate(at))
    window = whole(len(past), START_AT, past.end_at)
    possible = bounds(past, visits)
    for traces in (as_it_was(past, truth), past.traces(0.0), past.traces(1.0)):
        found = measure(traces, visits, window)
        for name in MEASURES:
            low, high = possible[name]
            assert low - 1e-9 <= found.value(name) <= high + 1e-9, name
    assert possible["recall"][1] > possible["recall"][0]


def test_bounds_close_where_the_visits_say_when_each_change_came() -> None:
    seen, truth = watched(40, 30.0, 1)
    events = iter(np.concatenate([np.array(one) for one in truth]).tolist())
    by_id = seen.pick(np.lexsort((seen.at, seen.id)))
    told = np.array([next(events) if changed else np.nan for changed in by_id.changed.tolist()])
    past = past_of(
        [
            Seen(
                id=by_id.id,
                since_at=by_id.since_at,
                at=by_id.at,
                changed=by_id.changed,
                event_at=told,
                group=by_id.group,
            )
        ]
    )
    assert past.n_timed > 0.95 * past.n_changes
    low, high = bounds(past, past.visits)["wait_days_mean"]
    mean = measure(past.traces(0.5), past.visits, whole(len(past), START_AT, past.end_at))
    assert high - low < 0.05 * high
    assert low <= mean.value("wait_days_mean") <= high


def test_what_really_happened_stands_beside_policies_with_as_many_visits() -> None:
    seen, _ = watched(60, 40.0, 3)
    wanted = Wanted(
        policies=("uniform", "week"),
        goal="fresh",
        predictor="rhythm",
        min_gap_s=HOUR_S,
        max_gap_s=30 * DAY_S,
        n_draws=3,
    )
    found = backtest([seen], wanted, lambda *_: None)
    assert [row.policy for row in found.rows] == [OWN, "uniform", "week"]
    own, uniform, week = found.rows
    assert own.visits == len(seen)
    assert uniform.visits == pytest.approx(own.visits, rel=0.05)
    assert week.asked is None
    for row in found.rows:
        for name, measured in row.measures.items():
            if (row.policy, name) != (OWN, "recall"):
                assert measured.low <= measured.value <= measured.high, (row.policy, name)
    assert own.measures["wait_days_mean"].low == 0.0  # each may have come just before it was seen


def test_whoever_learns_makes_as_many_visits_in_every_replay() -> None:
    seen, _ = watched(60, 40.0, 3)
    wanted = Wanted(
        policies=("index",),
        goal="fresh",
        predictor="rhythm",
        min_gap_s=HOUR_S,
        max_gap_s=30 * DAY_S,
        n_draws=3,
    )
    replay = _Replay(past_of([seen]), 300, wanted)
    index = contender("index", goal="fresh", min_gap_s=HOUR_S, max_gap_s=30 * DAY_S)
    made = [len(run) for run in replay.runs(index, replay.shares())]
    assert len(made) == 5
    assert max(abs(n - 300) for n in made) <= 0.005 * 300 + 1


def test_a_number_of_visits_that_no_price_gives_is_said() -> None:
    seen, _ = watched(60, 40.0, 3)
    wanted = Wanted(
        policies=("uniform",),
        goal="fresh",
        predictor="gamma",
        min_gap_s=5 * DAY_S,
        max_gap_s=30 * DAY_S,
        budget_per_day=60.0,
        n_draws=2,
    )
    found = backtest([seen], wanted, lambda *_: None)
    (_, bound) = found.rows
    assert bound.visits < 60 * 8.5
    assert "visits, not 2,4" in found.notes[-1]
    assert found.notes[-1].endswith("no price within the gap bounds gives those.")


def test_a_resource_counts_from_its_first_visit_on() -> None:
    entered_at = START_AT + DAY_S * np.where(np.arange(60) < 30, 0.0, 25.0 + np.arange(60) % 5)
    seen, _ = watched(60, 40.0, 4, entered_at=entered_at)
    wanted = Wanted(
        policies=("round-robin", "fix"),
        goal="fresh",
        predictor="rhythm",
        min_gap_s=HOUR_S,
        max_gap_s=30 * DAY_S,
        n_draws=2,
    )
    found = backtest([seen], wanted, lambda *_: None)
    assert found.past.entered_at.tolist() == pytest.approx(entered_at.tolist())
    for row in found.rows:
        assert 0.0 <= row.measures["freshness"].low <= row.measures["freshness"].high <= 1.0 + 1e-12
    # had each change come right before it was seen, all copies would always have been fresh
    assert found.rows[0].measures["freshness"].high == pytest.approx(1.0)


def test_no_visit_is_made_before_a_resource_is_there() -> None:
    past = one_change(3.0, 5.0)
    early = Visits(bounds=np.array([0, 3]), at=START_AT + DAY_S * np.array([-1.0, 1.0, 2.0]))
    assert since_entered(early, past).at.tolist() == early.at[1:].tolist()
    assert since_entered(early, past).bounds.tolist() == [0, 2]


def test_those_that_nobody_looks_at_any_more_are_left_out() -> None:
    seen, _ = watched(60, 100.0, 5)
    at = START_AT + DAY_S * np.arange(1.0, 11.0)  # every day for ten days, and then never again
    left = Seen(
        id=np.full(10, 99),
        since_at=at - DAY_S,
        at=at,
        changed=np.ones(10, dtype=np.int8),
        event_at=np.full(10, np.nan),
        group=np.ones(10, dtype=np.int64),
    )
    past = past_of([left, seen])
    assert past.n_left >= 1
    assert 99 not in past.ids
    assert past.n_changes <= int(seen.changed.sum())


def test_the_last_days_alone_can_be_asked_for() -> None:
    seen, _ = watched(80, 100.0, 6)
    past = past_of([seen], days=30.0)
    assert past.days <= 30.0
    assert past.since_at.min() >= past.end_at - 30.0 * DAY_S
    assert len(past.visits) < len(seen) / 2


def test_too_short_a_past_is_refused_with_what_would_be_enough() -> None:
    seen, _ = watched(5, 30.0, 7)
    with pytest.raises(BadInputError, match="let `recrawl run` go on"):
        past_of([seen])
    with pytest.raises(BadInputError, match="0 visits"):
        past_of([])


def test_those_that_entered_together_are_replayed_together() -> None:
    """Some were added on the first days, one long after: no cohort begins long before its members do."""
    entered_at = START_AT + DAY_S * np.array([0.0, 0.1, 3.0, 3.1, 6.0, 9.0, 9.2, 70.0])
    turn = entered_together(entered_at, START_AT + 80 * DAY_S)
    waits = np.array([entered_at[i] - entered_at[turn == turn[i]].min() for i in range(len(entered_at))])
    assert waits.sum() < 0.01 * (START_AT + 80 * DAY_S - entered_at).sum()
    assert len(np.unique(turn)) < N_COHORTS
    many = START_AT + DAY_S * np.linspace(0.0, 80.0, 801)
    assert len(np.unique(entered_together(many, START_AT + 81 * DAY_S))) == N_COHORTS


@pytest.mark.parametrize("days", [3.0, 20.0, 300.0])
def test_what_was_added_within_hours_is_replayed_as_one(days: float) -> None:
    entered_at = START_AT + HOUR_S * np.linspace(0.0, 12.0, 100)
    assert not entered_together(entered_at, START_AT + days * DAY_S).any()


def test_the_first_price_that_is_tried_is_of_the_whole_past() -> None:
    """Whoever entered last has little time, and says little of the gaps that there is room for."""
    entered_at = START_AT + DAY_S * np.where(np.arange(60) < 57, 0.0, 39.0)
    seen, _ = watched(60, 40.0, 4, entered_at=entered_at)
    past = past_of([seen])
    wanted = Wanted(
        policies=("uniform",),
        goal="fresh",
        predictor="gamma",
        min_gap_s=60.0,
        max_gap_s=30 * DAY_S,
        n_draws=1,
    )
    uniform = contender("uniform", goal="fresh", predictor="gamma", min_gap_s=60.0, max_gap_s=30 * DAY_S)
    made: list[int] = []

    class Counting(_Replay):
        def _run(self, *asked: Any) -> Any:
            run = super()._run(*asked)
            made.append(len(run))
            return run

    Counting(past, len(past.visits), wanted).replayed(uniform)
    assert made[0] == pytest.approx(len(past.visits), rel=0.25)
