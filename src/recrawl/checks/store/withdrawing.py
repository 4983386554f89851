"""What is taken out again: files written anew, erasures."""

from __future__ import annotations

from dataclasses import replace

from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    completion,
    found,
    lease_of,
    store_with,
    version,
)
from recrawl.contracts import Store
from recrawl.model import Replacement, Scope, ScopeKind, Settings, Version

A, B = "http://a.example/", "http://b.example/"
OLD, NEW = "old.warc.gz", "new.warc.gz"


def _kept(store: Store, url: str, *offsets: int, flag: str = "") -> list[Version]:
    """A visit for each, with a version at this offset of the old file."""
    for offset in offsets:
        at = T0 + offset
        lease = lease_of(store, url, at)
        placed = replace(version(at, flag=flag), file=OLD, offset=offset, length=5, n_bytes=1_000)
        done = completion(lease, at, gate_s=0.0, versions=(placed,))
        visit = replace(done.visit, evidence="the word was secret", moved_to="http://secret.example/")
        standing = replace(done.standing, etag='"secret"', last_modified="yesterday")
        assert store.complete([replace(done, visit=visit, standing=standing)], {OLD: 500}) == [True]
    return list(store.versions(found(store, url).id))


def a_replacement_moves_payloads_and_dooms_the_old_file(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        first, second, third = _kept(store, A, 10, 20, 30)
        (other,) = _kept(store, B, 10)
        store.doom([NEW])
        moved = [(OLD, 10, NEW, 110, 11), (OLD, 30, NEW, 130, 13)]
        made = Replacement(old=[OLD], new={NEW: 200}, moved=moved, dropped=[second])
        assert store.replace(made)
        assert [(v.seq, v.file, v.offset, v.length) for v in store.versions(first.resource_id)] == [
            (1, NEW, 110, 11),
            (3, NEW, 130, 13),
        ]
        assert [(v.file, v.offset) for v in store.versions(other.resource_id)] == [(NEW, 110)]
        assert store.files() == {NEW: 200}
        assert store.doomed() == {OLD: ""}
        newest = store.standing(third.resource_id)[0].version
        assert newest is not None
        assert (newest.seq, newest.file, newest.offset) == (3, NEW, 130)
        assert store.holding([third.digest])[third.digest].file == NEW
        assert store.counts(T0)["versions"] == 3
        store.bury([OLD])
        assert store.doomed() == {}


def a_payload_is_handed_on_to_all_but_the_one_whose_contents_go(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        (mine,) = _kept(store, A, 10)
        (other,) = _kept(store, B, 10)
        handed_on = [(OLD, 10, NEW, 110, 11)]
        made = Replacement(old=(), new={NEW: 200}, handed_on=handed_on, owner_id=mine.resource_id)
        assert store.replace(made)
        assert list(store.placed(OLD)) == [mine]
        assert [(v.resource_id, v.offset) for v in store.placed(NEW)] == [(other.resource_id, 110)]


def a_replacement_that_would_lose_a_version_is_not_made(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        (mine,) = _kept(store, A, 10)
        _kept(store, B, 20)  # recorded after the new file was written
        store.doom([NEW])
        made = Replacement(old=[OLD], new={NEW: 200}, moved=[(OLD, 15, NEW, 0, 1)], dropped=[mine])
        assert not store.replace(made)
        assert [v.file for v in store.versions()] == [OLD, OLD]
        assert store.files() == {OLD: 500}
        assert store.doomed() == {NEW: ""}


def a_file_that_was_carried_away_is_doomed_with_its_address(make: MakeStore) -> None:
    with store_with(make, A) as store:
        _kept(store, A, 10)
        store.carry(OLD, "file:///shelf/old.warc.gz")
        assert store.replace(Replacement(old=[OLD], new={NEW: 9}, moved=[(OLD, 10, NEW, 0, 1)]))
        assert store.doomed() == {OLD: "file:///shelf/old.warc.gz"}
        assert store.carried() == {}


def versions_go_on_counting_after_some_went(make: MakeStore) -> None:
    with store_with(make, A) as store:
        _, second, _ = _kept(store, A, 10, 20, 30)
        assert list(store.crowded()) == [second.resource_id]
        moved = [(OLD, 10, NEW, 10, 5), (OLD, 30, NEW, 30, 5)]
        assert store.replace(Replacement(old=[OLD], new={NEW: 99}, moved=moved, dropped=[second]))
        assert list(store.crowded()) == []
        assert [v.seq for v in _kept(store, A, 40)] == [1, 3, 4]


def payloads_are_found_by_their_file(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        _kept(store, A, 20, 30)
        _kept(store, B, 20)
        assert [v.offset for v in store.placed(OLD)] == [20, 20, 30]
        assert [v.resource_id for v in store.placed(OLD, 20)] == [found(store, A).id, found(store, B).id]
        assert list(store.placed(NEW)) == []


def an_erasure_leaves_tombstones_and_nothing_of_the_content(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        _kept(store, A, 10, 20)
        (other,) = _kept(store, B, 30)
        a = found(store, A).id
        store.begin_erasure(A, "asked for", T0 + 50)
        (begun,) = store.erasures(A)
        assert (begun.done, begun.why, begun.at) == (False, "asked for", T0 + 50)
        standing, _ = store.standing(a)
        assert (standing.etag, standing.last_modified, standing.version) == (None, None, None)
        assert standing.since_at == T0 + 20
        assert {(v.evidence, v.moved_to) for v in store.visits(a)} == {("", None)}
        store.end_erasure(A, n_records=3, n_bytes=40, shared=[B], done=False)
        assert not store.erasures(A)[0].done
        store.end_erasure(A, n_records=1, n_bytes=4, shared=[B])
        assert [(v.seq, v.at, v.flag, v.digest, v.file, v.n_bytes) for v in store.versions(a)] == [
            (1, T0 + 10, "erased", "", "", 0),
            (2, T0 + 20, "erased", "", "", 0),
        ]
        (done,) = store.erasures()
        assert (done.done, done.n_versions, done.n_records, done.n_bytes) == (True, 2, 4, 44)
        assert done.shared == (B,)
        assert list(store.versions(other.resource_id)) == [other]
        assert store.counts(T0)["versions"] == 1
        assert len(list(store.visits(a))) == 2
        store.scrub()
        assert len(list(store.versions())) == 3


def a_visit_claimed_before_the_erasure_is_not_recorded(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        a, b = lease_of(store, A, T0), lease_of(store, B, T0)
        store.begin_erasure(A, "", T0 + 5)
        assert store.wanted([a, b]) == [False, True]
        done = [completion(a, T0 + 6, versions=(version(T0),)), completion(b, T0 + 6)]
        assert store.complete(done) == [False, True]
        assert list(store.visits(a.resource.id)) == []
        later = lease_of(store, A, T0 + 9)  # its host was let go, and whoever wants it may look again
        assert store.wanted([later]) == [True]
        assert store.complete([completion(later, T0 + 10, versions=(version(T0 + 10),))]) == [True]
        newest = store.standing(a.resource.id)[0].version
        assert newest is not None
        assert newest.at == T0 + 10


def a_removed_resource_is_not_wanted_and_its_erasure_stays(make: MakeStore) -> None:
    with store_with(make, A) as store:
        lease = lease_of(store, A, T0)
        store.begin_erasure(A, "why", T0 + 1)
        store.end_erasure(A, n_records=0, n_bytes=0)
        store.remove([lease.resource.id])
        assert store.wanted([lease]) == [False]
        assert [erasure.url for erasure in store.erasures()] == [A]
        store.say(Scope(ScopeKind.GLOBAL), Settings(weight=2.0), T0)
        store.begin_erasure(A, "again", T0 + 9)
        assert [(e.why, e.done) for e in store.erasures(A)] == [("again", False)]


WITHDRAWING = [
    a_replacement_moves_payloads_and_dooms_the_old_file,
    a_payload_is_handed_on_to_all_but_the_one_whose_contents_go,
    a_replacement_that_would_lose_a_version_is_not_made,
    a_file_that_was_carried_away_is_doomed_with_its_address,
    versions_go_on_counting_after_some_went,
    payloads_are_found_by_their_file,
    an_erasure_leaves_tombstones_and_nothing_of_the_content,
    a_visit_claimed_before_the_erasure_is_not_recorded,
    a_removed_resource_is_not_wanted_and_its_erasure_stays,
]
