"""Visits that tell when each thing was said: moments are kept, and every reader makes the same rows of it."""

from __future__ import annotations

from dataclasses import fields, replace
from math import inf, nan

import numpy as np

from recrawl.checks.store.adopting import adoption
from recrawl.checks.store.samples import T0, MakeStore, completion, lease_of, same, store_with
from recrawl.contracts import Store
from recrawl.model import GLOBAL, MOST_MOMENTS, Changed, Changes, Seen, Settings, Telling

A, B = "http://a.example/1", "http://b.example/1"
PAST = (T0 - 900.0, T0 - 500.0, T0 - 500.0, T0 - 20.0)


def check_moments_come_back_as_they_were_recorded(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        _look(store, A, T0, Changed.UNKNOWN, PAST)
        _look(store, A, T0 + 50.0, Changed.NO)
        _look(store, A, T0 + 99.0, Changed.YES, (T0 + 98.123456789,))
        assert [visit.moments for visit in store.visits(1)] == [(T0 + 98.123456789,), (), PAST]
        store.begin_erasure(A, "asked", T0 + 200.0)
        assert [visit.moments for visit in store.visits(1)] == [(), (), ()]
        assert [page.since_at.tolist() for page in store.told()] == [[T0, T0 + 50.0]]
        assert store.heard(0, 9)[0].since_at.tolist() == [T0, T0 + 50.0]


def check_each_moment_is_a_row_to_learn_from(make: MakeStore) -> None:
    """From moment to moment; of a first visit from the oldest one on. No visit's change is one of those."""
    with store_with(make, A, B) as store:
        _look(store, A, T0, Changed.UNKNOWN, PAST)
        _look(store, B, T0 + 1.0, Changed.UNKNOWN)
        _look(store, A, T0 + 50.0, Changed.YES, (T0 + 10.0, T0 + 40.0))
        _look(store, B, T0 + 60.0, Changed.YES)
        (seen,) = store.told()
        assert seen.id.tolist() == [1, 1, 1, 1, 1, 1, 1, 2]
        assert seen.since_at.tolist() == [*PAST, T0, T0 + 10.0, T0 + 40.0, T0 + 1.0]
        ends = [*PAST[1:], T0, T0 + 10.0, T0 + 40.0, T0 + 50.0]
        assert seen.at.tolist() == [*ends, T0 + 60.0]
        assert seen.changed.tolist() == [1, 1, 1, 0, 1, 1, 0, 1]
        assert same(seen.event_at.tolist(), [*PAST[1:], nan, T0 + 10.0, T0 + 40.0, nan, nan])
        assert seen.visit_at.tolist() == [*[T0] * 4, *[T0 + 50.0] * 3, T0 + 60.0]
        assert same(seen.before_at.tolist(), [*[nan] * 4, *[T0] * 3, T0 + 1.0])
        whole = seen.folded()
        assert (whole.id.tolist(), whole.changed.tolist()) == ([1, 2], [1, 1])
        assert (whole.since_at.tolist(), whole.at.tolist()) == ([T0, T0 + 1.0], [T0 + 50.0, T0 + 60.0])


def check_every_reader_makes_the_same_rows(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        _look(store, A, T0, Changed.UNKNOWN, PAST)
        _look(store, B, T0 + 1.0, Changed.UNKNOWN)
        _look(store, A, T0 + 50.0, Changed.YES, (T0 + 10.0, T0 + 40.0))
        _look(store, B, T0 + 60.0, Changed.YES, (T0 + 30.0,))
        (whole,) = store.told()
        heard, mark = store.heard(0, 100)
        assert _equal(heard, whole)
        assert _equal(store.lately(np.array([1]), 100), whole.pick(whole.id == 1))
        assert store.lately(np.array([1, 2]), 2).at.tolist() == [T0 + 40.0, T0 + 50.0, T0 + 30.0, T0 + 60.0]
        assert store.heard(0, 3)[0].at.tolist() == [T0 + 50.0, T0 + 30.0, T0 + 60.0]
        _look(store, A, T0 + 90.0, Changed.YES, (T0 + 80.0,))
        assert store.heard(mark, 100)[0].at.tolist() == [T0 + 80.0, T0 + 90.0]


def check_moments_count_where_the_change_does(make: MakeStore) -> None:
    with store_with(make, A) as store:
        _look(store, A, T0, Changed.UNKNOWN)
        _look(store, A, T0 + 50.0, Changed.YES, (T0 + 10.0,), significant=False)
        (seen,) = store.told()
        assert seen.changed.tolist() == [1, 0]
        store.say(GLOBAL, Settings(changes=Changes.SIGNIFICANT), T0 + 60.0)
        (seen,) = store.told()
        assert (seen.since_at.tolist(), seen.changed.tolist()) == ([T0], [0])


def check_what_may_be_more_than_is_kept_begins_at_the_oldest(make: MakeStore) -> None:
    """And what somebody told of belongs to the first row, whenever it was heard."""
    many = tuple(T0 + 10.0 + i / 100.0 for i in range(MOST_MOMENTS))
    with store_with(make, A, B) as store:
        _look(store, A, T0, Changed.UNKNOWN)
        done = completion(lease_of(store, B, T0 + 1.0), T0 + 1.0, gate_s=0.0)
        assert store.complete([replace(done, tells=(Telling(A),))]) == [True]
        _look(store, A, T0 + 50.0, Changed.YES, many)
        (seen,) = store.told()
        assert seen.since_at.tolist() == list(many)
        assert seen.at.tolist() == [*many[1:], T0 + 50.0]
        assert (seen.told_by.tolist()[0], set(seen.told_by.tolist()[1:])) == (2, {0})
        assert same(seen.told_at.tolist(), [T0 + 1.0, *[nan] * (len(many) - 1)])


def check_a_stamp_is_no_moment(make: MakeStore) -> None:
    """Nothing is learned of a change whose time is given as the visit's own, or as one after it."""
    with store_with(make, A) as store:
        _look(store, A, T0, Changed.UNKNOWN)
        for n, event_at in enumerate((T0 + 50.0, T0 + 150.0, T0 + 149.0), 1):
            at = T0 + 50.0 * n
            done = completion(lease_of(store, A, at), at, gate_s=0.0)
            visit = replace(done.visit, changed=Changed.YES, event_at=event_at)
            assert store.complete([replace(done, visit=visit)]) == [True]
        (seen,) = store.told()
        assert same(seen.event_at.tolist(), [nan, nan, T0 + 149.0])
        assert not seen.momentary.any()


def check_moments_of_visits_made_elsewhere_are_kept(make: MakeStore) -> None:
    with store_with(make, A) as store:
        came = adoption(store, A, T0, T0 + 50.0)
        first, second = came.visits
        visits = (
            replace(first, moments=PAST),
            replace(second, since_at=T0, changed=Changed.YES, moments=(T0 + 9.0,)),
        )
        assert store.adopt([replace(came, visits=visits)], now=T0 + 60.0) == [True]
        assert [visit.moments for visit in store.visits(1)] == [(T0 + 9.0,), PAST]
        (seen,) = store.told()
        assert seen.at.tolist() == [*PAST[1:], T0, T0 + 9.0, T0 + 50.0]
        assert [len(page) for page in store.looked(-inf, inf)] == [2]


def check_what_others_tell_of_now_is_not_told_twice(make: MakeStore) -> None:
    with store_with(make, A) as store:
        _look(store, A, T0, Changed.UNKNOWN, PAST)
        (first,) = store.visits(1)
        came = adoption(store, A, PAST[-1] - 1.0)
        restated = replace(first, moments=PAST[-1:], evidence="another")
        visits = (replace(came.visits[0], moments=PAST[:-1]),)
        whole = replace(came, visits=visits, restated=(restated,))
        assert store.adopt([whole], now=T0 + 60.0) == [True]
        assert [visit.moments for visit in store.visits(1)] == [PAST[-1:], PAST[:-1]]
        assert next(visit.evidence for visit in store.visits(1)) == first.evidence
        (seen,) = store.told()
        assert seen.changed.sum() == len(PAST) - 2  # each page of moments begins with its first
        assert store.heard(0, 100)[0].changed.sum() == len(PAST) - 2


def _look(
    store: Store,
    url: str,
    at: float,
    changed: Changed,
    moments: tuple[float, ...] = (),
    *,
    significant: bool | None = None,
) -> None:
    done = completion(lease_of(store, url, at), at, gate_s=0.0)
    visit = replace(done.visit, changed=changed, moments=moments, significant=significant)
    assert store.complete([replace(done, visit=visit)]) == [True]


def _equal(one: Seen, other: Seen) -> bool:
    return all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name), equal_nan=True) for f in fields(Seen)
    )


TIMING = [
    check_moments_come_back_as_they_were_recorded,
    check_each_moment_is_a_row_to_learn_from,
    check_every_reader_makes_the_same_rows,
    check_moments_count_where_the_change_does,
    check_what_may_be_more_than_is_kept_begins_at_the_oldest,
    check_a_stamp_is_no_moment,
    check_moments_of_visits_made_elsewhere_are_kept,
    check_what_others_tell_of_now_is_not_told_twice,
]
