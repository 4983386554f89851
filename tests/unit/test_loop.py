"""The loop: what visits teach, what failures leave alone, what the budget allows."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from recrawl.finding import Finding
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Absorbed, Loop
from recrawl.model import (
    GLOBAL,
    Changed,
    Lease,
    NewResource,
    Outcome,
    Scope,
    ScopeKind,
    Settings,
    Version,
    Visit,
)
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index

DAY_S = 86_400.0
NOW = 1.7e9


def loop_with(n: int = 3, per_day: float | None = 1000.0, hosts: int | None = None) -> Loop:
    store = MemoryStore()
    store.add(
        [NewResource(url=f"http://h{i % (hosts or n)}/{i}", host=f"h{i % (hosts or n)}") for i in range(n)],
        NOW,
    )
    loop = Loop(
        store=store, predictor=GammaFilter(), policy=Index(Fresh()), rule="index:fresh", per_day=per_day
    )
    loop.start(NOW)
    loop.reprice(NOW)
    return loop


def found(lease: Lease, at: float, changed: Changed = Changed.NO, outcome: Outcome = Outcome.OK) -> Finding:
    first = isnan(lease.standing.since_at) and outcome is Outcome.OK
    return Finding(
        lease=lease,
        visit=Visit(
            fetch_id=f"{lease.resource.id}@{at}",
            resource_id=lease.resource.id,
            at=at,
            since_at=lease.standing.since_at,
            outcome=outcome,
            changed=Changed.UNKNOWN if first else changed,
        ),
        gate_at=at,
        versions=(Version(resource_id=lease.resource.id, seq=0, at=at, digest=f"{at}"),) if first else (),
        etag='"e"',
    )


def visit(loop: Loop, at: float, changed: Changed = Changed.NO, outcome: Outcome = Outcome.OK) -> Absorbed:
    lease = loop.claim(1, at)
    assert lease is not None
    return loop.absorb([found(lease, at, changed, outcome)], at)[0]


def test_a_first_visit_teaches_nothing_and_is_planned_from_the_prior() -> None:
    loop = loop_with()
    absorbed = visit(loop, NOW)
    assert absorbed.accepted
    assert loop.predictor.memory(np.array([1])).tolist() == GammaFilter().memory(np.array([1])).tolist()
    assert absorbed.plan.rule == "index:fresh"
    assert absorbed.plan.due_at == NOW + absorbed.plan.gap_s


def test_changes_shorten_the_gap_and_silence_lengthens_it() -> None:
    gaps = {}
    for changed in (Changed.YES, Changed.NO):
        # a sea of other resources, so that this one's habits do not move the price
        loop = loop_with(300, per_day=30.0)
        for day in range(8):
            absorbed = visit(loop, NOW + day * DAY_S, changed)
        gaps[changed] = absorbed.plan.gap_s
    assert gaps[Changed.YES] < gaps[Changed.NO]


def test_a_failed_visit_moves_nothing_but_the_retry() -> None:
    loop = loop_with()
    visit(loop, NOW)
    before, _ = loop.store.standing(1)
    failed = visit(loop, NOW + DAY_S, Changed.UNKNOWN, Outcome.NET_ERROR)
    after, plan = loop.store.standing(1)
    assert after.since_at == before.since_at == NOW
    assert after.memory == before.memory
    assert (after.n_failures, after.n_informative) == (1, 1)
    assert after.gap_s == before.gap_s
    assert plan is not None
    assert (failed.plan.rule, plan.rule) == ("retry", "retry")
    assert plan.due_at == NOW + DAY_S + 900.0


def test_failures_in_a_row_back_off_and_repricing_leaves_them_alone() -> None:
    loop = loop_with()
    visit(loop, NOW)
    at, waits = NOW + DAY_S, []
    for _ in range(10):
        plan = visit(loop, at, Changed.UNKNOWN, Outcome.HTTP_ERROR).plan
        waits.append(plan.gap_s)
        at = plan.due_at
    assert waits[:4] == [900.0, 1800.0, 3600.0, 7200.0]
    assert waits[-1] == DAY_S
    loop.reprice(at - 1.0)
    assert loop.store.standing(1)[0].due_at == at


def test_the_change_after_a_failure_lies_in_the_whole_time_since_the_last_answer() -> None:
    loop = loop_with()
    visit(loop, NOW)
    visit(loop, NOW + DAY_S, Changed.UNKNOWN, Outcome.NET_ERROR)
    absorbed = visit(loop, NOW + 5 * DAY_S, Changed.YES)
    assert absorbed.visit.since_at == NOW


def test_unknown_is_not_no() -> None:
    loop = loop_with()
    visit(loop, NOW)
    memory = loop.store.standing(1)[0].memory
    lease = loop.claim(1, NOW + DAY_S)
    assert lease is not None
    unknown = found(lease, NOW + DAY_S, Changed.UNKNOWN)
    loop.absorb([unknown], NOW + DAY_S)
    assert loop.store.standing(1)[0].memory == memory
    assert loop.store.standing(1)[0].bits == 0


def test_a_late_completion_is_refused_and_leaves_nothing() -> None:
    loop = loop_with()
    late = loop.claim(1, NOW)
    assert late is not None
    taken_over = loop.claim(1, late.until_at + 1.0)
    assert taken_over is not None
    refused = loop.absorb([found(late, NOW + 1.0)], NOW + 1.0)[0]
    accepted = loop.absorb([found(taken_over, late.until_at + 2.0)], late.until_at + 2.0)[0]
    assert (refused.accepted, accepted.accepted) == (False, True)
    assert len(list(loop.store.visits(1))) == 1


def test_the_allowance_caps_what_is_due() -> None:
    loop = loop_with(100, per_day=40.0)
    leases = loop.due(NOW, 100)
    assert len(leases) == 10  # a quarter of a day's worth
    assert loop.due(NOW, 100) == []
    assert loop.wake_at(NOW) == pytest.approx(NOW + DAY_S / 40.0)
    assert len(loop.due(NOW + DAY_S / 40.0, 100)) == 1


def test_a_visit_given_back_is_not_paid_for() -> None:
    loop = loop_with(100, per_day=40.0)
    leases = loop.due(NOW, 100)
    loop.release(leases, NOW, NOW)
    assert loop.n_free(NOW) == 10


def again(loop: Loop, *, per_day: float = 40.0, at: float = NOW + 1.0) -> Loop:
    """Another process, or the same after a restart, on the same store."""
    other = Loop(
        store=loop.store, predictor=GammaFilter(), policy=Index(Fresh()), rule="index:fresh", per_day=per_day
    )
    other.start(at)
    return other


def test_a_restart_keeps_the_price_the_memory_and_the_allowance_spent() -> None:
    loop = loop_with(100, per_day=40.0)
    loop.absorb([found(lease, NOW) for lease in loop.due(NOW, 100)], NOW)
    other = again(loop)
    assert other.price == loop.price
    assert other.reprice_at == loop.reprice_at
    assert other.n_free(NOW + 1.0) == 0


def test_all_processes_together_have_one_budget() -> None:
    first = loop_with(100, per_day=40.0)
    others = [again(first, at=NOW) for _ in range(3)]
    assert len(first.due(NOW, 4)) == 4
    assert [len(loop.due(NOW, 4)) for loop in others] == [4, 2, 0]


def test_another_budget_is_priced_anew() -> None:
    other = again(loop_with(100, per_day=40.0), per_day=80.0)
    assert isnan(other.price)
    assert other.must_reprice(NOW + 1.0)


def test_what_is_said_makes_the_price_be_found_anew_but_not_at_every_turn() -> None:
    loop = loop_with(10)
    assert not loop.must_reprice(NOW + 1.0)
    loop.store.say(GLOBAL, Settings(weight=3.0), NOW + 1.0)
    assert not loop.must_reprice(NOW + 2.0)
    assert loop.must_reprice(NOW + 100.0)
    assert again(loop, per_day=1000.0, at=NOW + 100.0).must_reprice(NOW + 100.0)
    loop.reprice(NOW + 100.0)
    assert not loop.must_reprice(NOW + 200.0)


def test_a_price_noted_in_the_future_is_found_anew_all_the_same() -> None:
    loop = loop_with(10)
    loop.reprice(NOW + 400 * DAY_S)
    assert again(loop, per_day=1000.0).reprice_at <= NOW + 1.0 + loop.reprice_every_s


@pytest.mark.parametrize("ahead_s", [DAY_S / 24, 400 * DAY_S])
@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_is_set_back_keeps_nothing_waiting(ahead_s: float, restarted: bool) -> None:
    loop = loop_with(10)
    for i in range(1, 11):
        lease = loop.claim(i, NOW + ahead_s)
        assert lease is not None
        loop.absorb([found(lease, NOW + ahead_s)], NOW + ahead_s)
    loop.must_reprice(NOW + ahead_s)
    loop.reprice(NOW + ahead_s)
    now = NOW + 10.0
    if restarted:
        loop = again(loop, per_day=1000.0, at=now)
    assert not loop.due(now, 64)
    assert loop.must_reprice(now)
    loop.reprice(now)
    assert not loop.must_reprice(now + 1.0)
    batch, _ = loop.store.batch()
    assert (batch.since_at == now).all()
    due_at = [standing.due_at for _, standing, _ in loop.store.resources()]
    gap_s = [standing.gap_s for _, standing, _ in loop.store.resources()]
    assert due_at == pytest.approx([now + one for one in gap_s])
    assert len(loop.due(max(due_at), 64)) == 10
    assert not again(loop, per_day=1000.0, at=max(due_at)).must_reprice(now)


def test_whoever_begins_notices_that_another_s_clock_was_ahead() -> None:
    loop = loop_with(3)
    visit(loop, NOW + 400 * DAY_S)
    loop.reprice(NOW + 400 * DAY_S)
    after = again(loop, per_day=1000.0, at=NOW + 3_600.0)
    assert after.must_reprice(NOW + 3_600.0)
    after.reprice(NOW + 3_600.0)
    assert after.store.standing(1)[0].since_at == NOW + 3_600.0


def test_who_was_held_up_does_not_take_the_clock_for_set_back() -> None:
    """Another worker has priced meanwhile, at a later moment than this one believes it to be."""
    loop = loop_with(3)
    other = again(loop, per_day=1000.0, at=NOW)
    visit(other, NOW + 300.0)
    other.reprice(NOW + 300.0)
    loop.reprice(NOW + 200.0)
    assert loop.store.standing(1)[0].since_at == NOW + 300.0


def test_a_visit_that_seems_to_come_before_the_last_one_teaches_nothing() -> None:
    """It was in the air while the clock was set back."""
    loop = loop_with(3)
    visit(loop, NOW + 5_000.0)
    visit(loop, NOW + 90_000.0)
    memory = loop.store.standing(1)[0].memory
    lease = loop.claim(1, NOW + 90_001.0)
    assert lease is not None
    (done,) = loop.absorb([found(lease, NOW + 10.0, Changed.YES)], NOW + 10.0)
    standing, _ = loop.store.standing(1)
    assert (done.accepted, standing.since_at, standing.memory) == (True, NOW + 10.0, memory)
    assert not any((page.at == NOW + 10.0).any() for page in loop.store.told())


def test_clocks_that_differ_a_little_set_nothing_back() -> None:
    loop = loop_with(3)
    assert visit(loop, NOW + 30.0).accepted
    loop.reprice(NOW + 30.0)
    assert not loop.must_reprice(NOW)
    loop.reprice(NOW)
    assert loop.store.standing(1)[0].since_at == NOW + 30.0


def test_a_predictor_is_not_given_another_s_memory() -> None:
    class Other(GammaFilter):
        pass

    loop = loop_with()
    visit(loop, NOW)
    visit(loop, NOW + DAY_S, Changed.YES)
    learned = loop.predictor.memory(np.array([1]))
    other = Loop(store=loop.store, predictor=Other(), policy=Index(Fresh()), rule="index:fresh", per_day=9.0)
    other.start(NOW + DAY_S)
    other.reprice(NOW + DAY_S)
    assert other.predictor.memory(np.array([1])).tolist() == GammaFilter().memory(np.array([1])).tolist()
    same = again(loop)
    same.reprice(NOW + DAY_S)
    assert same.predictor.memory(np.array([1])).tolist() == learned.tolist()


def test_a_plan_made_before_another_worker_s_visit_does_not_hold() -> None:
    loop = loop_with()
    visit(loop, NOW)
    batch, _ = loop.store.batch()
    forecasts = loop.predictor.forecast(batch, NOW)
    gap_s = loop.policy.quote(batch, forecasts).gaps(1e9)
    old = loop.tariff.planned(batch, forecasts, gap_s, 1e9, NOW)
    newer = visit(loop, NOW + DAY_S).plan
    loop.store.replan(old)
    assert loop.store.standing(1)[0].due_at == newer.due_at


def test_repricing_moves_every_plan_and_keeps_first_looks_first() -> None:
    loop = loop_with(50, per_day=10.0, hosts=1)
    lease = loop.due(NOW, 1)[0]
    loop.absorb([found(lease, NOW)], NOW)
    cheap = loop.store.standing(lease.resource.id)[0].due_at
    loop.rebudget(1.0, None)
    loop.reprice(NOW + 1.0)
    dear, plan = loop.store.standing(lease.resource.id)
    assert dear.due_at > cheap
    assert plan is not None
    assert plan.price == loop.price
    _, untouched = loop.store.standing(lease.resource.id % 50 + 1)
    assert untouched is not None
    assert untouched.rule == "first-look"


def test_settings_bound_the_gap() -> None:
    loop = loop_with(1, per_day=None)
    resource = next(loop.store.resources())[0]
    loop.store.say(
        Scope(ScopeKind.RESOURCE, resource.url), Settings(min_gap_s=7 * DAY_S, max_gap_s=9 * DAY_S), NOW
    )
    absorbed = visit(loop, NOW)
    assert absorbed.plan.gap_s == pytest.approx(7 * DAY_S)
    assert absorbed.plan.bound == "min"


def test_absorbing_nothing_is_nothing() -> None:
    assert loop_with().absorb([], NOW) == []
