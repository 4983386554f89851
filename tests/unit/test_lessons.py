"""Learning while a loop runs: what it learns from, where, and when."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from copy import deepcopy
from dataclasses import replace
from math import nan

import numpy as np
import pytest
from tests.unit.test_sighted import N, lived, looked, looping
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from recrawl.app.training import present
from recrawl.checks.store.samples import T0, new
from recrawl.contracts import Store
from recrawl.grounds import sampled_priors
from recrawl.learn.features.graph import Graph
from recrawl.learn.histories import histories
from recrawl.learn.priors import Ratio, kept_apart
from recrawl.learn.sights.model import KEY, Trained
from recrawl.live.study import elsewhere
from recrawl.loop import Loop
from recrawl.model import DAY_S, FEATURES, SIGHT_FORMAT, Floats, Ints, Sight, column
from recrawl.remember.memory import MemoryStore
from recrawl.sighted import TOLD_KEY, Lessons, Sighted, graph_of, learned, lessons

__all__ = ["lived"]  # the fixture


class Slow:
    """Has learned when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Lessons, float]] = []
        self.learned: Future[Trained | None] = Future()

    def __call__(self, found: Lessons, now: float) -> Future[Trained | None]:
        self.asked.append((found, now))
        return self.learned


@pytest.fixture(scope="module")
def asked(lived: Loop) -> tuple[Lessons, float]:
    study = Slow()
    Sighted(lived.store, DAY_S, study).renew(lived.store.batch()[0], T0 + 12 * DAY_S)
    (found,) = study.asked
    return found


@pytest.fixture(scope="module")
def model(asked: tuple[Lessons, float]) -> Trained:
    with threadpool_limits(limits=1):  # as where a process shares the machine; elsewhere there may be more
        found = learned(*asked)
    assert found is not None
    return found


def test_plans_are_made_while_a_model_is_learned_and_anew_when_it_is(lived: Loop, model: Trained) -> None:
    store, now, study = deepcopy(lived.store), T0 + 12 * DAY_S, Slow()
    assert isinstance(store, MemoryStore)
    loop = looping(store, study)
    for hour in range(3):
        loop.reprice(now + hour * 3_600.0)
        assert not loop.must_reprice(now + hour * 3_600.0)
    assert len(study.asked) == 1  # nor is another one begun meanwhile
    assert store.note(KEY) is None
    study.learned.set_result(model)
    assert loop.must_reprice(now + 7_200.0)
    loop.reprice(now + 7_200.0)
    assert np.isfinite(store.batch()[0].hunch_per_day).all()
    assert store.note(TOLD_KEY) == present(store).name
    assert not loop.must_reprice(now + 7_200.0)


def test_a_run_that_ends_waits_for_what_is_being_learned_unless_it_was_stopped(
    lived: Loop, model: Trained
) -> None:
    for wait in (False, True):
        store, study = deepcopy(lived.store), Slow()
        assert isinstance(store, MemoryStore)
        loop = looping(store, study)
        loop.reprice(T0 + 12 * DAY_S)
        if wait:
            study.learned.set_result(model)
        loop.finish(wait=wait)
        assert (store.note(KEY) is not None) is wait


def test_a_model_that_somebody_noted_meanwhile_stays(lived: Loop, model: Trained) -> None:
    store, now, study = deepcopy(lived.store), T0 + 12 * DAY_S, Slow()
    assert isinstance(store, MemoryStore)
    loop = looping(store, study)
    loop.reprice(now)
    by_hand = replace(model, middle=model.middle + 1.0)
    store.note(KEY, by_hand.written())
    study.learned.set_result(model)
    loop.reprice(now + 60.0)
    assert present(store).name == by_hand.name == store.note(TOLD_KEY)


def test_a_process_of_its_own_learns_the_same(asked: tuple[Lessons, float], model: Trained) -> None:
    there = elsewhere(*asked).result(120.0)
    assert there is not None
    assert there.written() == model.written()


def test_links_are_counted_once_for_all_that_are_trained_on_and_told(
    lived: Loop, model: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = deepcopy(lived.store)
    assert isinstance(store, MemoryStore)
    store.connect(np.arange(1, N), np.arange(2, N + 1))
    ((ids, values),) = store.sights()

    def in_pages(_: object) -> Iterator[tuple[Ints, Floats]]:
        for start in range(0, N, 25):
            yield ids[start : start + 25], values[start : start + 25]

    counted: list[Graph] = []

    def count(store: Store) -> Graph:
        counted.append(graph_of(store))
        return counted[-1]

    monkeypatch.setattr(MemoryStore, "sights", in_pages)
    monkeypatch.setattr("recrawl.sighted.graph_of", count)
    study = Slow()
    loop = looping(store, study)
    loop.reprice(T0 + 12 * DAY_S)
    study.learned.set_result(model)
    loop.reprice(T0 + 12 * DAY_S)
    assert np.isfinite(store.batch()[0].hunch_per_day).all()
    assert len(counted) == 1
    assert counted[0].in_links.sum() == N - 1


def test_half_of_what_is_learned_from_knows_as_little_of_links_as_a_first_visit(lived: Loop) -> None:
    store = deepcopy(lived.store)
    store.connect(np.arange(1, N + 1), np.roll(np.arange(1, N + 1), 1))
    batch, _ = store.batch()
    found = lessons(store, batch, graph_of(store), n_visits=2, most=N)
    known = ~kept_apart(batch.id)
    ((_, values),) = store.sights()
    as_seen = (found.values == values[known]).all(axis=1)
    assert as_seen.sum() == found.seen.n // 2 == known.sum() // 2
    assert (found.values[~as_seen, column("in_links")] == 1.0).all()
    assert found.values[~as_seen, column("page_rank")] == pytest.approx(1.0)


def test_a_sight_keeps_how_many_links_led_there_then(lived: Loop) -> None:
    store, now = deepcopy(lived.store), T0 + 12 * DAY_S
    assert isinstance(store, MemoryStore)
    loop = looping(store)
    store.add([new("http://linked.example/"), new("http://alone.example/")], now)
    store.connect(np.array([1, 2, 3]), np.full(3, N + 1))
    for key in (N + 1, N + 2):
        (lease,) = store.claim(now=now, limit=1, lease_s=60.0, only=key)
        sight = Sight(resource_id=key, at=now, values=(nan,) * len(FEATURES))
        loop.absorb([looked(lease, now, sight=sight)], now)
    store.connect(np.array([4]), np.array([N + 1]))
    sights = [store.sight(key) for key in (N + 1, N + 2)]
    known = [sight.values[column("in_links")] for sight in sights if sight is not None]
    assert known == [3.0, pytest.approx(nan, nan_ok=True)]


def test_of_very_many_some_are_learned_from_each_with_its_own_sight(
    lived: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = lived.store
    batch, _ = store.batch()
    ((ids, values),) = store.sights()
    pages = [(ids[start : start + 25], values[start : start + 25]) for start in range(0, N, 25)]
    monkeypatch.setattr(MemoryStore, "sights", lambda _: iter(pages))
    found = lessons(store, batch, graph_of(store), n_visits=5, most=30)
    assert found.values.shape == (30, len(FEATURES))
    told = {tuple(row): key for row, key in zip(values[:, :9].tolist(), ids.tolist(), strict=True)}
    chosen = [told[tuple(row)] for row in found.values[:, :9].tolist()]
    assert chosen == sorted(chosen)
    seen_of_them, _ = histories(store.lately(np.array(chosen), 64))
    assert found.seen.n_changed.tolist() == seen_of_them.n_changed.tolist()


def test_few_with_a_sight_among_many_without_do_not_make_a_model_old(lived: Loop, model: Trained) -> None:
    store, now, study = deepcopy(lived.store), T0 + 12 * DAY_S, Slow()
    batch, _ = store.batch()
    few = replace(batch, hunch_per_day=np.where(batch.id > 60, nan, 1.0))
    store.note(KEY, replace(model, report={**model.report, "resources": 45}).written())
    sighted = Sighted(store, DAY_S, study)
    sighted.renew(few, now + 60.0)
    assert not study.asked
    sighted.renew(few, now + DAY_S)
    assert len(study.asked) == 1  # a day later it is


def test_what_was_found_before_a_look_is_not_learned_from_nor_judged_by(lived: Loop) -> None:
    """Contents list their past by date: they would foretell it well."""
    store = deepcopy(lived.store)
    assert isinstance(store, MemoryStore)
    batch, _ = store.batch()
    whole = lessons(store, batch, graph_of(store), n_visits=5, most=N)
    later_at = T0 + 8.5 * DAY_S
    for key, sight in store._sights.items():
        store._sights[key] = replace(sight, at=later_at if key % 3 else T0 + 99 * DAY_S)
    found = lessons(store, batch, graph_of(store), n_visits=5, most=N)
    assert found.seen.n == sum(key % 3 > 0 for key in batch.id[~kept_apart(batch.id)].tolist())
    assert set(np.bincount(found.seen.row).tolist()) == {3}  # of days 9, 10 and 11
    assert set(np.bincount(whole.seen.row).tolist()) == {11}
    store.hunches("one", batch.id, np.full(N, 0.5), np.full(N, DAY_S), T0)
    batch, _ = store.batch()
    ratio = Ratio(2.0, 2.0, proven=False)
    for key, sight in store._sights.items():
        store._sights[key] = replace(sight, at=T0 + 99 * DAY_S)
    assert sampled_priors(store, batch, T0 + 12 * DAY_S, ratio).hunched is None  # there is nobody to judge


def test_hunches_of_old_sights_do_not_make_a_model_old(
    lived: Loop, model: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recrawl.sighted.N_ENOUGH", 40)
    store, now = deepcopy(lived.store), T0 + 12 * DAY_S
    assert isinstance(store, MemoryStore)
    asked: list[float] = []

    def study(found: Lessons, at: float) -> Future[Trained | None]:
        asked.append(at)
        done: Future[Trained | None] = Future()
        done.set_result(replace(model, trained_at=at, report={"resources": found.seen.n}))
        return done

    batch, _ = store.batch()
    store.hunches("of another format", batch.id, np.full(N, 0.5), np.full(N, DAY_S), T0)
    for key in range(41, N + 1):  # whose sights have to be taken anew
        store._sights[key] = replace(store._sights[key], format=SIGHT_FORMAT - 1)
    sighted = Sighted(store, DAY_S, study)
    for minute in range(6):
        sighted.renew(store.batch()[0], now + 60.0 * minute)
    assert len(asked) == 1
