"""Visits that were made elsewhere and come in afterwards."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from recrawl.checks.store.samples import (
    LEASE_S,
    T0,
    MakeStore,
    completion,
    found,
    lease_of,
    same,
    store_with,
    version,
    visited,
)
from recrawl.contracts import Store
from recrawl.model import Adoption, Plan, Standing, Visit

A, A2, B = "http://a.example/1", "http://a.example/2", "http://b.example/"


def adoption(store: Store, url: str, *times: float, flag: str = "", due_at: float = T0 + 5.0) -> Adoption:
    """A visit and a version at each of these times; where nothing later is recorded, it stands there then."""
    resource = found(store, url)
    before, _ = store.standing(resource.id)
    later = before.last_at > times[-1]
    since_at = before.since_at if later else times[-1]
    last_at = before.last_at if later else times[-1]
    return Adoption(
        resource=resource,
        before=before,
        visits=tuple(Visit(fetch_id=f"{url}@{at}", resource_id=resource.id, at=at) for at in times),
        versions=tuple(version(at, flag=flag) for at in times),
        standing=replace(
            before, since_at=since_at, last_at=last_at, n_informative=before.n_informative + len(times)
        ),
        plan=Plan(resource_id=resource.id, due_at=due_at, gap_s=9.0, rule="sample", planned_at=T0),
    )


def kept(store: Store, url: str) -> list[tuple[int, float]]:
    return [(version.seq, version.at) for version in store.versions(found(store, url).id)]


def times(store: Store, url: str) -> list[float]:
    return [visit.at for visit in store.visits(found(store, url).id)]


def check_what_was_adopted_is_history(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        past = adoption(store, A, T0 - 50.0, T0 - 20.0)
        assert store.adopt([past], now=T0, files={"a.warc.gz": 7}) == [True]
        assert times(store, A) == [T0 - 20.0, T0 - 50.0]
        assert kept(store, A) == [(1, T0 - 50.0), (2, T0 - 20.0)]
        standing, plan = store.standing(1)
        assert (standing.since_at, standing.n_informative) == (T0 - 20.0, 2)
        assert standing.version is not None
        assert standing.version.seq == 2
        assert same(plan, past.plan)
        assert dict(store.files()) == {"a.warc.gz": 7}
        assert store.counts(T0)["visits"] == 2
        assert store.recorded([f"{A}@{T0 - 20.0}", "other"]) == {f"{A}@{T0 - 20.0}"}
        assert [lease.resource.url for lease in store.claim(now=T0 + 9.0, limit=9, lease_s=1.0)] == [B, A]


def check_later_versions_make_way(make: MakeStore) -> None:
    with store_with(make, A) as store:
        done = completion(lease_of(store, A, T0), T0, versions=(version(T0), version(T0, flag="length")))
        assert store.complete([done]) == [True]
        assert store.adopt([adoption(store, A, T0 - 50.0, T0 - 20.0)], now=T0 + 9.0) == [True]
        assert kept(store, A) == [(1, T0 - 50.0), (2, T0 - 20.0), (3, T0), (4, T0)]
        assert times(store, A) == [T0, T0 - 20.0, T0 - 50.0]
        standing = store.standing(1)[0]
        assert standing.version is not None
        assert (standing.version.seq, standing.version.at) == (3, T0)
        assert store.adopt([adoption(store, A, T0 - 30.0)], now=T0 + 9.0) == [True]
        assert [seq for seq, _ in kept(store, A)] == [1, 2, 3, 4, 5]
        assert kept(store, A)[1] == (2, T0 - 30.0)
        done = completion(lease_of(store, A, T0 + 9.0), T0 + 9.0, versions=(version(T0 + 9.0),))
        assert store.complete([done]) == [True]
        assert kept(store, A)[-1] == (6, T0 + 9.0)


def check_evidence_is_adopted_and_is_no_version(make: MakeStore) -> None:
    with store_with(make, A) as store:
        assert store.adopt([adoption(store, A, T0 - 9.0, flag="length")], now=T0) == [True]
        assert store.standing(1)[0].version is None
        assert store.counts(T0)["versions"] == 0


def check_nothing_is_adopted_while_somebody_is_at_the_host(make: MakeStore) -> None:
    with store_with(make, A, A2, B) as store:
        lease = lease_of(store, A2, T0)
        past = [adoption(store, A, T0 - 9.0), adoption(store, B, T0 - 9.0)]
        assert store.adopt(past, now=T0 + 1.0, files={"a.warc.gz": 7}) == [False, True]
        assert times(store, A) == []
        assert dict(store.files()) == {"a.warc.gz": 7}
        assert store.complete([completion(lease, T0 + 2.0)]) == [True]
        assert store.adopt(past[:1], now=T0 + 3.0) == [True]


def check_nothing_is_adopted_where_there_was_a_visit_meanwhile(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        past = adoption(store, A, T0 - 9.0)
        visited(store, A, T0)
        assert store.adopt([past], now=T0 + 9.0) == [False]
        gone = adoption(store, B, T0 - 9.0)
        store.remove([found(store, B).id])
        assert store.adopt([gone], now=T0 + 9.0) == [False]
        assert times(store, A) == [T0]


def check_a_lease_that_ran_out_before_records_nothing_after(make: MakeStore) -> None:
    with store_with(make, A) as store:
        late = lease_of(store, A, T0)
        assert store.adopt([adoption(store, A, T0 - 9.0)], now=T0 + LEASE_S + 1.0) == [True]
        assert store.complete([completion(late, T0 + 1.0)]) == [False]
        assert times(store, A) == [T0 - 9.0]


def check_adopting_leaves_the_gate_as_it_is(make: MakeStore) -> None:
    with store_with(make, A) as store:
        visited(store, A, T0, gate_s=100.0)
        assert store.adopt([adoption(store, A, T0 - 9.0, due_at=T0)], now=T0 + 1.0) == [True]
        assert store.gate_at("a.example") == T0 + 100.0
        assert store.claim(now=T0 + 99.0, limit=1, lease_s=1.0) == []


def check_what_is_not_known_stays_so(make: MakeStore) -> None:
    with store_with(make, A) as store:
        past = adoption(store, A, T0 - 9.0, flag="length")
        failed = replace(past, standing=Standing(last_at=T0 - 9.0, n_failures=1), versions=())
        assert store.adopt([failed], now=T0) == [True]
        assert same(store.standing(1)[0].since_at, nan)
        assert store.standing(1)[0].n_failures == 1


def check_a_visit_is_adopted_once(make: MakeStore) -> None:
    """Two imports at the same time: a failure in the past leaves no trace in where the resource stands."""
    with store_with(make, A) as store:
        assert store.complete([completion(lease_of(store, A, T0), T0)]) == [True]
        past = adoption(store, A, T0 - 50.0)
        past = replace(past, standing=past.before, versions=())
        assert store.adopt([past], now=T0 + 9.0) == [True]
        assert store.adopt([past], now=T0 + 9.0) == [False]
        assert times(store, A) == [T0, T0 - 50.0]


ADOPTING = [
    check_what_was_adopted_is_history,
    check_later_versions_make_way,
    check_evidence_is_adopted_and_is_no_version,
    check_nothing_is_adopted_while_somebody_is_at_the_host,
    check_nothing_is_adopted_where_there_was_a_visit_meanwhile,
    check_a_lease_that_ran_out_before_records_nothing_after,
    check_a_visit_is_adopted_once,
    check_adopting_leaves_the_gate_as_it_is,
    check_what_is_not_known_stays_so,
]
