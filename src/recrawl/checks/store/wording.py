"""The words of versions, and which changes count."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from recrawl.checks.store.adopting import adoption
from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    completion,
    effective,
    found,
    lease_of,
    new,
    resource_scope,
    same,
    store_with,
    tag_scope,
    version,
)
from recrawl.contracts import Store
from recrawl.model import GLOBAL, Bag, Changed, Changes, Replacement, Settings, packed

A, B = "http://a.example/", "http://b.example/"
ONLY = Settings(changes=Changes.SIGNIFICANT)


def check_the_words_of_versions_come_back_as_columns(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        assert list(store.bags()) == []
        _worded(store, B, T0, {7: 2, 3: 70_000, 4_294_967_295: 1})
        _worded(store, A, T0 + 10.0, {})
        _worded(store, B, T0 + 20.0, {5: 1})
        ((ids, at, bags),) = store.bags()
        assert ids.tolist() == [1, 2, 2]
        assert at.tolist() == [T0 + 10.0, T0, T0 + 20.0]
        assert bags.bounds.tolist() == [0, 0, 3, 4]
        assert bags.word.tolist() == [3, 7, 4_294_967_295, 5]
        assert bags.count.tolist() == [65_535.0, 2.0, 1.0, 1.0]
        ((ids, at, bags),) = store.bags(np.array([2, 77, 2]))
        assert (ids.tolist(), bags.word.tolist()) == ([2, 2], [3, 7, 4_294_967_295, 5])
        assert list(store.bags(np.array([77]))) == []


def check_a_lease_brings_what_later_versions_are_held_against(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        assert _worded(store, A, T0, {1: 1}) is None
        _worded(store, A, T0 + 10.0, {1: 2}, base=False)
        first = Bag(at=T0, packed=packed({1: 1}), detector="text")
        assert _worded(store, A, T0 + 20.0, {9: 2}) == first
        assert lease_of(store, A, T0 + 30.0).base == Bag(at=T0 + 20.0, packed=packed({9: 2}), detector="text")
        assert store.base(1, T0 + 20.0) == first
        assert store.base(1, T0) is store.base(2) is None


def check_the_newest_words_are_kept_and_some_of_the_older_ones(make: MakeStore) -> None:
    with store_with(make, A) as store:
        past = adoption(store, A, *(T0 - 500.0 + i for i in range(200)))
        bags = [Bag(at=one.at, packed=packed({1: 1}), base=one.at == T0 - 480.0) for one in past.visits]
        assert store.adopt([replace(past, bags=tuple(bags))], now=T0) == [True]
        ((_, at, _),) = store.bags()
        places = [round(one - (T0 - 500.0)) for one in at.tolist()]
        assert len(places) == 60
        assert places[-30:] == list(range(170, 200))
        assert places[0] == 0
        assert 20 in places, "what the next version is held against stays"
        assert max(np.diff(places)) <= 16, "and the others lie evenly"


def check_words_go_with_their_version(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        for url in (A, B):
            for i in range(3):
                _worded(store, url, T0 + 10.0 * i, {i: 1})
        kept = {one.at: one for one in store.versions(1)}
        moved = [("a.warc.gz", 34, "b.warc.gz", 0, 5)]
        made = Replacement(old=["a.warc.gz"], new={"b.warc.gz": 9}, moved=moved, dropped=[kept[T0 + 10.0]])
        assert store.replace(made)
        assert _times(store, 1) == [T0, T0 + 20.0]
        store.move(2, "http://c.example/", "c.example", T0 + 50.0)
        assert _times(store, 2) == [T0, T0 + 10.0, T0 + 20.0]
        late = completion(lease_of(store, A, T0 + 55.0), T0 + 61.0, versions=(version(T0 + 61.0),))
        store.begin_erasure(A, "asked", T0 + 60.0)
        assert store.complete([replace(late, bags=(Bag(at=T0 + 61.0, packed=packed({1: 1})),))]) == [False]
        assert _times(store, 1) == []
        store.remove([2])
        assert list(store.bags()) == []


def check_words_can_be_read_anew(make: MakeStore) -> None:
    with store_with(make, A) as store:
        for i in range(3):
            _worded(store, A, T0 + 10.0 * i, {i: 1})
        anew = [Bag(at=T0 + after, packed=packed({8: 1})) for after in (0.0, 5.0, 10.0)]
        assert store.rebag(1, anew, T0 + 10.0) == 2, "of what is no version nothing is kept"
        ((_, at, bags),) = store.bags()
        assert (at.tolist(), bags.word.tolist()) == ([T0, T0 + 10.0, T0 + 20.0], [8, 8, 2])
        store.begin_erasure(A, "asked", T0 + 60.0)
        assert store.rebag(1, anew, inf) == 0, "nor of what is being erased"
        assert store.rebag(77, anew, inf) == 0
        assert list(store.bags()) == []


def check_what_counts_is_said_like_all_else(make: MakeStore) -> None:
    with store_with(make, A) as store:
        assert effective(store, A).changes is Changes.ANY
        store.add([new(B, "t", settings=ONLY)], T0)
        assert found(store, B).settings == ONLY
        assert effective(store, B).changes is Changes.SIGNIFICANT
        store.say(resource_scope(B), Settings(), T0, forget=["changes"])
        assert effective(store, B).changes is Changes.ANY
        store.say(GLOBAL, ONLY, T0)
        store.say(tag_scope("t"), Settings(changes=Changes.ANY), T0)
        assert [effective(store, url).changes for url in (A, B)] == [Changes.SIGNIFICANT, Changes.ANY]
        assert dict(store.said())[GLOBAL] == ONLY
        assert lease_of(store, A, T0).resource.effective.changes is Changes.SIGNIFICANT


def check_only_what_counts_is_told(make: MakeStore) -> None:
    """All visits stay as they are; another word about what counts, and others are told of."""
    with store_with(make, A, B) as store:
        for i, significant in enumerate((None, None, True, False)):
            mark = store.heard(0, 99)[1] if i == 3 else 0
            for url in (A, B):
                done = completion(lease_of(store, url, T0 + 10.0 * i), T0 + 10.0 * i)
                visit = replace(done.visit, changed=Changed.YES, significant=significant)
                assert store.complete([replace(done, visit=visit)]) == [True]
        for said, counted in ((ONLY, [1, 1, 0]), (Settings(changes=Changes.ANY), [1, 1, 1])):
            store.say(resource_scope(A), said, T0)
            (told,) = store.told()
            heard, _ = store.heard(0, 99)
            lately = store.lately(np.array([1, 2]), 9)
            for seen in (told, heard, lately):
                of_a = seen.pick(seen.id == 1)
                assert of_a.changed[np.argsort(of_a.at)].tolist() == counted
                assert seen.changed[seen.id == 2].tolist() == [1, 1, 1]
            assert store.heard(mark, 99)[0].changed.tolist() == [counted[-1], 1]
            (looked,) = store.looked(T0 + 1.0, T0 + 99.0)
            assert looked.changed[looked.id == 1].tolist() == counted
            assert store.tally(T0 + 5.0, T0 + 35.0, 99.0).tolist() == [[6, 3 + sum(counted), 0, 0]]
            assert [visit.changed for visit in store.visits(1)] == [Changed.YES] * 4


def check_changes_can_be_counted_anew(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        done = completion(lease_of(store, A, T0), T0)
        store.complete([replace(done, standing=replace(done.standing, n_changes=5, bits=31))])
        bits = np.array([1 << 63 | 1, 3], dtype=np.uint64)
        ids, since_at, n_changes = np.array([1, 2]), np.array([T0, T0]), np.array([2, 2])
        assert store.recount(ids, since_at, n_changes, bits) == 1, "not of those visited meanwhile"
        standing, _ = store.standing(1)
        assert (standing.n_changes, standing.bits) == (2, 1 << 63 | 1)
        batch, _ = store.batch()
        assert (batch.n_changes.tolist(), batch.bits.tolist()) == ([2, 0], [1 << 63 | 1, 0])
        assert same(store.standing(2)[0].n_changes, 0)


def _worded(store: Store, url: str, at: float, words: dict[int, int], *, base: bool = True) -> Bag | None:
    """A visit that brings a version with these words; what it was to be held against."""
    lease = lease_of(store, url, at)
    bag = Bag(at=at, packed=packed(words), detector="text", base=base)
    done = replace(completion(lease, at, versions=(version(at),)), bags=(bag,))
    assert store.complete([done]) == [True], f"a visit to {url} is recorded"
    return lease.base


def _times(store: Store, resource_id: int) -> list[float]:
    return [one for _, at, _ in store.bags(np.array([resource_id])) for one in at.tolist()]


WORDING = [
    check_the_words_of_versions_come_back_as_columns,
    check_a_lease_brings_what_later_versions_are_held_against,
    check_the_newest_words_are_kept_and_some_of_the_older_ones,
    check_words_go_with_their_version,
    check_words_can_be_read_anew,
    check_what_counts_is_said_like_all_else,
    check_only_what_counts_is_told,
    check_changes_can_be_counted_anew,
]
