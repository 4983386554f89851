"""How long visits took, what hosts want, and what is due when: as columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recrawl.checks.store.samples import T0, MakeStore, completion, found, lease_of, store_with, visited
from recrawl.model import GLOBAL, Changed, Outcome, Scope, ScopeKind, Settings

A, B, OTHER = "http://a.example/1", "http://a.example/2", "http://b.example/"


def check_the_newest_visits_tell_how_long_they_took(make: MakeStore) -> None:
    with store_with(make, A, B, OTHER) as store:
        for url, at, took_s, outcome, status in (
            (A, T0 + 10.0, 1.5, Outcome.OK, 200),
            (B, T0 + 20.0, 2.5, Outcome.HTTP_ERROR, 503),
            (OTHER, T0 + 15.0, 30.0, Outcome.NET_ERROR, None),
            (OTHER, T0 + 30.0, 0.0, Outcome.OK, 200),  # made elsewhere: nobody knows how long it took
            (A, T0 + 40.0, 3.5, Outcome.HTTP_ERROR, 403),
        ):
            done = completion(lease_of(store, url, at - took_s), at, gate_s=0.0, outcome=outcome)
            changed = Changed.YES if at == T0 + 20.0 else Changed.NO
            visit = replace(done.visit, duration_s=took_s, status=status, changed=changed)
            assert store.complete([replace(done, visit=visit)]) == [True]
        took = store.took(10)
        assert took.at.tolist() == [T0 + 10.0, T0 + 15.0, T0 + 20.0, T0 + 40.0], "in the order of time"
        assert took.took_s.tolist() == [1.5, 30.0, 2.5, 3.5]
        assert took.troubled.tolist() == [False, True, True, False], "of the host, not of the page"
        assert took.changed.tolist() == [False, False, True, False]
        assert took.due_at[0] == T0
        assert took.group.tolist() == [found(store, url).host_id for url in (A, OTHER, B, A)]
        assert store.took(2).at.tolist() == [T0 + 20.0, T0 + 40.0], "the newest of them"
        store.remove([found(store, A).id])
        assert store.took(10).took_s.tolist() == [30.0, 2.5]


def check_hosts_tell_how_long_they_are_left_alone(make: MakeStore) -> None:
    with store_with(make, A, OTHER) as store:
        visited(store, A, T0 + 10.0, gate_s=7.0)
        hosts = store.hosts()
        assert sorted(hosts.name) == ["a.example", "b.example"]
        place = hosts.name.index("a.example")
        assert (hosts.rest_s[place], hosts.gate_at[place]) == (7.0, T0 + 17.0)
        assert hosts.id[place] == found(store, A).host_id
        assert np.isnan(hosts.rest_s[1 - place])
        assert hosts.n_failures.tolist() == [0, 0]


def check_what_is_planned_comes_by_host_and_turn(make: MakeStore) -> None:
    with store_with(make, A, B, OTHER) as store:
        done = completion(lease_of(store, A, T0 + 10.0), T0 + 10.0, gap_s=100.0)
        seen = replace(done.standing, n_informative=2)
        assert store.complete([replace(done, standing=seen)]) == [True]
        planned = store.planned()
        assert planned.id[planned.fresh].tolist() == [1], "visited, and never found changed"
        host, other = found(store, A).host_id, found(store, OTHER).host_id
        rows = sorted([(host, T0, 2), (host, T0 + 110.0, 1), (other, T0, 3)])
        assert list(zip(planned.group, planned.due_at, planned.id, strict=True)) == rows
        store.say(Scope(ScopeKind.RESOURCE, B), Settings(paused=True), T0 + 20.0)
        assert sorted(store.planned().id.tolist()) == [1, 3]
        store.say(GLOBAL, Settings(paused=True), T0 + 30.0)
        assert len(store.planned()) == 0


PACING = [
    check_the_newest_visits_tell_how_long_they_took,
    check_hosts_tell_how_long_they_are_left_alone,
    check_what_is_planned_comes_by_host_and_turn,
]
