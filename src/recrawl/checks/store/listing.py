"""Lists of all that is watched: as columns, by filter, and the newest visits of a few."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from recrawl.checks.store.samples import (
    SILENT,
    T0,
    MakeStore,
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
    visited,
)
from recrawl.contracts import Store
from recrawl.errors import BadSettingError
from recrawl.model import Changed, Changes, Kind, Looked, Outcome, Settings

A, B, C = "http://a.example/Zoo", "http://b.example/", "http://a.example/ant"
IDS = np.array([1, 2, 3])


def check_the_roll_is_everybody_in_columns(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        store.add([new(C, settings=Settings(kind=Kind.CSV, paused=True))], T0 + 5.0)
        done = completion(lease_of(store, A, T0), T0 + 1.0, versions=(version(T0 + 1.0),))
        changed = replace(done.standing, n_informative=4, n_changes=2)
        store.complete([replace(done, standing=changed)])
        gone = replace(version(T0 + 2.0), gone=True)
        done = completion(lease_of(store, B, T0 + 2.0), T0 + 2.0, versions=(gone,))
        store.complete([replace(done, standing=replace(done.standing, n_informative=1))])
        failed = completion(lease_of(store, B, T0 + 9.0), T0 + 9.0, outcome=Outcome.NET_ERROR)
        store.complete([failed])
        store.replan(replace(plans({1: T0 + 77.0}), per_day=np.array([0.5])))
        roll = store.roll()
        assert roll.id.tolist() == [1, 2, 3]
        assert roll.group.tolist() == [found(store, url).host_id for url in (A, B, C)]
        assert [list(Kind)[place] for place in roll.kind] == [Kind.AUTO, Kind.AUTO, Kind.CSV]
        assert roll.paused.tolist() == [False, False, True]
        assert roll.gone.tolist() == [False, True, False]
        assert roll.added_at.tolist() == [T0, T0, T0 + 5.0]
        assert same(roll.last_at.tolist(), [T0 + 1.0, T0 + 9.0, nan])
        assert same(roll.changed_at.tolist(), [T0 + 1.0, nan, nan])
        assert roll.due_at.tolist() == [store.standing(key)[0].due_at for key in (1, 2, 3)]
        assert same(roll.per_day.tolist(), [0.5, nan, nan])
        assert roll.n_informative.tolist() == [4, 1, 0]
        assert roll.n_failures.tolist() == [0, 1, 0]
        assert roll.id[np.argsort(roll.place)].tolist() == [1, 3, 2]
        store.remove([2])
        assert store.roll().id.tolist() == [1, 3]
        assert np.argsort(store.roll().place).tolist() == [0, 1]


def check_nobody_watched_is_an_empty_roll(make: MakeStore) -> None:
    with store_with(make) as store:
        assert len(store.roll()) == len(store.numbers()) == len(store.latest(IDS, 5)) == 0
        assert store.roll().due_at.dtype == np.float64
        assert (store.these([1]), dict(store.tags())) == ([], {})


def check_numbers_are_those_of_the_listed(make: MakeStore) -> None:
    with store_with(make) as store:
        urls = [f"http://{'ab'[i % 2]}.example/Page{i}" for i in range(30)]
        store.add([new(url, *(["third"] if i % 3 == 0 else [])) for i, url in enumerate(urls)], T0)
        for wanted in (
            {},
            {"tag": "third"},
            {"host": "b.example"},
            {"text": "pAGE2"},
            {"tag": "third", "host": "b.example", "text": "page"},
            {"host": "a.example", "text": "page1"},
            {"tag": "none"},
            {"text": "%"},
        ):
            listed = [resource.id for resource, _, _ in store.resources(**wanted)]  # type: ignore[arg-type]
            assert store.numbers(**wanted).tolist() == listed, wanted
        assert len(store.numbers(text="pAGE2")) == 11


def check_these_come_in_the_order_asked_for(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        visited(store, B, T0)
        those = store.these([3, 99, 2])
        assert [resource.url for resource, _, _ in those] == [C, B]
        assert store.known([C, "http://d.example/", A, C]) == {A, C}
        assert same(those[1][1:], store.standing(2))


def check_tags_are_counted(make: MakeStore) -> None:
    with store_with(make) as store:
        store.add([new(A, "news", "daily"), new(B, "news"), new(C)], T0)
        assert list(store.tags().items()) == [("daily", 1), ("news", 2)]
        store.tag([1], [], ["daily"], T0)
        store.remove([2])
        assert dict(store.tags()) == {"news": 1}


def check_the_newest_visits_of_each_in_the_order_of_time(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        for n in range(5):
            _judged(store, A, T0 + 10.0 * n, Changed.YES if n % 2 else Changed.NO)
        failed = completion(lease_of(store, B, T0 + 5.0), T0 + 5.0, outcome=Outcome.NET_ERROR)
        store.complete([failed])
        looked = store.latest(np.array([2, 1, 2, 99]), 3)
        assert looked.id.tolist() == [1, 1, 1, 2]
        assert looked.at.tolist() == [T0 + 20.0, T0 + 30.0, T0 + 40.0, T0 + 5.0]
        assert looked.changed.tolist() == [0, 1, 0, -1]
        assert looked.informative.tolist() == [True, True, True, False]
        assert _times(store.latest(IDS, 9, T0 + 5.0)) == [
            T0 + 10.0,
            T0 + 20.0,
            T0 + 30.0,
            T0 + 40.0,
            T0 + 5.0,
        ]
        assert _times(store.latest(IDS, 9, T0 + 41.0)) == []


def check_a_slight_change_is_none_where_only_significant_ones_count(make: MakeStore) -> None:
    with store_with(make, A) as store:
        _judged(store, A, T0, Changed.YES, significant=False)
        _judged(store, A, T0 + 10.0, Changed.YES, significant=True)
        assert store.latest(IDS, 9).changed.tolist() == [1, 1]
        store.say(resource_scope(A), Settings(changes=Changes.SIGNIFICANT), T0)
        assert store.latest(IDS, 9).changed.tolist() == [0, 1]


def check_the_same_is_said_of_each_of_several(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        store.say(host_scope("a.example"), Settings(weight=5.0), T0)
        store.say(resource_scope(A), Settings(max_gap_s=9_000.0, weight=2.0), T0)
        before = store.note("said")
        assert store.say_each([1, 2, 2, 99], Settings(paused=True), T0) == 2
        assert store.note("said") != before
        assert found(store, A).settings == Settings(paused=True, weight=2.0, max_gap_s=9_000.0)
        assert found(store, B).settings == Settings(paused=True)
        assert found(store, C).settings == SILENT
        assert store.batch()[0].id.tolist() == [3]
        assert store.say_each([1, 2], SILENT, T0, forget=["paused", "weight"]) == 2
        assert effective(store, A).weight == 5.0
        assert [scope.name for scope, _ in store.said()] == ["a.example", A]
        assert store.batch()[0].id.tolist() == [1, 2, 3]
        try:
            store.say_each([1, 2], Settings(weight=8.0), T0, forget=["wait"])
        except BadSettingError:
            assert effective(store, B).weight == 1.0
        else:
            raise AssertionError("a setting that does not exist cannot be forgotten")


def _judged(store: Store, url: str, at: float, changed: Changed, significant: bool | None = None) -> None:
    done = completion(lease_of(store, url, at), at)
    visit = replace(done.visit, changed=changed, significant=significant)
    assert store.complete([replace(done, visit=visit)]) == [True]


def _times(looked: Looked) -> list[float]:
    times: list[float] = looked.at.tolist()
    return times


LISTING = [
    check_the_roll_is_everybody_in_columns,
    check_nobody_watched_is_an_empty_roll,
    check_numbers_are_those_of_the_listed,
    check_these_come_in_the_order_asked_for,
    check_tags_are_counted,
    check_the_newest_visits_of_each_in_the_order_of_time,
    check_a_slight_change_is_none_where_only_significant_ones_count,
    check_the_same_is_said_of_each_of_several,
]
