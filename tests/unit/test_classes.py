"""Rate classes: the paper's tables, where a resource begins, and what both learners have in common."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.unit.test_relearning import forget, looked, memories, opened

from recrawl.app.relearning import relearn
from recrawl.contracts import Policy, Predictor
from recrawl.errors import BadInputError
from recrawl.finding import Finding
from recrawl.learn.predictors.bayesian import Bayesian
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.historic import Historic
from recrawl.loop import Loop
from recrawl.memberships import Counted, Memberships, RateTable, Weighed
from recrawl.model import (
    DAY_S,
    TABLE_2,
    TABLE_4,
    Changed,
    Floats,
    NewResource,
    Outcome,
    RateClass,
    Seen,
    Settings,
    Visit,
)
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.classes import CLASSED
from recrawl.simulate.classed import final_classes
from recrawl.simulate.traces import Traces

NOW = 1.7e9
KINDS: list[type[Counted] | type[Weighed]] = [Counted, Weighed]


def seen(gaps_days: list[float], changed: list[int], hunch_days: float = np.nan, resource: int = 1) -> Seen:
    gap_s = np.array(gaps_days) * DAY_S
    at = NOW + np.cumsum(gap_s)
    return Seen(
        id=np.full(len(at), resource),
        since_at=at - gap_s,
        at=at,
        changed=np.array(changed, dtype=np.int8),
        event_at=np.full(len(at), np.nan),
        hunch_gap_s=np.full(len(at), hunch_days * DAY_S),
    )


def in_class(of: Memberships, hunch_days: float = np.nan) -> int:
    return int(of.classes(np.array([1]), np.array([hunch_days * DAY_S]))[0])


def test_the_tables_are_those_of_the_paper() -> None:
    assert [(c.name, c.interval_s / DAY_S, c.window, c.low, c.high) for c in TABLE_2] == [
        ("one_day", 1.0, 10, 0.3, 0.7),
        ("one_week", 7.0, 8, 0.3, 0.7),
        ("one_month", 30.0, 6, 0.3, 0.7),
        ("greater_month", 100.0, 2, 0.3, 0.7),
    ]
    assert [(c.interval_s / DAY_S, c.window, c.low, c.high) for c in TABLE_4] == [
        (1.0, 3, 0.2, 0.8),
        (3.0, 2, 0.2, 0.8),
        (31.0, 2, 0.2, 0.8),
        (96.0, 1, 0.2, 0.8),
    ]


def test_the_nearest_class_is_that_by_the_logarithm_and_without_a_hunch_that_of_a_week() -> None:
    table = RateTable.of(TABLE_4)
    gap_days = np.array([1e-9, 1.0, 1.7, 1.8, 9.6, 9.7, 31.0, 54.0, 55.0, 1e9, np.inf, np.nan])
    by_log = [0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 1]
    assert table.nearest(gap_days * DAY_S).tolist() == by_log
    assert RateTable.of(TABLE_2).nearest(np.array([np.nan])).tolist() == [1]
    assert RateTable.of(TABLE_4[2:3]).nearest(np.array([1.0, np.nan])).tolist() == [0, 0]


def one(days: float, window: int = 2, low: float = 0.2, high: float = 0.8) -> RateClass:
    return RateClass(name="c", interval_s=days * DAY_S, window=window, low=low, high=high)


@pytest.mark.parametrize(
    "table",
    [[], [one(0.0)], [one(3.0), one(3.0)], [one(3.0), one(1.0)], [one(1.0, window=0)], [one(1.0, low=0.9)]],
)
def test_tables_that_say_nothing_are_refused(table: list[RateClass]) -> None:
    with pytest.raises(BadInputError, match=r"Rate classes go from|A rate class has"):
        RateTable.of(table)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hunch_says_where_to_begin_and_visits_decide_from_there_on(kind: type[Counted | Weighed]) -> None:
    for hunch_days, begins in ((0.5, 0), (3.0, 1), (40.0, 2), (200.0, 3), (np.nan, 1)):
        of = kind(TABLE_4)
        assert in_class(of, hunch_days) == begins
        of.learn(seen([1.0] * 40, [1] * 40, hunch_days))
        assert in_class(of, hunch_days) == 0
        of.learn(seen([90.0] * 40, [0] * 40, hunch_days))
        assert in_class(of, hunch_days) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_another_width_and_rows_that_no_such_learner_wrote_are_passed_over(
    kind: type[Counted | Weighed],
) -> None:
    of = kind(TABLE_4)
    of.learn(seen([1.0] * 4, [1, 0, 1, 1]))
    ids, before = np.array([1]), of.memory(np.array([1])).copy()
    wrong = [np.full(of.width, np.nan), np.full(of.width, 7.0), np.full(of.width, -3.0)]
    wrong += [np.full(of.width, np.inf), np.zeros(of.width + 1), np.zeros(of.width - 1)]
    for row in wrong:
        of.recall(ids, row[None, :])
        assert np.array_equal(of.memory(ids), before)
    of.recall(np.empty(0, dtype=np.int64), np.empty((0, of.width)))
    of.learn(seen([], []))
    assert np.array_equal(of.memory(ids), before)


def test_ids_far_apart_and_no_ids_at_all_are_known() -> None:
    of = Counted(TABLE_4)
    of.learn(replace(seen([3.0, 3.0], [1, 1]), id=np.array([5, 90_000])))
    assert of.memory(np.array([90_000])).tolist() == [[1.0, 1.0, 1.0]]
    assert of.memory(np.empty(0, dtype=np.int64)).shape == (0, 3)
    assert of.classes(np.empty(0, dtype=np.int64), np.empty(0)).tolist() == []


def loop_of(policy: Policy, predictor: Predictor, store: MemoryStore | None = None) -> Loop:
    if store is None:
        store = MemoryStore()
        settings = Settings(min_gap_s=3_600.0, max_gap_s=60 * DAY_S)
        store.add([NewResource(url="http://h/", host="h", settings=settings)], NOW)
    loop = Loop(store=store, predictor=predictor, policy=policy, rule=policy.name, per_day=None)
    loop.start(NOW)
    return loop


def visit(loop: Loop, at: float, changed: bool) -> float:
    lease = loop.claim(1, at)
    assert lease is not None
    first = not np.isfinite(lease.standing.since_at)
    done = Visit(
        fetch_id=str(at),
        resource_id=1,
        at=at,
        since_at=lease.standing.since_at,
        outcome=Outcome.OK,
        changed=Changed.UNKNOWN if first else Changed(changed),
    )
    return loop.absorb([Finding(lease=lease, visit=done, gate_at=at)], at)[0].plan.gap_s


@pytest.mark.parametrize("name", CLASSED)
@pytest.mark.parametrize("predictor", [Historic, Bayesian, GammaFilter])
def test_policy_and_predictor_go_on_from_their_own_rows_after_a_restart(
    name: str, predictor: type[Historic] | type[Bayesian] | type[GammaFilter]
) -> None:
    whole = loop_of(CLASSED[name](), predictor())
    loop = loop_of(CLASSED[name](), predictor())
    at, gaps = NOW, set()
    for n in range(30):
        changed = n > 13
        gap_s = visit(whole, at, changed)
        assert isinstance(loop.store, MemoryStore)
        loop = loop_of(CLASSED[name](), predictor(), loop.store)
        assert visit(loop, at, changed) == gap_s
        gaps.add(gap_s)
        at += gap_s
    assert len(gaps) > 1
    assert max(gaps) <= 60 * DAY_S
    ids = np.array([1])
    assert np.array_equal(loop.predictor.memory(ids), whole.predictor.memory(ids))


@pytest.mark.parametrize("name", ["historic", "bayesian"])
def test_a_store_gives_back_rows_and_hunches_and_all_is_learned_anew_from_its_visits(
    name: str, tmp_path: Path
) -> None:
    predictor = {"historic": Historic, "bayesian": Bayesian}[name]
    with opened(tmp_path / "home", name) as house:
        house.store.add([NewResource(url="http://h0.example/0", host="h0.example")], NOW)
        house.store.hunches("m", np.array([1]), np.array([1.0 / 96]), np.array([96 * DAY_S]), NOW)
        looked(house, policy=name, predictor=predictor())
        learned = memories(house)
        assert len(set(learned)) > 5
        assert house.store.standing(1)[0].gap_s == 96 * DAY_S  # its host's never change
        forget(house)
        assert relearn(house).n_resources == len(learned)
        assert memories(house) == learned


def evenly(gaps_days: list[float], days: float) -> Traces:
    """Each changes once in its gap, in the middle of it."""
    at: list[Floats] = [
        NOW + DAY_S * np.arange(gap / 2.0, days, gap) if np.isfinite(gap) else np.empty(0)
        for gap in gaps_days
    ]
    n = len(at)
    return Traces(
        born_at=np.full(n, NOW),
        bounds=np.concatenate([[0], np.cumsum([len(one) for one in at])]).astype(np.int64),
        at=np.concatenate(at),
        digest=np.zeros(sum(map(len, at)), dtype=np.uint64),
        first_digest=np.zeros(n, dtype=np.uint64),
        host=np.arange(n),
        weight=np.ones(n),
    )


def test_the_historic_classifier_ends_where_the_paper_would_have_it() -> None:
    """Table 4 by hand, over its hundred days."""
    traces = evenly([1.0, 1.0, 1.0, np.inf, np.inf, 96.0], 400.0)
    # every visit of the first two finds a change: the slowest class is left after 96 days, with its only
    # visit; the class of 31 days after two, on day 62, that of 3 days on day 68
    start = np.array([0, 2, 3, 0, 2, 3])
    ends = final_classes("historic", TABLE_4, start, traces, start_at=NOW, end_at=NOW + 100 * DAY_S)
    # never a change: day 3 slower, day 9 slower, day 71 slower; from 31 days on at day 62
    assert ends.tolist() == [0, 0, 2, 3, 3, 2]
    few = final_classes("historic", TABLE_4, start, traces, start_at=NOW, end_at=NOW + 10 * DAY_S)
    assert few.tolist() == [0, 2, 3, 2, 2, 3]
    assert start.tolist() == [0, 2, 3, 0, 2, 3]


def test_the_bayesian_estimator_ends_in_the_class_of_the_rate_wherever_it_began() -> None:
    rng = np.random.default_rng(4)
    true = np.repeat(np.arange(4), 40)
    days = 1_500.0
    mean_days = np.array([1.0, 3.0, 31.0, 96.0])[true]
    times = [NOW + DAY_S * np.cumsum(rng.exponential(m, int(2 * days / m) + 9)) for m in mean_days]
    traces = replace(
        evenly([1.0] * 160, 1.0),
        bounds=np.concatenate([[0], np.cumsum([len(one) for one in times])]).astype(np.int64),
        at=np.concatenate(times),
        digest=np.zeros(sum(map(len, times)), dtype=np.uint64),
    )
    for belief in (0.25, 0.75):
        found = final_classes(
            "bayesian",
            TABLE_4,
            rng.permutation(true),
            traces,
            start_at=NOW,
            end_at=NOW + days * DAY_S,
            belief=belief,
        )
        assert (found == true).mean() > 0.9


def test_wrong_words_and_classes_are_refused() -> None:
    traces = evenly([1.0, 1.0], 10.0)
    with pytest.raises(BadInputError, match="choose historic or bayesian"):
        final_classes("oracle", TABLE_4, np.array([0, 0]), traces, start_at=NOW, end_at=NOW + 1.0)
    for start in ([0], [0, 4], [0, -1]):
        with pytest.raises(BadInputError, match="give a place from 0 on"):
            final_classes("historic", TABLE_4, np.array(start), traces, start_at=NOW, end_at=NOW + 1.0)
