"""Both stores keep the contract; the checks are the ones that plug-in authors run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recrawl.checks.store import CHECKS, MakeStore
from recrawl.contracts import Store
from recrawl.remember.memory import MemoryStore
from recrawl.remember.sqlite import SqliteStore


def memory_maker(folder: Path) -> MakeStore:
    return MemoryStore


def sqlite_maker(folder: Path) -> MakeStore:
    def make() -> Store:
        return SqliteStore(folder / "store.db")

    return make


@pytest.mark.parametrize("maker", [memory_maker, sqlite_maker])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_every_store_passes(
    check: Callable[[MakeStore], None], maker: Callable[[Path], MakeStore], tmp_path: Path
) -> None:
    check(maker(tmp_path))
