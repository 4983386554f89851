"""What visits told of other resources."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    completion,
    lease_of,
    resource_scope,
    same,
    store_with,
    visited,
)
from recrawl.contracts import Store
from recrawl.model import Changed, Completion, Outcome, Settings, Signal, Telling

MAP, NEWS = "http://a.example/sitemap.xml", "http://b.example/feed"
ONE, TWO, THREE = "http://c.example/1", "http://d.example/2", "http://e.example/3"
EVERY = (MAP, NEWS, ONE, TWO, THREE)
S = tuple(range(1, 6))  # their numbers


def check_those_told_of_wait_with_the_first_signal(make: MakeStore) -> None:
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        _tell(store, MAP, T0 + 10.0, ONE, TWO, event_at=T0 + 7.0)
        _tell(store, NEWS, T0 + 20.0, TWO, THREE)
        batch, _ = store.batch()
        assert batch.id.tolist() == list(S)
        assert same(batch.told_at.tolist(), [nan, nan, T0 + 10.0, T0 + 10.0, T0 + 20.0])
        assert batch.told_by.tolist() == [0, 0, 1, 1, 2]
        standing, _ = store.standing(3)
        assert (standing.told_at, standing.told_by) == (T0 + 10.0, 1)
        lease = lease_of(store, THREE, T0 + 30.0)
        assert (lease.standing.told_at, lease.standing.told_by) == (T0 + 20.0, 2)
        assert list(store.signals(4)) == [Signal(resource_id=4, source_id=1, at=T0 + 10.0, event_at=T0 + 7.0)]
        assert same(list(store.signals(5)), [Signal(resource_id=5, source_id=2, at=T0 + 20.0)])
        assert list(store.signals(1)) == list(store.signals(77)) == []


def check_a_signal_is_heeded_by_the_next_informative_visit(make: MakeStore) -> None:
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        _tell(store, MAP, T0 + 10.0, ONE)
        _look(store, ONE, T0 + 20.0, outcome=Outcome.NET_ERROR)
        assert _waiting(store) == {3: (T0 + 10.0, 1)}
        _look(store, ONE, T0 + 30.0)
        assert _waiting(store) == {}
        assert [signal.at for signal in store.signals(3)] == [T0 + 10.0]  # kept
        _tell(store, NEWS, T0 + 40.0, ONE)
        assert _waiting(store) == {3: (T0 + 40.0, 2)}
        assert [signal.at for signal in store.signals(3)] == [T0 + 40.0, T0 + 10.0]
        assert [signal.at for signal in store.signals(3, limit=1)] == [T0 + 40.0]


def check_only_what_is_watched_and_known_is_told_of(make: MakeStore) -> None:
    """Not a source by itself, nor what was never visited: that is looked at first anyway."""
    with store_with(make, *EVERY) as store:
        for url in (MAP, ONE):
            visited(store, url, T0)
        _tell(store, MAP, T0 + 10.0, MAP, ONE, ONE, TWO, "http://nowhere.example/")
        assert _waiting(store) == {3: (T0 + 10.0, 1)}


def check_what_was_seen_already_is_no_news(make: MakeStore) -> None:
    """A source may be late: it tells of a change before the last visit."""
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        _tell(store, MAP, T0 + 10.0, ONE, event_at=T0 - 1.0)
        _tell(store, MAP, T0 + 20.0, TWO, event_at=T0)
        _tell(store, MAP, T0 + 30.0, ONE, THREE, event_at=T0 + 1.0)
        assert _waiting(store) == {3: (T0 + 30.0, 1), 5: (T0 + 30.0, 1)}


def check_whoever_was_visited_later_is_not_told_of(make: MakeStore) -> None:
    """Visits that are recorded together, whatever their order, or after each other."""
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        leases = {url: lease_of(store, url, T0 + 10.0) for url in EVERY[:4]}
        done = [
            _telling(completion(leases[MAP], T0 + 20.0), ONE, TWO),
            completion(leases[ONE], T0 + 30.0),
            completion(leases[TWO], T0 + 15.0),
            _telling(completion(leases[NEWS], T0 + 19.0), TWO),  # it was first
        ]
        assert store.complete(done) == [True] * 4
        assert _waiting(store) == {4: (T0 + 19.0, 2)}
        assert list(store.signals(3)) == []


def check_a_visit_recorded_twice_tells_once(make: MakeStore) -> None:
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        done = _telling(completion(lease_of(store, MAP, T0 + 10.0), T0 + 10.0), ONE)
        assert store.complete([done]) == [True]
        store.begin_erasure(MAP, "", T0 + 11.0)
        assert store.complete([done]) == [True]
        assert _waiting(store) == {}


def check_those_a_visit_told_of_come_by_themselves(make: MakeStore) -> None:
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        _tell(store, NEWS, T0 + 5.0, TWO)
        done = _tell(store, MAP, T0 + 10.0, THREE, ONE, TWO)
        batch, memory = store.told_of([done.visit])
        whole, rows = store.batch()
        for name in batch.__dataclass_fields__:
            column = getattr(batch, name)
            wanted = getattr(whole, name) if name == "cost" else getattr(whole, name)[[2, 4]]
            assert np.array_equal(column, wanted, equal_nan=True), name
        assert np.array_equal(memory, rows[[2, 4]], equal_nan=True)
        store.say(resource_scope(ONE), Settings(paused=True), T0 + 11.0)
        assert store.told_of([done.visit, done.visit])[0].id.tolist() == [5]
        visited(store, THREE, T0 + 12.0)
        assert len(store.told_of([done.visit])[0]) == len(store.told_of([])[0]) == 0


def check_signals_go_with_their_source_and_with_whom_they_tell_of(make: MakeStore) -> None:
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        _tell(store, MAP, T0 + 10.0, ONE)
        _tell(store, NEWS, T0 + 20.0, TWO, THREE)
        store.remove([1, 4])
        assert _waiting(store) == {5: (T0 + 20.0, 2)}
        assert list(store.signals(3)) == list(store.signals(4)) == []
        store.begin_erasure(NEWS, "asked for", T0 + 30.0)  # what its visits said goes
        assert _waiting(store) == {}
        assert list(store.signals(5)) == []


def check_what_teaches_says_whether_it_was_told_of(make: MakeStore) -> None:
    with store_with(make, *EVERY) as store:
        _all_visited(store)
        _tell(store, MAP, T0 + 10.0, ONE, TWO)
        _look(store, ONE, T0 + 20.0, outcome=Outcome.NET_ERROR)
        _look(store, ONE, T0 + 30.0)
        _look(store, ONE, T0 + 40.0)
        _look(store, TWO, T0 + 50.0)
        _tell(store, NEWS, T0 + 60.0, ONE)
        _look(store, ONE, T0 + 70.0)
        (seen,) = store.told()
        heard, _ = store.heard(0, 99)
        later, _ = store.heard(1, 99)
        lately = store.lately(np.array([3, 4]), 99)
        wanted = {
            (3, T0 + 30.0): (T0 + 10.0, 1),
            (3, T0 + 40.0): (nan, 0),
            (4, T0 + 50.0): (T0 + 10.0, 1),
            (3, T0 + 70.0): (T0 + 60.0, 2),
        }
        for some in (seen, heard, later, lately):
            columns = (some.id, some.at, some.told_at, some.told_by)
            rows = zip(*(column.tolist() for column in columns), strict=True)
            told = {(key, at): (told_at, by) for key, at, told_at, by in rows if key in (3, 4)}
            assert same(sorted(told.items()), sorted(wanted.items()))


def _all_visited(store: Store) -> None:
    for url in EVERY:
        visited(store, url, T0, gate_s=0.0)


def _telling(done: Completion, *urls: str, event_at: float = nan) -> Completion:
    tells = tuple(Telling(url, event_at) for url in urls)
    return replace(done, visit=replace(done.visit, changed=Changed.YES), tells=tells)


def _tell(store: Store, source: str, at: float, *urls: str, event_at: float = nan) -> Completion:
    done = _telling(completion(lease_of(store, source, at), at, gate_s=0.0), *urls, event_at=event_at)
    assert store.complete([done]) == [True]
    return done


def _look(store: Store, url: str, at: float, *, outcome: Outcome = Outcome.OK) -> None:
    done = completion(lease_of(store, url, at), at, gate_s=0.0, outcome=outcome)
    assert store.complete([replace(done, visit=replace(done.visit, changed=Changed.NO))]) == [True]


def _waiting(store: Store) -> dict[int, tuple[float, int]]:
    """Who waits with a signal: by the columns, and each by itself."""
    batch, _ = store.batch()
    told = np.flatnonzero(batch.told_by)
    assert np.array_equal(np.isfinite(batch.told_at), batch.told_by > 0)
    waiting = {int(batch.id[i]): (float(batch.told_at[i]), int(batch.told_by[i])) for i in told}
    each = ((resource.id, standing.told_at, standing.told_by) for resource, standing, _ in store.resources())
    assert waiting == {key: (at, by) for key, at, by in each if by}
    return waiting


TELLING = [
    check_those_told_of_wait_with_the_first_signal,
    check_a_signal_is_heeded_by_the_next_informative_visit,
    check_only_what_is_watched_and_known_is_told_of,
    check_what_was_seen_already_is_no_news,
    check_whoever_was_visited_later_is_not_told_of,
    check_a_visit_recorded_twice_tells_once,
    check_those_a_visit_told_of_come_by_themselves,
    check_signals_go_with_their_source_and_with_whom_they_tell_of,
    check_what_teaches_says_whether_it_was_told_of,
]
