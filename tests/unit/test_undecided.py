"""Killed while it committed: the log has it, nobody was told. Store and archive agree all the same."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.keeper import T0, Keeper, keeper

from recrawl.app.health import verify
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.withdrawal import MemoryWithdrawal

A, B = "http://a.example/", "http://b.example/"


def in_a_process_that_dies(work: Callable[[], object]) -> None:
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(9)
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@contextmanager
def reader(store: Path) -> Iterator[None]:
    """Another process that has the store open all the while: the log is not gone through again."""
    ready, tell = os.pipe()
    child = os.fork()
    if not child:
        SqliteStore(store).files()
        os.write(tell, b".")
        signal.pause()
    os.read(ready, 1)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)
        os.close(tell)


def untold(home: Path) -> None:
    """A visit whose last commit is on the disk, by a process that died before it could say so."""
    shared = home / "recrawl.sqlite-shm"
    before: list[bytes] = []
    really = SqliteStore.complete

    def complete(*args: object) -> object:
        before.append(shared.read_bytes())
        return really(*args)  # type: ignore[arg-type]

    SqliteStore.complete = complete  # type: ignore[method-assign,assignment]
    with keeper(home) as kept:
        kept.sees(B, b"two" * 900, T0 + 1)
        with shared.open("r+b") as stream:
            stream.write(before[-1])
        os._exit(9)


def started(home: Path) -> None:
    with keeper(home) as kept:
        assert list(kept.house.archive.cdxj())
        assert kept.house.recovered
        os._exit(9)


def kept_of(kept: Keeper) -> tuple[list[bytes], list[bytes]]:
    assert [f"{problem.where}: {problem.what}" for problem in verify(kept.house)] == []
    return kept.bodies(A), kept.bodies(B)


def test_nothing_is_cut_that_the_store_may_come_back_to(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, b"one" * 900, T0)
    with reader(tmp_path / "recrawl.sqlite"):
        in_a_process_that_dies(lambda: untold(tmp_path))
        in_a_process_that_dies(lambda: started(tmp_path))
    with keeper(tmp_path) as kept:
        assert kept_of(kept) == ([b"one" * 900], [])


def test_what_nobody_cut_comes_back_whole(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, b"one" * 900, T0)
    with reader(tmp_path / "recrawl.sqlite"):
        in_a_process_that_dies(lambda: untold(tmp_path))
    with keeper(tmp_path) as kept:
        assert kept_of(kept) == ([b"one" * 900], [b"two" * 900])


def test_the_check_sees_a_store_that_does_not_make_up_its_mind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteStore, "settle", MemoryWithdrawal.settle)
    with pytest.raises(AssertionError, match="cannot be read"):
        test_nothing_is_cut_that_the_store_may_come_back_to(tmp_path)
