"""Runs real `recrawl` commands in processes that are forked from one which has imported everything already.

    python -m tests.faults.driver

takes a JSON object a line on standard input. One with `args` forks a process that runs this command, with
`env` besides its own, with a `fault` or as a faulty `twin`, its output going to the files `out` and `err`;
its process id is printed. One with `wait` prints how that process ended, once it has: a negative number is
the signal that killed it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.faults.failpoints import Failpoints, Fault

from recrawl.cli.main import main as recrawl
from recrawl.registry import names, part

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    """A command that is over. `code` is negative where a signal killed it."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> list[dict[str, Any]]:
        """The visits that it acknowledged: whole lines."""
        return [json.loads(line) for line in self.out.splitlines(keepends=True) if line.endswith("\n")]


@dataclass
class Running:
    """A command under way."""

    pid: int
    out: Path
    err: Path
    driver: Driver

    def n_lines(self) -> int:
        return self.out.read_bytes().count(b"\n")

    def until(self, n_lines: int = 1, said: str = "", within_s: float = 60.0) -> None:
        """Wait for so many lines of output, or for this on standard error."""
        deadline = time.monotonic() + within_s
        while self.n_lines() < n_lines if not said else said not in self.err.read_text():
            assert time.monotonic() < deadline, self.err.read_text()
            assert Path(f"/proc/{self.pid}/stat").read_text().split()[2] != "Z", self.err.read_text()
            time.sleep(0.002)

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def wait(self) -> Ended:
        return Ended(self.driver.ask({"wait": self.pid}), self.out.read_text(), self.err.read_text())

    def kill(self) -> Ended:
        self.send(signal.SIGKILL)
        return self.wait()


@dataclass
class Driver:
    """Starts commands of one home."""

    process: subprocess.Popen[str]
    home: Path
    env: dict[str, str]
    logs: Path | None = None  # where output goes; beside the home where it is not said
    n_started: int = 0
    running: list[int] = field(default_factory=list)

    def ask(self, order: Mapping[str, Any]) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def start(
        self, *args: str, fault: Fault | None = None, twin: str = "", home: Path | None = None
    ) -> Running:
        self.n_started += 1
        place = home or self.home
        logs = self.logs or place.parent
        out, err = (logs / f"{name}-{self.n_started}" for name in ("out", "err"))
        order: dict[str, Any] = {"args": args, "twin": twin, "out": str(out), "err": str(err)}
        order["env"] = {**self.env, "RECRAWL_HOME": str(place)}
        order["fault"] = asdict(fault) if fault else None
        out.touch()
        err.touch()
        self.running.append(self.ask(order))
        return Running(self.running[-1], out, err, self)

    def run(self, *args: str, fault: Fault | None = None, twin: str = "", home: Path | None = None) -> Ended:
        return self.start(*args, fault=fault, twin=twin, home=home).wait()


@contextmanager
def driving(
    home: Path, settings: Mapping[str, str], *, logs: Path | None = None, through: Sequence[str] = ()
) -> Iterator[Driver]:
    """A driver for this home; `settings` are environment variables without their common beginning. It is
    started by the command `through`, where there is one."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("RECRAWL_")}
    env = {f"RECRAWL_{name}": value for name, value in settings.items()}
    with subprocess.Popen(
        [*through, sys.executable, "-m", "tests.faults.driver"],
        cwd=ROOT, env=inherited, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        driver = Driver(process, home, env, logs)
        try:
            yield driver
        finally:
            process.kill()  # with it go those that it started


def warm() -> None:
    """Import what commands import when they need it."""
    for late in ("runner", "gates", "worker", "clock"):
        import_module(f"recrawl.live.{late}")
    for late in ("observe.http", "observe.route", "app.rounds", "app.rows", "app.health", "app.watchlist"):
        import_module(f"recrawl.{late}")
    for group in ("stores", "archives", "detectors", "handlers", "policies", "goals", "predictors"):
        for name in names(group):
            part(group, name)


def _run(order: Mapping[str, Any]) -> int:
    os.environ.update(order["env"])
    for number, path in ((1, order["out"]), (2, order["err"])):
        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(fd, number)
        os.close(fd)
    if order["fault"]:
        Failpoints(os.environ["RECRAWL_HOME"], Fault(**order["fault"])).install()
    if order["twin"]:
        import_module("tests.faults.twins").TWINS[order["twin"]]()
    sys.argv = ["recrawl", *order["args"]]
    try:
        recrawl()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def main() -> None:
    warm()
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            _, status = os.waitpid(order["wait"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        pid = os.fork()
        if pid:
            print(pid, flush=True)
            continue
        sys.stdin.close()
        code = 70
        try:
            _die_with_parent()
            code = _run(order)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


def _die_with_parent() -> None:
    """Whatever becomes of a test, nothing of it stays behind."""
    import ctypes

    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


if __name__ == "__main__":
    main()
