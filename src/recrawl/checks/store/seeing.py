"""What first visits showed, what was made of it, and who links to whom."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from recrawl.checks.store.adopting import adoption
from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    completion,
    found,
    lease_of,
    new,
    same,
    store_with,
    visited,
)
from recrawl.contracts import Store
from recrawl.model import FEATURES, SIGHT_FORMAT, Changed, Completion, Floats, Hunch, Ints, Sight, Telling

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
VALUES = (nan, 0.5, *map(float, range(2, len(FEATURES))))
HUNCH = Hunch(per_day=0.25, gap_s=259_200.0)


def check_a_visit_leaves_a_sight_and_what_was_made_of_it(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        lease = _saw(store, B, T0 + 5.0, model="first", hunch=HUNCH).lease
        assert same((lease.standing.sight_at, lease.standing.hunch_per_day), (nan, nan))
        standing, _ = store.standing(2)
        assert (standing.sight_at, standing.hunch_per_day, standing.hunch_gap_s) == (
            T0 + 5.0,
            0.25,
            259_200.0,
        )
        assert same(store.standing(1)[0].hunch_per_day, nan)
        assert same(store.sight(2), Sight(resource_id=2, at=T0 + 5.0, values=VALUES))
        assert store.sight(1) is None
        assert list(store.hunches_of(2)) == [("first", T0 + 5.0, HUNCH)]
        batch, _ = store.batch()
        assert same(batch.hunch_per_day.tolist(), [nan, 0.25])
        assert same(batch.hunch_gap_s.tolist(), [nan, 259_200.0])
        ((ids, rows),) = store.sights()
        assert ids.tolist() == [2]
        assert same(rows.tolist(), [list(VALUES)])


def check_a_sight_without_a_hunch_is_kept(make: MakeStore) -> None:
    with store_with(make, A) as store:
        _saw(store, A, T0)
        standing, _ = store.standing(1)
        assert same((standing.sight_at, standing.hunch_per_day, standing.hunch_gap_s), (T0, nan, nan))
        assert list(store.hunches_of(1)) == []


def check_later_visits_leave_sight_and_hunch_alone(make: MakeStore) -> None:
    """Whatever standing they carry: another worker may have had a new hunch meanwhile."""
    with store_with(make, A) as store:
        _saw(store, A, T0, model="first", hunch=HUNCH)
        lease = lease_of(store, A, T0 + 60.0)
        store.hunches("second", *_columns([1], [7.0]), T0 + 61.0)
        done = completion(lease, T0 + 62.0)
        assert done.standing.hunch_per_day == 0.25
        assert store.complete([done]) == [True]
        standing, _ = store.standing(1)
        assert (standing.sight_at, standing.hunch_per_day) == (T0, 7.0)
        assert [name for name, _, _ in store.hunches_of(1)] == ["second", "first"]


def check_what_teaches_comes_with_the_present_hunch(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        _saw(store, A, T0, model="first", hunch=HUNCH)
        visited(store, B, T0)
        for url in (A, B):
            done = completion(lease_of(store, url, T0 + 60.0), T0 + 60.0)
            store.complete([replace(done, visit=replace(done.visit, changed=Changed.NO))])
        for seen in (*store.told(), store.lately(np.array([1, 2]), 3), store.heard(0, 9)[0]):
            order = np.argsort(seen.id)
            assert same(seen.hunch_per_day[order].tolist(), [0.25, nan])
            assert same(seen.hunch_gap_s[order].tolist(), [259_200.0, nan])


def check_only_sights_that_can_be_compared_are_given(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        old = Sight(resource_id=1, at=T0, format=SIGHT_FORMAT - 1, values=(1.0, 2.0))
        store.complete([replace(completion(lease_of(store, A, T0), T0), sight=old)])
        assert list(store.sights()) == []
        assert same(store.standing(1)[0].sight_at, nan)  # so that one is taken anew
        assert same(store.sighted_at(np.array([2, 1, 9])).tolist(), [nan, nan, nan])
        _saw(store, A, T0 + 60.0)
        assert same(store.sighted_at(np.array([2, 1, 9])).tolist(), [nan, T0 + 60.0, nan])
        ((ids, _),) = store.sights()
        assert ids.tolist() == [1]
        assert store.standing(1)[0].sight_at == T0 + 60.0


def check_hunches_of_the_last_models_are_kept(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        for day, model in enumerate("abcde"):
            store.hunches(model, *_columns([1, 2, 77], [1.0 + day, nan, 3.0]), T0 + day)
        assert [(name, hunch.per_day) for name, _, hunch in store.hunches_of(1)] == [
            ("e", 5.0),
            ("d", 4.0),
            ("c", 3.0),
        ]
        assert list(store.hunches_of(2)) == []  # what is not finite is none
        assert list(store.hunches_of(77)) == []  # of what is not watched nothing is kept
        assert same(store.batch()[0].hunch_per_day.tolist(), [5.0, nan])


def check_what_is_removed_or_erased_leaves_no_sight(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        for url in (A, B, C):
            _saw(store, url, T0, model="first", hunch=HUNCH, links=(A, B, C))
        store.remove([1])
        store.begin_erasure(B, "asked", T0 + 60.0)
        ((ids, _),) = store.sights()
        assert ids.tolist() == [3]
        assert store.sight(1) is store.sight(2) is None
        assert list(store.hunches_of(1)) == list(store.hunches_of(2)) == []
        standing, _ = store.standing(2)
        assert same((standing.sight_at, standing.hunch_per_day, standing.hunch_gap_s), (nan, nan, nan))
        assert [ids.tolist() for ids in store.links()] == [[3], [2]]


def check_a_past_that_is_adopted_may_have_a_sight(make: MakeStore) -> None:
    with store_with(make, A) as store:
        sight = Sight(resource_id=1, at=T0 - 9.0, values=VALUES)
        past = replace(adoption(store, A, T0 - 9.0, T0 - 5.0), sight=sight)
        assert store.adopt([past], now=T0) == [True]
        assert same(store.sight(1), sight)
        assert store.standing(1)[0].sight_at == T0 - 9.0


def check_links_are_kept_once(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        assert [ids.tolist() for ids in store.links()] == [[], []]
        _saw(store, A, T0, links=(C, B, A, C, "https://unwatched.example/"))
        store.connect(np.array([2, 1, 99]), np.array([3, 2, 1]))
        assert [ids.tolist() for ids in store.links()] == [[1, 1, 2], [2, 3, 3]]
        store.connect(np.array([3]), np.array([3]))  # oneself is not another
        assert store.in_links(np.array([3, 1, 2, 77])).tolist() == [2, 0, 1, 0]
        assert store.in_links(np.empty(0, dtype=np.int64)).tolist() == []


def check_the_shortest_way_to_a_resource_is_its_depth(make: MakeStore) -> None:
    with store_with(make, A) as store:
        assert found(store, A).depth is None
        store.add([replace(new(A), depth=4), replace(new(B), depth=2)], T0)
        store.add([replace(new(A), depth=3), replace(new(B), depth=5), new(A)], T0)
        assert (found(store, A).depth, found(store, B).depth) == (3, 2)
        assert lease_of(store, B, T0).resource.depth == 2


def check_what_sitemaps_say_is_known_until_somebody_looks(make: MakeStore) -> None:
    with store_with(make, A) as store:
        assert _hints(store, A) == ("", None)
        store.add(
            [replace(new(A), lastmod_at=T0), replace(new(B), changefreq="daily", lastmod_at=T0 - 9.0)], T0
        )
        store.add([replace(new(A), changefreq="never"), new(B)], T0)
        assert (_hints(store, A), _hints(store, B)) == (("never", T0), ("daily", T0 - 9.0))
        assert lease_of(store, B, T0).resource.changefreq == "daily"
        done = completion(lease_of(store, A, T0), T0)
        store.complete([replace(done, tells=(Telling(B, T0 - 5.0), Telling(B), Telling(C, T0)))])
        assert _hints(store, B) == ("daily", T0 - 5.0)
        _saw(store, A, T0 + 60.0)
        store.add([replace(new(A), changefreq="hourly", lastmod_at=T0 + 50.0)], T0 + 70.0)
        assert _hints(store, A) == ("never", T0)


def _hints(store: Store, url: str) -> tuple[str, float | None]:
    known = found(store, url)
    return known.changefreq, known.lastmod_at


def _saw(
    store: Store,
    url: str,
    at: float,
    *,
    hunch: Hunch | None = None,
    model: str = "",
    links: tuple[str, ...] = (),
) -> Completion:
    done = completion(lease_of(store, url, at), at)
    sight = Sight(resource_id=done.visit.resource_id, at=at, values=VALUES)
    done = replace(done, sight=sight, hunch=hunch, model=model, links=links)
    assert store.complete([done]) == [True], f"a visit to {url} is recorded"
    return done


def _columns(ids: list[int], per_day: list[float]) -> tuple[Ints, Floats, Floats]:
    rates = np.array(per_day, dtype=np.float64)
    return np.array(ids, dtype=np.int64), rates, 86_400.0 / rates


SEEING = [
    check_a_visit_leaves_a_sight_and_what_was_made_of_it,
    check_a_sight_without_a_hunch_is_kept,
    check_later_visits_leave_sight_and_hunch_alone,
    check_what_teaches_comes_with_the_present_hunch,
    check_only_sights_that_can_be_compared_are_given,
    check_hunches_of_the_last_models_are_kept,
    check_what_is_removed_or_erased_leaves_no_sight,
    check_a_past_that_is_adopted_may_have_a_sight,
    check_links_are_kept_once,
    check_the_shortest_way_to_a_resource_is_its_depth,
    check_what_sitemaps_say_is_known_until_somebody_looks,
]
