"""What a budget is expected to buy, held against formulas, chance and a simulated world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from recrawl.app.budgets import seen_of_late
from recrawl.evaluate.budgets.achieved import achieved
from recrawl.evaluate.budgets.curve import MEASURES, Bought, Budgets
from recrawl.evaluate.budgets.offers import Offers, lasting, served
from recrawl.evaluate.budgets.outlook import Gaps, even, outlook
from recrawl.evaluate.budgets.sureness import always_changed, clumped, scatter
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, Batch, Seen, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh, Prompt
from recrawl.schedule.policies.index import Index
from recrawl.simulate.processes import Poisson
from recrawl.simulate.run import simulate
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.worlds import TraceWorld, world_of
from recrawl.terms import Terms

START_AT = 1.8e9


def batch_of(n: int, *, min_gap_s: float = HOUR_S, per_host: int = 10) -> Batch:
    zeros = np.zeros(n, dtype=np.int64)
    return Batch(
        id=np.arange(1, n + 1),
        weight=np.ones(n),
        min_gap_s=np.full(n, min_gap_s),
        max_gap_s=np.full(n, 30 * DAY_S),
        since_at=np.full(n, START_AT),
        gap_s=np.full(n, DAY_S),
        n_informative=zeros + 5,
        n_changes=zeros,
        n_failures=zeros,
        bits=zeros.astype(np.uint64),
        group=1 + np.arange(n) // per_host,
    )


def believed(n: int) -> GammaForecasts:
    per_day = np.geomspace(0.05, 5.0, n)
    return GammaForecasts(np.full(n, 8.0), 8.0 / per_day * DAY_S)


def test_with_a_known_rate_the_measures_are_those_of_a_poisson_process() -> None:
    known = GammaForecasts(np.array([1e9]), np.array([1e9 * DAY_S / 2.0]))  # two changes a day
    found = outlook(known, even(np.array([DAY_S])), 0.25 * DAY_S)
    assert found.value("freshness") == pytest.approx(-np.expm1(-2.0) / 2.0, rel=1e-6)
    assert found.value("recall") == pytest.approx(-np.expm1(-2.0) / 2.0, rel=1e-6)
    assert found.value("delay_days_mean") == pytest.approx(0.5, rel=1e-6)
    assert found.value("within") == pytest.approx(0.25, rel=1e-6)
    rng = np.random.default_rng(1)
    behind = []
    for n in rng.poisson(2.0, 20_000):
        at = np.concatenate([np.sort(rng.random(n)), [1.0]])
        behind.append(float((np.diff(at) * np.cumsum(1.0 / np.arange(1, n + 1))).sum()) if n else 0.0)
    assert found.value("harmonic") == pytest.approx(np.mean(behind), rel=0.02)


def test_looks_in_pairs_catch_twice_but_leave_changes_waiting_as_long_as_half_as_many() -> None:
    fast = GammaForecasts(np.array([1e9]), np.array([1e9 * HOUR_S]))
    one, two = (
        outlook(fast, Gaps(np.array([mean_s]), np.array([2 * DAY_S]), np.array([True])), HOUR_S)
        for mean_s in (2 * DAY_S, DAY_S)
    )
    assert two.value("delay_days_mean") == pytest.approx(one.value("delay_days_mean"))
    assert two.value("recall") == pytest.approx(2.0 * one.value("recall"))


@pytest.mark.parametrize("goal", [Fresh(), Prompt()])
def test_more_budget_buys_more_and_is_spent(goal: Fresh | Prompt) -> None:
    found = Budgets(Offers(batch_of(60), believed(60), Index(goal)), within_s=HOUR_S)
    points = [found.bought(per_day) for per_day in (10.0, 40.0, 160.0)]
    assert [one.made_per_day for one in points] == pytest.approx([10.0, 40.0, 160.0], rel=0.03)
    fresh = [one.measures["freshness"].value for one in points]
    delay = [one.measures["delay_days_mean"].value for one in points]
    assert fresh == sorted(fresh)
    assert delay == sorted(delay, reverse=True)
    for one in points:
        for interval in one.measures.values():
            assert interval.low < interval.value < interval.high


@pytest.mark.parametrize("busy_s", [2 * HOUR_S, 4 * DAY_S])
def test_a_host_makes_no_more_visits_than_its_delay_allows(busy_s: float) -> None:
    batch = batch_of(60)
    offers = Offers(batch, believed(60), Index(Prompt()), served(batch, {1: busy_s}, 1.0))
    _, gaps = offers.at(600.0)
    per_day = np.bincount(batch.group, DAY_S / gaps.mean_s)
    assert per_day[1] == pytest.approx(DAY_S / busy_s, rel=0.01)
    assert offers.n_full(gaps.mean_s) == 1
    assert per_day.sum() == pytest.approx(600.0, rel=0.03)  # looks in pairs that it has no room for are lost


def test_the_budget_that_is_needed_gives_the_share_that_was_asked_for() -> None:
    found = Budgets(Offers(batch_of(60), believed(60), Index(Prompt())), within_s=6 * HOUR_S)
    needed = found.needed(0.9)
    assert needed.per_day is not None
    assert found.bought(needed.per_day, ("within",)).measures["within"].value == pytest.approx(0.9, abs=2e-3)
    assert found.bought(0.8 * needed.per_day, ("within",)).measures["within"].value < 0.9


def test_no_budget_is_enough_where_gaps_may_not_be_as_small() -> None:
    offers = Offers(batch_of(60, min_gap_s=DAY_S), believed(60), Index(Prompt()))
    needed = Budgets(offers, within_s=2 * HOUR_S).needed(0.95)
    assert needed.per_day is None
    assert needed.reachable == pytest.approx(2.0 / 24.0, rel=1e-3)
    assert needed.n_bound == 60


def test_visits_that_tell_nothing_are_paid_for_too() -> None:
    offers = Offers(batch_of(60), believed(60), Index(Prompt()))
    whole, half = (Budgets(offers, within_s=6 * HOUR_S, useful=share) for share in (1.0, 0.5))
    assert half.bought(80.0).made_per_day == pytest.approx(80.0, rel=1e-3)
    assert half.bought(80.0).measures["freshness"].value == pytest.approx(
        whole.bought(40.0).measures["freshness"].value
    )
    needed = whole.needed(0.8).per_day
    assert needed is not None
    assert half.needed(0.8).per_day == pytest.approx(2.0 * needed)


def test_changes_that_come_together_scatter_more_than_single_ones() -> None:
    rng = np.random.default_rng(3)
    n_hosts, n_weeks, n_each = 20, 4, 10
    host, week, _ = (part.ravel() for part in np.indices((n_hosts, n_weeks, n_each)))
    at = START_AT + 7 * DAY_S * (week + 0.5)
    alone = rng.random(len(host)) < 0.3
    together = (rng.random((n_hosts, n_weeks)) < 0.3)[host, week]
    found = []
    for changed in (alone, together):
        seen = Seen(
            id=np.arange(len(host)),
            since_at=at - DAY_S,
            at=at,
            changed=changed.astype(np.int8),
            event_at=np.full(len(host), np.nan),
            group=host,
        )
        found.append(scatter(seen, np.full(len(host), 0.3)))
    assert found[0] < 2.0
    assert 6.0 < found[1] < 16.0


def test_the_usual_curve_is_planned_with_where_forecasts_know_of_today() -> None:
    rhythm, batch = Rhythm(), batch_of(30)
    rhythm.recall(batch.id, np.column_stack([np.full(30, 4.0), np.full(30, 4 * DAY_S), np.zeros(30)]))
    usual = lasting(rhythm.forecast(batch, START_AT))
    bought = Budgets(Offers(batch, usual, Index(Fresh())), within_s=HOUR_S).bought(60.0)
    assert bought.made_per_day == pytest.approx(60.0, rel=0.02)
    plain = GammaForecasts(np.full(30, 4.0), np.full(30, 4 * DAY_S))
    same = Budgets(Offers(batch, plain, Index(Fresh())), within_s=HOUR_S).bought(60.0)
    assert bought.measures["freshness"].value == pytest.approx(same.measures["freshness"].value, rel=0.1)


def test_what_had_changed_at_every_visit_may_be_many_times_as_fast() -> None:
    batch = batch_of(60)
    always = np.arange(60) >= 50
    seen = replace(
        batch,
        n_informative=np.full(60, 30),
        bits=np.where(always, np.uint64(2**29 - 1), np.uint64(0b1011)).astype(np.uint64),
    )
    assert always_changed(seen).tolist() == always.tolist()
    assert not always_changed(replace(seen, n_informative=np.full(60, 4))).any()  # too few to say so
    offers = Offers(batch, believed(60), Index(Prompt()))
    sure, unsure = (Budgets(one, within_s=HOUR_S) for one in (offers, replace(offers, batch=seen)))
    for name in ("recall", "freshness"):
        known, wide = (one.bought(60.0).measures[name] for one in (sure, unsure))
        assert wide.value == pytest.approx(known.value, rel=1e-6)
        assert wide.low < known.low - 0.004
        assert wide.high > known.high + 0.01  # or it goes by the clock, and is slower


def test_a_change_that_is_told_may_be_a_burst_of_several() -> None:
    known = GammaForecasts(np.array([1e9]), np.array([1e9 * DAY_S]))
    gaps = even(np.array([DAY_S]))
    one = outlook(known, gaps, HOUR_S)
    several = clumped(one)
    assert several.value("recall") == pytest.approx(one.value("recall") / 4.0)
    for name in ("freshness", "delay_days_mean", "within"):
        assert several.value(name) == pytest.approx(one.value(name))
    rng = np.random.default_rng(2)
    behind = []
    for n in rng.poisson(1.0, 20_000):  # each of them four at once
        at = np.concatenate([np.sort(rng.random(n)), [1.0]])
        harmonic = np.cumsum(1.0 / np.arange(1, 4 * n + 1))[3::4]
        behind.append(float((np.diff(at) * harmonic).sum()) if n else 0.0)
    assert several.value("harmonic") == pytest.approx(np.mean(behind), rel=0.1)
    interval = Budgets(Offers(batch_of(60), believed(60), Index(Prompt())), within_s=HOUR_S).bought(60.0)
    recall = interval.measures["recall"]
    assert recall.low < recall.value / 4.0


def test_what_was_never_seen_or_fails_again_and_again_is_left_out() -> None:
    since_at, n_failures = np.full(5, START_AT), np.array([0, 2, 3, 0, 9])
    since_at[3] = np.nan
    batch = replace(batch_of(5), since_at=since_at, n_failures=n_failures)
    assert seen_of_late(batch).tolist() == [True, True, False, False, False]


class Changing(Loop):
    """Changes its budget at a moment, and plans for the new one just before."""

    change_at: float
    other: float
    planned: Bought | None = None

    def reprice(self, now: float) -> Terms:
        if now >= self.change_at and self.planned is None:
            batch, _ = self.store.batch()
            forecasts = lasting(self.predictor.forecast(batch, now))
            self.planned = Budgets(Offers(batch, forecasts, self.policy), within_s=HOUR_S).bought(self.other)
            self.per_day = self.other
        return super().reprice(now)


def measured_between(world: TraceWorld, seen: Seen, from_at: float, until_at: float) -> dict[str, float]:
    """What the visits achieved in this time alone; before it they were made too."""
    n = len(world.events)
    sizes = [len(events) for events in world.events]
    traces = Traces(
        born_at=np.full(n, START_AT),
        bounds=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        at=np.concatenate(world.events),
        digest=np.zeros(sum(sizes), dtype=np.uint64),
        first_digest=np.zeros(n, dtype=np.uint64),
        host=np.arange(n) // 10,
        weight=np.ones(n),
    )
    seen = seen.pick(np.lexsort((seen.at, seen.id)))
    visits = Visits(bounds=np.searchsorted(seen.id, np.arange(n + 1)).astype(np.int64), at=seen.at)
    return achieved(traces, visits, start_at=START_AT, from_at=from_at, until_at=until_at)


@pytest.mark.parametrize("times", [0.5, 2.0])
def test_what_a_budget_was_to_buy_is_what_it_buys_when_it_is_changed(times: float) -> None:
    n, per_day = 60, 30.0
    change_at = START_AT + 14 * DAY_S
    from_at, until_at = change_at + 6 * DAY_S, change_at + 13 * DAY_S
    rates = np.geomspace(0.05, 2.0, n)
    made = world_of([Poisson(rate) for rate in rates], start_at=START_AT, end_at=until_at, seed=5)
    bounded = Settings(min_gap_s=HOUR_S, max_gap_s=6 * DAY_S)
    world = replace(made, resources=[replace(one, settings=bounded) for one in made.resources])
    loop = Changing(
        store=MemoryStore(),
        predictor=GammaFilter(),
        policy=Index(Prompt(), jitter=0.07),
        rule="index:prompt",
        per_day=per_day,
        reprice_every_s=6 * HOUR_S,
        fit_priors_every_s=DAY_S,
    )
    loop.change_at, loop.other = change_at, times * per_day
    seen = simulate(loop, world, start_at=START_AT, end_at=until_at)
    real = measured_between(world, seen, from_at, until_at)
    assert loop.planned is not None
    off = {
        name: (found.low, real[name], found.high)
        for name, found in loop.planned.measures.items()
        if not found.low <= real[name] <= found.high
    }
    assert not off
    assert set(real) == set(MEASURES)
