"""Slow questions: answered once for all who ask, kept, and given out a little late rather than waited for."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from tests import plugins

from recrawl.app.build import House
from recrawl.errors import PluginError, RecrawlError
from recrawl.registry import made
from recrawl.web.face.backroom import N_WAITING, BackRoom, StillWorkingError

T = TypeVar("T")


def said(house: House, wait_s: float) -> str:
    """What the file says, after a while; each time that it was asked is counted in another."""
    with (house.home / "asked").open("a") as asked:
        asked.write("x")
    time.sleep(wait_s)
    return (house.home / "word").read_text()


def refused(house: House) -> None:
    raise ValueError(str(house.home))


def foretold(house: House) -> object:
    return made("predictors", house.config.schedule.predictor).forecast(None, 0.0)


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


def test_a_part_of_others_that_goes_wrong_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No error brings the lines that led to it from one process to another."""

    async def ask(room: BackRoom) -> None:
        with pytest.raises(PluginError, match=r"'mine' \(my_package:MyPredictor, of my-package\) failed in "):
            await room.ask(foretold, deadline_s=60.0)

    site = plugins.package(
        tmp_path / "site", plugins.page_code("width"), {"predictors": {"mine": "MyPredictor"}}
    )
    monkeypatch.setenv("RECRAWL_SCHEDULE__PREDICTOR", "mine")
    with plugins.installed(site, monkeypatch):
        with_room(tmp_path, ask)


def dies(house: House, times: int) -> str:
    """The process is killed in the middle, so many times."""
    with (house.home / "asked").open("a") as asked:
        asked.write("x")
    if len((house.home / "asked").read_text()) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def test_a_room_that_is_killed_is_opened_again_once(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> list[str]:
        found = [await room.ask(dies, 1, deadline_s=60.0)]
        (tmp_path / "asked").write_text("")
        with pytest.raises(RecrawlError, match="memory"):
            await room.ask(dies, 2, deadline_s=60.0)
        return [*found, await room.ask(said, 0.0, deadline_s=60.0)]

    assert with_room(tmp_path, ask) == ["alive", "one"]


def test_who_waits_for_a_room_that_is_closed_is_told_so(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> float:
        waiting = [asyncio.ensure_future(room.ask(said, wait_s, deadline_s=60.0)) for wait_s in (30.0, 31.0)]
        await asyncio.sleep(0.2)
        begun = time.perf_counter()
        room.close()
        for one in waiting:
            with pytest.raises(StillWorkingError, match="ending"):
                await one
        with pytest.raises(StillWorkingError, match="ending"):
            await room.ask(said, 1.0)
        return time.perf_counter() - begun

    assert with_room(tmp_path, ask) < 10.0


def test_no_more_wait_than_can_be_answered(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> str:
        waiting = [asyncio.ensure_future(room.ask(said, 0.01 * n, deadline_s=60.0)) for n in range(N_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(StillWorkingError, match="Much else"):
            await room.ask(said, 1.0)
        await asyncio.gather(*waiting)
        return await room.ask(said, 1.0, deadline_s=60.0)

    assert with_room(tmp_path, ask) == "one"


_SERVER = """
import asyncio, pathlib, sys
from recrawl.web.face.backroom import BackRoom
from tests.web.test_backroom import number, said

async def ask():
    room = BackRoom(pathlib.Path(sys.argv[1]))
    print(await room.ask(number, deadline_s=60.0), flush=True)
    await room.ask(said, 600.0, deadline_s=600.0)

if __name__ == "__main__":
    asyncio.run(ask())
"""


def number(house: House) -> int:
    return os.getpid()


def test_nobody_thinks_on_for_a_server_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(_SERVER)
    place = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], stdout=subprocess.PIPE, text=True, env=place
    ) as server:
        assert server.stdout is not None
        room = int(server.stdout.readline())
        until = time.monotonic() + 20.0
        while not (tmp_path / "asked").exists() and time.monotonic() < until:
            time.sleep(0.05)  # an idle one ends by itself
        server.kill()
    until = time.monotonic() + 20.0
    while Path(f"/proc/{room}").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not Path(f"/proc/{room}").exists()


def test_what_went_wrong_is_asked_again(tmp_path: Path) -> None:
    async def ask(room: BackRoom) -> int:
        for _ in range(2):
            with pytest.raises(ValueError, match=tmp_path.name):
                await room.ask(refused)
        return len(room._answers)

    assert with_room(tmp_path, ask) <= 1
