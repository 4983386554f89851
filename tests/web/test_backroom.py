"""Slow questions: answered once for all who ask, kept, and given out a little late rather than waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from recrawl.app.build import House
from recrawl.web.face.backroom import BackRoom, StillWorkingError

T = TypeVar("T")


def said(house: House, wait_s: float) -> str:
    """What the file says, after a while; each time that it was asked is counted in another."""
    with (house.home / "asked").open("a") as asked:
        asked.write("x")
    time.sleep(wait_s)
    return (house.home / "word").read_text()


def refused(house: House) -> None:
    raise ValueError(str(house.home))


def with_room(home: Path, ask: Callable[[BackRoom], Awaitable[T]]) -> T:
    async def asking() -> T:
        room = BackRoom(home)
        try:
            await room.ask(said, 0.0, deadline_s=60.0, keep_s=0.0)  # it is open now
            (home / "asked").write_text("")
            return await ask(room)
        finally:
            room.close()

    (home / "word").write_text("one")
    return asyncio.run(asking())


def test_who_asks_the_same_at_once_waits_for_one_answer(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> list[str]:
        both = await asyncio.gather(*(room.ask(said, 0.2) for _ in range(5)))
        (tmp_path / "word").write_text("two")
        return [*both, await room.ask(said, 0.2)]

    assert with_room(tmp_path, ask) == ["one"] * 6  # the last is kept
    assert (tmp_path / "asked").read_text() == "x"


def test_a_late_answer_is_given_while_it_is_worked_out_anew(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> list[str]:
        late = {"keep_s": 0.0, "late_s": 60.0}
        found = [await room.ask(said, 0.3, **late)]
        (tmp_path / "word").write_text("two")
        await asyncio.sleep(0.01)
        begun = time.perf_counter()
        found += [await room.ask(said, 0.3, **late), await room.ask(said, 0.3, **late)]
        assert time.perf_counter() - begun < 0.25  # nobody waited
        await asyncio.sleep(1.5)
        return [*found, await room.ask(said, 0.3, **late)]

    assert with_room(tmp_path, ask) == ["one", "one", "one", "two"]


def test_after_a_change_nothing_late_is_given(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> list[str]:
        late = {"keep_s": 0.0, "late_s": 60.0}
        found = [await room.ask(said, 0.1, **late)]
        (tmp_path / "word").write_text("two")
        await asyncio.sleep(0.01)
        found.append(await room.ask(said, 0.1, **late))  # asked anew behind it
        room.forget()
        return [*found, await room.ask(said, 0.1, **late)]

    assert with_room(tmp_path, ask) == ["one", "one", "two"]


def test_what_takes_too_long_is_gone_on_with(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> str:
        with pytest.raises(StillWorkingError):
            await room.ask(said, 0.5, deadline_s=0.05)
        return await room.ask(said, 0.5)

    assert with_room(tmp_path, ask) == "one"
    assert (tmp_path / "asked").read_text() == "x"


def test_what_went_wrong_is_asked_again(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> int:
        for _ in range(2):
            with pytest.raises(ValueError, match=tmp_path.name):
                await room.ask(refused)
        return len(room._answers)

    assert with_room(tmp_path, ask) <= 1
