"""F3: killed at each point of the protocol that makes a visit durable, a run loses nothing acknowledged."""

from __future__ import annotations

import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.faults import twins
from tests.faults.bodies import MIB, Bodies, answering
from tests.faults.counts import n_times
from tests.faults.driver import Driver, driving
from tests.faults.failpoints import AFTER, BEFORE, HALF, Fault
from tests.faults.ledger import problems

from recrawl.remember.warc import WarcArchive

N_EACH = n_times(10, 1)
N_HOSTS_EACH = 8
SETTINGS = {
    "FETCHING__MIN_DELAY": "0.01",
    "FETCHING__CONCURRENCY": "4",
    "ARCHIVING__MAX_FILE_BYTES": str(2 * MIB),  # so that files are finished in the middle of a run
}
# The point, and up to which of its occurrences a run is killed. What a recovery does comes first in a run,
# and there must be something to recover.
POINTS = [
    ("open", BEFORE, 3),
    ("open", AFTER, 3),
    ("write", BEFORE, 4),
    ("write", HALF, 4),
    ("write", AFTER, 4),
    ("fsync", BEFORE, 4),
    ("fsync", AFTER, 4),
    ("begin", BEFORE, 15),
    ("begin", AFTER, 15),
    ("commit", BEFORE, 15),
    ("commit", AFTER, 15),
    ("ack", BEFORE, 4),
    ("ack", AFTER, 4),
    ("rename", BEFORE, 1),
    ("rename", AFTER, 1),
    ("truncate", BEFORE, 1),
    ("truncate", AFTER, 1),
    ("unlink", BEFORE, 1),
    ("unlink", AFTER, 1),
]
MENDS = ("truncate", "unlink")


class Runs:
    """A home that is run and killed. Each run has hosts of its own: a killed one leaves its hosts gated."""

    def __init__(self, home: Path, driver: Driver, bodies: Bodies) -> None:
        home.parent.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.driver = driver
        self.bodies = bodies
        self.acknowledged: list[dict[str, Any]] = []
        self.n_runs = 0

    def run(self, fault: Fault, twin: str = "") -> bool:
        """Whether the fault struck."""
        self.n_runs += 1
        urls = self.bodies.urls(self.n_runs * N_HOSTS_EACH, (self.n_runs + 1) * N_HOSTS_EACH)
        added = self.driver.run("add", *urls, "--allow-private", "--min-gap", "1h", home=self.home)
        assert added.code == 0, added.err
        args = ["run", "--json", "--for", "3s", "--budget", "10000000/day"]
        ended = self.driver.run(*args, fault=fault, twin=twin, home=self.home)
        self.acknowledged += ended.told
        assert ended.code in (0, -signal.SIGKILL), ended.err
        return ended.code != 0

    def problems(self) -> list[str]:
        return problems(self.home, self.acknowledged, self.bodies.sent)


@pytest.mark.slow
@pytest.mark.timeout(120 + 60 * N_EACH)
def test_a_run_that_dies_at_any_point_loses_nothing_acknowledged(tmp_path: Path) -> None:
    dice = random.Random(3)
    n_acknowledged = 0
    with answering() as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        runs = Runs(tmp_path / "0" / "home", driver, bodies)
        for number, (call, when, n_most) in enumerate(POINTS):
            if N_EACH > 1:
                runs = Runs(tmp_path / str(number) / "home", driver, bodies)
            n_struck = 0
            for turn in range(N_EACH):
                if call in MENDS:
                    assert runs.run(Fault("write", 3 if call == "truncate" else 1, HALF))
                n_struck += runs.run(Fault(call, dice.randint(1, n_most) if turn else 1, when))
            assert n_struck > 0.7 * N_EACH, (call, when, n_struck)
            if N_EACH > 1 or number == len(POINTS) - 1:
                assert runs.problems() == [], (call, when)
            n_acknowledged += len(runs.acknowledged)
    assert n_acknowledged > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("twin", "fault", "found"),
    [
        (twins.ACKS_EARLY, Fault("write", 2), "the acknowledged visit"),
        (twins.ACKS_EARLY, Fault("commit", 1, since="fsync"), "the acknowledged visit"),
        (twins.LAZY_WRITES, Fault("ack", 3, AFTER), "cannot be read"),
        (twins.NO_RECOVERY, Fault("write", 3, HALF), "gzip says"),
        (twins.NO_RECOVERY, Fault("commit", 1, since="fsync"), "answers, the store knows of"),
    ],
)
def test_the_check_catches_a_run_that_is_less_careful(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, twin: str, fault: Fault, found: str
) -> None:
    if twin == twins.NO_RECOVERY:
        monkeypatch.setattr(WarcArchive, "recover", _nothing_mended)
    with answering() as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        runs = Runs(tmp_path / "home", driver, bodies)
        assert runs.run(fault, twin)
    said = runs.problems()
    assert any(found in problem for problem in said), said


def _nothing_mended(*_: object) -> Sequence[str]:
    return []
