"""What was claimed and need not be visited yet waits on: its group was found quiet since it was planned."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import numpy as np
import pytest

from recrawl.contracts import Store
from recrawl.finding import Finding
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.loop import Loop
from recrawl.model import (
    ASKED,
    DAY_S,
    HOUR_S,
    Changed,
    Lease,
    NewResource,
    Outcome,
    Plans,
    Settings,
    Visit,
)
from recrawl.remember.memory import MemoryStore
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index

NOW = 1.7e9 - 1.7e9 % DAY_S
N = 12
PRICE = 0.5 * DAY_S


def watched(store: Store, predictor: Rhythm | GammaFilter, per_day: float | None = None) -> Loop:
    """Files of one host that change together every tenth day, looked at for weeks."""
    least = Settings(min_gap_s=HOUR_S)
    store.add([NewResource(url=f"http://a/{i}", host="a", settings=least) for i in range(N)], NOW)
    loop = Loop(
        store=store,
        predictor=predictor,
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=per_day,
        reprice_every_s=6 * HOUR_S,
        free_price=PRICE,
    )
    loop.start(NOW)
    return loop


def day_of(at: float) -> int:
    return int((at - NOW) // (10 * DAY_S))


def look(loop: Loop, lease: Lease, now: float) -> None:
    since_at = lease.standing.since_at
    first = np.isnan(since_at)
    told = Changed.YES if not first and day_of(now) > day_of(since_at) else Changed.NO
    visit = Visit(
        fetch_id=f"{lease.resource.id}@{now}",
        resource_id=lease.resource.id,
        at=now,
        since_at=since_at,
        outcome=Outcome.OK,
        changed=Changed.UNKNOWN if first else told,
    )
    loop.absorb([Finding(lease=lease, visit=visit, gate_at=now)], now)


def run(loop: Loop, begin_at: float, end_at: float) -> int:
    """How many visits are made; all that fall due at one moment one after the other."""
    now, n = begin_at, 0
    while now < end_at:
        if loop.must_reprice(now):
            loop.reprice(now)
        leases = loop.due(now, 8)
        for lease in leases:
            look(loop, lease, now)
        n += len(leases)
        now = now if leases else max(loop.wake_at(now), now + 60.0)
    return n


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "recrawl.sqlite")


def all_due(loop: Loop, now: float, planned_at: float | None = None, *, only: int | None = None) -> None:
    """As if everything, or one, had been planned while much was stirring."""
    batch, _ = loop.store.batch()
    batch = batch if only is None else batch.pick(batch.id == only)
    loop.store.replan(
        Plans(
            id=batch.id,
            since_at=batch.since_at,
            due_at=np.full(len(batch), now - 60.0),
            gap_s=now - 60.0 - batch.since_at,
            p_changed=np.full(len(batch), nan),
            per_day=np.full(len(batch), nan),
            bound=np.zeros(len(batch), dtype=np.int8),
            price=PRICE,
            rule="index:fresh",
            planned_at=now - 60.0 if planned_at is None else planned_at,
        )
    )


def test_what_need_not_be_visited_yet_waits_on(store: Store) -> None:
    loop = watched(store, Rhythm())
    end_at = NOW + 45 * DAY_S
    run(loop, NOW, end_at)
    loop.reprice(end_at)
    planned = {plan.resource_id: plan.due_at for _, _, plan in store.resources() if plan is not None}
    later = {id_ for id_, due_at in planned.items() if due_at > end_at + HOUR_S}
    assert len(later) > N / 2  # quiet since five days, and for five to come
    all_due(loop, end_at)
    visited = set()
    while (leases := loop.due(end_at, 8)) or store.ready_at(end_at) <= end_at:
        visited |= {lease.resource.id for lease in leases}
        for lease in leases:
            look(loop, lease, end_at)
    assert visited & later == set()
    for resource, _, plan in store.resources():
        if resource.id in later:
            assert plan is not None
            assert plan.due_at > end_at
    assert store.counts(end_at)["leased"] == 0


def test_what_people_ask_for_is_visited_all_the_same(store: Store) -> None:
    loop = watched(store, Rhythm())
    end_at = NOW + 45 * DAY_S
    run(loop, NOW, end_at)
    loop.reprice(end_at)
    all_due(loop, end_at)
    batch, _ = store.batch()
    one = np.flatnonzero(batch.id == 3)
    asked = Plans(
        id=batch.id[one],
        since_at=batch.since_at[one],
        due_at=np.array([end_at - 120.0]),
        gap_s=np.array([nan]),
        p_changed=np.array([nan]),
        per_day=np.array([nan]),
        bound=np.zeros(1, dtype=np.int8),
        price=nan,
        rule=ASKED,
        planned_at=end_at,
    )
    store.replan(asked)
    assert [lease.resource.id for lease in loop.due(end_at, 1)] == [3]


def test_what_was_planned_at_a_visit_waits_on_as_well(store: Store) -> None:
    """Nobody has found a price since; but whoever planned it knows all that it knew."""
    loop = watched(store, Rhythm())
    end_at = NOW + 45 * DAY_S
    run(loop, NOW, end_at)
    loop.reprice(end_at)
    now = end_at + 600.0
    lease = loop.claim(5, now)
    assert lease is not None
    look(loop, lease, now)
    all_due(loop, now + 120.0, planned_at=now, only=5)
    assert store.ready_at(now + 120.0) <= now + 120.0
    assert loop.due(now + 120.0, 1) == []
    plan = store.standing(5)[1]
    assert plan is not None
    assert plan.due_at > now + HOUR_S


def test_what_failed_is_tried_again_when_it_is_due(store: Store) -> None:
    loop = watched(store, Rhythm())
    end_at = NOW + 45 * DAY_S
    run(loop, NOW, end_at)
    loop.reprice(end_at)
    planned = {plan.resource_id: plan.due_at for _, _, plan in store.resources() if plan is not None}
    last = max(planned, key=planned.__getitem__)
    lease = loop.claim(last, end_at)
    assert lease is not None
    visit = Visit(
        fetch_id=f"{last}@{end_at}",
        resource_id=last,
        at=end_at,
        since_at=lease.standing.since_at,
        outcome=Outcome.NET_ERROR,
        changed=Changed.UNKNOWN,
    )
    loop.absorb([Finding(lease=lease, visit=visit, gate_at=end_at)], end_at)
    plan = store.standing(last)[1]
    assert plan is not None
    assert plan.rule == "retry"
    assert plan.due_at < planned[last] - HOUR_S  # by forecast it would wait on
    (lease,) = loop.due(plan.due_at, 1)
    while lease.resource.id != last:
        look(loop, lease, plan.due_at)
        (lease,) = loop.due(plan.due_at, 1)  # of which none is put off first


class Deaf(MemoryStore):
    """Whose plans stand as they are, from some moment on."""

    deaf = False

    def replan(self, plans: Plans) -> None:
        if not self.deaf:
            super().replan(plans)


def test_who_cannot_be_put_off_is_visited() -> None:
    loop = watched(store := Deaf(), Rhythm())
    end_at = NOW + 45 * DAY_S
    run(loop, NOW, end_at)
    loop.reprice(end_at)
    all_due(loop, end_at)
    store.deaf = True
    assert loop.due(end_at, 1) == []
    assert len(loop.due(end_at, 1)) == 1


def test_where_much_need_not_be_visited_all_is_planned_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recrawl.waiting.MANY", 3)
    loop = watched(MemoryStore(), Rhythm())
    end_at = NOW + 45 * DAY_S
    run(loop, NOW, end_at)
    loop.reprice(end_at)
    now = end_at + 120.0
    all_due(loop, now, planned_at=end_at)
    for n in range(3):
        assert not loop.must_reprice(now), n
        assert loop.due(now, 1) == []
    assert loop.must_reprice(now)
    loop.reprice(now)
    assert loop.store.ready_at(now) > now
    assert not loop.must_reprice(now)


@pytest.mark.parametrize("ahead_s", [0.0, 50.0], ids=["", "ahead"])
def test_who_knows_less_puts_nothing_off(store: Store, ahead_s: float) -> None:
    """One worker finds that all files have changed; the other, whose clock may be a little ahead, has heard
    nothing of it yet."""
    one = watched(store, Rhythm())
    end_at = NOW + 50 * DAY_S
    run(one, NOW, end_at - 60.0)
    other = Loop(
        store=store,
        predictor=Rhythm(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=None,
        reprice_every_s=6 * HOUR_S,
        free_price=PRICE,
    )
    other.start(end_at)
    other.reprice(end_at + ahead_s)
    now = end_at
    for id_ in (1, 3, 4, 9):
        lease = one.claim(id_, now)
        assert lease is not None
        look(one, lease, now)
        now += 10.0
    one.reprice(now)
    due = {plan.resource_id for _, _, plan in store.resources() if plan is not None and plan.due_at <= now}
    assert len(due) > N / 3
    assert not other.must_reprice(now)
    found = set()
    for _ in range(2 * N):
        for lease in other.due(now + ahead_s, 8):
            found.add(lease.resource.id)
            look(other, lease, now + ahead_s)
    assert found >= due


def test_what_waits_on_costs_nothing() -> None:
    loop = watched(MemoryStore(), Rhythm(), per_day=6.0)
    end_at = NOW + 25 * DAY_S
    run(loop, NOW, end_at - HOUR_S * 5)  # then some is saved up
    loop.reprice(end_at)
    free = loop.n_free(end_at)
    all_due(loop, end_at)
    assert free >= 1
    n_waiting = 0
    while n_waiting < N and not (leases := loop.due(end_at, 8)):
        n_waiting += 1
    assert n_waiting > N / 2
    loop.release(leases, end_at, inf)
    assert loop.n_free(end_at) == pytest.approx(free, abs=1e-6)


def test_forecasts_that_know_nothing_of_others_are_not_asked_again() -> None:
    loop = watched(MemoryStore(), GammaFilter())
    run(loop, NOW, NOW + 20 * DAY_S)
    end_at = NOW + 20 * DAY_S
    all_due(loop, end_at)
    assert len(loop.due(end_at, 8)) == 1  # of one host one at a time


def test_waiting_saves_visits_and_finds_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for later in (0.02, inf):  # nobody waits on who is never late
        monkeypatch.setattr("recrawl.waiting.LATER", later)
        loop = watched(MemoryStore(), Rhythm())
        n = run(loop, NOW, NOW + 60 * DAY_S)
        found = sum(standing.n_changes for _, standing, _ in loop.store.resources())
        made.append((n, found))
    (n, found), (n_at_once, found_at_once) = made
    assert n < n_at_once
    assert found >= 0.98 * found_at_once
