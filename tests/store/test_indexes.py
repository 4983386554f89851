"""However many versions there are, one of them is found without reading the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recrawl.checks.store.samples import T0, completion, found, lease_of, new, plans, version
from recrawl.model import Changed, Replacement, Sought, Telling
from recrawl.remember.sqlite import SqliteStore

A, OLD = "http://a.example/", "old.warc.gz"
N = 4_000
N_FEW = 1_000  # steps of SQLite's machine; a row that is looked at takes several


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """One resource, all of whose versions lie in one file."""
    with closing(SqliteStore(tmp_path / "s.sqlite")) as store:
        store.add([new(A)], T0)
        kept = [replace(version(T0 + n), file=OLD, offset=10 * n, length=9) for n in range(N)]
        done = completion(lease_of(store, A, T0), T0 + N, versions=tuple(kept))
        assert store.complete([done], {OLD: 10 * N}) == [True]
        yield store


def n_steps(store: SqliteStore, work: Callable[[], object]) -> int:
    n = 0

    def step() -> int:
        nonlocal n
        n += 50
        return 0

    store._db._connection.set_progress_handler(step, 50)
    try:
        assert work()
    finally:
        store._db._connection.set_progress_handler(None, 0)
    return n


def test_the_versions_around_a_moment(store: SqliteStore) -> None:
    known, middle = found(store, A).id, T0 + N / 2
    for newest_first in (True, False):
        span = {"until_at": middle} if newest_first else {"from_at": middle}
        seen = n_steps(store, lambda: store.history(known, newest_first=newest_first, limit=1, **span))  # noqa: B023
        assert seen < N_FEW


def test_what_lies_at_one_place(store: SqliteStore) -> None:
    assert n_steps(store, lambda: store.placed(OLD, 10 * N // 2)) < N_FEW


@pytest.mark.parametrize("erased", [True, False])
def test_one_version_that_goes(erased: bool, store: SqliteStore) -> None:
    one = store.placed(OLD, 10 * N // 2)
    made = Replacement(old=(), new={}, dropped=one, erased=erased)
    assert n_steps(store, lambda: store.replace(made)) < N_FEW
    assert [v.flag for v in store.versions() if v.at == one[0].at] == (["erased"] if erased else [])


def test_the_number_of_one_that_comes_in_later(store: SqliteStore) -> None:
    last = {"id": found(store, A).id, "at": T0 + 2 * N}
    assert n_steps(store, lambda: store._db.rows("seq_before", last)) < N_FEW


def test_who_was_told_of_is_found_without_reading_all_signals(tmp_path: Path) -> None:
    """Not when one of them is visited, nor whom one source told of, nor what one resource's visits were."""
    urls = [f"http://h{i}.example/" for i in range(N // 2)]
    with closing(SqliteStore(tmp_path / "told.sqlite")) as store:
        store.add([new(url) for url in urls], T0)
        leases = store.claim(now=T0, limit=len(urls), lease_s=60.0)
        store.complete([completion(lease, T0) for lease in leases])
        for source, told, at in ((urls[0], urls[2:], T0 + 10.0), (urls[1], urls, T0 + 20.0)):
            done = completion(lease_of(store, source, at), at)
            store.complete([replace(done, tells=tuple(map(Telling, told)))])
        last = {"id": len(urls), "since_at": T0 + 30.0}
        assert n_steps(store, lambda: store.told_of([done.visit])) < N_FEW
        assert n_steps(store, lambda: store._db.run("heed", last)) < N_FEW
        assert n_steps(store, lambda: list(store.signals(len(urls)))) < N_FEW
        assert n_steps(store, lambda: store.standing(len(urls))) < N_FEW
        lease = lease_of(store, urls[-1], T0 + 9_000.0)
        visit = replace(completion(lease, T0 + 9_000.0).visit, changed=Changed.NO)
        store.complete([replace(completion(lease, T0 + 9_000.0), visit=visit)])
        assert n_steps(store, lambda: len(store.lately(np.array([len(urls)]), 5)) == 1) < N_FEW


def test_what_changed_last_and_what_comes_next_are_found_without_reading_all(tmp_path: Path) -> None:
    """A page of changes among many visits that found none, and a few visits among many that are due later."""
    urls = [f"http://h{i}.example/" for i in range(N // 4)]
    with closing(SqliteStore(tmp_path / "stream.sqlite")) as store:
        store.add([new(url) for url in urls], T0)
        for turn in range(4):
            at = T0 + 10_000.0 * turn
            done = [completion(lease, at) for lease in store.claim(now=at, limit=len(urls), lease_s=60.0)]
            changed = [Changed.YES if turn == 2 and i < 30 else Changed.NO for i in range(len(done))]
            store.complete(
                [
                    replace(one, visit=replace(one.visit, changed=found))
                    for one, found in zip(done, changed, strict=True)
                ]
            )
        assert n_steps(store, lambda: store.stream(Sought(), limit=5, reach=N)) < 4 * N_FEW
        assert n_steps(store, lambda: len(store.most_changed(T0, T0 + 1e6, 5)) == 5) < 4 * N_FEW
        store.add([new(f"http://one.example/{i}") for i in range(N)], T0)
        ids = range(len(urls) + 1, len(urls) + N + 1)
        store.replan(plans({key: T0 + 1e6 + n for n, key in enumerate(ids)}))
        store.remove(range(1, len(urls) + 1))
        assert n_steps(store, lambda: len(store.coming(T0 + 1e6, T0 + 1e6 + 9.0, 99)) == 9) < 2 * N


def test_the_newest_visits_of_a_few_among_many(tmp_path: Path) -> None:
    urls = [f"http://h{i}.example/" for i in range(100)]
    with closing(SqliteStore(tmp_path / "newest.sqlite")) as store:
        store.add([new(url) for url in urls], T0)
        for turn in range(N // 100):
            at = T0 + 1e4 * turn
            leases = store.claim(now=at, limit=len(urls), lease_s=60.0)
            store.complete([completion(lease, at) for lease in leases])
        assert n_steps(store, lambda: len(store.latest(np.array([7, 77]), 5)) == 10) < N_FEW
        assert n_steps(store, lambda: len(store.latest(np.array([7]), 99, at - 3e4)) == 4) < N_FEW
        assert n_steps(store, lambda: store.known([urls[5], "http://x.example/"]) == {urls[5]}) < N_FEW
        assert n_steps(store, lambda: len(store.these([5, 6])) == 2) < N_FEW
