"""Who may visit what, and when."""

from __future__ import annotations

from math import inf, nextafter

from recrawl.checks.store.samples import (
    LEASE_S,
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
from recrawl.model import Settings

A, A2, B, C = "http://a.example/1", "http://a.example/2", "http://b.example/", "http://c.example/"


def check_the_longest_due_come_first_one_a_host(make: MakeStore) -> None:
    with store_with(make, A, A2, B, C) as store:
        store.replan(plans({1: T0 + 5.0, 2: T0 + 3.0, 3: T0 + 4.0, 4: T0 + 3.0}))
        assert claimed(store, T0 + 2.0) == []
        assert claimed(store, T0 + 3.0, limit=1) == [A2]  # of two equally due the one watched longer
        assert claimed(store, T0 + 9.0) == [C, B]


def check_due_times_give_the_order_whatever_opened_the_hosts(make: MakeStore) -> None:
    """A host whose gate has just opened stands before one that is due for less long."""
    with store_with(make, A, A2, B) as store:
        store.replan(plans({1: T0, 2: T0 + 1.0, 3: T0 + 5.0}))
        visited(store, A, T0, gate_s=50.0)
        assert claimed(store, T0 + 4.0) == []
        assert claimed(store, T0 + 50.0, limit=1) == [A2]
        assert claimed(store, T0 + 50.0, limit=1) == [B]


def check_a_lease_carries_all_that_is_known(make: MakeStore) -> None:
    with store_with(make) as store:
        store.add([new(A, "x", settings=Settings(weight=2.0))], T0)
        (lease,) = store.claim(now=T0 + 1.0, limit=5, lease_s=LEASE_S)
        assert lease.resource == store.find(A)
        assert same(lease.standing, store.standing(1)[0])
        assert (lease.claimed_at, lease.until_at) == (T0 + 1.0, T0 + 1.0 + LEASE_S)
        store.release([lease], T0 + 1.0)
        (later,) = store.claim(now=T0 + 2.0, limit=5, lease_s=LEASE_S)
        assert later.token > lease.token


def check_a_leased_host_is_left_to_its_holder_until_the_lease_ends(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        assert claimed(store, T0) == [A]
        assert store.counts(T0)["leased"] == 1
        assert store.ready_at(T0) == T0 + LEASE_S
        assert claimed(store, nextafter(T0 + LEASE_S, 0.0)) == []
        assert claimed(store, T0 + LEASE_S) == [A]


def check_a_gated_host_is_left_alone_until_the_gate_opens(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        visited(store, A, T0, gate_s=30.0)
        assert store.ready_at(T0) == T0 + 30.0
        assert claimed(store, nextafter(T0 + 30.0, 0.0)) == []
        assert claimed(store, T0 + 30.0) == [A2]


def check_a_gate_is_never_brought_forward(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        visited(store, A, T0, gate_s=30.0)
        lease = lease_of(store, A2, T0 + 30.0)
        assert store.complete([completion(lease, T0 + 30.0, gate_s=-20.0)]) == [True]
        assert store.claim(now=T0 + 29.0, limit=1, lease_s=1.0, only=2) == []
        assert lease_of(store, A, T0 + 30.0).token > lease.token


def check_a_clock_behind_the_others_opens_no_gate(make: MakeStore) -> None:
    """Several processes share a store, and their clocks may differ a little."""
    with store_with(make, A, A2, B) as store:
        store.replan(plans({1: T0, 2: T0 + 2.0, 3: T0 + 1.0}))
        visited(store, A, T0, gate_s=30.0)
        assert claimed(store, T0 + 40.0, limit=1) == [B]
        assert claimed(store, T0 + 20.0) == []
        assert store.ready_at(T0 + 20.0) == T0 + 30.0
        assert claimed(store, T0 + 30.0) == [A2]


def check_one_resource_can_be_asked_for_out_of_turn(make: MakeStore) -> None:
    """Regardless of its due time and of a pause, never of its host's gate or lease."""
    with store_with(make, A, A2) as store:
        store.replan(plans({1: T0 + 100.0, 2: T0 + 200.0}))
        store.say(resource_scope(A2), Settings(paused=True), T0)

        def asked(now: float, resource_id: int = 2) -> list[str]:
            leases = store.claim(now=now, limit=1, lease_s=LEASE_S, only=resource_id)
            return [lease.resource.url for lease in leases]

        assert asked(T0, 99) == []
        assert asked(T0) == [A2]
        assert asked(T0 + LEASE_S - 1.0) == []
        assert asked(T0 + LEASE_S - 1.0, 1) == []
        lease = lease_of(store, A2, T0 + LEASE_S)
        store.complete([completion(lease, T0 + LEASE_S, gate_s=10.0)])
        assert asked(T0 + LEASE_S + 9.0) == []
        assert asked(T0 + LEASE_S + 10.0) == [A2]


def check_what_is_released_can_be_claimed_at_once(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        leases = store.claim(now=T0, limit=5, lease_s=LEASE_S)
        store.release(leases[:1], T0)
        assert store.ready_at(T0) == T0
        assert claimed(store, T0) == [A]
        store.release(leases[:1], T0)  # an old lease gives nothing back
        assert claimed(store, T0) == []
        assert list(store.visits(1)) == []


def check_ready_at_is_when_a_claim_first_succeeds(make: MakeStore) -> None:
    """Through due times, gates, leases, pauses and removals alike."""
    with store_with(make, A, A2, B, C) as store:
        store.replan(plans({1: T0 + 50.0, 2: T0 + 40.0, 3: T0 + 90.0, 4: T0 + 10.0}))
        now = T0
        for step in range(12):
            ready_at = store.ready_at(now)
            assert ready_at >= now
            before = nextafter(ready_at, -inf)
            if before > now:
                assert claimed(store, before) == [], f"at step {step} nothing is ready before {ready_at}"
            (lease,) = store.claim(now=ready_at, limit=1, lease_s=LEASE_S)
            now = ready_at
            if step % 3:
                done = completion(lease, now, gap_s=35.0 + step, gate_s=7.0 * step)
                assert store.complete([done]) == [True]
        store.remove([1, 2])
        store.say(resource_scope(B), Settings(paused=True), now)
        store.remove([4])
        assert store.ready_at(now) == inf
        assert claimed(store, now + 1e9) == []


def check_ready_at_can_be_asked_of_what_is_due_by_then(make: MakeStore) -> None:
    """However soon others come due."""
    with store_with(make, A, A2, B, C) as store:
        store.replan(plans({1: T0 + 5.0, 2: T0 + 90.0, 3: T0 + 20.0, 4: T0 + 40.0}))
        visited(store, A, T0 + 5.0, gate_s=1_000.0)  # due again in two hours
        assert store.ready_at(T0 + 6.0) == T0 + 20.0
        assert store.ready_at(T0 + 6.0, due_by=T0 + 10.0) == inf
        assert store.ready_at(T0 + 6.0, due_by=T0 + 20.0) == T0 + 20.0
        assert store.ready_at(T0 + 30.0, due_by=T0 + 20.0) == T0 + 30.0
        lease_of(store, B, T0 + 30.0)
        assert store.ready_at(T0 + 30.0, due_by=T0 + 20.0) == T0 + 30.0 + LEASE_S
        store.say(resource_scope(B), Settings(paused=True), T0)
        assert store.ready_at(T0 + 30.0, due_by=T0 + 20.0) == inf
        assert store.ready_at(T0 + 30.0, due_by=T0 + 90.0) == T0 + 40.0
        store.remove([4])
        assert store.ready_at(T0 + 30.0, due_by=T0 + 90.0) == T0 + 1_005.0


def check_a_lease_is_held_until_it_is_completed_released_or_taken_over(make: MakeStore) -> None:
    """Whatever the clock shows then."""
    with store_with(make, A, B, C) as store:
        a, b, c = (lease_of(store, url, T0) for url in (A, B, C))
        assert store.held([]) == []
        assert store.held([c, a, b]) == [True, True, True]
        store.complete([completion(a, T0 - 1e6)])
        store.release([b], T0 - 1e6)
        assert store.held([c, a, b]) == [True, False, False]
        lease_of(store, B, T0)
        (other,) = store.claim(now=T0 + LEASE_S, limit=1, lease_s=LEASE_S, only=3)
        assert store.held([a, b, c, other]) == [False, False, False, True]
        store.remove([3])
        assert store.held([other]) == [True]


def check_an_empty_store_is_never_ready(make: MakeStore) -> None:
    with store_with(make) as store:
        assert store.ready_at(T0) == inf
        assert claimed(store, T0) == []
        batch, memory = store.batch()
        assert len(batch) == 0
        assert memory.shape == (0, 0)


CLAIMING = [
    check_the_longest_due_come_first_one_a_host,
    check_due_times_give_the_order_whatever_opened_the_hosts,
    check_a_lease_carries_all_that_is_known,
    check_a_leased_host_is_left_to_its_holder_until_the_lease_ends,
    check_a_gated_host_is_left_alone_until_the_gate_opens,
    check_a_gate_is_never_brought_forward,
    check_a_clock_behind_the_others_opens_no_gate,
    check_one_resource_can_be_asked_for_out_of_turn,
    check_what_is_released_can_be_claimed_at_once,
    check_ready_at_is_when_a_claim_first_succeeds,
    check_ready_at_can_be_asked_of_what_is_due_by_then,
    check_a_lease_is_held_until_it_is_completed_released_or_taken_over,
    check_an_empty_store_is_never_ready,
]
