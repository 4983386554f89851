"""Kin in the loop: found from its own visits once a day, kept in the store, and looked at sooner."""

from __future__ import annotations

import json
from math import inf

import numpy as np
import pytest

from recrawl import kinship
from recrawl.kinship import KEY, Kinship
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.loop import Loop
from recrawl.model import DAY_S, Batch, Floats, Ints, KinTable, NewResource, Seen, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import TraceWorld

T0 = 1_700_000_000.0
N_DAYS = 150.0


def lived(*, train_every_s: float = DAY_S, days: float = N_DAYS) -> tuple[MemoryStore, Rhythm]:
    """Three of one host, of which the first two change together; two visits a day for all."""
    rng = np.random.default_rng(2)
    shared, alone = (np.sort(T0 + DAY_S * N_DAYS * rng.random(30)) for _ in range(2))
    events: list[Floats] = [shared, shared + 600.0, alone]
    store, predictor = MemoryStore(), Rhythm()
    loop = Loop(
        store=store,
        predictor=predictor,
        policy=Index(Fresh()),
        rule="index",
        per_day=2.0,
        reprice_every_s=DAY_S,
        train_every_s=train_every_s,
    )
    settings = Settings(min_gap_s=3600.0, max_gap_s=10 * DAY_S)
    resources = [NewResource(url=f"http://a.test/{i}", host="a.test", settings=settings) for i in range(3)]
    simulate(loop, TraceWorld(resources, events), start_at=T0, end_at=T0 + days * DAY_S)
    return store, predictor


def test_a_loop_finds_kin_in_its_own_visits_and_heeds_them() -> None:
    store, predictor = lived()
    table = store.kin()
    pairs = set(zip(table.id.tolist(), table.of.tolist(), strict=True))
    assert {(1, 2), (2, 1)} & pairs
    assert not {(3, 1), (3, 2), (1, 3), (2, 3)} & pairs
    ties = predictor.common.ties
    assert ties.of[ties.row[1]].tolist().count(0) < len(ties.of[0]) or ties.row[2] > 0
    assert ties.n.sum() > 3.0  # tellings were checked
    assert ties.right.sum() / ties.n.sum() > 0.3
    found_at, after = json.loads(store.note(KEY) or "")
    assert T0 + (N_DAYS - 2) * DAY_S < found_at < T0 + N_DAYS * DAY_S
    assert after == 0


def test_a_loop_that_trains_nothing_finds_no_kin() -> None:
    store, predictor = lived(train_every_s=inf, days=20.0)
    assert len(store.kin()) == 0
    assert store.note(KEY) is None
    assert not predictor.common.ties.row.any()


def watched(n: int, per_group: int) -> tuple[MemoryStore, Batch]:
    store = MemoryStore()
    new = [
        NewResource(url=f"http://h{i // per_group}.test/{i}", host=f"h{i // per_group}.test")
        for i in range(n)
    ]
    store.add(new, T0)
    batch, _ = store.batch()
    batch.n_changes[:] = 5
    return store, batch


def test_of_very_many_some_groups_are_compared_each_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinship, "N_TOGETHER", 5)
    store, batch = watched(8, 2)
    asked: list[list[int]] = []
    monkeypatch.setattr(store, "note_kin", lambda ids, _: asked.append(ids.tolist()))
    kept = Kinship(store, Rhythm(), DAY_S)
    for day in (0.0, 0.5, 1.0, 2.0):
        kept.renew(batch, T0 + day * DAY_S)
    assert asked == [[1, 2, 3, 4], [5, 6, 7, 8], [1, 2, 3, 4]]


def test_of_a_large_group_the_liveliest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinship, "MOST", 3)
    store, batch = watched(8, 8)
    batch.n_changes[:] = [4, 9, 2, 8, 3, 7, 3, 3]
    asked: list[list[int]] = []

    def lately(ids: Ints, n_each: int) -> Seen:
        asked.append(ids.tolist())
        return MemoryStore.lately(store, ids, n_each)

    monkeypatch.setattr(store, "lately", lately)
    store.note_kin(np.arange(1, 9), KinTable(id=np.array([5, 3]), of=np.array([1, 1]), weight=np.ones(2)))
    Kinship(store, Rhythm(), DAY_S).renew(batch, T0)
    assert asked == [[2, 4, 6]]
    assert store.kin().id.tolist() == [
        3
    ]  # 3 has not changed often enough to be asked about; 5 has no kin now


def test_a_table_that_another_worker_noted_is_taken_up() -> None:
    store, batch = watched(4, 4)
    ours = Rhythm()
    kept = Kinship(store, ours, DAY_S)
    kept.renew(batch, T0)
    store.note_kin(np.array([2]), KinTable(id=np.array([2]), of=np.array([1]), weight=np.array([0.5])))
    store.note(KEY, json.dumps([T0 + 5.0, 0]))
    kept.renew(batch, T0 + 10.0)
    assert ours.common.ties.of[ours.common.ties.row[2], 0] == 1
    anew = Rhythm()
    Kinship(store, anew, DAY_S).take_up()
    assert anew.common.ties.row[2] == 1


def test_other_predictors_do_without() -> None:
    store, batch = watched(4, 4)
    Kinship(store, GammaFilter(), DAY_S).renew(batch, T0)
    assert store.note(KEY) is None
