"""Resources that live elsewhere now."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    claimed,
    completion,
    effective,
    found,
    host_scope,
    lease_of,
    new,
    plans,
    resource_scope,
    same,
    store_with,
    version,
)
from recrawl.contracts import Store
from recrawl.errors import NotWatchedError, WatchedAlreadyError
from recrawl.model import Lease, Settings

A, A2, B, C = "http://a.example/1", "http://a.example/2", "http://b.example/", "http://c.example/new"


def redirected(store: Store, lease: Lease, at: float, to: str | None, since_at: float) -> None:
    done = completion(lease, at, versions=(version(at),))
    visit = replace(done.visit, moved_to=to)
    standing = replace(done.standing, moved_to=to, moved_since_at=since_at)
    assert store.complete([replace(done, visit=visit, standing=standing)]) == [True]


def check_what_was_redirected_twice_is_offered(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        redirected(store, lease_of(store, A, T0), T0, C, T0)
        assert list(store.moved()) == []
        redirected(store, lease_of(store, A, T0 + 9.0), T0 + 9.0, C, T0)
        ((resource, standing),) = store.moved()
        assert resource == found(store, A)
        assert same(standing, store.standing(1)[0])
        assert (standing.moved_to, standing.moved_since_at) == (C, T0)
        assert [visit.moved_to for visit in store.visits(1)] == [C, C]
        redirected(store, lease_of(store, A, T0 + 20.0), T0 + 20.0, None, T0)
        assert list(store.moved()) == []


def check_a_moved_resource_keeps_all_but_its_address(make: MakeStore) -> None:
    said = Settings(weight=2.5)
    with store_with(make, B) as store:
        store.add([new(A, "x", settings=said), new(A2)], T0)
        store.say(host_scope("c.example"), Settings(min_gap_s=77.0), T0)
        for at in (T0, T0 + 9.0):
            redirected(store, lease_of(store, A, at), at, C, T0)
        before, history = found(store, A), list(store.visits(2))
        plan = store.standing(2)[1]
        store.move(2, C, "c.example", T0 + 10.0)
        after = found(store, C)
        assert (after.id, after.tags, after.added_at) == (before.id, before.tags, before.added_at)
        assert (after.host, after.settings) == ("c.example", said)
        assert after.host_id not in (before.host_id, found(store, B).host_id)
        assert effective(store, C).min_gap_s == 77.0  # what was said of the new host
        assert [scope for scope, settings in store.said() if settings == said] == [resource_scope(C)]
        assert same(list(store.visits(2)), history)
        assert len(list(store.versions(2))) == 2
        standing = store.standing(2)[0]
        assert standing.version is not None
        assert standing.moved_to is None
        assert isnan(standing.moved_since_at)
        assert same(store.standing(2)[1], plan)
        assert store.find(A) is None
        assert list(store.moved()) == []
        store.add([new(A)], T0)
        assert found(store, A).settings == Settings()


def check_a_moved_resource_waits_its_turn_at_the_new_host(make: MakeStore) -> None:
    with store_with(make, A, A2, B) as store:
        store.replan(plans({1: T0 + 5.0, 2: T0 + 50.0, 3: T0 + 9.0}))
        store.move(1, C, "c.example", T0)
        assert store.counts(T0)["hosts"] == 3
        assert store.ready_at(T0) == T0 + 5.0
        store.move(3, "http://c.example/two", "c.example", T0)
        assert claimed(store, T0 + 20.0) == [C]  # one a host
        assert store.ready_at(T0 + 20.0) == T0 + 50.0
        assert claimed(store, T0 + 50.0) == [A2]
        assert store.counts(T0)["hosts"] == 2


def check_a_visit_under_way_during_a_move_counts(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        store.replan(plans({1: T0, 2: T0 + 50.0}))
        lease = lease_of(store, A, T0)
        store.move(1, C, "c.example", T0 + 1.0)
        redirected(store, lease, T0 + 2.0, C, T0 - 9.0)
        assert len(list(store.visits(1))) == 1
        assert list(store.moved()) == []  # it lives there already
        assert store.ready_at(T0 + 3.0) == T0 + 50.0
        assert claimed(store, T0 + 50.0) == [A2]  # its old host is free again
        store.remove([2])
        assert store.ready_at(T0 + 50.0) == T0 + 2.0 + 7_200.0  # planned by that visit
        assert claimed(store, T0 + 2.0 + 7_200.0) == [C]


def check_nothing_moves_to_where_something_is_watched(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        for resource_id, url, refusal in ((1, B, WatchedAlreadyError), (9, C, NotWatchedError)):
            try:
                store.move(resource_id, url, "b.example", T0)
            except refusal:
                pass
            else:
                raise AssertionError(f"resource {resource_id} cannot move to {url}")
        assert [resource.url for resource, _, _ in store.resources()] == [A, B]


MOVING = [
    check_what_was_redirected_twice_is_offered,
    check_a_moved_resource_keeps_all_but_its_address,
    check_a_moved_resource_waits_its_turn_at_the_new_host,
    check_a_visit_under_way_during_a_move_counts,
    check_nothing_moves_to_where_something_is_watched,
]
