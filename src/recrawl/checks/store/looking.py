"""Looking back at visits of all resources, and at the present plans of all."""

from __future__ import annotations

from dataclasses import fields, replace
from math import nan

import numpy as np

from recrawl.checks.store.samples import (
    T0,
    MakeStore,
    completion,
    found,
    lease_of,
    plans,
    resource_scope,
    same,
    store_with,
    visited,
)
from recrawl.contracts import Store
from recrawl.model import Changed, Looked, Outcome, Settings

A, B = "http://a.example/", "http://b.example/"


def check_visits_of_a_time_come_back_with_what_was_forecast_of_them(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        visited(store, A, T0)
        visited(store, B, T0 + 1.0)
        store.replan(plans({1: T0 + 100.0}))
        done = completion(lease_of(store, A, T0 + 110.0), T0 + 110.0)
        visit = replace(done.visit, changed=Changed.YES, event_at=T0 + 90.0)
        assert store.complete([replace(done, visit=visit)]) == [True]
        looked = _looked(store, T0 + 1.0, T0 + 111.0)
        assert looked.id.tolist() == [2, 1]
        assert looked.at.tolist() == [T0 + 1.0, T0 + 110.0]
        assert same(looked.since_at.tolist(), [nan, T0])
        assert looked.due_at.tolist() == [T0, T0 + 100.0]
        assert looked.informative.tolist() == [True, True]
        assert looked.changed.tolist() == [-1, 1]
        assert same(looked.event_at.tolist(), [nan, T0 + 90.0])
        assert same(looked.p_changed.tolist(), [nan, 0.5])
        assert same(looked.per_day.tolist(), [nan, nan])
        assert list(store.looked(T0 + 111.0, T0 + 999.0)) == []
        assert _looked(store, T0, T0 + 110.0).at.tolist() == [T0, T0 + 1.0]


def check_a_forecast_that_was_made_for_another_moment_is_not_kept(make: MakeStore) -> None:
    """The plan was exchanged while the visit was under way."""
    with store_with(make, A) as store:
        visited(store, A, T0)
        store.replan(plans({1: T0 + 100.0}))
        done = completion(lease_of(store, A, T0 + 110.0), T0 + 110.0)
        store.replan(plans({1: T0 + 500.0}))
        assert store.complete([done]) == [True]
        assert same(_looked(store, T0 + 1.0, T0 + 999.0).p_changed.tolist(), [nan])


def check_visits_that_told_nothing_are_looked_back_at_too(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        visited(store, A, T0)
        store.complete([completion(lease_of(store, B, T0 + 2.0), T0 + 2.0, outcome=Outcome.NET_ERROR)])
        assert _looked(store, T0, T0 + 9.0).informative.tolist() == [True, False]
        store.remove([1])
        assert _looked(store, T0, T0 + 9.0).id.tolist() == [2]


def check_visits_are_counted_by_steps_back_from_a_moment(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        visited(store, A, T0)
        visited(store, B, T0 + 10.0)
        done = completion(lease_of(store, A, T0 + 24.0), T0 + 24.0)
        store.complete([replace(done, visit=replace(done.visit, changed=Changed.YES, second_bytes=0))])
        done = completion(lease_of(store, B, T0 + 25.0), T0 + 25.0, outcome=Outcome.NET_ERROR)
        store.complete([done])
        tally = store.tally(T0 + 5.0, T0 + 30.0, 10.0)
        assert tally.tolist() == [[2, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]]  # the last of them is half a step
        assert store.tally(T0 - 9.0, T0, 10.0).tolist() == [[0, 0, 0, 0]]
        evens = [page.id.tolist() for page in store.looked(T0, T0 + 30.0, every=2)]
        assert evens == [[2, 2]]


def check_prospects_are_of_all_paused_ones_too(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        visited(store, A, T0)
        store.replan(plans({1: T0 + 100.0}, gap_s=100.0))
        store.say(resource_scope(B), Settings(paused=True, weight=3.0, min_gap_s=5.0, max_gap_s=9.0), T0)
        prospects = store.prospects()
        assert prospects.id.tolist() == [1, 2]
        assert prospects.group.tolist() == [found(store, url).host_id for url in (A, B)]
        assert prospects.paused.tolist() == [False, True]
        assert (prospects.weight[1], prospects.min_gap_s[1], prospects.max_gap_s[1]) == (3.0, 5.0, 9.0)
        assert same(prospects.since_at.tolist(), [T0, nan])
        assert same(prospects.gap_s.tolist(), [100.0, nan])
        assert same(prospects.p_changed.tolist(), [0.5, nan])
        assert same(prospects.per_day.tolist(), [nan, nan])


def _looked(store: Store, from_at: float, until_at: float) -> Looked:
    pages = list(store.looked(from_at, until_at))
    return Looked(
        **{f.name: np.concatenate([getattr(page, f.name) for page in pages]) for f in fields(Looked)}
    )


LOOKING = [
    check_visits_of_a_time_come_back_with_what_was_forecast_of_them,
    check_a_forecast_that_was_made_for_another_moment_is_not_kept,
    check_visits_that_told_nothing_are_looked_back_at_too,
    check_visits_are_counted_by_steps_back_from_a_moment,
    check_prospects_are_of_all_paused_ones_too,
]
