"""The past, by time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recrawl.checks.store.samples import T0, MakeStore, completion, lease_of, store_with, version, visited
from recrawl.contracts import Store
from recrawl.model import Changed, Outcome

A, B = "http://a.example/1", "http://b.example/1"


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


def check_what_teaches_is_told_in_the_order_of_time(make: MakeStore) -> None:
    """Visits that found out whether there was a change since an earlier one, of all resources together."""
    with store_with(make, A, B) as store:
        assert list(store.told()) == []
        _look(store, A, T0, Changed.UNKNOWN)  # the first
        _look(store, B, T0 + 1.0, Changed.UNKNOWN)
        _look(store, B, T0 + 30.0, Changed.NO)
        _look(store, A, T0 + 20.0, Changed.YES, event_at=T0 + 15.0)
        _look(store, A, T0 + 40.0, Changed.UNKNOWN)
        _look(store, A, T0 + 50.0, Changed.UNKNOWN, outcome=Outcome.NET_ERROR)
        _look(store, A, T0 + 60.0, Changed.NO)
        (seen,) = store.told()
        assert seen.id.tolist() == [1, 2, 1]
        assert seen.since_at.tolist() == [T0, T0 + 1.0, T0 + 40.0]
        assert seen.at.tolist() == [T0 + 20.0, T0 + 30.0, T0 + 60.0]
        assert seen.changed.tolist() == [1, 0, 0]
        assert np.array_equal(seen.event_at, [T0 + 15.0, np.nan, np.nan], equal_nan=True)
        hosts = [resource.host_id for resource, _, _ in store.resources()]
        assert seen.group.tolist() == [hosts[0], hosts[1], hosts[0]]
        late = store.lately(np.array([1, 7]), 1)
        assert (late.id.tolist(), late.at.tolist(), late.group.tolist()) == ([1], [T0 + 60.0], [hosts[0]])
        assert sorted(store.lately(np.array([2, 1]), 9).at.tolist()) == seen.at.tolist()
        assert len(store.lately(np.array([], dtype=np.int64), 9)) == 0
        store.remove([1])
        assert [page.id.tolist() for page in store.told()] == [[2]]


def check_whoever_listens_hears_every_visit_once(make: MakeStore) -> None:
    """By the order of recording, however old a visit is; the first time, the newest ones."""
    with store_with(make, A, B) as store:
        seen, mark = store.heard(0, 10)
        assert len(seen) == 0
        _look(store, A, T0, Changed.UNKNOWN)  # the first teaches nothing
        _look(store, B, T0 + 5.0, Changed.UNKNOWN)
        assert len(store.heard(mark, 10)[0]) == 0
        _look(store, A, T0 + 20.0, Changed.YES, event_at=T0 + 15.0)
        _look(store, A, T0 + 40.0, Changed.NO)
        _look(store, B, T0 + 30.0, Changed.NO)  # recorded late
        assert store.heard(0, 2)[0].at.tolist() == [T0 + 30.0, T0 + 40.0]
        seen, mark = store.heard(0, 10)
        (whole,) = store.told()
        for name in ("id", "since_at", "at", "changed", "event_at", "group"):
            assert np.array_equal(getattr(seen, name), getattr(whole, name), equal_nan=True)
        assert (len(store.heard(mark, 10)[0]), store.heard(mark, 10)[1]) == (0, mark)
        _look(store, B, T0 + 70.0, Changed.NO)
        _look(store, A, T0 + 60.0, Changed.NO)
        _look(store, A, T0 + 65.0, Changed.UNKNOWN, outcome=Outcome.NET_ERROR)
        seen, later = store.heard(mark, 10)
        assert (seen.id.tolist(), seen.at.tolist()) == ([1, 2], [T0 + 60.0, T0 + 70.0])
        assert len(store.heard(later, 10)[0]) == 0
        store.remove([1])
        assert store.heard(mark, 10)[0].id.tolist() == [2]


def check_visits_can_be_gone_through_in_the_order_of_recording(make: MakeStore) -> None:
    """Whatever came of them; each once, however few are taken at a time."""
    with store_with(make, A, B) as store:
        _look(store, A, T0, Changed.UNKNOWN)
        none, mark = store.recorded_since(None, 10)
        assert (list(none), list(store.recorded_since(mark, 10)[0])) == ([], [])
        _look(store, A, T0 + 20.0, Changed.YES)
        _look(store, A, T0 + 30.0, Changed.UNKNOWN, outcome=Outcome.NET_ERROR)
        _look(store, B, T0 + 10.0, Changed.UNKNOWN)  # recorded late
        found = []
        while True:
            page, mark = store.recorded_since(mark, 2)
            found += [(visit.resource_id, visit.at, visit.outcome) for visit in page]
            if not page:
                break
        ok, failed = Outcome.OK, Outcome.NET_ERROR
        assert found == [(1, T0 + 20.0, ok), (1, T0 + 30.0, failed), (2, T0 + 10.0, ok)]
        assert [visit.at for visit in store.recorded_since(0, 1)[0]] == [T0]
        store.remove([2])  # the newest visits are no more; whoever knew of them goes on with what comes
        _look(store, A, T0 + 40.0, Changed.NO)
        assert [visit.at for visit in store.recorded_since(mark, 10)[0]] == [T0 + 40.0]
        assert store.heard(mark, 10)[0].at.tolist() == [T0 + 40.0]


def check_memory_is_exchanged_unless_visited_since(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        visited(store, A, T0)
        visited(store, B, T0)
        visited(store, B, T0 + 100.0)
        ids, since_at = np.array([1, 2, 3]), np.array([T0, T0, T0])
        assert store.remind(ids, since_at, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])) == 1
        assert [standing.memory for _, standing, _ in store.resources()] == [(1.0, 2.0), ()]
        assert store.batch()[1][0].tolist() == [1.0, 2.0]


def _look(
    store: Store,
    url: str,
    at: float,
    changed: Changed,
    *,
    event_at: float = np.nan,
    outcome: Outcome = Outcome.OK,
) -> None:
    done = completion(lease_of(store, url, at), at, gate_s=0.0, outcome=outcome)
    visit = replace(done.visit, changed=changed, event_at=event_at)
    assert store.complete([replace(done, visit=visit)]) == [True]


RECALLING = [
    check_the_past_comes_by_time_without_what_is_flagged,
    check_what_teaches_is_told_in_the_order_of_time,
    check_whoever_listens_hears_every_visit_once,
    check_visits_can_be_gone_through_in_the_order_of_recording,
    check_memory_is_exchanged_unless_visited_since,
]
