"""Parsing processes: killed in time, replaced, and never left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from operator import add
from pathlib import Path

import pytest

from recrawl.parse.html import visible
from recrawl.parse.pool import ParseFailed, Pool


def children_of(pid: int) -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
        except OSError:  # it ended while we looked
            continue
        if re.search(rf"^PPid:\t{pid}$", text, re.MULTILINE):
            found.add(int(status.parent.name))
    return found


def running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def gone_soon(pids: set[int], within_s: float = 10.0) -> bool:
    ends = time.monotonic() + within_s
    while any(running(pid) for pid in pids):
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def test_a_function_runs_elsewhere_and_its_result_comes_back() -> None:
    with Pool() as pool:
        assert pool.run(add, 1, 2) == 3
        assert pool.run(os.getpid) not in (os.getpid(), None)
        assert pool.run(os.getpid) == pool.run(os.getpid)


def test_a_task_that_takes_too_long_is_ended_and_the_next_one_runs() -> None:
    with Pool(n_workers=1, limit_s=0.5) as pool:
        pid = pool.run(os.getpid)
        assert isinstance(pid, int)
        assert pool.run(pow, 3, 10**9) == ParseFailed("time", "more than 0.5 s of CPU time")
        assert not running(pid)
        assert pool.run(add, 1, 2) == 3


def test_a_machine_that_has_no_time_is_no_fault_of_the_document() -> None:
    """A worker that stands still takes no CPU time; only patience ends it."""
    with Pool(n_workers=1, limit_s=0.2) as pool:
        pid = pool.run(os.getpid)
        assert pool.run(time.sleep, 1.0) is None
        assert pool.run(os.getpid) == pid
    with Pool(n_workers=1, patience_s=0.5) as pool:
        assert pool.run(time.sleep, 60) == ParseFailed("time", "not done within 0.5 s on a busy machine")
        assert pool.run(add, 1, 2) == 3


def test_every_task_has_all_of_the_cpu_time() -> None:
    with Pool(n_workers=1, limit_s=1.0) as pool:
        pid, spent = pool.run(os.getpid), 0.0
        while spent < 2.0:
            assert not isinstance(pool.run(pow, 3, 1_000_000), ParseFailed)
            found = pool.run(time.process_time)
            assert isinstance(found, float)
            spent = found
        assert pool.run(os.getpid) == pid


@pytest.mark.slow
def test_a_parser_that_hangs_is_ended() -> None:
    with Pool(limit_s=1.0) as pool:
        result = pool.run(visible, b"<div>" * 100_000, None)
    assert isinstance(result, ParseFailed)
    assert result.reason == "time"


def test_a_task_that_wants_too_much_memory_fails_alone() -> None:
    with Pool(n_workers=1, memory_bytes=200 << 20) as pool:
        result = pool.run(bytes, 400 << 20)
        assert isinstance(result, ParseFailed)
        assert result.reason == "memory"
        assert pool.run(add, 1, 2) == 3


def test_a_document_too_large_to_be_handed_over_is_a_failure_too() -> None:
    with Pool(n_workers=1, memory_bytes=32 << 20) as pool:
        result = pool.run(len, bytes(64 << 20))
        assert isinstance(result, ParseFailed)
        assert pool.run(add, 1, 2) == 3


def test_an_exception_comes_back_as_a_value() -> None:
    with Pool() as pool:
        result = pool.run(int, "x")
    assert isinstance(result, ParseFailed)
    assert result.reason == "error"
    assert "ValueError" in result.detail


def test_a_worker_that_dies_at_work_or_at_rest_is_replaced() -> None:
    with Pool(n_workers=1) as pool:
        assert pool.run(os._exit, 3) == ParseFailed("crash", "the parsing process ended with 3")
        pid = pool.run(os.getpid)
        assert isinstance(pid, int)
        os.kill(pid, signal.SIGKILL)
        assert gone_soon({pid})
        assert pool.run(add, 1, 2) == 3


def test_what_cannot_be_sent_is_an_error_of_the_caller_and_costs_no_worker_for_good() -> None:
    with Pool(n_workers=1) as pool:
        with pytest.raises(Exception, match="pickle"):
            pool.run(lambda: 1)
        assert pool.run(add, 1, 2) == 3


def test_many_threads_share_few_workers() -> None:
    with Pool(n_workers=2) as pool, ThreadPoolExecutor(8) as threads:
        sums = list(threads.map(lambda n: pool.run(add, n, n), range(60)))
        pids = set(threads.map(lambda _: pool.run(os.getpid), range(20)))
    assert sums == [2 * n for n in range(60)]
    assert len(pids) <= 2


def test_closing_leaves_no_process_behind() -> None:
    with Pool() as pool:
        pid = pool.run(os.getpid)
        assert isinstance(pid, int)
        assert pid in children_of(os.getpid())
    assert not running(pid)


def started(program: str) -> tuple[subprocess.Popen[str], set[int]]:
    """A program that has printed a line, and its children at that moment."""
    parent = subprocess.Popen(
        [sys.executable, "-X", "dev", "-W", "error", "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    return parent, children_of(parent.pid)


def test_a_killed_parent_takes_its_workers_along_even_busy_ones() -> None:
    program = (
        "import threading, time\n"
        "from recrawl.parse.pool import Pool\n"
        "pool = Pool(limit_s=1.5)\n"
        "pool.run(len, '')\n"
        "threading.Thread(target=pool.run, args=(pow, 3, 10**9), daemon=True).start()\n"
        "time.sleep(0.3); pool.run(len, ''); print('ready', flush=True); time.sleep(60)\n"
    )
    parent, workers = started(program)
    with parent:
        assert len(workers) == 2
        parent.kill()
    assert gone_soon(workers, within_s=20.0)


def test_a_process_that_used_the_shared_pool_ends_without_a_word() -> None:
    program = "from recrawl.parse.pool import shared\nprint(shared().run(len, 'abc'), flush=True)\n"
    parent, _ = started(program)
    with parent:
        _, errors = parent.communicate(timeout=30)
    assert (parent.returncode, errors) == (0, "")


def test_a_forked_child_gets_a_pool_of_its_own() -> None:
    program = (
        "import os\n"
        "from recrawl.parse.pool import shared\n"
        "mine, worker = shared(), shared().run(os.getpid)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(int(shared() is mine or shared().run(os.getpid) == worker))\n"
        "status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
        "raise SystemExit(status or shared().run(os.getpid) != worker)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
