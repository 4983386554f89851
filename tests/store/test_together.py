"""Claims and what they spend: one wait for the disk, and all of it or nothing."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pytest

from recrawl.checks.store.samples import T0, new
from recrawl.errors import StoreError
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import Lease
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.policies.uniform import Uniform


def loop_on(store: SqliteStore) -> Loop:
    store.add([new(f"http://{host}.test/") for host in "abcdef"], T0)
    return Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=40.0)


def test_what_is_claimed_and_what_is_spent_wait_for_the_disk_once(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        loop, ran = loop_on(store), list[str]()
        store._db._connection.set_trace_callback(ran.append)
        leases = loop.due(T0 + 1.0, 64)
        assert (len(leases), ran.count("COMMIT")) == (6, 1)
        assert loop.n_free(T0 + 1.0) == 4
        ran.clear()
        loop.release(leases[:1], T0 + 2.0, T0 + 2.0)
        assert ran.count("COMMIT") == 1
        assert loop.n_free(T0 + 2.0) == 5
        ran.clear()
        assert loop.claim(leases[0].resource.id, T0 + 3.0) is not None
        assert ran.count("COMMIT") == 1
        ran.clear()
        assert loop.due(T0 + 4.0, 64) == []
        assert "COMMIT" not in ran


def test_where_nothing_can_be_claimed_nothing_is_spent(tmp_path: Path) -> None:
    class Broken(SqliteStore):
        def claim(self, **said: object) -> list[Lease]:
            raise StoreError(f"The disk is full at {said['now']}; make room.")

    with closing(Broken(tmp_path / "store.sqlite")) as store:
        loop = loop_on(store)
        with pytest.raises(StoreError):
            loop.due(T0, 64)
        assert loop.n_free(T0) == 10


def test_another_threads_writings_are_not_among_them(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store, store.together():
        store.note("mine", "1")
        trouble: list[Exception] = []

        def other() -> None:
            try:
                store.note("theirs", "1")
            except StoreError as problem:
                trouble.append(problem)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert trouble  # as ever: one connection has one transaction at a time


def test_what_is_together_within_another_is_part_of_it(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "store.sqlite")) as store:
        with store.together():
            with store.together():
                store.note("inner", "1")
            store.note("outer", "1")
        assert (store.note("inner"), store.note("outer")) == ("1", "1")
