"""The hours of the week at which a resource was looked at, and was found changed."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from recrawl.app.hours import hours
from recrawl.checks.store.samples import completion, found, lease_of, new
from recrawl.contracts import Store
from recrawl.model import DAY_S, HOUR_S, Changed, Outcome
from recrawl.remember.memory import MemoryStore
from recrawl.web.face.draw.heat import drawn, words

A = "http://a.example/"
MONDAY_AT = 1_704_067_200.0  # 2024-01-01 00:00:00 UTC


def looked(store: Store, at: float, changed: Changed = Changed.NO, event_at: float = nan) -> None:
    done = completion(lease_of(store, A, at), at)
    visit = replace(done.visit, changed=changed, event_at=event_at)
    assert store.complete([replace(done, visit=visit)]) == [True]


def lived() -> MemoryStore:
    """A look every Monday at nine and every Tuesday at eleven at night; those on Mondays found a change."""
    store = MemoryStore()
    store.add([new(A)], MONDAY_AT)
    looked(store, MONDAY_AT, Changed.UNKNOWN)
    for week in range(5):
        monday = MONDAY_AT + 7 * week * DAY_S
        looked(store, monday + 9.5 * HOUR_S, Changed.YES)
        looked(store, monday + DAY_S + 23.5 * HOUR_S)
    done = completion(lease_of(store, A, MONDAY_AT + 40 * DAY_S), 0.0, outcome=Outcome.NET_ERROR)
    store.complete([replace(done, visit=replace(done.visit, at=MONDAY_AT + 40 * DAY_S))])
    return store


def test_looks_and_changes_are_counted_by_hour_and_weekday() -> None:
    store = lived()
    counted = hours(store, found(store, A))
    assert counted.n_visits.sum() == 10  # the first look tells of no change, the failed one of nothing
    assert (counted.n_visits[0, 9], counted.n_changed[0, 9]) == (5, 5)
    assert (counted.n_visits[1, 23], counted.n_changed[1, 23]) == (5, 0)
    assert not counted.own


def test_elsewhere_it_is_another_hour_and_perhaps_another_day() -> None:
    store = lived()
    east = hours(store, found(store, A), 2 * HOUR_S)
    assert (east.n_visits[0, 11], east.n_visits[2, 1]) == (5, 5)
    west = hours(store, found(store, A), -10 * HOUR_S)
    assert west.n_changed[6, 23] == 5


def test_times_that_the_content_gives_count_themselves() -> None:
    store = MemoryStore()
    store.add([new(A)], MONDAY_AT)
    looked(store, MONDAY_AT, Changed.UNKNOWN)
    for day in range(1, 13):
        at = MONDAY_AT + day * DAY_S
        looked(store, at, Changed.YES, event_at=at - 10 * HOUR_S)
    counted = hours(store, found(store, A))
    assert counted.own
    assert counted.n_told[:, 14].sum() == counted.n_told.sum() == 12
    assert "by the times that the content itself gives" in words(counted)


def test_the_table_has_its_figures_in_words_and_the_busiest_is_named() -> None:
    store = lived()
    counted = hours(store, found(store, A))
    table = drawn(counted)
    assert '<td class="shade-6">5/5</td>' in table
    assert '<td class="shade-0">0/5</td>' in table
    assert table.count("<td") == 7 * 24
    assert table.count('scope="row"') == 7
    assert words(counted).startswith("5 of 10 looks found a change; most at Monday 09:00.")
    nothing = hours(unseen(), found(unseen(), A))
    assert words(nothing) == "No change was seen yet, so no hour stands out."
    assert "shade-1" not in drawn(nothing)


def unseen() -> MemoryStore:
    store = MemoryStore()
    store.add([new(A)], MONDAY_AT)
    return store
