"""What only a file can get wrong: several processes, sudden death, growth."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from recrawl.checks.store.samples import T0, completion, lease_of, new, plans, same, version, visited
from recrawl.errors import StoreError
from recrawl.model import GLOBAL, Scope, ScopeKind, Settings
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.sqlite.database import queries

CLAIMER = """
import sys
from pathlib import Path
from recrawl.remember.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
while leases := store.claim(now=2e9, limit=3, lease_s=60.0):
    for lease in leases:
        print(lease.resource.host, lease.token, flush=True)
store.close()
"""

WRITER = """
import sys
from itertools import count
from pathlib import Path
from recrawl.checks.store.samples import completion, version
from recrawl.remember.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]))
for now in count(int(float(sys.argv[2])), 10):
    done = [
        completion(lease, now, gap_s=5.0, versions=(version(now),))
        for lease in store.claim(now=now, limit=20, lease_s=1.0)
    ]
    store.complete(done, {"a.warc.gz": now})
    for item in done:
        print(item.visit.fetch_id, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(path)) as opened:
        yield opened


def started(program: str, path: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, str(path), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def run_at_once(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Let each get ready, then start them together; what they wrote."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return outputs


def test_four_processes_never_claim_one_host_twice(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.add([new(f"http://h{i % 200}.example/{i}") for i in range(400)], T0)
    outputs = run_at_once([started(CLAIMER, path) for _ in range(4)])
    claims = Counter(line for output in outputs for line in output.splitlines())
    assert len(claims) == 200
    assert set(claims.values()) == {1}
    assert {line.split()[1] for line in claims} == {"1"}


def test_processes_that_create_the_same_store_at_once_all_get_it(path: Path) -> None:
    program = """
import sys
from pathlib import Path
from recrawl.checks.store.samples import T0, new
from recrawl.remember.sqlite import SqliteStore

print("ready", flush=True)
sys.stdin.readline()
for i in range(20):
    store = SqliteStore(Path(f"{sys.argv[1]}{i}"))
    store.add([new(f"http://{sys.argv[2]}.example/")], T0)
    store.close()
"""
    run_at_once([started(program, path, f"p{i}") for i in range(6)])
    for i in range(20):
        with closing(SqliteStore(Path(f"{path}{i}"))) as store:
            assert store.counts(T0)["resources"] == 6


@pytest.mark.parametrize("n_lines", [1, 50, 333])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(path: Path, n_lines: int) -> None:
    with closing(SqliteStore(path)) as store:
        store.add([new(f"http://h{i}.example/") for i in range(50)], T0)
    process = started(WRITER, path, str(T0))
    assert process.stdout is not None
    acknowledged = [line.strip() for line in islice(process.stdout, n_lines)]
    os.kill(process.pid, signal.SIGKILL)
    acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    with closing(SqliteStore(path)) as store:
        visits = {v.fetch_id: v for r, _, _ in store.resources() for v in store.visits(r.id)}
        assert set(acknowledged) <= set(visits)
        assert store.counts(T0)["visits"] == len(visits) == len(list(store.versions()))
        newest = max((visit.at for visit in visits.values()), default=0.0)
        assert store.files().get("a.warc.gz", 0) >= newest
        assert store.claim(now=T0 + 1e6, limit=100, lease_s=1.0)


def test_all_is_there_after_reopening(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        store.add([new("http://a.example/", "x"), new("http://b.example/")], T0)
        store.say(Scope(ScopeKind.TAG, "x"), Settings(weight=4.0), T0)
        lease = lease_of(store, "http://a.example/", T0)
        store.complete([completion(lease, T0, versions=(version(T0),))], {"f": 3})
        store.note("price", "0.5")
        store.claim(now=T0, limit=1, lease_s=60.0)
        before = [*store.resources(), *store.visits(1), *store.versions(), *store.said(), store.counts(T0)]
    with closing(SqliteStore(path)) as store:
        after = [*store.resources(), *store.visits(1), *store.versions(), *store.said(), store.counts(T0)]
        assert same(before, after)
        assert (store.note("price"), dict(store.files())) == ("0.5", {"f": 3})
        assert store.ready_at(T0) == T0 + 60.0


def test_another_process_sees_what_is_committed_while_we_read(path: Path, store: SqliteStore) -> None:
    """A half-read listing keeps nobody from writing, ourselves included."""
    store.add([new(f"http://h{i}.example/") for i in range(2_500)], T0)
    listing = store.resources()
    next(listing)
    with closing(SqliteStore(path)) as other:
        other.note("price", "7")
        other.remove([1, 2])
    assert store.note("price", "8") == "8"
    assert len(list(listing)) == 2_499  # the first page had been read


def test_a_failed_write_leaves_the_store_as_it_was(store: SqliteStore) -> None:
    store.add([new("http://a.example/"), new("http://b.example/")], T0)
    good, bad = store.claim(now=T0, limit=2, lease_s=60.0)
    before = [*store.resources(), store.counts(T0)]
    unfit = completion(bad, T0, fetch_id="\ud800")  # SQLite holds no lone surrogates
    with pytest.raises(UnicodeEncodeError):
        store.complete([completion(good, T0), unfit], {"f": 1})
    assert same([*store.resources(), store.counts(T0)], before)
    assert dict(store.files()) == {}
    assert store.complete([completion(good, T0)]) == [True]


def test_the_store_may_change_threads(store: SqliteStore) -> None:
    added: list[tuple[int, int]] = []
    thread = threading.Thread(target=lambda: added.append(store.add([new("http://a.example/")], T0)))
    thread.start()
    thread.join()
    assert added == [(1, 0)]
    assert store.counts(T0)["resources"] == 1


def test_a_store_that_stays_locked_is_an_error_with_a_remedy(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recrawl.remember.sqlite.database.BUSY_S", 0.1)
    with closing(SqliteStore(path)) as hurried, closing(sqlite3.connect(path)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"locked.*no other program holds the file\.$"):
            hurried.note("price", "1")
        raw.rollback()
        assert hurried.note("price", "1") == "1"


READS_WHILE_ANOTHER_WRITES = """
import sys, threading
from pathlib import Path
from recrawl.checks.store.samples import T0, new
from recrawl.remember.sqlite import SqliteStore

store = SqliteStore(Path(sys.argv[1]))

def write():
    for i in range(3):
        store.add([new(f"http://h{i}.example/{j}") for j in range(2_000)], T0)

writer = threading.Thread(target=write)
writer.start()
while writer.is_alive():
    store.gate_at("h1.example")
print(store.counts(T0)["resources"])
"""


def test_a_thread_that_reads_while_another_writes_waits_and_not_for_ever(tmp_path: Path) -> None:
    """Rows are added up in Python: whoever waited for the connection without letting go of the interpreter
    would wait for the one that needs it."""
    command = [sys.executable, "-c", READS_WHILE_ANOTHER_WRITES, str(tmp_path / "store")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout == "6000\n"


@pytest.mark.parametrize(
    "name",
    [
        "line_up",
        "next_in_line",
        "only",
        "lease",
        "ready_at",
        "take_turns",
        "finish",
        "recorded_among",
        "last_seqs",
        "stand",
        "visits",
    ],
)
def test_the_loop_reads_by_index_alone(store: SqliteStore, name: str) -> None:
    no_values: dict[str, None] = defaultdict(lambda: None)
    plan = store._db._connection.execute("EXPLAIN QUERY PLAN " + queries()[name], no_values)
    steps = [row["detail"] for row in plan]
    scans = [step for step in steps if step.startswith("SCAN") and not re.search("json_each|VIRTUAL", step)]
    assert steps
    assert scans == []
    assert not any("TEMP B-TREE" in step for step in steps)


def test_a_claim_reads_no_more_hosts_than_it_takes(store: SqliteStore) -> None:
    """Counted in steps of SQLite's machine, which do not depend on the machine it runs on."""

    def steps(n_hosts: int, prefix: str) -> int:
        store.add([new(f"http://{prefix}{i}.example/") for i in range(n_hosts)], T0)
        store.claim(now=T0, limit=1, lease_s=1e9)  # all that are ready get in line
        n_steps = 0

        def tick() -> int:
            nonlocal n_steps
            n_steps += 1
            return 0

        connection = store._db._connection
        connection.set_progress_handler(tick, 10)
        assert len(store.claim(now=T0, limit=5, lease_s=1e9)) == 5
        assert store.ready_at(T0) == T0
        connection.set_progress_handler(None, 0)
        return n_steps

    few = steps(50, "few")
    assert steps(5_000, "many") < 2 * few + 20


def test_a_hundred_thousand_are_added_and_planned(store: SqliteStore) -> None:
    n = 100_000
    many = (new(f"http://h{i % 1_000}.example/{i}", *(["x"] if i % 10 == 0 else [])) for i in range(n))
    assert store.add(many, T0) == (n, 0)
    assert store.say(GLOBAL, Settings(weight=2.0), T0) == n
    batch, memory = store.batch()
    assert (len(batch), memory.shape, float(batch.weight.sum())) == (n, (n, 0), 2.0 * n)
    store.replan(plans({int(key): T0 + float(key) for key in batch.id}))
    assert store.ready_at(T0) == T0 + 1.0
    assert len(list(store.resources(tag="x", limit=50, after=n // 2))) == 50
    visited(store, "http://h7.example/99007", T0)
    assert store.counts(T0 + 10.0)["due"] == 9 + 1  # number 8 is gated, not less due
