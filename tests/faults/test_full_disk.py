"""F7: a disk that is full, and then is not. A run stops claiming, says so, and goes on by itself.

The disk is a small one in memory, seen by the commands alone; it goes with the process that holds it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faults import twins
from tests.faults.bodies import MIB, Bodies, answering
from tests.faults.counts import FULL, n_times
from tests.faults.driver import ROOT, Driver, Running, driving
from tests.faults.ledger import problems

N_TIMES = n_times(5, 1)
DISK_BYTES = 64 * MIB
BALLAST_BYTES = 8 * MIB
N_BALLAST = 5
N_HOSTS = 12
STOPS = "Nothing new is visited"
GOES_ON = "visits go on"
RUN = ("run", "--json", "--budget", "10000000/day")


@dataclass(frozen=True)
class Disk:
    """A small disk at `folder`, for whoever is started `through` this command; seen from here at `seen`."""

    folder: Path
    through: tuple[str, ...]
    seen: Path

    def free(self) -> None:
        """Make room."""
        next(iter(self.seen.glob("ballast-*"))).unlink()


@contextmanager
def small_disk(folder: Path) -> Iterator[Disk]:
    folder.mkdir()
    root = os.geteuid() == 0
    ways = ["--mount"] if root else ["--user", "--map-root-user", "--mount"]
    mount = f"mount -t tmpfs -o size={DISK_BYTES} none {folder} && echo done && exec cat"
    with subprocess.Popen(
        ["unshare", *ways, "sh", "-c", mount],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stderr is not None
        if not holder.stdout.readline():
            pytest.skip(f"no small disk can be made here: {holder.stderr.read().strip()}")
        enter = ["--mount"] if root else ["--user", "--preserve-credentials", "--mount"]
        seen = Path(f"/proc/{holder.pid}/root") / folder.relative_to("/")
        for number in range(N_BALLAST):
            (seen / f"ballast-{number}").write_bytes(bytes(BALLAST_BYTES))
        try:
            yield Disk(folder, ("nsenter", *enter, f"--target={holder.pid}", f"--wd={ROOT}"), seen)
        finally:
            holder.kill()


@contextmanager
def running(tmp_path: Path, twin: str = "", **more: str) -> Iterator[tuple[Disk, Bodies, Driver, Running]]:
    """A run that fills a small disk."""
    settings = {"FETCHING__MIN_DELAY": "0.01", "FETCHING__CONCURRENCY": "4", **more}
    logs = tmp_path / "logs"
    logs.mkdir()
    with (
        small_disk(tmp_path / "disk") as disk,
        answering() as bodies,
        driving(disk.folder / "home", logs=logs, through=disk.through, **settings) as driver,
    ):
        added = driver.run("add", *bodies.urls(0, N_HOSTS), "--allow-private", "--min-gap", "1s")
        assert added.code == 0, added.err
        yield disk, bodies, driver, driver.start(*RUN, twin=twin)


def n_asked(bodies: Bodies, for_s: float) -> int:
    """How many requests come in so long, once those that were under way have ended."""
    time.sleep(1.0)
    before = len(bodies.asked)
    time.sleep(for_s)
    return len(bodies.asked) - before


def wait_for(run: Running, text: str, n_times: int) -> None:
    deadline = time.monotonic() + 120.0
    while run.err.read_text().count(text) < n_times:
        assert time.monotonic() < deadline, run.err.read_text()
        time.sleep(0.02)


def has_failed(run: Running) -> bool:
    """Whether a visit came to nothing for want of room."""
    return "tried again" in run.err.read_text()


@pytest.mark.slow
@pytest.mark.timeout(120 + 60 * N_TIMES)
# The usual floor, which a few large bodies that are in the air can go through; and one that is above them.
@pytest.mark.parametrize("share", ["0.05", "0.35"] if FULL else ["0.35"])
def test_a_run_waits_for_room_and_goes_on_by_itself(tmp_path: Path, share: str) -> None:
    with running(tmp_path, ARCHIVING__MIN_FREE_SHARE=share) as (disk, bodies, driver, run):
        for turn in range(1, N_TIMES + 1):
            wait_for(run, STOPS, turn)
            assert n_asked(bodies, for_s=3.0) == 0
            assert share == "0.05" or not has_failed(run)
            for command in ("status", "list"):
                answered = driver.run(command, "--json")
                assert answered.code == 0, answered.err
            looked = driver.run("doctor")
            assert looked.code == 1
            assert "nothing will be visited" in looked.out
            n_before = run.n_lines()
            assert driver.run("run", "--once").code == 3  # one that has an end does not wait
            disk.free()
            wait_for(run, GOES_ON, turn)
            run.until(n_lines=n_before + 1)
            assert run.err.read_text().count(STOPS) <= turn + 1  # said once each time
        run.send(signal.SIGTERM)
        ended = run.wait()
        assert ended.code == 0, ended.err
        shutil.copytree(disk.seen / "home", tmp_path / "copy" / "home")
    assert problems(tmp_path / "copy" / "home", ended.told, bodies.sent, unreferenced=True) == []


@pytest.mark.slow
def test_without_a_floor_a_full_disk_costs_visits_and_not_the_run(tmp_path: Path) -> None:
    with running(tmp_path, ARCHIVING__MIN_FREE_BYTES="0") as (disk, bodies, _, run):
        run.until(said="tried again")
        assert STOPS not in run.err.read_text()
        assert has_failed(run)  # as the test above would see
        n_before = run.n_lines()
        disk.free()
        wait_for(run, GOES_ON, 1)
        run.until(n_lines=n_before + 1)
        run.send(signal.SIGTERM)
        ended = run.wait()
        shutil.copytree(disk.seen / "home", tmp_path / "copy" / "home")
    assert problems(tmp_path / "copy" / "home", ended.told, bodies.sent, unreferenced=True) == []


@pytest.mark.slow
def test_the_check_catches_a_run_that_a_full_disk_ends(tmp_path: Path) -> None:
    with running(tmp_path, twins.GIVES_UP, ARCHIVING__MIN_FREE_BYTES="0") as (_, _, _, run):
        with pytest.raises(AssertionError, match=r"make room|has room"):
            run.until(said=GOES_ON)
        assert run.wait().code == 3
