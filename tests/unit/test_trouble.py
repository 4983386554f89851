"""Trouble of our own: how often it is tried again, and what people are told."""

from __future__ import annotations

import shutil
from pathlib import Path

from recrawl.errors import ArchiveError, DamagedError, NewerStoreError, StoreError, UnsoundStoreError
from recrawl.live.room import Room
from recrawl.live.trouble import LONGEST_REST_S, Trouble, passes
from recrawl.live.virtual import VirtualClock


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
    assert told.trouble.n_allowed("", 5, 0) == 5
    assert told.said == []


def test_without_room_none_may_begin_and_it_is_said_once() -> None:
    told = Told()
    assert [told.trouble.n_allowed("too little", 5, 0) for _ in range(3)] == [0, 0, 0]
    assert len(told.said) == 1
    assert "too little" in told.said[0]
    assert told.trouble.n_allowed("", 5, 0) == 5
    assert len(told.said) == 2
    assert told.trouble.n_allowed("too little", 5, 0) == 0
    assert len(told.said) == 3  # another time


def test_after_trouble_one_at_a_time_is_tried_less_and_less_often() -> None:
    told = Told()
    rests = []
    for _ in range(12):
        told.trouble.met(ArchiveError("The disk is full; make room."))
        told.trouble.met(ArchiveError("The disk is full; make room."))  # of the same moment
        rest = 0.0
        while told.trouble.n_allowed("", 5, 0) == 0:
            told.later(0.5)
            rest += 0.5
        rests.append(rest)
        assert told.trouble.n_allowed("", 5, 0) == 1
        assert told.trouble.n_allowed("", 5, 1) == 0  # that one is in the air
    assert rests[:4] == [1.0, 2.0, 4.0, 8.0]
    assert rests[-1] == LONGEST_REST_S
    assert len(told.said) == 1
    told.trouble.met(StoreError("The store is busy; wait."))
    assert len(told.said) == 2
    told.trouble.recorded()
    assert told.trouble.n_allowed("", 5, 3) == 5
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
