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


def stopped(
    driver: Driver, bodies: Bodies, start: int, after_s: float | None = None, twin: str = ""
) -> list[Any]:
    """The visits that a run acknowledged before it ended, after it was told to: after a time, or else with a
    request in the air."""
    urls = bodies.urls(start, start + N_HOSTS_EACH)
    assert driver.run("add", *urls, "--allow-private", "--min-gap", "1h").code == 0
    run = driver.start("run", "--json", "--budget", "10000000/day", twin=twin)
    if after_s is None:
        in_the_air(bodies, start)
    else:
        time.sleep(after_s)
    began = time.monotonic()
    run.send(signal.SIGTERM)
    ended = run.wait()
    assert time.monotonic() - began < LATEST_S
    # one that has only just begun, and has claimed nothing, may end as any program does
    assert ended.code == 0 or (ended.code == -signal.SIGTERM and not ended.told), ended.err
    assert "Traceback" not in ended.err
    return ended.told


def in_the_air(bodies: Bodies, start: int, within_s: float = 60.0) -> None:
    """Wait until a host from `start` on has been asked; its answer takes `slow_s` from then."""
    hosts = {url.removeprefix("http://").rstrip("/") for url in bodies.urls(start, start + N_HOSTS_EACH)}
    deadline = time.monotonic() + within_s
    while not any(host in hosts for _, host in list(bodies.asked)):
        assert time.monotonic() < deadline
        time.sleep(0.002)


def unsettled(home: Path, acknowledged: list[Any]) -> list[str]:
    """What a run in good order leaves none of: claims; visits that it recorded and told nobody of; failures,
    where no server failed. The last two are what becomes of requests when their connections are closed."""
    with open_house(home, reading=True) as house:
        counts = house.store.counts(house.clock.now())
    n_blamed = sum(visit["outcome"] != "ok" for visit in acknowledged)
    n_untold = counts["visits"] - len(acknowledged)
    found = {"leased": counts["leased"], "recorded and not told": n_untold, "failed": n_blamed}
    return [f"{n} {what}" for what, n in found.items() if n]


def unanswered(bodies: Bodies, acknowledged: list[Any]) -> set[str]:
    """Hosts that were asked, and nobody was told what they answered."""
    told = {visit["url"].removeprefix("http://").rstrip("/") for visit in acknowledged}
    return {host for _, host in bodies.asked} - told


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
            assert unsettled(home, acknowledged) == []
            assert unanswered(bodies, acknowledged) == set()  # all answer long before a run must have ended
    assert acknowledged
    assert asked_again(bodies, acknowledged) == []
    assert problems(home, acknowledged, bodies.sent) == []


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="it takes as long as a run may take to end; `make faults` has it")
def test_a_server_that_takes_its_time_keeps_nobody_from_stopping(tmp_path: Path) -> None:
    with answering(slow_s=60.0) as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        assert stopped(driver, bodies, 0) == []
        assert bodies.asked
        assert unsettled(tmp_path / "home", []) == []


@pytest.mark.slow
def test_what_is_in_the_air_comes_down_and_is_told(tmp_path: Path) -> None:
    with answering(slow_s=1.0) as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        acknowledged = stopped(driver, bodies, 0)
        assert acknowledged
        assert unsettled(tmp_path / "home", acknowledged) == []
        assert unanswered(bodies, acknowledged) == set()


@pytest.mark.slow
def test_the_check_catches_a_run_that_forgets_what_is_in_the_air(tmp_path: Path) -> None:
    """Its requests are cut off, and held against the servers or left claimed."""
    with answering(slow_s=1.0) as bodies, driving(tmp_path / "home", SETTINGS) as driver:
        acknowledged = stopped(driver, bodies, 0, twin=twins.FORGETS)
        assert unsettled(tmp_path / "home", acknowledged) != []
        assert unanswered(bodies, acknowledged) != set()


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
