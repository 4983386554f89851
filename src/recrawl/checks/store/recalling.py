"""The past of a resource, by time."""

from __future__ import annotations

from recrawl.checks.store.samples import T0, MakeStore, completion, lease_of, store_with, version

A = "http://a.example/1"


def check_the_past_comes_by_time_without_what_is_flagged(make: MakeStore) -> None:
    with store_with(make, A) as store:
        lease = lease_of(store, A, T0)
        # the third is older than all others: brought in later
        brought = (version(T0 + 10.0), version(T0 + 20.0), version(T0), version(T0 + 5.0, flag="x"))
        store.complete([completion(lease, T0 + 30.0, versions=brought)])
        known = lease.resource.id
        assert [item.seq for item in store.history(known, limit=9)] == [3, 1, 2]
        assert [item.seq for item in store.history(known, limit=2, newest_first=True)] == [2, 1]
        assert [item.seq for item in store.history(known, from_at=T0 + 10.0, limit=9)] == [1, 2]
        assert [item.seq for item in store.history(known, until_at=T0 + 20.0, limit=1)] == [3]
        before = store.history(known, until_at=T0 + 20.0, limit=1, newest_first=True)
        assert [(item.seq, item.resource_id, item.at) for item in before] == [(1, known, T0 + 10.0)]
        assert list(store.history(known, from_at=T0 + 21.0, limit=9)) == []
        assert list(store.history(known + 1, limit=9)) == []


RECALLING = [check_the_past_comes_by_time_without_what_is_flagged]
