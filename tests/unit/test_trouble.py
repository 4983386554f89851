"""Trouble of our own: how often it is tried again, and what people are told."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from recrawl.errors import ArchiveError, DamagedError, NewerStoreError, StoreError, UnsoundStoreError
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.room import Room
from recrawl.live.trouble import LONGEST_REST_S, Trouble, passes
from recrawl.live.virtual import VirtualClock
from recrawl.loop import Loop
from recrawl.model import Lease, NewResource
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.uniform import Uniform


class Told:
    def __init__(self) -> None:
        self.clock = VirtualClock(1_000.0)
        self.said: list[str] = []
        self.trouble = Trouble(clock=self.clock, tell=self.said.append)

    def later(self, seconds: float) -> None:
        async def wait() -> None:
            await self.clock.sleep(seconds)

        self.clock.run(wait())


def test_without_trouble_all_may_begin_and_nothing_is_said() -> None:
    told = Told()
    told.trouble.recorded()
    assert told.trouble.n_allowed("", 0, 5) == 5
    assert told.said == []


def test_without_room_none_may_begin_and_it_is_said_once() -> None:
    told = Told()
    assert [told.trouble.n_allowed("too little", 0, 5) for _ in range(3)] == [0, 0, 0]
    assert len(told.said) == 1
    assert "too little" in told.said[0]
    assert told.trouble.n_allowed("", 0, 5) == 5
    assert len(told.said) == 2
    assert told.trouble.n_allowed("too little", 0, 5) == 0
    assert len(told.said) == 3  # another time


def test_after_trouble_one_at_a_time_is_tried_less_and_less_often() -> None:
    told = Told()
    rests = []
    for _ in range(12):
        told.trouble.met(ArchiveError("The disk is full; make room."))
        told.trouble.met(ArchiveError("The disk is full; make room."))  # of the same moment
        rest = 0.0
        while told.trouble.n_allowed("", 0, 5) == 0:
            told.later(0.5)
            rest += 0.5
        rests.append(rest)
        assert told.trouble.n_allowed("", 0, 5) == 1
        assert told.trouble.n_allowed("", 1, 5) == 0  # that one is in the air
    assert rests[:4] == [1.0, 2.0, 4.0, 8.0]
    assert rests[-1] == LONGEST_REST_S
    assert len(told.said) == 1
    told.trouble.met(StoreError("The store is busy; wait."))
    assert len(told.said) == 2
    told.trouble.recorded()
    assert told.trouble.n_allowed("", 3, 5) == 2
    assert "go on" in told.said[-1]


def test_what_will_not_pass_ends_a_run() -> None:
    assert all(map(passes, (ArchiveError(), StoreError(), DamagedError())))
    assert not any(map(passes, (NewerStoreError(), UnsoundStoreError(), ValueError())))


def test_the_floor_is_the_smaller_of_the_two(tmp_path: Path) -> None:
    free, total = shutil.disk_usage(tmp_path).free, shutil.disk_usage(tmp_path).total
    assert Room(tmp_path, 0, 1.0).lack() == ""
    assert Room(tmp_path, 2 * total, 0.0).lack() == ""
    assert Room(tmp_path, free // 2, 1.0).lack() == ""
    lack = Room(tmp_path, 2 * total, 1.0).lack()
    assert "archiving.min_free_bytes" in lack
    assert "make room" in lack


class Stuck(MemoryStore):
    """Keeps no note once it has been told so."""

    stuck = False

    def exchange(self, key: str, expected: str | None, value: str) -> bool:
        if self.stuck:
            raise StoreError("The disk is full; make room.")
        return super().exchange(key, expected, value)

    def claim(self, **said: Any) -> list[Lease]:
        self.stuck = True
        return super().claim(**said)


def test_what_was_claimed_is_visited_although_the_allowance_cannot_be_noted() -> None:
    store = Stuck()
    store.add([NewResource(url="http://h/", host="h")], 1_000.0)
    loop = Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=1e6)
    (lease,) = loop.due(1_000.0, 5)
    assert lease.resource.host == "h"
