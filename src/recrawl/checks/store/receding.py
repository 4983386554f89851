"""A clock that was ahead and is set back: nothing waits until the old time comes round again."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from recrawl.checks.store.samples import (
    LEASE_S,
    T0,
    MakeStore,
    claimed,
    completion,
    found,
    lease_of,
    new,
    plans,
    same,
    store_with,
    visited,
)
from recrawl.contracts import Store
from recrawl.model import ASKED, DAY_S, Outcome

A, A2, B, C, D = (
    *("http://a.example/1", "http://a.example/2"),
    *("http://b.example/", "http://c.example/", "http://d.example/"),
)
REST_S = 300.0
YEAR_S = 365 * DAY_S


def _set_back(store: Store, now: float = T0) -> int:
    return store.set_back(now, lease_s=LEASE_S, rest_s=REST_S)


def check_what_was_visited_in_the_future_was_visited_now(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        visited(store, B, T0)
        visited(store, A, T0 + YEAR_S, gap_s=500.0)
        before, past = store.standing(1)[0], store.standing(2)
        assert _set_back(store, T0 + 10.0) == 1
        standing, plan = store.standing(1)
        at = T0 + 10.0
        assert same(standing, replace(before, since_at=at, last_at=at, due_at=at + 500.0))
        assert plan is not None
        assert plan.due_at == at + 500.0
        assert same(store.standing(2), past)
        assert store.batch()[0].since_at[:2].tolist() == [at, T0]
        (visit,) = store.visits(1)
        assert visit.at == T0 + YEAR_S  # what is recorded stays
        anew = replace(plans({1: at + 50.0}), since_at=np.array([at]))
        store.replan(anew)
        assert store.standing(1)[0].due_at == at + 50.0
        store.remove([2, 3])
        assert store.ready_at(at, due_by=at + 50.0) == at + REST_S  # its gate
        assert claimed(store, at + REST_S) == [A]


def check_no_gate_stays_further_ahead_than_a_gate_can_be(make: MakeStore) -> None:
    with store_with(make, A, B, C, D) as store:
        future = T0 + YEAR_S
        visited(store, A, future, gate_s=1.0)
        visited(store, B, future, gate_s=7_000.0)
        troubled = completion(lease_of(store, C, future), future, gate_s=60.0, outcome=Outcome.NET_ERROR)
        store.complete([replace(troubled, n_host_failures=1)])
        visited(store, D, T0 - 10.0, gate_s=100.0)
        _set_back(store)
        names = [found(store, url).host for url in (A, B, C, D)]
        gates = [store.gate_at(name) - T0 for name in names]
        assert gates == [REST_S, 7_000.0, DAY_S, 90.0]  # the last was as it should be
        _set_back(store, T0 + 1.0)
        assert [store.gate_at(name) - T0 for name in names] == gates


def check_no_lease_stays_longer_than_leases_last(make: MakeStore) -> None:
    """Whoever has it may still bring what it found; a dead one's ends."""
    with store_with(make, A, B, C) as store:
        future = T0 + YEAR_S
        living, dead = lease_of(store, A, future), lease_of(store, B, future)
        hold = store.hold("elsewhere.example", now=future, lease_s=LEASE_S)
        _set_back(store)
        assert store.held([living, dead]) == [True, True]
        assert store.complete([completion(living, T0 + 1.0, gap_s=1_000.0)]) == [True]
        assert store.claim(now=T0 + LEASE_S - 1.0, limit=1, lease_s=1.0, only=2) == []
        assert lease_of(store, B, T0 + LEASE_S).token > dead.token
        assert hold is not None
        assert store.hold("elsewhere.example", now=T0 + LEASE_S, lease_s=1.0) is not None


def check_nothing_stays_due_later_than_it_can_be(make: MakeStore) -> None:
    with store_with(make, A, A2, B, C) as store:
        store.remove([3])
        store.add([new(B)], T0 + YEAR_S)  # number 5, its first look is due in a year
        failed = completion(
            lease_of(store, A, T0 + YEAR_S), T0 + YEAR_S, gap_s=900.0, gate_s=0.0, outcome=Outcome.NET_ERROR
        )
        store.complete([failed])
        visited(store, A2, T0 + YEAR_S, gate_s=0.0)
        store.replan(replace(plans({2: T0 + YEAR_S}), rule=ASKED))
        store.replan(plans({4: inf}))
        assert _set_back(store) == 3
        due_at = {key: store.standing(key)[0].due_at - T0 for key in (1, 2, 4, 5)}
        assert due_at == {1: 900.0, 2: 0.0, 4: inf, 5: 0.0}
        assert claimed(store, T0) == [B]
        assert claimed(store, T0 + REST_S) == [A2, B]  # the lease of the one has run out


RECEDING = [
    check_what_was_visited_in_the_future_was_visited_now,
    check_no_gate_stays_further_ahead_than_a_gate_can_be,
    check_no_lease_stays_longer_than_leases_last,
    check_nothing_stays_due_later_than_it_can_be,
]
