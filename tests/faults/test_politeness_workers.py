"""Many workers, sudden deaths, people who want a visit now: no server has a reason to complain.

Judged from the server's own log. Every check is also made on twins with one fault each, which it must catch.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faults.counts import FULL
from tests.faults.workers import CHARGES_AFTER, HESITATES, HOLDS_NOTHING, NEVER_LATE, SOUND

from recrawl.app.build import open_house
from recrawl.live.clock import WallClock
from recrawl.livingweb import (
    Document,
    Host,
    Redirect,
    Robots,
    Script,
    Served,
    Violation,
    serving,
    violations,
)
from recrawl.model import NewResource, Settings
from recrawl.urls import host_key

ROOT = Path(__file__).parents[2]
DELAY_S = 0.3
ENV = {
    **os.environ,
    "RECRAWL_FETCHING__MIN_DELAY": str(DELAY_S),
    "RECRAWL_FETCHING__TOTAL_TIMEOUT": "2",
    "RECRAWL_FETCHING__CONCURRENCY": "6",
}


@dataclass
class Nursery:
    """Workers of one home, quick to come and quick to go."""

    process: subprocess.Popen[str]
    errors: Path
    pids: list[int] = field(default_factory=list)

    def born(self, order: str) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        self.pids.append(int(self.process.stdout.readline()))
        return self.pids[-1]

    def send(self, pid: int, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):  # a visit that is over
            os.kill(pid, number)


@contextmanager
def nursery(home: Path) -> Iterator[Nursery]:
    errors = home.parent / "errors"
    with (
        errors.open("w") as stream,
        subprocess.Popen(
            [sys.executable, "-m", "tests.faults.workers", str(home)],
            cwd=ROOT, env=ENV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stream, text=True,
        ) as process,
    ):  # fmt: skip
        here = Nursery(process, errors)
        try:
            yield here
        finally:
            for pid in here.pids:
                here.send(pid, signal.SIGKILL)


def watch(home: Path, urls: list[str], *, gap_s: float) -> dict[str, int]:
    """Watch these; their numbers."""
    settings = Settings(min_gap_s=gap_s, max_gap_s=gap_s, allow_private=True)
    with open_house(home) as house:
        new = [NewResource(url=url, host=host_key(url), settings=settings) for url in urls]
        house.store.add(new, house.clock.now())
        return {resource.url: resource.id for resource, _, _ in house.store.resources()}


def a_web(n_hosts: int) -> Script:
    """Hosts with two pages each. Some send on to each other, and some to a hub that nobody watches."""
    names = [f"h{i:02}.localhost" for i in range(n_hosts)]
    entries: list[Document | Redirect] = [Document(host="hub.localhost", path="/")]
    hosts = [Host(name="hub.localhost")]
    for i, name in enumerate(names):
        entries += [Document(host=name, path="/a"), Document(host=name, path="/b")]
        if i % 5 == 0:
            entries.append(Redirect(host=name, path="/on", to=(names[(i * 7 + 3) % n_hosts], "/a")))
        elif i % 5 < 3:
            entries.append(Redirect(host=name, path="/on", to=("hub.localhost", "/")))
        crawl_delay_s = 0.6 if i % 4 == 1 else None
        slow_s = 0.1 if i % 3 == 2 else 0.0
        hosts.append(Host(name=name, robots=Robots(crawl_delay_s=crawl_delay_s), slow_s=slow_s))
    return Script(tuple(entries), tuple(hosts))


@dataclass(frozen=True)
class Told:
    """What the server saw."""

    log: list[Served]
    violations: list[Violation]
    errors: str


@contextmanager
def commands(home: Path) -> Iterator[Callable[[str, str], object]]:
    """Starts the real `recrawl visit` under a name, for a URL."""
    started: list[subprocess.Popen[bytes]] = []
    with (home.parent / "errors-of-commands").open("wb") as errors:

        def visit(name: str, url: str) -> None:
            command = [sys.executable, "-m", "recrawl", "--home", str(home), "visit", url]
            env = {**ENV, "RECRAWL_FETCHING__CONTACT": name}
            started.append(subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=errors))

        try:
            yield visit
        finally:
            for process in started:
                process.kill()
                process.wait()


def stormed(
    tmp_path: Path,
    twin: str,
    *,
    n_workers: int,
    n_hosts: int,
    for_s: float,
    n_kills: int,
    n_visits: int,
    n_commands: int = 0,
) -> Told:
    """Workers at work for a while, some killed and replaced, and visits asked for in between: by a process
    that is forked for it, or by the real command."""
    script = a_web(n_hosts)
    dice = random.Random(5)
    home = tmp_path / "home"
    with (
        serving(script, clock=WallClock()) as web,
        nursery(home) as here,
        commands(home) as visit,
    ):
        urls = [url for url in web.urls() if "hub" not in url]
        # Where workers come again and again, whoever asks for a visit hardly ever finds the host free.
        quiet = [url for url in urls if int(url[8:10]) % 5 == 4]
        watch(home, quiet, gap_s=3600.0)
        ids = watch(home, [url for url in urls if url not in quiet], gap_s=0.2)
        workers = [here.born(f"work w{i} {twin}") for i in range(n_workers)]
        began = time.monotonic()
        moments = [(dice.uniform(0.1, 0.9) * for_s, "kill") for _ in range(n_kills)]
        moments += [(dice.uniform(0.0, 0.9) * for_s, "visit") for _ in range(n_visits)]
        moments += [(dice.uniform(0.0, 0.7) * for_s, "command") for _ in range(n_commands)]
        for n, (after_s, what) in enumerate(sorted(moments)):
            time.sleep(max(0.0, began + after_s - time.monotonic()))
            if what == "visit":
                here.born(f"visit v{n} {twin} {ids[dice.choice(quiet if n % 2 else list(ids))]}")
            elif what == "command":
                visit(f"command{n}", dice.choice(quiet if n % 4 else list(ids)))
            else:
                place = dice.randrange(n_workers)
                here.send(workers[place], signal.SIGKILL)
                workers[place] = here.born(f"work x{n} {twin}")
        time.sleep(max(0.0, began + for_s - time.monotonic()))
        log = list(web.log)
    errors = here.errors.read_text() + (tmp_path / "errors-of-commands").read_text()
    return Told(log, violations(log, script, delay_s=DELAY_S), errors)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_workers_and_visits_now_never_make_anyone_impolite(tmp_path: Path) -> None:
    counts = {"n_workers": 8, "n_hosts": 50, "n_kills": 100, "n_visits": 160, "n_commands": 40} if FULL else {
        "n_workers": 4, "n_hosts": 20, "n_kills": 5, "n_visits": 6, "n_commands": 4
    }  # fmt: skip
    told = stormed(tmp_path, SOUND, for_s=60.0 if FULL else 9.0, **counts)
    assert "Error" not in told.errors, told.errors
    assert {served.host for served in told.log} >= {host.name for host in a_web(counts["n_hosts"]).described}
    assert len({served.user_agent for served in told.log}) > counts["n_workers"]  # the later ones came to it
    assert len(told.log) > 5 * counts["n_hosts"]
    assert sum("command" in served.user_agent for served in told.log) >= counts["n_commands"] / 4
    assert told.violations == []


@pytest.mark.slow
@pytest.mark.parametrize("twin", [CHARGES_AFTER, HOLDS_NOTHING])
def test_the_check_catches_workers_that_are_less_careful(tmp_path: Path, twin: str) -> None:
    told = stormed(tmp_path, twin, n_workers=3, n_hosts=20, for_s=5.0, n_kills=0, n_visits=0)
    assert told.violations
    if twin == HOLDS_NOTHING:
        assert "hub.localhost" in {violation.host for violation in told.violations}


def until(holds: Callable[[], object], within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("twin", "n_sent"), [(SOUND, 0), (NEVER_LATE, 1)])
def test_a_worker_that_was_asleep_while_its_lease_ran_out_sends_nothing(
    tmp_path: Path, twin: str, n_sent: int
) -> None:
    home = tmp_path / "home"
    script = Script((Document(host="only.localhost", path="/"),))
    with serving(script, clock=WallClock()) as web, nursery(home) as here:
        watch(home, list(web.urls()), gap_s=3600.0)
        sleeper = here.born(f"work sleeper {HESITATES},{twin}")
        until(lambda: (home / f"claimed-{sleeper}").exists())
        os.kill(sleeper, signal.SIGSTOP)
        here.born(f"work other {SOUND}")
        until(lambda: any(served.path == "/" for served in web.log))  # once the lease has run out
        time.sleep(DELAY_S)
        os.kill(sleeper, signal.SIGCONT)
        time.sleep(2.5)
        sent = [served for served in web.log if "sleeper" in served.user_agent]
    assert (len(sent) > 0) == (n_sent > 0)
    assert "Error" not in here.errors.read_text()


@pytest.mark.slow
def test_four_runs_on_one_home_share_the_work(tmp_path: Path) -> None:
    """The real command, four times at once."""
    script = a_web(16)
    home = tmp_path / "home"
    with serving(script, clock=WallClock()) as web:
        urls = [url for url in web.urls() if "hub" not in url]
        ids = watch(home, urls, gap_s=3600.0)
        command = [sys.executable, "-m", "recrawl", "--home", str(home), "run", "--once", "--json"]
        runs = [
            subprocess.Popen(
                [*command, "--budget", "1000000/day"],
                env={**ENV, "RECRAWL_FETCHING__CONTACT": f"run{i}"},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for i in range(4)
        ]  # fmt: skip
        ended = [run.communicate(timeout=120) for run in runs]
        log = list(web.log)
    assert [run.returncode for run in runs] == [0] * 4, ended
    assert violations(log, script, delay_s=DELAY_S) == []
    n_told = [out.count("\n") for out, _ in ended]
    assert sum(n_told) >= len(ids)
    assert sum(n > 0 for n in n_told) >= 2  # whoever starts last may find nothing left to do
    with open_house(home) as house:
        assert house.store.counts(house.clock.now())["visits"] == sum(n_told)
        for resource, standing, _ in house.store.resources():
            # what leads to a host that the other runs keep busy is put off, and says so
            said = [visit.evidence for visit in house.store.visits(resource.id)]
            assert standing.n_informative or said[-1].startswith("wait: "), (resource.url, said)
