"""All resources at once: the batch out, the plans in."""

from __future__ import annotations

from dataclasses import fields, replace
from math import inf, nan

import numpy as np

from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    claimed,
    completion,
    lease_of,
    new,
    plans,
    resource_scope,
    same,
    store_with,
    visited,
)
from recrawl.model import ASKED, Outcome, Plan, Settings

A, A2, B, C = "http://a.example/1", "http://a.example/2", "http://b.example/", "http://c.example/"


def check_the_batch_is_the_standings_in_columns(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        store.add([new(B, settings=Settings(weight=2.0, min_gap_s=5.0, max_gap_s=6.0)), new(C)], T0)
        lease = lease_of(store, B, T0)
        done = completion(lease, T0)
        bits = (1 << 63) | 5
        standing = replace(done.standing, n_informative=4, n_changes=2, bits=bits, memory=(1.0, 2.0, nan))
        store.complete([replace(done, standing=standing)])
        done = completion(lease_of(store, A, T0), T0, gate_s=0.0)
        store.complete([replace(done, standing=replace(done.standing, memory=(7.0, 7.0)))])
        lease = lease_of(store, A, T0 + 1.0)
        failed = completion(lease, T0 + 1.0, outcome=Outcome.NET_ERROR)
        store.complete([replace(failed, standing=replace(failed.standing, memory=(9.0,)))])
        store.say(resource_scope(C), Settings(paused=True), T0)
        batch, memory = store.batch()
        assert batch.id.tolist() == [1, 2, 3]
        for i, (resource, stands, _) in enumerate(store.resources(limit=3)):
            row = batch.pick(np.array([i]))
            for field in fields(batch):
                if field.name == "cost":
                    continue  # whoever prices visits sets it
                owners = (stands, resource.effective, resource)
                name = "host_id" if field.name == "group" else field.name
                owner = next(owner for owner in owners if hasattr(owner, name))
                (value,) = getattr(row, field.name).tolist()
                assert same(value, getattr(owner, name)), name
        assert batch.bits.dtype == np.uint64
        wanted = np.array([[9.0, nan, nan], [nan, nan, nan], [1.0, 2.0, nan]])
        assert np.array_equal(memory, wanted, equal_nan=True)


def check_new_plans_replace_the_old_and_move_the_turns(make: MakeStore) -> None:
    with store_with(make, A, A2, B, C) as store:
        visited(store, A, T0, gate_s=0.0)
        before = store.standing(1)[0]
        due_at = {1: T0 + 30.0, 2: T0 + 40.0, 3: T0 + 20.0, 4: T0 + 50.0, 77: T0}
        store.replan(plans(due_at, planned_at=T0 + 2.0))
        standing, plan = store.standing(1)
        assert same(standing, replace(before, due_at=T0 + 30.0, gap_s=5_000.0))
        assert same(
            plan,
            Plan(
                resource_id=1,
                due_at=T0 + 30.0,
                gap_s=5_000.0,
                price=0.25,
                p_changed=0.5,
                rule="index:fresh",
                bound="min",
                planned_at=T0 + 2.0,
            ),
        )
        bounds = [each.bound for _, _, each in store.resources() if each is not None]
        assert bounds == ["min", "", "max", "relook"]
        assert store.ready_at(T0 + 2.0) == T0 + 20.0
        assert claimed(store, T0 + 35.0) == [B, A]


def check_a_plan_made_while_leased_yields_to_the_completion(make: MakeStore) -> None:
    with store_with(make, A) as store:
        lease = lease_of(store, A, T0)
        store.replan(plans({1: T0 + 5.0}))
        assert store.standing(1)[0].due_at == T0 + 5.0
        store.complete([completion(lease, T0 + 1.0, gap_s=100.0)])
        assert store.standing(1)[0].due_at == T0 + 101.0
        assert store.ready_at(T0 + 1.0) == T0 + 101.0


def check_a_plan_made_before_a_failure_yields_to_the_retry(make: MakeStore) -> None:
    """A failure moves no `since_at`, so that alone does not show that the plan is of before."""
    with store_with(make, A) as store:
        visited(store, A, T0, gate_s=0.0)
        before = replace(plans({1: T0 + 5.0}), since_at=np.array([T0]))
        failed = completion(
            lease_of(store, A, T0 + 1.0), T0 + 1.0, gap_s=900.0, gate_s=0.0, outcome=Outcome.NET_ERROR
        )
        store.complete([replace(failed, plan=replace(failed.plan, rule="retry"))])
        store.replan(before)
        standing, plan = store.standing(1)
        assert plan is not None
        assert (standing.due_at, plan.rule) == (T0 + 901.0, "retry")
        assert store.ready_at(T0 + 1.0) == T0 + 901.0
        store.replan(plans({1: T0 + 5.0}))  # whatever happened
        assert store.ready_at(T0 + 1.0) == T0 + 5.0


def check_never_is_a_due_time_too(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        store.replan(plans({1: inf, 2: T0 + 5.0}))
        assert claimed(store, T0 + 1e9) == [A2]
        store.remove([2])
        assert store.ready_at(T0) == inf
        assert store.standing(1)[0].due_at == inf


def check_a_visit_that_was_asked_for_stays_planned_until_it_is_made(make: MakeStore) -> None:
    with store_with(make, A) as store:
        visited(store, A, T0, gate_s=0.0)
        asked = replace(plans({1: T0 + 5.0}), rule=ASKED)
        store.replan(asked)
        store.replan(plans({1: T0 + 9_000.0}))  # as a pricing would
        store.say(resource_scope(A), Settings(min_gap_s=800.0), T0 + 1.0)
        standing, plan = store.standing(1)
        assert plan is not None
        assert (standing.due_at, plan.rule) == (T0 + 5.0, ASKED)
        store.replan(replace(asked, due_at=np.array([T0 + 3.0])))
        assert store.ready_at(T0) == T0 + 3.0
        visited(store, A, T0 + 4.0)
        store.replan(plans({1: T0 + 9_000.0}))
        assert store.standing(1)[0].due_at == T0 + 9_000.0


def check_many_are_added_planned_and_claimed_alike(make: MakeStore) -> None:
    n = 3_000
    with store_with(make) as store:
        many = [new(f"http://h{i % 500}.example/{i}", *(["odd"] if i % 2 else [])) for i in range(n)]
        assert store.add(many, T0) == (n, 0)
        assert store.say(resource_scope(many[7].url), Settings(paused=True), T0) == 1
        batch, memory = store.batch()
        assert (len(batch), memory.shape) == (n - 1, (n - 1, 0))
        rng = np.random.default_rng(1)
        due_at = {int(key): T0 + float(at) for key, at in zip(batch.id, rng.permutation(n - 1), strict=True)}
        store.replan(plans(due_at))
        first: dict[str, int] = {}
        for resource, standing, _ in store.resources():
            best = first.setdefault(resource.host, resource.id)
            if resource.id in due_at and standing.due_at < due_at.get(best, inf):
                first[resource.host] = resource.id
        leases = store.claim(now=T0 + n, limit=400, lease_s=1.0)
        wanted = sorted(first.values(), key=due_at.__getitem__)[:400]
        assert [lease.resource.id for lease in leases] == wanted
        assert store.remove(list(range(1, n, 2))) == n // 2
        assert len(list(store.resources(tag="odd"))) == n // 2


PLANNING = [
    check_the_batch_is_the_standings_in_columns,
    check_new_plans_replace_the_old_and_move_the_turns,
    check_a_plan_made_while_leased_yields_to_the_completion,
    check_a_plan_made_before_a_failure_yields_to_the_retry,
    check_never_is_a_due_time_too,
    check_a_visit_that_was_asked_for_stays_planned_until_it_is_made,
    check_many_are_added_planned_and_claimed_alike,
]
