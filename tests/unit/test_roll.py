"""Lists of what is watched: who is chosen, in what order, and how likely each has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recrawl.app.build import House, open_house
from recrawl.app.chances import Chances, chances
from recrawl.app.config import Config
from recrawl.app.relearning import relearn
from recrawl.app.roll import Order, State, Wanted, found, lines
from recrawl.app.watchlist import Choice, chosen, say
from recrawl.checks.store.samples import T0, completion, lease_of, new, plans, version
from recrawl.contracts import Store
from recrawl.live.clock import FastClock
from recrawl.model import DAY_S, Changed, Kind, Outcome, Settings
from recrawl.remember.memory import MemoryStore

A, B, C, D = "http://b.example/z", "http://a.example/b%C3%BCcher", "http://a.example/c", "http://c.example/"
NOW = T0 + 10.0 * DAY_S


@pytest.fixture
def store() -> Store:
    """A has changed often and B once; C fails; D is paused and was never looked at."""
    store = MemoryStore()
    store.add([new(A, "news"), new(B), new(C, settings=Settings(kind=Kind.CSV)), new(D, "news")], T0)
    store.say_each([4], Settings(paused=True), T0)
    for day in range(8):
        _look(store, A, T0 + day * DAY_S, Changed.YES if day else Changed.UNKNOWN)
        _look(store, B, T0 + day * DAY_S, Changed.YES if day == 3 else Changed.NO)
    _look(store, C, T0 + 8.0 * DAY_S, Changed.UNKNOWN, Outcome.NET_ERROR)
    made = plans({1: NOW + 5.0, 2: NOW + 1.0, 3: NOW - 1.0})
    store.replan(replace(made, per_day=np.array([1.0, 0.1, np.nan])))
    return store


def _look(store: Store, url: str, at: float, changed: Changed, outcome: Outcome = Outcome.OK) -> None:
    kept = (version(at),) if changed is not Changed.NO and outcome is Outcome.OK else ()
    done = completion(lease_of(store, url, at), at, outcome=outcome, versions=kept)
    before = done.lease.standing
    standing = replace(
        done.standing,
        n_informative=before.n_informative + outcome.informative,
        n_changes=before.n_changes + (changed is Changed.YES),
    )
    visit = replace(done.visit, changed=changed)
    assert store.complete([replace(done, visit=visit, standing=standing)]) == [True]


def ids(store: Store, chances: Chances | None = None, **wanted: Any) -> list[int]:
    listed: list[int] = found(store, store.roll(), Wanted(**wanted), NOW, chances).tolist()
    return listed


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        ({"text": "EXAMPLE/C"}, [3]),
        ({"text": "bücher"}, [2]),
        ({"tag": "news"}, [1, 4]),
        ({"host": "http://a.example/anything"}, [3, 2]),
        ({"host": "a/b"}, []),
        ({"kind": Kind.CSV}, [3]),
        ({"state": State.DUE}, [3]),
        ({"state": State.PAUSED}, [4]),
        ({"state": State.FAILING}, [3]),
        ({"state": State.UNSEEN}, [3, 4]),
        ({"state": State.GONE}, []),
        ({"state": State.PAUSED, "tag": "news", "text": "c."}, [4]),
        ({"state": State.PAUSED, "host": "a.example"}, []),
    ],
)
def test_all_that_is_wanted_holds_at_once(store: Store, wanted: dict[str, Any], listed: list[int]) -> None:
    assert ids(store, **wanted) == listed


@pytest.mark.parametrize(
    ("order", "down", "listed"),
    [
        (Order.NEXT, False, [3, 2, 1, 4]),  # the paused have no next visit
        (Order.NEXT, True, [1, 2, 3, 4]),
        (Order.RATE, True, [1, 2, 3, 4]),
        (Order.RATE, False, [2, 1, 3, 4]),
        (Order.CHANGED, True, [1, 2, 3, 4]),
        (Order.URL, False, [2, 3, 1, 4]),
        (Order.URL, True, [4, 1, 3, 2]),
        (Order.ADDED, True, [4, 3, 2, 1]),
    ],
)
def test_what_is_not_known_comes_last_whichever_way(
    store: Store, order: Order, down: bool, listed: list[int]
) -> None:
    assert ids(store, order=order, down=down) == listed


def test_chances_order_and_choose(store: Store) -> None:
    known = Chances(
        at=NOW,
        id=np.array([1, 2, 3]),
        p_changed=np.array([0.2, 0.9, np.nan]),
        silent=np.array([False, True, False]),
    )
    assert ids(store, known, order=Order.CHANCE, down=True) == [2, 1, 3, 4]
    assert ids(store, known, state=State.SILENT) == [2]
    assert ids(store, None, state=State.SILENT) == []
    shown = lines(store, [2, 99, 1, 4], NOW, known)
    assert [line.resource.id for line in shown] == [2, 1, 4]
    assert [line.p_changed for line in shown[:2]] == [0.9, 0.2]
    assert isnan(shown[2].p_changed)
    assert shown[0].looked.changed.tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert shown[1].changed_at == T0 + 7.0 * DAY_S
    assert (shown[1].row()["id"], shown[1].row()["changes_per_day"]) == (1, 1.0)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    clock = FastClock(start_at=NOW, speed=1.0)
    with open_house(tmp_path, config=Config(), clock=clock) as house:
        yield house


def test_who_changes_more_often_has_more_likely_changed(house: House) -> None:
    house.store.add([new(A), new(B), new(C), new(D)], T0)
    house.store.say_each([4], Settings(paused=True), T0)
    for day in range(9):
        _look(house.store, A, T0 + day * DAY_S, Changed.YES if day else Changed.UNKNOWN)
        _look(house.store, B, T0 + day * DAY_S, Changed.NO if day else Changed.UNKNOWN)
    relearn(house)
    known = chances(house)
    assert known.id.tolist() == [1, 2, 3]
    p = known.p_of(np.array([2, 1, 3, 4]))
    assert 0.0 < p[0] < p[1] < 1.0
    assert np.isnan(p[2:]).all()
    assert not known.silent.any()


def test_numbers_are_a_choice(store: Store) -> None:
    these = Choice(ids=(1, 99, 3))
    assert [resource.id for resource in chosen(store, these)] == [1, 3]
    assert say(store, these, Settings(weight=3.0), NOW) == 2
    assert say(store, these, Settings(), NOW, add_tags=("late",)) == 2
    assert store.numbers(tag="late").tolist() == [1, 3]
    assert [resource.effective.weight for resource, _, _ in store.these([1, 2, 3])] == [3.0, 1.0, 3.0]
