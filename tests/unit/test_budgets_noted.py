"""Past days are held against the budget of their time."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from tests.cards import END_AT, hosts, looked, prospects, tallied

from recrawl.evaluate.card.card import card
from recrawl.evaluate.card.past import Past
from recrawl.evaluate.card.reading import read_card
from recrawl.evaluate.card.words import words
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import DAY_S, NewResource
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.uniform import Uniform
from recrawl.terms import Granted, granted

T0 = 1.7e9


def loop_of(store: MemoryStore, per_day: float | None) -> Loop:
    return Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=per_day)


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.add([NewResource(url="http://a.example/", host="a.example")], T0)
    return store


def test_a_change_of_the_budget_is_noted_once(store: MemoryStore) -> None:
    assert isnan(granted(store).visits(T0, T0 + DAY_S))  # nobody ran yet
    loop = loop_of(store, 10.0)
    for hour in range(3):
        loop.reprice(T0 + 3_600.0 * hour)
    loop.rebudget(40.0, None)
    loop.reprice(T0 + DAY_S)
    loop_of(store, 40.0).reprice(T0 + 2 * DAY_S)
    loop_of(store, None).reprice(T0 + 3 * DAY_S)
    found = granted(store)
    assert found.changes == [(T0, 10.0), (T0 + DAY_S, 40.0), (T0 + 3 * DAY_S, None)]
    assert found.visits(T0 - DAY_S, T0 + DAY_S) == 20.0  # before the first nothing else is known
    assert found.visits(T0 + DAY_S / 2, T0 + 2 * DAY_S) == 45.0
    assert isnan(found.visits(T0, T0 + 4 * DAY_S))
    assert found.changed(T0, T0 + 2 * DAY_S)
    assert not found.changed(T0 + DAY_S, T0 + 3 * DAY_S)


def test_what_an_older_recrawl_ran_with_holds_until_the_change(store: MemoryStore) -> None:
    loop_of(store, 10.0).reprice(T0)
    store._facts.pop("budgets")
    assert granted(store).visits(T0, T0 + DAY_S) == 10.0
    loop_of(store, 30.0).reprice(T0 + DAY_S)
    assert granted(store).visits(T0 - DAY_S, T0 + 2 * DAY_S) == 50.0


def test_a_clock_that_was_set_back_covers_what_came_after() -> None:
    found = Granted([(T0, 10.0), (T0 + 9 * DAY_S, 50.0), (T0 + DAY_S, 20.0)])
    assert found.visits(T0, T0 + 2 * DAY_S) == 30.0


def test_the_card_holds_each_day_against_its_own_budget() -> None:
    at = END_AT - np.repeat([1.5, 0.5], [20, 40]) * DAY_S
    seen = looked(at=at, id=np.ones(60, dtype=np.int64))
    past = Past(
        looked=seen,
        tally=tallied(seen, 2.0),
        prospects=prospects(np.ones(1), np.full(1, DAY_S), at[-1:]),
        hosts=hosts(1),
        from_at=END_AT - 2 * DAY_S,
        until_at=END_AT,
        rule="uniform",
        per_day=40.0,
        granted=Granted([(END_AT - 9 * DAY_S, 20.0), (END_AT - DAY_S, 40.0)]),
    )
    found = card(past)
    assert [day.budget for day in found.days] == [20.0, 40.0]
    assert dict(words(found))["visits"].startswith("60 of 60 in the budget (100 %)")
    partly = card(replace(past, granted=Granted([(END_AT - 9 * DAY_S, None), (END_AT - DAY_S, 40.0)])))
    assert dict(words(partly))["visits"].endswith("; not always a budget of visits was set")
    assert isnan(partly.budget)


def test_a_card_that_is_read_says_that_the_budget_changed(store: MemoryStore) -> None:
    loop = loop_of(store, 10.0)
    loop.reprice(T0)
    assert not [note for note in read_card(store, T0 + DAY_S, 2.0).notes if "budget" in note]
    loop.rebudget(40.0, None)
    loop.reprice(T0 + DAY_S)
    found = read_card(store, T0 + 2 * DAY_S, 2.0)
    assert (found.per_day, found.budget) == (40.0, 50.0)
    assert [note for note in found.notes if note.startswith("The budget changed in that time")]
