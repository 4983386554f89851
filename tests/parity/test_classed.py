"""Policies of rate classes: the walk, the columns and the loop make the very same visits."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from recrawl.evaluate.contenders import contender
from recrawl.evaluate.protocol import FIRST_GAP_S, Window
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.memberships import Weighed
from recrawl.model import DAY_S, TABLE_4, Floats, Hunch, NewResource, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.classes import CLASSED
from recrawl.simulate.classed import ClassPolicy, final_classes, walk_classed
from recrawl.simulate.columns import walk_columns
from recrawl.simulate.run import simulate
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.worlds import TraceWorld

START_AT, DAYS, N = 1.7e9, 150.0, 16
END_AT = START_AT + DAYS * DAY_S
MIN_S, MAX_S = 2 * DAY_S, 40 * DAY_S


@pytest.fixture(scope="module")
def traces() -> Traces:
    """From never to several times a day; every other one begins to change, or stops, in the middle."""
    rng = np.random.default_rng(8)
    of = []
    for i, per_day in enumerate(np.geomspace(0.005, 4.0, N)):
        at = np.unique(START_AT + DAYS * DAY_S * rng.random(rng.poisson(per_day * DAYS)))
        middle = START_AT + DAYS / 2 * DAY_S
        of.append(at[at < middle] if i % 4 == 1 else at[at > middle] if i % 4 == 3 else at)
    return Traces(
        born_at=np.full(N, START_AT),
        bounds=np.concatenate([[0], np.cumsum([len(at) for at in of])]).astype(np.int64),
        at=np.concatenate(of),
        digest=np.zeros(sum(map(len, of)), dtype=np.uint64),
        first_digest=np.zeros(N, dtype=np.uint64),
        host=np.arange(N),
        weight=np.ones(N),
    )


def hunched(traces: Traces) -> Traces:
    """Right, wrong and none in turn."""
    rng = np.random.default_rng(9)
    gap_s = rng.choice([1.0, 3.0, 31.0, 96.0], N) * DAY_S
    gap_s[::5] = np.nan
    return replace(traces, hunch_per_day=DAY_S / gap_s, hunch_gap_s=gap_s)


def first_gaps() -> Floats:
    return FIRST_GAP_S * np.random.default_rng(6).random(N)


def looped(policy: ClassPolicy, traces: Traces) -> Visits:
    settings = Settings(min_gap_s=MIN_S, max_gap_s=MAX_S)
    hunches: list[Hunch] = []
    if traces.hunch_per_day is not None and traces.hunch_gap_s is not None:
        said = zip(traces.hunch_per_day.tolist(), traces.hunch_gap_s.tolist(), strict=True)
        hunches = [Hunch(per_day=per_day, gap_s=gap_s) for per_day, gap_s in said]
    world = TraceWorld(
        [NewResource(url=f"http://h{i}.test/", host=f"h{i}.test", settings=settings) for i in range(N)],
        [traces.of(i) for i in range(N)],
        hunches,
    )
    loop = Loop(
        store=MemoryStore(),
        predictor=GammaFilter(),
        policy=policy,
        rule=policy.name,
        per_day=None,
        reprice_every_s=inf,
    )
    seen = simulate(loop, world, start_at=START_AT, end_at=END_AT, first_gap_s=first_gaps())
    chosen = seen.pick(np.isfinite(seen.since_at))
    order = np.lexsort((chosen.at, chosen.id))
    return Visits(bounds=np.searchsorted(chosen.id[order], np.arange(N + 1)), at=chosen.at[order])


def check_same(one: Visits, other: Visits) -> None:
    assert len(one) > N
    assert one.bounds.tolist() == other.bounds.tolist()
    assert np.allclose(one.at, other.at, rtol=0.0, atol=1e-3)


def walked(policy: ClassPolicy, traces: Traces) -> Visits:
    return walk_classed(
        policy,
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gaps(),
        min_gap_s=MIN_S,
        max_gap_s=MAX_S,
    )


@pytest.mark.parametrize("with_hunches", [False, True])
@pytest.mark.parametrize("name", CLASSED)
def test_walk_loop_and_columns_make_the_same_visits(name: str, with_hunches: bool, traces: Traces) -> None:
    some = hunched(traces) if with_hunches else traces
    policy, other = CLASSED[name](), CLASSED[name]()
    found = walked(policy, some)
    gaps_s = np.concatenate([np.diff(found.of(i)) for i in range(N)])
    assert len(np.unique(np.round(gaps_s))) >= 3
    check_same(found, looped(other, some))
    ids = np.arange(1, N + 1)
    assert np.allclose(policy.memory(ids), other.memory(ids), rtol=1e-9)
    in_columns = walk_columns(
        GammaFilter(),
        CLASSED[name](),
        some,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gaps(),
        min_gap_s=MIN_S,
        max_gap_s=MAX_S,
        price=0.0,
    )
    check_same(found, in_columns)


@pytest.mark.parametrize("name", CLASSED)
def test_hunches_make_other_visits_and_a_contender_of_the_name_makes_these(name: str, traces: Traces) -> None:
    found = walked(CLASSED[name](), hunched(traces))
    assert found.at.tolist() != walked(CLASSED[name](), traces).at.tolist()
    one = contender(name, min_gap_s=MIN_S, max_gap_s=MAX_S)
    assert not one.priced
    window = Window(start_at=START_AT, end_at=END_AT, rows=np.arange(N), first_gap_s=first_gaps())
    check_same(one.visits(hunched(traces), window, n_visits=3), found)
    free = contender(name).visits(traces, window)
    days = {round(gap) for i in range(N) for gap in (np.diff(free.of(i)) / DAY_S).tolist()}
    assert days <= {1, 3, 7, 30, 31, 96, 100}


@pytest.mark.parametrize("by", ["historic", "bayesian"])
def test_final_classes_are_those_that_the_walk_leaves(by: str, traces: Traces) -> None:
    start = np.random.default_rng(1).integers(0, 4, N)
    begun = replace(traces, hunch_gap_s=np.array([TABLE_4[i].interval_s for i in start]))
    assert begun.hunch_gap_s is not None
    policy = CLASSED[by]()
    walk_classed(policy, begun, start_at=START_AT, end_at=END_AT, first_gap_s=begun.hunch_gap_s)
    ends = final_classes(by, TABLE_4, start, traces, start_at=START_AT, end_at=END_AT)
    assert ends.tolist() == policy.classes(np.arange(1, N + 1), begun.hunch_gap_s).tolist()
    assert ends.tolist() != start.tolist()
    none = final_classes(by, TABLE_4, start, traces, start_at=START_AT, end_at=START_AT)
    assert none.tolist() == start.tolist()
    if isinstance(policy, Weighed):  # believing in the start no more than in others, it still begins there
        even = final_classes(
            by, TABLE_4, start, traces, start_at=START_AT, end_at=START_AT + 0.5 * DAY_S, belief=0.25
        )
        assert even.tolist() == start.tolist()
