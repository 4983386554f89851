"""Resources that teach each other: the loop, the columns and the fast path make the same visits.

What one resource taught reaches another when it is planned anew, so all three must do that at the same
moments, and the smallest gap must be no shorter than the time between them: else a plan would count that was
made in the middle, after some visits of the moment or after all of them.

One order is the shell's own. What is overdue when it is planned anew is visited at once, and each visit
teaches before the next one does: the walks go by the resources' numbers, the loop by how long they are
overdue. So here the loop's plans begin no sooner than the moment they are made. Nor does the loop keep the
first gaps by itself, as the walks do. And after hundreds of visits that were put off the loop finds its price
early, which walks at a constant price never do: there are fewer here.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from tests.parity.test_walk import check_same

from recrawl.contracts import Forecasts, Goal, Quote
from recrawl.evaluate.measures import measure
from recrawl.evaluate.protocol import Window
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.learn.rhythms.forecasts import Rhythms
from recrawl.learn.rhythms.told import Told
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, Batch, Floats, KinTable, NewResource, Priors, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Capture, Fresh, FreshHarmonic, Prompt
from recrawl.schedule.policies.index import Index
from recrawl.simulate.columns import walk_columns
from recrawl.simulate.processes import Poisson
from recrawl.simulate.rates import Lognormal
from recrawl.simulate.recipes import Ingredient, Recipe, Shared
from recrawl.simulate.rhythms import Fits, walk_rhythm
from recrawl.simulate.run import simulate
from recrawl.simulate.scalar import GOALS
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import START_GAP_S
from recrawl.simulate.worlds import Quarter, TraceWorld, World

START_AT = 1.7e9
END_AT = START_AT + 40 * DAY_S
MIN_S, MAX_S = 3 * HOUR_S, 30 * DAY_S
PRICES = {"fresh": 0.3 * DAY_S, "fresh-harmonic": 1.0 * DAY_S, "capture": 0.1, "prompt": 1.0 * DAY_S}
# A logarithm in columns may differ in its last bit from a plain one; stirs are kept in narrow numbers, and
# those make a ten-millionth of that.
NARROW_S = 1.0
GOAL: list[Goal] = [Fresh(), FreshHarmonic(), Capture(), Prompt()]


def world(n: int, per_host: int, seed: int) -> tuple[Traces, Floats]:
    """Hosts whose resources change together about once a week, and each also by itself; and first gaps."""
    recipe = Recipe(
        ingredients=(Ingredient(law=Poisson(0.1), rates=Lognormal(0.05, 1.5)),),
        start_at=START_AT - 30 * DAY_S,
        end_at=END_AT,
        per_host=per_host,
        shared=Shared(per_day=1 / 7, share=0.7, within_s=600.0),
    )
    rng = np.random.default_rng(seed)
    traces = World([Quarter(recipe, n)], seed=seed).traces()
    return replace(traces, weight=rng.lognormal(0.0, 0.5, n)), START_GAP_S * rng.random(n)


def fast(
    traces: Traces,
    first_gap_s: Floats,
    goal: Goal,
    *,
    exact: bool,
    priors: Priors | None = None,
    min_gap_s: float = MIN_S,
    kin: KinTable | None = None,
    fits: Fits | None = None,
    price: float | None = None,
    waiting: bool = True,
) -> Visits:
    predictor = Rhythm()
    if priors is not None:
        predictor.ground(priors)
    return walk_rhythm(
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gap_s,
        min_gap_s=min_gap_s,
        max_gap_s=MAX_S,
        price=PRICES[goal.name] if price is None else price,
        goal=GOALS[goal.name],
        predictor=predictor,
        replan_every_s=MIN_S,
        exact=exact,
        waiting=waiting,
        kin=kin,
        fits=fits,
    )


def columns(
    traces: Traces,
    first_gap_s: Floats,
    goal: Goal,
    *,
    priors: Priors | None = None,
    min_gap_s: float = MIN_S,
    kin: KinTable | None = None,
    price: float | None = None,
) -> Visits:
    predictor = Rhythm()
    predictor.know_kin(kin or KinTable())
    if priors is not None:
        predictor.ground(priors)
    return walk_columns(
        predictor,
        Index(goal),
        traces,
        start_at=START_AT,
        end_at=END_AT,
        first_gap_s=first_gap_s,
        min_gap_s=min_gap_s,
        max_gap_s=MAX_S,
        price=PRICES[goal.name] if price is None else price,
        replan_every_s=MIN_S,
    )


class Timed(Rhythm):
    """Knows what time it is."""

    now = START_AT

    def forecast(self, batch: Batch, now: float) -> Rhythms | Told:
        self.now = now
        return super().forecast(batch, now)


class Begun:
    """The index, with the first gaps as they are given; nothing is due before the moment it is planned."""

    name = "index"

    def __init__(self, goal: Goal, first_gap_s: Floats, predictor: Timed) -> None:
        self.index, self.first_gap_s, self.predictor = Index(goal), first_gap_s, predictor

    def quote(self, batch: Batch, forecasts: Forecasts) -> Quote:
        return _BegunQuote(self, batch, self.index.quote(batch, forecasts))


class _BegunQuote:
    def __init__(self, policy: Begun, batch: Batch, of: Quote) -> None:
        self.policy, self.batch, self.of = policy, batch, of

    def gaps(self, price: float | Floats) -> Floats:
        gap_s = np.fmax(self.of.gaps(price), self.policy.predictor.now - self.batch.since_at)
        return np.where(self.batch.n_informative == 1, self.policy.first_gap_s[self.batch.id - 1], gap_s)


def looped(traces: Traces, first_gap_s: Floats, goal: Goal, kin: KinTable | None = None) -> Visits:
    n, host = len(traces), [f"h{host}.test" for host in traces.host.tolist()]
    resources = [
        NewResource(
            url=f"http://{host[i]}/{i}",
            host=host[i],
            settings=Settings(min_gap_s=MIN_S, max_gap_s=MAX_S, weight=float(traces.weight[i])),
        )
        for i in range(n)
    ]
    predictor = Timed()
    predictor.know_kin(kin or KinTable())
    loop = Loop(
        store=MemoryStore(),
        predictor=predictor,
        policy=Begun(goal, first_gap_s, predictor),
        rule="index",
        per_day=None,
        reprice_every_s=MIN_S,
        free_price=PRICES[goal.name],
    )
    events = [traces.of(i) for i in range(n)]
    seen = simulate(
        loop, TraceWorld(resources, events), start_at=START_AT, end_at=END_AT, first_gap_s=first_gap_s
    )
    chosen = seen.pick(np.isfinite(seen.since_at))
    order = np.lexsort((chosen.at, chosen.id))
    return Visits(bounds=np.searchsorted(chosen.id[order], np.arange(n + 1)), at=chosen.at[order])


@pytest.mark.parametrize("goal", GOAL[:1] + GOAL[2:3], ids=lambda goal: goal.name)
def test_the_fast_path_walks_as_the_loop_does(goal: Goal) -> None:
    traces, first_gap_s = world(14, 14, seed=4)
    traces = replace(traces, host=np.array([0] * 8 + [1, 2, 3, 4, 5, 6]))  # the last six are alone
    walked = fast(traces, first_gap_s, goal, exact=True)
    check_same(walked, looped(traces, first_gap_s, goal), NARROW_S)
    at_once = fast(traces, first_gap_s, goal, exact=True, waiting=False)
    check_same(at_once, columns(traces, first_gap_s, goal), NARROW_S)
    assert at_once.at.tolist() != walked.at.tolist()
    due = (walked.at - START_AT) / MIN_S
    assert (due == np.round(due)).sum() > 10  # those that others called for, at once when planned anew


def kindred() -> KinTable:
    pairs = [(1, 2, 0.9), (1, 3, 0.3), (2, 1, 0.9), (5, 1, 0.2), (6, 7, 0.9), (7, 6, 0.6), (8, 2, 0.4)]
    ids, of, weight = (np.array(column) for column in zip(*pairs, strict=True))
    return KinTable(id=ids, of=of, weight=weight)


@pytest.mark.parametrize("goal", GOAL, ids=lambda goal: goal.name)
def test_with_kin_that_tell_it_walks_as_the_columns_do(goal: Goal) -> None:
    traces, first_gap_s = world(14, 7, seed=6)
    walked = fast(traces, first_gap_s, goal, exact=True, waiting=False, kin=kindred())
    check_same(walked, columns(traces, first_gap_s, goal, kin=kindred()), NARROW_S)
    untold = fast(traces, first_gap_s, goal, exact=True, waiting=False)
    assert (walked.at.tolist() == untold.at.tolist()) is (goal.name == "capture")  # which has time


@pytest.mark.parametrize("goal", GOAL, ids=lambda goal: goal.name)
def test_with_kin_that_tell_it_walks_as_the_loop_does(goal: Goal) -> None:
    traces, first_gap_s = world(14, 14, seed=6)  # of one host: no two visits at the same moment
    walked = fast(traces, first_gap_s, goal, exact=True, kin=kindred())
    check_same(walked, looped(traces, first_gap_s, goal, kindred()), NARROW_S)
    untold = fast(traces, first_gap_s, goal, exact=True)
    assert (walked.at.tolist() == untold.at.tolist()) is (goal.name == "capture")


@pytest.mark.parametrize("goal", GOAL[1::2], ids=lambda goal: goal.name)
def test_the_fast_path_walks_as_the_columns_do(goal: Goal) -> None:
    traces, first_gap_s = world(24, 6, seed=5)
    walked = fast(traces, first_gap_s, goal, exact=True, waiting=False)
    check_same(walked, columns(traces, first_gap_s, goal), NARROW_S)
    gap_s = np.concatenate([np.diff(walked.of(i)) for i in range(len(traces))])
    assert ((gap_s > 1.01 * MIN_S) & (gap_s < 0.99 * MAX_S)).mean() > 0.8  # not the bounds alone decide


def test_with_priors_of_groups_and_wider_smallest_gaps_it_walks_as_the_columns_do() -> None:
    traces, first_gap_s = world(18, 6, seed=6)
    priors = Priors(
        shape=0.4,
        scale_s=3 * DAY_S,
        group=np.array([1, 3]),
        shapes=np.array([2.0, 0.2]),
        scales_s=np.array([30.0, 2.0]) * DAY_S,
    )
    gap_s = 2.5 * MIN_S
    walked = fast(traces, first_gap_s, GOAL[0], exact=True, waiting=False, priors=priors, min_gap_s=gap_s)
    check_same(walked, columns(traces, first_gap_s, GOAL[0], priors=priors, min_gap_s=gap_s), NARROW_S)
    plain = fast(traces, first_gap_s, GOAL[0], exact=True, waiting=False, min_gap_s=gap_s)
    assert walked.at.tolist() != plain.at.tolist()


def test_with_hunches_it_walks_as_the_columns_do() -> None:
    traces, first_gap_s = world(18, 6, seed=6)
    per_day = np.where(np.arange(18) % 3 == 0, np.nan, np.geomspace(0.02, 20.0, 18))
    hunched = replace(traces, hunch_per_day=per_day)
    own = Priors(
        shape=1.5,
        scale_s=1.2 * DAY_S,
        group=np.array([2]),
        shapes=np.array([3.0]),
        scales_s=np.array([1.0]) * DAY_S,
    )
    priors = Priors(shape=0.4, scale_s=3 * DAY_S, hunched=own)
    walked = fast(hunched, first_gap_s, GOAL[0], exact=True, waiting=False, priors=priors)
    check_same(walked, columns(hunched, first_gap_s, GOAL[0], priors=priors), NARROW_S)
    unhunched = fast(traces, first_gap_s, GOAL[0], exact=True, waiting=False, priors=priors)
    assert walked.at.tolist() != unhunched.at.tolist()


def noons() -> tuple[Traces, Floats]:
    """All changes come in one hour of the day, so that the calendar stands nearly still in the others."""
    traces, first_gap_s = world(4, 4, seed=7)
    noon = START_AT - START_AT % DAY_S + (np.arange(60) + 0.5) * DAY_S
    at, digest = (
        np.concatenate([noon + 60.0 * i for i in range(4)]),
        np.arange(4 * len(noon), dtype=np.uint64),
    )
    return replace(traces, bounds=np.arange(5) * len(noon), at=at, digest=digest), first_gap_s


def gaps_s(visits: Visits, i: int) -> Floats:
    return np.diff(visits.of(i))


@pytest.mark.parametrize("goal", GOAL[2:], ids=lambda goal: goal.name)
def test_a_visit_that_costs_nothing_waits_for_no_clock(goal: Goal) -> None:
    """If it has a weight: what has none is visited no sooner than it must."""
    traces, first_gap_s = noons()
    traces.weight[3] = 0.0
    walked = fast(traces, first_gap_s, goal, exact=True, waiting=False, price=0.0)
    check_same(walked, columns(traces, first_gap_s, goal, price=0.0), NARROW_S)
    for visits in (walked, *(fast(traces, first_gap_s, goal, exact=one, price=0.0) for one in (True, False))):
        found = np.concatenate([gaps_s(visits, i) for i in range(3)])
        assert found == pytest.approx(np.full(len(found), MIN_S), abs=1e-3)
        assert len(gaps_s(visits, 3)) < len(found) / 30


@pytest.mark.parametrize("goal", GOAL[:1] + GOAL[2:], ids=lambda goal: goal.name)
def test_what_no_price_allows_comes_at_the_largest_gap(goal: Goal) -> None:
    traces, first_gap_s = world(40, 4, seed=7)
    walked = fast(traces, first_gap_s, goal, exact=True, waiting=False, price=inf)
    check_same(walked, columns(traces, first_gap_s, goal, price=inf), NARROW_S)
    found = np.concatenate([gaps_s(walked, i) for i in range(40)])
    assert len(found)
    assert found == pytest.approx(np.full(len(found), MAX_S), abs=1e-3)


@pytest.mark.parametrize("goal", GOAL[:1] + GOAL[3:], ids=lambda goal: goal.name)
def test_planning_only_the_stirred_anew_makes_much_the_same_visits(goal: Goal) -> None:
    traces, first_gap_s = world(240, 12, seed=7)
    rows = np.arange(len(traces))
    window = Window(start_at=START_AT, end_at=END_AT, rows=rows, first_gap_s=first_gap_s)
    exact = fast(traces, first_gap_s, goal, exact=True)
    low, high = (PRICES[goal.name] * factor for factor in (0.5, 2.0))
    for _ in range(12):  # at a price of its own, for as many visits
        price = (low * high) ** 0.5
        quick = fast(traces, first_gap_s, goal, exact=False, price=price)
        low, high = (price, high) if len(quick) > len(exact) else (low, price)
    assert len(quick) == pytest.approx(len(exact), rel=0.005)
    one, other = (measure(traces, visits, window).total() for visits in (exact, quick))
    assert 1.0 - other.freshness == pytest.approx(1.0 - one.freshness, rel=0.03)
    assert other.wait_days_mean == pytest.approx(one.wait_days_mean, rel=0.03)
    assert other.recall == pytest.approx(one.recall, abs=0.01)
    assert quick.at.tolist() != exact.at.tolist()


@pytest.mark.parametrize("goal", GOAL, ids=lambda goal: goal.name)
def test_a_walk_goes_on_where_its_prior_was_exchanged(goal: Goal) -> None:
    traces, first_gap_s = world(60, 6, seed=8)
    whole = fast(traces, first_gap_s, goal, exact=True)
    stops = [START_AT + days * DAY_S for days in (0.25, 10, 25)]
    told: list[int] = []

    def same(made: Visits) -> Priors:
        told.append(len(made))
        return Rhythm().priors

    check_same(fast(traces, first_gap_s, goal, exact=True, fits=Fits(stops, same)), whole, NARROW_S)
    assert told == [int((whole.at < stop).sum()) for stop in stops]
    faster = Priors(shape=50.0, scale_s=20 * DAY_S)
    later = fast(traces, first_gap_s, goal, exact=True, fits=Fits(stops[1:2], lambda _: faster))
    before, after = (np.sort(one.at[one.at < stops[1]]) for one in (whole, later))
    assert before.tolist() == after.tolist()
    assert len(later) != len(whole)


def test_walks_of_nothing_and_walks_that_follow_each_other_know_nothing() -> None:
    traces, first_gap_s = world(24, 6, seed=5)
    nobody = traces.pick(np.arange(0))
    assert len(fast(nobody, np.empty(0), GOAL[0], exact=True)) == 0
    predictor = Rhythm()
    made = [
        walk_rhythm(
            traces,
            start_at=START_AT,
            end_at=END_AT,
            first_gap_s=first_gap_s,
            min_gap_s=MIN_S,
            max_gap_s=MAX_S,
            price=PRICES["fresh"],
            goal=GOALS["fresh"],
            predictor=predictor,
            replan_every_s=MIN_S,
        )
        for _ in range(2)
    ]
    assert made[0].at.tolist() == made[1].at.tolist()


def test_a_walk_ends_where_a_visit_falls_on_the_moment_of_planning() -> None:
    """Moments that are no whole numbers of seconds are rounded: the third is less than three times as far."""
    every_s = 10_000.1
    third_s = START_AT + 3 * every_s - START_AT
    assert third_s / every_s < 3.0
    traces, _ = world(4, 4, seed=5)
    made = walk_rhythm(
        traces,
        start_at=START_AT,
        end_at=START_AT + 5 * DAY_S,
        first_gap_s=np.full(4, third_s),
        min_gap_s=every_s,
        max_gap_s=MAX_S,
        price=PRICES["fresh"],
        goal=GOALS["fresh"],
        predictor=Rhythm(),
        replan_every_s=every_s,
    )
    assert made.at.min() == START_AT + third_s
