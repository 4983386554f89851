"""F4: a call that makes something durable fails, each in turn. That is told with its remedy, nothing that was
acknowledged is lost, and the next start goes on as if nothing had been."""

from __future__ import annotations

import re
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, product
from pathlib import Path

import pytest
from tests.faults import twins
from tests.faults.bodies import MIB, Bodies, answering
from tests.faults.counts import FULL
from tests.faults.driver import Driver, driving
from tests.faults.failpoints import AFTER, BEFORE, HALF, Fault
from tests.faults.ledger import problems

N_HOSTS = 5
SETTINGS = {
    "FETCHING__MIN_DELAY": "0.01",
    "FETCHING__CONCURRENCY": "2",
    "ARCHIVING__MAX_FILE_BYTES": str(2 * MIB),
}
CALLS = ("open", "write", "fsync", "rename", "begin", "commit")
ERRORS = ("EIO", "ENOSPC") if FULL else ("ENOSPC",)
SHORT = (3,)  # the calls that fail where not all of them do, one after the other
REMEDY = re.compile(r"make room|make it writable|check that its folder|has room")
RUN = ("run", "--json", "--budget", "10000000/day")


@contextmanager
def watched(tmp_path: Path) -> Iterator[tuple[Driver, Bodies, Path]]:
    """A home that watches some hosts and has never visited them: to be copied."""
    home = tmp_path / "watched" / "home"
    home.parent.mkdir()
    with answering() as bodies, driving(home, SETTINGS) as driver:
        added = driver.run("add", *bodies.urls(0, N_HOSTS), "--allow-private", "--min-gap", "1h")
        assert added.code == 0, added.err
        yield driver, bodies, home


def copied(home: Path, name: str) -> Path:
    to = home.parent.parent / name / "home"
    shutil.copytree(home, to)
    return to


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_whichever_call_fails_it_is_told_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    told: set[str] = set()
    n_failed = 0
    with watched(tmp_path) as (driver, bodies, template):
        for call, error in product(CALLS, ERRORS):
            for nth in count(1) if FULL else SHORT:
                home = copied(template, f"{call}-{error}-{nth}")
                first = driver.run(*RUN, "--once", fault=Fault(call, nth, what=error), home=home)
                if not (home / "reached").exists():
                    assert first.code == 0, first.err
                    break
                n_failed += 1
                assert first.code in (0, 3), (call, nth, first.err)
                assert "Traceback" not in first.err
                if first.code:
                    told.add(call)
                    assert REMEDY.search(first.err), (call, nth, first.err)
                second = driver.run(*RUN, "--once", home=home)
                assert second.code == 0, second.err
                visits = first.told + second.told
                assert {visit["url"] for visit in visits} == set(bodies.urls(0, N_HOSTS))
                assert problems(home, visits, bodies.sent, unreferenced=True) == [], (call, nth)
                shutil.rmtree(home.parent)
    print(f"{n_failed} calls failed")
    # without its index every file can be read all the same, and the next start makes it
    assert told >= set(CALLS) - {"rename"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        *([Fault("write", 2, HALF, "ENOSPC"), Fault("begin", 12, BEFORE, "ENOSPC")] if FULL else []),
        Fault("commit", 12, BEFORE, "ENOSPC"),
        Fault("commit", 1, AFTER, "EIO", since="fsync"),  # the visit was recorded, and nobody knows
    ],
)
def test_a_run_for_ever_tells_it_and_goes_on_by_itself(tmp_path: Path, fault: Fault) -> None:
    with watched(tmp_path) as (driver, bodies, template):
        home = copied(template, "run")
        run = driver.start(*RUN, fault=fault, home=home)
        run.until(said="visits go on")
        run.until(n_lines=N_HOSTS if fault.when != AFTER else N_HOSTS - 2)  # two are recorded together
        run.send(signal.SIGTERM)
        ended = run.wait()
        assert (home / "reached").exists()
        assert ended.code == 0, ended.err
        assert REMEDY.search(ended.err), ended.err
        assert problems(home, ended.told, bodies.sent, unreferenced=True) == []


@pytest.mark.slow
def test_the_check_catches_a_run_that_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    with watched(tmp_path) as (driver, bodies, template):
        home = copied(template, "run")
        fault = Fault("write", 1, HALF, "ENOSPC")
        ended = driver.run(*RUN, "--once", fault=fault, twin=twins.SWALLOWS, home=home)
        found = problems(home, ended.told, bodies.sent, unreferenced=True)
        assert any("cannot be read" in problem for problem in found), found


@pytest.mark.slow
def test_the_check_catches_a_run_that_gives_up(tmp_path: Path) -> None:
    with watched(tmp_path) as (driver, _, template):
        home = copied(template, "run")
        run = driver.start(*RUN, fault=Fault("fsync", 1, BEFORE, "EIO"), twin=twins.GIVES_UP, home=home)
        deadline = time.monotonic() + 60.0
        with pytest.raises(AssertionError):
            run.until(said="visits go on")
        assert time.monotonic() < deadline
        assert run.wait().code == 3
