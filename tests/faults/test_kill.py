"""F1: killed again and again in the middle of its work, a run loses nothing that it has acknowledged.

Small bodies alone would show nothing: a kill hardly ever falls into their writing.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults import twins
from tests.faults.bodies import MIB, Bodies, answering
from tests.faults.counts import n_times
from tests.faults.driver import Driver, driving
from tests.faults.ledger import problems

N_KILLS = n_times(200, 5)
# A killed run leaves its hosts alone for minutes: each must find others.
N_AT_ONCE = 4
N_HOSTS_EACH = 3 * N_AT_ONCE
SETTINGS = {
    "FETCHING__MIN_DELAY": "0.01",
    "FETCHING__CONCURRENCY": str(N_AT_ONCE),
    "ARCHIVING__MAX_FILE_BYTES": str(8 * MIB),
}


def killed(driver: Driver, bodies: Bodies, n_kills: int, twin: str = "") -> list[dict[str, Any]]:
    """The visits that runs acknowledged before they were killed, each some time after its first."""
    moments = random.Random(11)
    acknowledged: list[dict[str, Any]] = []
    for kill in range(n_kills):
        urls = bodies.urls(kill * N_HOSTS_EACH, (kill + 1) * N_HOSTS_EACH)
        assert driver.run("add", *urls, "--allow-private", "--min-gap", "1s").code == 0
        run = driver.start("run", "--json", "--budget", "10000000/day", twin=twin)
        run.until(n_lines=1)
        time.sleep(moments.uniform(0.0, 0.4))
        acknowledged += run.kill().told
    return acknowledged


@pytest.mark.slow
@pytest.mark.timeout(120 + 15 * N_KILLS)
def test_no_acknowledged_version_is_lost_however_often_a_run_is_killed(tmp_path: Path) -> None:
    with answering() as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        acknowledged = killed(driver, bodies, N_KILLS)
        verified = driver.run("verify")
        assert verified.code == 0, verified.out + verified.err
    assert len(acknowledged) >= N_KILLS
    assert len({visit["n_bytes"] > MIB for visit in acknowledged}) == 2
    assert problems(tmp_path / "home", acknowledged, bodies.sent) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("twin", "found"),
    [(twins.ACKS_EARLY, "the acknowledged visit"), (twins.LAZY_WRITES, "cannot be read")],
)
def test_the_check_catches_a_run_that_is_less_careful(tmp_path: Path, twin: str, found: str) -> None:
    for attempt in range(20):  # a kill has to fall into the moment that counts
        home = tmp_path / str(attempt) / "home"
        home.parent.mkdir()
        with answering() as bodies, driving(home, SETTINGS) as driver:
            acknowledged = killed(driver, bodies, 3, twin)
        if any(found in problem for problem in problems(home, acknowledged, bodies.sent)):
            return
    pytest.fail(f"{twin} was not caught")
