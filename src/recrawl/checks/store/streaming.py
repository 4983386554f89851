"""What people ask of all resources together: what changed, what failed, what comes, how hosts stand."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    completion,
    found,
    lease_of,
    new,
    plans,
    resource_scope,
    same,
    store_with,
    tag_scope,
    visited,
)
from recrawl.contracts import Store
from recrawl.model import Changed, Changes, Kind, Outcome, Place, Settings, Sought, Visit, Which

A, B, C = "http://a.example/1", "http://a.example/2", "http://b.example/"


def check_changes_come_newest_first_page_by_page(make: MakeStore) -> None:
    """Whatever the pages' length, each once; also those of one moment."""
    with store_with(make, A, B, C) as store:
        for turn in range(4):
            for url in (A, C) if turn % 2 else (B, C):
                _look(store, url, T0 + 100.0 * turn)
        _look(store, A, T0 + 1_000.0, changed=Changed.NO)
        _look(store, C, T0 + 1_000.0, changed=Changed.UNKNOWN, outcome=Outcome.NET_ERROR)
        whole, end = store.stream(Sought(), limit=99, reach=99)
        assert end is None
        assert [(visit.at, visit.resource_id) for visit in whole] == [
            (T0 + 100.0 * turn, key) for turn in (3, 2, 1, 0) for key in ((3, 1) if turn % 2 else (3, 2))
        ]
        for limit in (1, 2, 3, 8):
            assert _pages(store, Sought(), limit=limit, reach=99) == whole
        for reach in (1, 3):  # a page may hold less, but none is lost
            assert _pages(store, Sought(), limit=2, reach=reach) == whole
        store.remove([3])
        assert {visit.resource_id for visit in store.stream(Sought(), limit=99, reach=99)[0]} == {1, 2}


def check_the_stream_can_be_narrowed(make: MakeStore) -> None:
    with store_with(make, A, C) as store:
        store.add([new(B, "news", settings=Settings(kind=Kind.FEED))], T0)
        for turn, url in enumerate((A, B, C)):
            _look(store, url, T0 + 10.0 * turn)

        def urls(**said: object) -> list[int]:
            visits, _ = store.stream(Sought(**said), limit=9, reach=9)  # type: ignore[arg-type]
            return [visit.resource_id for visit in visits]

        a, b, c = (found(store, url).id for url in (A, B, C))
        assert urls() == [c, b, a]
        assert urls(tag="news") == [b]
        assert urls(tag="new") == urls(host="elsewhere.example") == []
        assert urls(host="a.example") == [b, a]
        assert urls(text="/2") == [b]
        assert urls(text="A.Example/2") == [b]
        assert urls(text="%") == []
        assert urls(kind=Kind.FEED) == [b]
        assert urls(from_at=T0 + 10.0) == [c, b]
        assert urls(until_at=T0 + 10.0) == [a]
        # only so many are looked through, whoever is sought
        visits, place = store.stream(Sought(tag="news"), limit=9, reach=1)
        assert (list(visits), place) == ([], (T0 + 20.0, c, f"{c}@{T0 + 20.0}"))


def check_slight_changes_are_told_apart(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        for turn, significant in enumerate((None, True, False)):
            _look(store, A, T0 + 10.0 * turn, significant=significant)
            _look(store, B, T0 + 10.0 * turn, significant=significant)
        store.say(resource_scope(B), Settings(changes=Changes.SIGNIFICANT), T0)

        def n(which: Which) -> list[int]:
            visits, _ = store.stream(Sought(which=which), limit=9, reach=9)
            return [sum(visit.resource_id == key for visit in visits) for key in (1, 2)]

        assert n(Which.COUNTING) == [3, 2]
        assert n(Which.SIGNIFICANT) == [2, 2]
        assert n(Which.ALL) == [3, 3]
        assert n(Which.FAILED) == [0, 0]
        changers = store.most_changed(T0, T0 + 99.0, 9)
        assert [(one.resource_id, one.n_changes, one.n_visits) for one in changers] == [(1, 3, 3), (2, 2, 3)]
        assert store.sums(T0, T0 + 99.0).n_changes == 5


def check_who_changed_most_in_a_time(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        for turn in range(5):
            _look(store, A, T0 + 10.0 * turn, changed=Changed.YES if turn else Changed.UNKNOWN)
            _look(store, B, T0 + 10.0 * turn, changed=Changed.NO)
        _look(store, C, T0 + 15.0)
        _look(store, C, T0 + 45.0)
        most = store.most_changed(T0 + 10.0, T0 + 46.0, 9)
        assert [(one.url, one.n_changes, one.n_visits, one.last_at) for one in most] == [
            (A, 4, 4, T0 + 40.0),
            (C, 2, 2, T0 + 45.0),
        ]
        assert [one.url for one in store.most_changed(T0 + 40.0, T0 + 46.0, 1)] == [C]  # of equals, the last
        assert list(store.most_changed(T0 + 46.0, T0 + 99.0, 9)) == []


def check_visits_of_a_time_are_added_up(make: MakeStore) -> None:
    with store_with(make, A, C) as store:
        _look(store, A, T0, n_bytes=5)
        _look(store, A, T0 + 10.0, changed=Changed.NO, n_bytes=70, second_bytes=6)
        _look(store, C, T0 + 10.0, changed=Changed.UNKNOWN, outcome=Outcome.NET_ERROR, n_bytes=900)
        sums = store.sums(T0, T0 + 10.0)
        assert (sums.n_visits, sums.n_changes, sums.n_failures, sums.n_bytes) == (1, 1, 0, 5)
        sums = store.sums(T0 + 1.0, T0 + 11.0)
        assert (sums.n_visits, sums.n_changes, sums.n_failures, sums.n_bytes) == (2, 0, 1, 976)
        assert sums.n_second == 1
        assert store.sums(T0 + 11.0, T0 + 99.0).n_bytes == 0


def check_failures_are_counted_by_host_and_by_how(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        _fail(store, A, T0, Outcome.HTTP_ERROR, 503)
        _fail(store, B, T0 + 5.0, Outcome.NET_ERROR, None)
        _fail(store, A, T0 + 10.0, Outcome.HTTP_ERROR, 503)
        _fail(store, A, T0 + 20.0, Outcome.HTTP_ERROR, 503)
        _fail(store, C, T0 + 25.0, Outcome.HTTP_ERROR, 503)
        _look(store, C, T0 + 30.0)
        told = [
            (one.host, one.outcome, one.status, one.n, one.last_at) for one in store.failures(T0, limit=9)
        ]
        assert told == [
            ("a.example", Outcome.HTTP_ERROR, 503, 3, T0 + 20.0),
            ("b.example", Outcome.HTTP_ERROR, 503, 1, T0 + 25.0),
            ("a.example", Outcome.NET_ERROR, None, 1, T0 + 5.0),
        ]
        assert [one.n for one in store.failures(T0 + 20.0, limit=9)] == [1, 1]
        assert [one.n for one in store.failures(T0, host="a.example", limit=9)] == [3, 1]
        assert len(store.failures(T0, limit=1)) == 1
        failed, end = store.stream(Sought(which=Which.FAILED, host="a.example"), limit=2, reach=9)
        assert [visit.at for visit in failed] == [T0 + 20.0, T0 + 10.0]
        rest, end = store.stream(Sought(which=Which.FAILED, host="a.example"), before=end, limit=9, reach=9)
        assert ([visit.at for visit in rest], end) == ([T0 + 5.0, T0], None)


def check_what_comes_next_is_told_in_order(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        for url in (A, B, C):
            visited(store, url, T0, gate_s=0.0)
        store.replan(plans({1: T0 + 50.0, 2: T0 + 20.0, 3: T0 + 90.0}))
        coming = store.coming(T0 + 20.0, T0 + 90.0, 9)
        assert [(one.resource_id, one.url, one.host, one.at) for one in coming] == [
            (2, B, "a.example", T0 + 20.0),
            (1, A, "a.example", T0 + 50.0),
        ]
        assert [one.url for one in store.coming(T0, T0 + 99.0, 1)] == [B]
        turns = store.in_turn(T0 + 90.0, 9)  # of each host one
        assert [(one.url, one.host, one.at) for one in turns] == [
            (B, "a.example", T0 + 20.0),
            (C, "b.example", T0 + 90.0),
        ]
        assert [one.url for one in store.in_turn(T0 + 89.0, 9)] == [B]
        assert [one.url for one in store.in_turn(T0 + 90.0, 1)] == [B]
        store.tag([2], ["still"], [], T0)
        store.say(tag_scope("still"), Settings(paused=True), T0)
        assert [one.url for one in store.coming(T0, T0 + 99.0, 9)] == [A, C]


def check_where_hosts_stand(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        (fresh, _) = store.host_standings(limit=9)
        assert (fresh.name, fresh.n_resources, fresh.n_planned) == ("a.example", 2, 2)
        assert (fresh.n_failures, fresh.due_at) == (0, T0)
        assert same((fresh.rest_s, fresh.lease_until_at), (nan, float("-inf")))
        done = completion(lease_of(store, C, T0 + 5.0), T0 + 6.0, gate_s=4.0, outcome=Outcome.NET_ERROR)
        assert store.complete([replace(done, n_host_failures=2)]) == [True]
        lease_of(store, A, T0 + 7.0)
        store.say(resource_scope(B), Settings(paused=True), T0 + 7.0)
        (a, b) = store.host_standings(limit=9)
        assert (a.lease_until_at > T0 + 7.0, a.n_resources, a.n_planned) == (True, 2, 1)
        assert (b.gate_at, b.rest_s, b.n_failures) == (T0 + 10.0, 4.0, 2)
        assert store.host_standing("b.example") == b
        assert store.host_standing("elsewhere.example") is None
        assert store.troubled(9) == ([b], 1)
        assert store.troubled(0) == ([], 1)
        assert [one.name for one in store.host_standings(limit=1)] == ["a.example"]
        assert [one.name for one in store.host_standings(after="a.example", limit=9)] == ["b.example"]
        assert [one.name for one in store.host_standings(text="B.ex", limit=9)] == ["b.example"]
        store.remove([3])
        assert store.troubled(9) == ([], 0)
        assert store.host_standing("b.example") is None


def _pages(store: Store, sought: Sought, *, limit: int, reach: int) -> list[Visit]:
    visits: list[Visit] = []
    place: Place | None = None
    while True:
        some, place = store.stream(sought, before=place, limit=limit, reach=reach)
        visits += some
        if place is None:
            return visits


def _look(
    store: Store,
    url: str,
    at: float,
    *,
    changed: Changed = Changed.YES,
    significant: bool | None = None,
    outcome: Outcome = Outcome.OK,
    n_bytes: int = 0,
    second_bytes: int | None = None,
) -> None:
    done = completion(lease_of(store, url, at), at, gate_s=0.0, outcome=outcome)
    visit = replace(
        done.visit, changed=changed, significant=significant, n_bytes=n_bytes, second_bytes=second_bytes
    )
    assert store.complete([replace(done, visit=visit)]) == [True]


def _fail(store: Store, url: str, at: float, outcome: Outcome, status: int | None) -> None:
    done = completion(lease_of(store, url, at), at, gate_s=0.0, outcome=outcome)
    assert store.complete([replace(done, visit=replace(done.visit, status=status))]) == [True]


STREAMING = [
    check_changes_come_newest_first_page_by_page,
    check_the_stream_can_be_narrowed,
    check_slight_changes_are_told_apart,
    check_who_changed_most_in_a_time,
    check_visits_of_a_time_are_added_up,
    check_failures_are_counted_by_host_and_by_how,
    check_what_comes_next_is_told_in_order,
    check_where_hosts_stand,
]
