"""What a visit leaves behind, and whose visits count."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from recrawl.checks.store.samples import (
    LEASE_S,
    T0,
    MakeStore,
    claimed,
    completion,
    lease_of,
    new,
    same,
    store_with,
    version,
    visited,
)
from recrawl.model import GLOBAL, Changed, Completion, Outcome, Plan, Settings, Standing, Visit

A, A2, B = "http://a.example/1", "http://a.example/2", "http://b.example/"


def check_a_visit_comes_back_as_it_was_recorded(make: MakeStore) -> None:
    with store_with(make, A) as store:
        lease = lease_of(store, A, T0)
        visit = Visit(
            fetch_id="one",
            resource_id=1,
            at=T0 + 0.123456789,
            since_at=T0 - 1.5,
            due_at=T0,
            outcome=Outcome.GONE,
            status=410,
            changed=Changed.YES,
            significant=False,
            magnitude=0.75,
            event_at=T0 - 0.5,
            duration_s=0.25,
            n_bytes=1 << 40,
            second_bytes=1 << 41,
            evidence="gone – not found",
        )
        standing = Standing(
            since_at=T0,
            last_at=T0 + 1.0,
            gap_s=50.0,
            due_at=T0 + 60.0,
            n_informative=3,
            n_changes=2,
            n_failures=1,
            bits=(1 << 64) - 2,
            etag='W/"x"',
            last_modified="Tue, 14 Nov 2023 22:13:20 GMT",
            memory=(1.5, nan, -2.0),
        )
        plan = Plan(
            resource_id=1,
            due_at=T0 + 60.0,
            gap_s=60.0,
            price=0.125,
            p_changed=0.25,
            per_day=3.0,
            rule="index:fresh",
            bound="max",
            planned_at=T0 + 2.0,
        )
        done = Completion(lease=lease, visit=visit, standing=standing, plan=plan, gate_at=T0 + 5.0)
        assert store.complete([done]) == [True]
        assert same(list(store.visits(1)), [visit])
        assert same(store.standing(1), (standing, plan))


def check_what_is_not_known_stays_not_known(make: MakeStore) -> None:
    with store_with(make, A) as store:
        lease = lease_of(store, A, T0)
        visit = Visit(fetch_id="bare", resource_id=1, at=T0)
        done = Completion(
            lease=lease,
            visit=visit,
            standing=Standing(memory=(nan, nan)),
            plan=Plan(resource_id=1, due_at=nan),
            gate_at=T0,
        )
        assert store.complete([done]) == [True]
        assert same(list(store.visits(1)), [visit])
        assert same(store.standing(1), (Standing(memory=(nan, nan)), Plan(resource_id=1, due_at=nan)))
        assert claimed(store, T0 + 1e9) == []  # what has no due time is in nobody's turn


def check_visits_come_newest_first_and_are_counted(make: MakeStore) -> None:
    with store_with(make, A, A2, B) as store:
        for i in range(5):
            lease = lease_of(store, A, T0 + 10.0 * i)
            outcome = Outcome.NET_ERROR if i == 3 else Outcome.OK
            done = completion(lease, T0 + 10.0 * i, outcome=outcome)
            changed = Changed.YES if i in (0, 2) else Changed.NO
            second = 7 if i in (1, 4) else None
            store.complete([replace(done, visit=replace(done.visit, changed=changed, second_bytes=second))])
        visited(store, B, T0 + 20.0)
        assert [visit.at - T0 for visit in store.visits(1)] == [40.0, 30.0, 20.0, 10.0, 0.0]
        assert [visit.at - T0 for visit in store.visits(1, limit=2)] == [40.0, 30.0]
        assert list(store.visits(2)) == list(store.visits(1, limit=0)) == []
        within = list(store.visits(1, from_at=T0 + 10.0, until_at=T0 + 40.0))
        assert [visit.at - T0 for visit in within] == [30.0, 20.0, 10.0]
        assert list(store.visits(1, 2, until_at=T0 + 40.0)) == within[:2]
        assert [store.n_visits_since(T0 + t) for t in (-1.0, 0.0, 20.0, 20.5, 41.0)] == [6, 6, 4, 2, 0]
        assert [store.n_second_since(T0 + t) for t in (-1.0, 10.0, 10.5, 41.0)] == [2, 2, 1, 0]
        counts = store.counts(T0 + 50.0)
        assert (counts["visits"], counts["changes"], counts["failures"]) == (6, 2, 1)
        assert counts["second_looks"] == 2
        assert (counts["resources"], counts["hosts"], counts["due"]) == (3, 2, 1)


def check_versions_are_numbered_and_flagged_ones_stand_aside(make: MakeStore) -> None:
    with store_with(make, A, B) as store:

        def done(url: str, at: float, *flags: str) -> None:
            versions = tuple(version(at, flag=flag) for flag in flags)
            assert store.complete([completion(lease_of(store, url, at), at, versions=versions)]) == [True]

        done(A, T0, "truncated")
        assert store.standing(1)[0].version is None
        done(A, T0 + 10.0, "", "noise")
        done(B, T0 + 15.0, "")
        done(A, T0 + 20.0)
        done(A, T0 + 30.0, "soft-404")
        expected = [
            replace(version(T0 + at, flag=flag), resource_id=key, seq=seq)
            for key, seq, at, flag in (
                (1, 1, 0.0, "truncated"),
                (1, 2, 10.0, ""),
                (1, 3, 10.0, "noise"),
                (2, 1, 15.0, ""),
                (1, 4, 30.0, "soft-404"),
            )
        ]
        assert list(store.versions()) == expected
        assert list(store.versions(1)) == [item for item in expected if item.resource_id == 1]
        assert list(store.versions(99)) == []
        assert [store.version(1, seq) for seq in (3, 5)] == [expected[2], None]
        assert store.standing(1)[0].version == expected[1]
        assert lease_of(store, A, T0 + 40.0).standing.version == expected[1]
        assert store.counts(T0)["versions"] == 2
        store.remove([1])
        assert list(store.versions()) == [expected[3]]
        assert store.counts(T0)["versions"] == 1


def check_a_visit_recorded_twice_counts_once(make: MakeStore) -> None:
    with store_with(make, A) as store:
        lease = lease_of(store, A, T0)
        first = completion(lease, T0, versions=(version(T0),))
        assert store.complete([first, first]) == [True, True]
        before = store.standing(1)
        assert store.complete([replace(first, plan=Plan(resource_id=1, due_at=0.0))]) == [True]
        assert same(store.standing(1), before)
        assert len(list(store.visits(1))) == len(list(store.versions(1))) == 1
        other = completion(lease, T0 + 2.0)  # another visit under a lease that is used up
        assert store.complete([other]) == [False]


def check_a_late_completion_counts_only_while_nobody_else_claimed(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        late = lease_of(store, A, T0)
        at = T0 + 10 * LEASE_S
        assert store.complete([completion(late, at)]) == [True]
        late = lease_of(store, A, at + 10.0)
        taken_over = lease_of(store, A2, at + 10.0 + LEASE_S)  # the same host, another resource
        before = store.standing(1)
        refused = completion(late, at + 80.0, gate_s=1e6, versions=(version(at),))
        assert store.complete([refused, completion(taken_over, at + 80.0)]) == [False, True]
        assert same(store.standing(1), before)
        assert list(store.versions()) == []
        assert store.ready_at(at + 80.0) < at + 1e6  # its gate was refused with it


def check_a_released_lease_completes_nothing(make: MakeStore) -> None:
    with store_with(make, A) as store:
        lease = lease_of(store, A, T0)
        store.release([lease], T0)
        assert store.complete([completion(lease, T0)]) == [False]
        assert list(store.visits(1)) == []


def check_a_visit_to_what_was_removed_meanwhile_only_gates_the_host(make: MakeStore) -> None:
    with store_with(make, A, A2) as store:
        lease = lease_of(store, A, T0)
        store.remove([1])
        assert store.complete([completion(lease, T0, gate_s=5.0)]) == [False]
        assert list(store.visits(1)) == []
        assert store.ready_at(T0) == T0 + 5.0
        assert claimed(store, T0 + 5.0) == [A2]


def check_archive_files_only_grow(make: MakeStore) -> None:
    with store_with(make, A) as store:
        assert dict(store.files()) == {}
        store.complete([completion(lease_of(store, A, T0), T0)], {"a.warc.gz": 100, "b.warc.gz": 5})
        store.complete([], {"a.warc.gz": 70, "b.warc.gz": 9})
        assert dict(store.files()) == {"a.warc.gz": 100, "b.warc.gz": 9}


def check_notes_are_kept(make: MakeStore) -> None:
    with store_with(make) as store:
        assert store.note("price") is None
        assert store.note("price", "0.5") == "0.5"
        store.note("price", "")
        store.note("other", "ü")
        assert (store.note("price"), store.note("other")) == ("", "ü")


def check_a_note_is_exchanged_only_for_what_was_expected(make: MakeStore) -> None:
    with store_with(make) as store:
        assert not store.exchange("key", "something", "new")
        assert store.exchange("key", None, "one")
        assert not store.exchange("key", None, "two")
        assert store.exchange("key", "one", "two")
        assert store.note("key") == "two"


def check_whatever_is_said_leaves_a_mark(make: MakeStore) -> None:
    with store_with(make) as store:
        marks = [store.note("said")]
        store.add([new(A)], T0)
        marks.append(store.note("said"))
        store.say(GLOBAL, Settings(weight=2.0), T0)
        marks.append(store.note("said"))
        store.tag([1], ["t"], [], T0)
        marks.append(store.note("said"))
        store.remove([1])
        marks.append(store.note("said"))
        assert len(set(marks)) == len(marks)


COMPLETING = [
    check_a_visit_comes_back_as_it_was_recorded,
    check_what_is_not_known_stays_not_known,
    check_visits_come_newest_first_and_are_counted,
    check_versions_are_numbered_and_flagged_ones_stand_aside,
    check_a_visit_recorded_twice_counts_once,
    check_a_late_completion_counts_only_while_nobody_else_claimed,
    check_a_released_lease_completes_nothing,
    check_a_visit_to_what_was_removed_meanwhile_only_gates_the_host,
    check_archive_files_only_grow,
    check_notes_are_kept,
    check_a_note_is_exchanged_only_for_what_was_expected,
    check_whatever_is_said_leaves_a_mark,
]
