"""The fast path, the columns and the loop make the very same visits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from recrawl.contracts import Goal, Policy
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import DAY_S, Floats, NewResource, Priors, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.closed import EXPECTED
from recrawl.schedule.goals import Capture, Fresh, FreshHarmonic, Prompt
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.proportional import Proportional
from recrawl.schedule.policies.round_robin import RoundRobin
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.policy import Ruled
from recrawl.schedule.policies.rules.rule import Rule
from recrawl.schedule.policies.rules.step import FIXED
from recrawl.schedule.policies.uniform import Uniform
from recrawl.simulate.columns import walk_columns
from recrawl.simulate.run import simulate
from recrawl.simulate.scalar import GOALS
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import START_GAP_S, gaps_at_start, walk, walk_index
from recrawl.simulate.worlds import TraceWorld, world_from

START_AT = 1.7e9
DAYS = 120.0
END_AT = START_AT + DAYS * DAY_S
MIN_S, MAX_S = DAY_S, 60 * DAY_S
N = 14


@pytest.fixture(scope="module")
def traces() -> Traces:
    """From never to many times a day, some in bursts; changes before the start too."""
    rng = np.random.default_rng(5)
    early_at, span_s = START_AT - 30 * DAY_S, END_AT - START_AT + 30 * DAY_S

    def events() -> Iterator[Floats]:
        for i, per_day in enumerate(np.geomspace(0.004, 6.0, N)):
            at = np.sort(
                early_at + span_s * rng.random(0 if i == 3 else rng.poisson(per_day * span_s / DAY_S))
            )
            yield np.round(at / (5 * DAY_S)) * 5 * DAY_S if i % 4 == 1 else at

    of = [np.unique(at) for at in events()]
    n_changes = sum(map(len, of))
    return Traces(
        born_at=np.full(N, early_at),
        bounds=np.concatenate([[0], np.cumsum([len(at) for at in of])]).astype(np.int64),
        at=np.concatenate(of),
        digest=np.arange(1, n_changes + 1, dtype=np.uint64),
        first_digest=np.zeros(N, dtype=np.uint64),
        host=np.arange(N),
        weight=rng.lognormal(0.0, 1.0, N),
    )


@pytest.fixture(scope="module")
def first_gap_s() -> Floats:
    return START_GAP_S * np.random.default_rng(6).random(N)


def looped(
    policy: Policy, traces: Traces, first_gap_s: Floats, price: float = 0.0, priors: Priors | None = None
) -> Visits:
    """The visits that the loop itself makes, without a budget and at one price."""
    world = TraceWorld(
        [
            NewResource(
                url=f"http://h{i % 5}.test/{i}",
                host=f"h{i % 5}.test",
                settings=Settings(min_gap_s=MIN_S, max_gap_s=MAX_S, weight=float(traces.weight[i])),
            )
            for i in range(N)
        ],
        [traces.of(i) for i in range(N)],
        world_from(traces).hunches,
    )
    loop = Loop(
        store=MemoryStore(),
        predictor=grounded(priors),
        policy=policy,
        rule=policy.name,
        per_day=None,
        reprice_every_s=inf,
        free_price=price,
    )
    seen = simulate(loop, world, start_at=START_AT, end_at=END_AT, first_gap_s=first_gap_s)
    chosen = seen.pick(np.isfinite(seen.since_at))
    order = np.lexsort((chosen.at, chosen.id))
    return Visits(bounds=np.searchsorted(chosen.id[order], np.arange(N + 1)), at=chosen.at[order])


def check_same(one: Visits, other: Visits, within_s: float = 1e-3) -> None:
    assert len(one) > N
    assert one.bounds.tolist() == other.bounds.tolist()
    assert np.allclose(one.at, other.at, rtol=0.0, atol=within_s)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_walks_as_the_loop_does(rule: Rule, traces: Traces, first_gap_s: Floats) -> None:
    held = rule.bounded(MIN_S, MAX_S, START_GAP_S)
    present_s = gaps_at_start(held, traces, start_at=START_AT, end_at=END_AT)
    policy = Ruled(held)
    if rule.code == FIXED:
        policy.recall(np.arange(1, N + 1), present_s[:, None])
    walked = walk(
        rule,
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gap_s,
        min_gap_s=MIN_S,
        max_gap_s=MAX_S,
    )
    check_same(walked, looped(policy, traces, first_gap_s))


PRICES = {"fresh": 0.3 * DAY_S, "fresh-harmonic": 2.0 * DAY_S, "capture": 0.1, "prompt": 2.0 * DAY_S}


@pytest.mark.parametrize("goal", [Fresh(), FreshHarmonic(), Capture(), Prompt()], ids=lambda goal: goal.name)
def test_the_index_walks_as_the_loop_and_the_columns_do(
    goal: Goal, traces: Traces, first_gap_s: Floats
) -> None:
    price = PRICES[goal.name]
    walked = index_walk(traces, first_gap_s, price, GOALS[goal.name])
    gaps_s = np.concatenate([np.diff(walked.of(i)) for i in range(N)])
    assert ((gaps_s > 1.01 * MIN_S) & (gaps_s < 0.99 * MAX_S)).mean() > 0.2  # not the bounds alone decide
    check_same(walked, looped(Index(goal), traces, first_gap_s, price))
    check_same(walked, column_walk(Index(goal), traces, first_gap_s, price))


def test_with_priors_of_groups_the_index_walks_as_the_columns_do(traces: Traces, first_gap_s: Floats) -> None:
    priors = Priors(
        shape=0.4,
        scale_s=3 * DAY_S,
        group=np.arange(1, N + 1, 2),
        shapes=np.geomspace(0.1, 5.0, -(-N // 2)),
        scales_s=np.geomspace(1.0, 50.0, -(-N // 2)) * DAY_S,
    )
    walked = index_walk(traces, first_gap_s, PRICES["fresh"], GOALS["fresh"], priors)
    check_same(walked, column_walk(Index(Fresh()), traces, first_gap_s, PRICES["fresh"], priors=priors))
    plain = index_walk(traces, first_gap_s, PRICES["fresh"], GOALS["fresh"])
    assert walked.at.tolist() != plain.at.tolist()


def test_with_hunches_the_index_walks_as_the_loop_and_the_columns_do(
    traces: Traces, first_gap_s: Floats
) -> None:
    """Some have one and some have none, and one is far off."""
    per_day = np.where(np.arange(N) % 3 == 0, np.nan, np.geomspace(0.01, 30.0, N))
    hunched = replace(traces, hunch_per_day=per_day, hunch_gap_s=DAY_S / per_day)
    priors = Priors(shape=0.4, scale_s=3 * DAY_S, hunched=Priors(shape=2.0, scale_s=1.7 * DAY_S))
    walked = index_walk(hunched, first_gap_s, PRICES["fresh"], GOALS["fresh"], priors)
    check_same(walked, looped(Index(Fresh()), hunched, first_gap_s, PRICES["fresh"], priors))
    check_same(walked, column_walk(Index(Fresh()), hunched, first_gap_s, PRICES["fresh"], priors=priors))
    plain = index_walk(traces, first_gap_s, PRICES["fresh"], GOALS["fresh"], priors)
    same = [walked.of(i).tolist() == plain.of(i).tolist() for i in range(N)]
    assert all(same[::3])
    assert sum(same[1::3] + same[2::3]) < N // 6
    alone = replace(priors, hunched=None)  # without what they mean, hunches mean nothing
    assert index_walk(hunched, first_gap_s, PRICES["fresh"], GOALS["fresh"], alone).at.tolist() == (
        plain.at.tolist()
    )


def grounded(priors: Priors | None) -> GammaFilter:
    gamma = GammaFilter()
    if priors is not None:
        gamma.ground(priors)
    return gamma


def index_walk(
    traces: Traces, first_gap_s: Floats, price: float, goal: int, priors: Priors | None = None
) -> Visits:
    return walk_index(
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gap_s,
        min_gap_s=MIN_S,
        max_gap_s=MAX_S,
        price=price,
        goal=goal,
        predictor=grounded(priors),
    )


def column_walk(
    policy: Policy,
    traces: Traces,
    first_gap_s: Floats,
    price: float,
    every_s: float = inf,
    priors: Priors | None = None,
) -> Visits:
    return walk_columns(
        grounded(priors),
        policy,
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gap_s,
        min_gap_s=MIN_S,
        max_gap_s=MAX_S,
        price=price,
        replan_every_s=every_s,
    )


def test_proportional_walks_as_the_loop_does(traces: Traces, first_gap_s: Floats) -> None:
    walked = index_walk(traces, first_gap_s, 0.8, EXPECTED)
    check_same(walked, looped(Proportional(), traces, first_gap_s, 0.8))


@pytest.mark.parametrize("policy", [Uniform(), RoundRobin()], ids=lambda policy: policy.name)
def test_equal_gaps_walk_as_the_loop_does(policy: Policy, traces: Traces, first_gap_s: Floats) -> None:
    price = 9.5 * DAY_S
    walked = walk(
        RULES["week"].bounded(price, price, price),
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gap_s,
        start_gap_s=price,
    )
    check_same(walked, looped(policy, traces, first_gap_s, price))


def test_columns_take_remembering_policies_and_planning_anew_changes_nothing_that_was_decided(
    traces: Traces, first_gap_s: Floats
) -> None:
    rule = RULES["nutch"].bounded(MIN_S, MAX_S, START_GAP_S)
    once = column_walk(Ruled(rule), traces, first_gap_s, 0.0)
    walked = walk(
        RULES["nutch"],
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gap_s,
        min_gap_s=MIN_S,
        max_gap_s=MAX_S,
    )
    check_same(once, walked)
    check_same(once, column_walk(Ruled(rule), traces, first_gap_s, 0.0, every_s=3.3 * DAY_S))
