"""What a budget is expected to buy, held against formulas, chance and a simulated world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.batches import START_AT, batch_of, believed

from recrawl.app.budgets import failing
from recrawl.evaluate.budgets.achieved import achieved
from recrawl.evaluate.budgets.curve import MEASURES, Bought, Budgets
from recrawl.evaluate.budgets.offers import Offers, lasting, served
from recrawl.evaluate.budgets.outlook import Gaps, even, outlook
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, Seen, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh, Prompt
from recrawl.schedule.policies.index import Index
from recrawl.simulate.processes import Poisson
from recrawl.simulate.run import simulate
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.worlds import TraceWorld, world_of
from recrawl.terms import Terms


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


def test_what_was_given_up_takes_a_share_of_a_full_host_and_of_a_budget_in_bytes() -> None:
    n = 200
    batch = replace(batch_of(n, per_host=100), max_gap_s=np.full(n, 180 * DAY_S))
    lost = np.arange(n) % 100 < 60
    known = GammaForecasts(np.full(n, 50.0), 50.0 * DAY_S / np.where(lost, 20.0, 0.05))
    full = Offers(batch, known, Index(Fresh()), served(batch, {1: 6 * HOUR_S}, 1.0))
    _, gaps = full.at(60.0)
    assert np.array_equal(gaps.given_up, lost)
    per_day = np.bincount(batch.group[lost], DAY_S / gaps.mean_s[lost])
    assert 60 / 180 < per_day[1] < 60 / 180 + 0.02 * 4.0  # it serves four a day
    assert per_day[2] == pytest.approx(0.02 * 56.0, rel=0.02)
    by_visits = Offers(batch, known, Index(Fresh())).at(60.0)[1]
    weighed = Offers(batch, known, Index(Fresh()), n_bytes=np.full(n, 5e4))
    by_bytes = weighed.at(np.inf, bytes_per_day=60.0 * 5e4)[1]
    assert by_bytes.mean_s == pytest.approx(by_visits.mean_s, rel=1e-3)


@pytest.mark.parametrize("per_day", [2.0, 4.0, 8.0])
def test_a_budget_too_small_for_the_largest_gaps_makes_all_late_by_as_much_as_a_run_is(
    per_day: float,
) -> None:
    """These alone ask for eleven and a half visits a day."""
    n, end_at = 40, START_AT + 300 * DAY_S
    often = np.arange(n) % 4 == 0
    max_gap_s = np.where(often, DAY_S, 20 * DAY_S)
    made = world_of([Poisson(1.0)] * n, start_at=START_AT, end_at=end_at, seed=5)
    bounded = [Settings(min_gap_s=HOUR_S, max_gap_s=gap_s) for gap_s in max_gap_s.tolist()]
    resources = [replace(one, settings=said) for one, said in zip(made.resources, bounded, strict=True)]
    loop = Loop(
        store=MemoryStore(),
        predictor=GammaFilter(),
        policy=Index(Fresh(), jitter=0.07),
        rule="index:fresh",
        per_day=per_day,
        reprice_every_s=6 * HOUR_S,
    )
    seen = simulate(loop, replace(made, resources=resources), start_at=START_AT, end_at=end_at)
    batch, _ = loop.store.batch()
    offers = Offers(batch, lasting(loop.predictor.forecast(batch, end_at)), loop.policy)
    price, gaps = offers.at(per_day)
    assert price == loop.price == np.inf
    assert (DAY_S / gaps.mean_s).sum() == pytest.approx(per_day, rel=1e-3)
    for some in (often, ~often):
        late = seen.pick((seen.at > START_AT + 100 * DAY_S) & some[seen.id])
        real_s = 200 * DAY_S * some.sum() / len(late)
        assert gaps.mean_s[some].mean() == pytest.approx(real_s, rel=0.05)


def test_what_waits_for_its_host_waits_for_the_budget_meanwhile() -> None:
    """The first host can serve three visits in thirty days, and is asked for ten; others have no limit."""
    batch = batch_of(30)
    offers = Offers(batch, believed(30), Index(Fresh()), served(batch, {1: 10 * DAY_S}, 1.0))
    here = batch.group == 1
    _, roomy = offers.at(0.9)
    assert roomy.mean_s[here] == pytest.approx(100 * DAY_S, rel=0.02)  # looks in pairs are asked for too
    assert (roomy.mean_s[~here] <= 30 * DAY_S).all()
    for per_day, gap_s in ((20 / 50 + 0.1, 50 * DAY_S), (30 / 150, 150 * DAY_S)):
        _, gaps = offers.at(per_day)
        assert gaps.mean_s[here] == pytest.approx(max(gap_s, 100 * DAY_S), rel=1e-3)
        assert gaps.mean_s[~here] == pytest.approx(gap_s, rel=1e-3)


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


def test_the_usual_curve_is_planned_with_where_forecasts_know_of_today() -> None:
    rhythm, batch = Rhythm(), batch_of(30)
    rhythm.recall(batch.id, np.column_stack([np.full(30, 4.0), np.full(30, 4 * DAY_S), np.zeros(30)]))
    usual = lasting(rhythm.forecast(batch, START_AT))
    bought = Budgets(Offers(batch, usual, Index(Fresh())), within_s=HOUR_S).bought(60.0)
    assert bought.made_per_day == pytest.approx(60.0, rel=0.02)
    plain = GammaForecasts(np.full(30, 4.0), np.full(30, 4 * DAY_S))
    same = Budgets(Offers(batch, plain, Index(Fresh())), within_s=HOUR_S).bought(60.0)
    assert bought.measures["freshness"].value == pytest.approx(same.measures["freshness"].value, rel=0.1)


def test_what_fails_again_and_again_is_left_out() -> None:
    batch = replace(batch_of(5), n_failures=np.array([0, 2, 3, 0, 9]))
    assert failing(batch).tolist() == [False, False, True, False, True]


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
            self.rebudget(self.other, None)
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
