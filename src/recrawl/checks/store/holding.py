"""Hosts that redirects lead to, and hosts in trouble."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nextafter

from recrawl.checks.store.samples import LEASE_S, T0, MakeStore, claimed, completion, lease_of, store_with
from recrawl.contracts import Store
from recrawl.model import Hold

A, A2, B = "http://a.example/1", "http://a.example/2", "http://b.example/"
HOST, ELSEWHERE = "a.example", "elsewhere.example:8080"


def held(store: Store, host: str, now: float) -> Hold:
    hold = store.hold(host, now=now, lease_s=LEASE_S)
    assert hold is not None, f"{host} can be held at {now}"
    return hold


def check_a_host_that_nobody_watches_can_be_held_by_one(make: MakeStore) -> None:
    with store_with(make, A) as store:
        assert store.gate_at(ELSEWHERE) == -inf
        hold = held(store, ELSEWHERE, T0)
        assert (hold.host, hold.until_at, hold.n_host_failures) == (ELSEWHERE, T0 + LEASE_S, 0)
        assert store.hold(ELSEWHERE, now=nextafter(T0 + LEASE_S, 0.0), lease_s=LEASE_S) is None
        store.let_go(hold, gate_at=T0 + 5.0, n_host_failures=0)
        assert store.gate_at(ELSEWHERE) == T0 + 5.0
        assert store.hold(ELSEWHERE, now=T0 + 4.0, lease_s=LEASE_S) is None
        assert held(store, ELSEWHERE, T0 + 5.0).token > hold.token
        assert store.counts(T0)["hosts"] == 1  # only those of what is watched


def check_holds_and_leases_keep_each_other_out(make: MakeStore) -> None:
    with store_with(make, A, A2, B) as store:
        hold = held(store, HOST, T0)
        assert claimed(store, T0) == [B]
        assert store.claim(now=T0, limit=1, lease_s=LEASE_S, only=1) == []
        assert store.ready_at(T0) == T0 + LEASE_S
        store.let_go(hold, gate_at=T0 + 3.0, n_host_failures=0)
        assert store.ready_at(T0) == T0 + 3.0
        assert claimed(store, T0 + 2.0) == []
        assert claimed(store, T0 + 3.0) == [A]
        assert store.hold(HOST, now=T0 + 3.0, lease_s=LEASE_S) is None


def check_a_host_in_line_can_be_held(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        assert claimed(store, T0, limit=1) == [A]  # all that are ready get in line
        held(store, "b.example", T0)
        assert claimed(store, T0) == []


def check_a_hold_runs_out_and_then_frees_nothing(make: MakeStore) -> None:
    with store_with(make, A) as store:
        late = held(store, HOST, T0)
        lease = lease_of(store, A, T0 + LEASE_S)
        store.let_go(late, gate_at=T0 + 1e6, n_host_failures=9)
        assert store.claim(now=T0 + LEASE_S, limit=1, lease_s=LEASE_S, only=1) == []
        assert store.gate_at(HOST) < T0 + 1e6
        assert store.complete([completion(lease, T0 + LEASE_S)]) == [True]
        assert lease_of(store, A, T0 + 2 * LEASE_S).n_host_failures == 0


def check_a_claim_that_is_given_back_gates_its_host(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        lease = lease_of(store, A, T0)
        store.release([lease], T0 + 7.0)
        assert claimed(store, T0 + 6.0) == []
        assert store.ready_at(T0) == T0 + 7.0
        store.release([lease], T0 + 1e6)  # it was given back before
        assert claimed(store, T0 + 7.0) == [A]


def check_troubles_of_a_host_are_counted_for_all_that_ask_it(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        lease = lease_of(store, A, T0)
        assert lease.n_host_failures == 0
        store.complete([replace(completion(lease, T0), n_host_failures=3)])
        lease = lease_of(store, A2, T0 + 10.0)
        assert lease.n_host_failures == 3
        store.release([lease], T0 + 10.0)
        hold = held(store, HOST, T0 + 20.0)
        assert hold.n_host_failures == 3
        store.let_go(hold, gate_at=T0 + 20.0, n_host_failures=4)
        (lease,) = store.claim(now=T0 + 20.0, limit=1, lease_s=LEASE_S)
        assert lease.n_host_failures == 4
        store.complete([completion(lease, T0 + 20.0)])
        assert held(store, HOST, T0 + 30.0).n_host_failures == 0


def check_the_leases_of_the_dead_end_and_their_hosts_rest(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        store.complete([completion(lease_of(store, A, T0), T0, gate_s=7.0)])
        leases = store.claim(now=T0 + 1e6, limit=9, lease_s=LEASE_S, by="dead")
        assert len(leases) == 2
        assert store.abandon(["alive"], now=T0 + 1e6, rest_s=60.0) == 0
        assert store.abandon(["other", "dead"], now=T0 + 1e6, rest_s=60.0) == 2
        assert store.gate_at(HOST) == T0 + 1e6 + 7.0  # as after its last visit
        assert store.gate_at("b.example") == T0 + 1e6 + 60.0  # it never had one
        assert store.complete([completion(lease, T0 + 1e6) for lease in leases]) == [False, False]


HOLDING = [
    check_the_leases_of_the_dead_end_and_their_hosts_rest,
    check_a_host_that_nobody_watches_can_be_held_by_one,
    check_holds_and_leases_keep_each_other_out,
    check_a_host_in_line_can_be_held,
    check_a_hold_runs_out_and_then_frees_nothing,
    check_a_claim_that_is_given_back_gates_its_host,
    check_troubles_of_a_host_are_counted_for_all_that_ask_it,
]
