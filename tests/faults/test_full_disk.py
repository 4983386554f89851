"""F7: a disk that is full, and then is not. A run stops claiming, says so, and goes on by itself.

The disk is a small one in memory, seen by the commands alone; it goes with the process that holds it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
# More than all that one large body needs, which lies on the disk three times while it is worked on.
FLOOR_BYTES = 16 * MIB
N_HOSTS = 12
STOPS = "Nothing new is visited"
FAILS = "tried again"
GOES_ON = "visits go on"
RUN = ("run", "--json", "--budget", "10000000/day")


@dataclass(frozen=True)
class Disk:
    """A small disk at `folder`, for whoever is started `through` this command; seen from here at `seen`."""

    folder: Path
    through: tuple[str, ...]
    seen: Path

    def fill(self, n_left: int) -> None:
        """Leave so many bytes free, if more are."""
        n_more = shutil.disk_usage(self.seen).free - n_left
        with suppress(OSError):  # the run was quicker, and now it is quite full
            (self.seen / "ballast").write_bytes(bytes(max(0, n_more)))

    def free(self) -> None:
        (self.seen / "ballast").unlink()


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
        try:
            yield Disk(folder, ("nsenter", *enter, f"--target={holder.pid}", f"--wd={ROOT}"), seen)
        finally:
            holder.kill()


@contextmanager
def running(tmp_path: Path, twin: str = "", **more: str) -> Iterator[tuple[Disk, Bodies, Driver, Running]]:
    """A run on a small disk, which has recorded a few visits."""
    settings = {"FETCHING__MIN_DELAY": "0.01", **more}
    logs = tmp_path / "logs"
    logs.mkdir()
    with (
        small_disk(tmp_path / "disk") as disk,
        answering(slow_s=0.2) as bodies,
        driving(disk.folder / "home", settings, logs=logs, through=disk.through) as driver,
    ):
        added = driver.run("add", *bodies.urls(0, N_HOSTS), "--allow-private", "--min-gap", "1s")
        assert added.code == 0, added.err
        run = driver.start(*RUN, twin=twin)
        run.until(n_lines=2)
        yield disk, bodies, driver, run


def n_asked(bodies: Bodies, for_s: float) -> int:
    """How many requests come in so long, once those that were under way have ended."""
    time.sleep(1.0)
    before = len(bodies.asked)
    time.sleep(for_s)
    return len(bodies.asked) - before


def n_said(run: Running, text: str) -> int:
    return run.err.read_text().count(text)


def wait_for(run: Running, text: str, n_times: int) -> None:
    wait_until(run, lambda: n_said(run, text) >= n_times)


def wait_until(run: Running, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120.0
    while not holds():
        assert time.monotonic() < deadline, run.err.read_text()
        time.sleep(0.02)


def whole(tmp_path: Path, disk: Disk, bodies: Bodies, run: Running) -> bool:
    """Whether it ends when told, and has lost nothing that it had acknowledged."""
    run.send(signal.SIGTERM)
    ended = run.wait()
    assert ended.code == 0, ended.err
    copy = tmp_path / "copy" / "home"
    shutil.copytree(disk.seen / "home", copy)
    return problems(copy, ended.told, bodies.sent, unreferenced=True) == []


@pytest.mark.slow
@pytest.mark.timeout(120 + 60 * N_TIMES)
def test_a_run_waits_for_room_and_goes_on_by_itself(tmp_path: Path) -> None:
    share = str(FLOOR_BYTES / DISK_BYTES)
    settings = {"ARCHIVING__MIN_FREE_SHARE": share, "FETCHING__CONCURRENCY": "1"}
    with running(tmp_path, **settings) as (disk, bodies, driver, run):
        for turn in range(1, N_TIMES + 1):
            disk.fill(FLOOR_BYTES - MIB)
            wait_for(run, STOPS, turn)
            assert n_asked(bodies, for_s=3.0) == 0
            assert n_said(run, FAILS) == 0
            for command in ("status", "list"):
                answered = driver.run(command, "--json")
                assert answered.code == 0, answered.err
            looked = driver.run("doctor")
            assert looked.code == 1
            assert "nothing will be visited" in looked.out
            assert driver.run("run", "--once").code == 3  # one that has an end does not wait
            n_before = run.n_lines()
            disk.free()
            wait_for(run, GOES_ON, turn)
            run.until(n_lines=n_before + 1)
            assert n_said(run, STOPS) == turn  # once each time
        assert whole(tmp_path, disk, bodies, run)


@pytest.mark.slow
@pytest.mark.timeout(120 + 60 * N_TIMES)
@pytest.mark.parametrize("share", ["0", "0.05"] if FULL else ["0"])
def test_what_does_not_fit_costs_visits_and_not_the_run(tmp_path: Path, share: str) -> None:
    """Without a floor, or with the usual one, which large bodies that are in the air go through."""
    settings = {"ARCHIVING__MIN_FREE_SHARE": share, "FETCHING__CONCURRENCY": "4"}
    with running(tmp_path, **settings) as (disk, bodies, _, run):
        for _ in range(N_TIMES):
            n_troubles = n_said(run, FAILS) + n_said(run, STOPS)
            disk.fill(4 * MIB)
            wait_until(run, lambda n=n_troubles: n_said(run, FAILS) + n_said(run, STOPS) > n)  # type: ignore[misc]
            n_before = run.n_lines()
            disk.free()
            run.until(n_lines=n_before + 1)
            wait_for(run, GOES_ON, 1)
        assert n_said(run, FAILS) > 0  # which the test above would not let pass
        assert whole(tmp_path, disk, bodies, run)


@pytest.mark.slow
def test_the_check_catches_a_run_that_a_full_disk_ends(tmp_path: Path) -> None:
    with running(tmp_path, twins.GIVES_UP, ARCHIVING__MIN_FREE_SHARE="0") as (disk, _, _, run):
        disk.fill(2 * MIB)
        with pytest.raises(AssertionError, match=r"make room|has room"):
            run.until(said=GOES_ON)
        assert run.wait().code == 3
