"""Resources and visits to try a store with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from math import nan

import numpy as np

from recrawl.contracts import Store
from recrawl.model import (
    Completion,
    Effective,
    Lease,
    NewResource,
    Outcome,
    Plan,
    Plans,
    Resource,
    Scope,
    ScopeKind,
    Settings,
    Standing,
    Version,
    Visit,
)
from recrawl.urls import host_key

MakeStore = Callable[[], Store]
T0 = 1_700_000_000.0
LEASE_S = 60.0
SILENT = Settings()


@contextmanager
def store_with(make: MakeStore, *urls: str) -> Iterator[Store]:
    """A new store that watches these since `T0`."""
    with closing(make()) as store:
        store.add([new(url) for url in urls], T0)
        yield store


def new(url: str, *tags: str, settings: Settings = SILENT) -> NewResource:
    return NewResource(url=url, host=host_key(url), settings=settings, tags=tags)


def found(store: Store, url: str) -> Resource:
    resource = store.find(url)
    assert resource is not None, f"{url} is watched"
    return resource


def effective(store: Store, url: str) -> Effective:
    return found(store, url).effective


def claimed(store: Store, now: float, limit: int = 10) -> list[str]:
    """The URLs that a claim gives, in its order."""
    return [lease.resource.url for lease in store.claim(now=now, limit=limit, lease_s=LEASE_S)]


def lease_of(store: Store, url: str, now: float) -> Lease:
    leases = store.claim(now=now, limit=1, lease_s=LEASE_S, only=found(store, url).id)
    assert len(leases) == 1, f"{url} can be claimed at {now}"
    return leases[0]


def completion(
    lease: Lease,
    at: float,
    *,
    gap_s: float = 7_200.0,
    gate_s: float = 1.0,
    outcome: Outcome = Outcome.OK,
    versions: tuple[Version, ...] = (),
    fetch_id: str | None = None,
) -> Completion:
    """An ordinary visit at that time, planned again after `gap_s`."""
    before, resource_id = lease.standing, lease.resource.id
    if outcome.informative:
        standing = replace(before, since_at=at, last_at=at, gap_s=gap_s, due_at=at + gap_s, n_failures=0)
    else:
        standing = replace(before, last_at=at, due_at=at + gap_s, n_failures=before.n_failures + 1)
    return Completion(
        lease=lease,
        visit=Visit(
            fetch_id=fetch_id or f"{resource_id}@{at}",
            resource_id=resource_id,
            at=at,
            since_at=before.since_at,
            due_at=before.due_at,
            outcome=outcome,
        ),
        standing=standing,
        plan=Plan(resource_id=resource_id, due_at=at + gap_s, gap_s=gap_s, rule="sample", planned_at=at),
        gate_at=at + gate_s,
        versions=versions,
    )


def visited(store: Store, url: str, at: float, *, gap_s: float = 7_200.0, gate_s: float = 1.0) -> Standing:
    """Claim and complete; where the resource stands then."""
    done = completion(lease_of(store, url, at), at, gap_s=gap_s, gate_s=gate_s)
    assert store.complete([done]) == [True], f"a visit to {url} is recorded"
    return store.standing(done.lease.resource.id)[0]


def version(at: float, *, flag: str = "") -> Version:
    return Version(
        resource_id=0,
        seq=0,
        at=at,
        digest=f"sha256:{at}",
        fingerprint="f",
        detector="text",
        media_type="text/html",
        charset="utf-8",
        status=200,
        n_bytes=12,
        flag=flag,
        file="a.warc.gz",
        offset=34,
        length=56,
    )


def plans(due_at: dict[int, float], *, planned_at: float = T0, gap_s: float = 5_000.0) -> Plans:
    n = len(due_at)
    return Plans(
        id=np.array(list(due_at), np.int64),
        since_at=np.full(n, nan),
        due_at=np.array(list(due_at.values()), np.float64),
        gap_s=np.full(n, gap_s),
        p_changed=np.full(n, 0.5),
        per_day=np.full(n, nan),
        bound=np.resize(np.array([-1, 0, 1, 2], np.int8), n),
        price=0.25,
        rule="index:fresh",
        planned_at=planned_at,
    )


def same(one: object, other: object) -> bool:
    """Equal, with NaN equal to NaN, and of the same types."""
    return repr(one) == repr(other)


def tag_scope(name: str) -> Scope:
    return Scope(ScopeKind.TAG, name)


def host_scope(name: str) -> Scope:
    return Scope(ScopeKind.HOST, name)


def resource_scope(url: str) -> Scope:
    return Scope(ScopeKind.RESOURCE, url)
