"""F16: told to stop at any moment, a run ends soon and in good order, and nothing acknowledged is asked for
again."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.faults import twins
from tests.faults.bodies import Bodies, answering
from tests.faults.counts import FULL, n_times
from tests.faults.driver import Driver, driving
from tests.faults.ledger import problems

from recrawl.app.build import open_house

N_TIMES = n_times(50, 4)
N_HOSTS_EACH = 10
LATEST_S = 10.0
SETTINGS = {"FETCHING__MIN_DELAY": "0.01", "FETCHING__CONCURRENCY": "4"}


def stopped(driver: Driver, bodies: Bodies, start: int, after_s: float, twin: str = "") -> list[Any]:
    """The visits that a run acknowledged before it ended, after it was told to."""
    urls = bodies.urls(start, start + N_HOSTS_EACH)
    assert driver.run("add", *urls, "--allow-private", "--min-gap", "1h").code == 0
    run = driver.start("run", "--json", "--budget", "10000000/day", twin=twin)
    time.sleep(after_s)
    began = time.monotonic()
    run.send(signal.SIGTERM)
    ended = run.wait()
    assert time.monotonic() - began < LATEST_S
    # one that has only just begun, and has claimed nothing, may end as any program does
    assert ended.code == 0 or (ended.code == -signal.SIGTERM and not ended.told), ended.err
    assert "Traceback" not in ended.err
    return ended.told


def n_leased(home: Path) -> int:
    with open_house(home, reading=True) as house:
        return house.store.counts(house.clock.now())["leased"]


def asked_again(bodies: Bodies, acknowledged: list[Any]) -> list[str]:
    """Hosts that were asked again although what they had answered was acknowledged."""
    n_asked = Counter(host for _, host in bodies.asked)
    hosts = {visit["url"].removeprefix("http://").rstrip("/") for visit in acknowledged}
    return [host for host in hosts if n_asked[host] > 1]


@pytest.mark.slow
@pytest.mark.timeout(120 + 15 * N_TIMES)
def test_a_run_that_is_told_to_stop_ends_in_good_order_at_any_moment(tmp_path: Path) -> None:
    dice = random.Random(16)
    home = tmp_path / "home"
    acknowledged: list[Any] = []
    with answering(slow_s=0.1) as bodies, driving(home, SETTINGS) as driver:
        for turn in range(N_TIMES):
            acknowledged += stopped(driver, bodies, turn * N_HOSTS_EACH, dice.uniform(0.0, 1.2))
            assert n_leased(home) == 0
    assert acknowledged
    assert asked_again(bodies, acknowledged) == []
    assert problems(home, acknowledged, bodies.sent) == []


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="it takes as long as a run may take to end; `make faults` has it")
def test_a_server_that_takes_its_time_keeps_nobody_from_stopping(tmp_path: Path) -> None:
    with answering(slow_s=60.0) as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        assert stopped(driver, bodies, 0, after_s=1.5) == []
        assert bodies.asked
        assert n_leased(tmp_path / "home") == 0


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="a stop seldom meets it; `make faults` tries often enough")
def test_the_check_catches_a_run_that_forgets_what_is_in_the_air(tmp_path: Path) -> None:
    dice = random.Random(16)
    with answering(slow_s=1.0) as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        for turn in range(60):
            stopped(driver, bodies, turn * N_HOSTS_EACH, dice.uniform(0.5, 3.0), twins.FORGETS)
            if n_leased(tmp_path / "home"):
                return
    pytest.fail("it was not caught")


@pytest.mark.slow
def test_the_check_catches_a_run_that_acknowledges_what_it_does_not_record(tmp_path: Path) -> None:
    """It asks again for what it had answered for."""
    dice = random.Random(16)
    acknowledged: list[Any] = []
    with answering(slow_s=0.1) as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        for turn in range(30):
            acknowledged += stopped(
                driver, bodies, turn * N_HOSTS_EACH, dice.uniform(0.3, 1.0), twins.ACKS_FOR_NOTHING
            )
            if asked_again(bodies, acknowledged):
                return
    pytest.fail("it was not caught")
