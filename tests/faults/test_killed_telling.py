"""Killed at any moment between a change and its message, a run loses none, and sends none under two ids."""

from __future__ import annotations

import random
import signal
import time
from collections import defaultdict
from pathlib import Path
from threading import Event

import pytest
from tests.faults.counts import n_times
from tests.faults.driver import Driver, driving
from tests.receivers import Receiver, receiving
from typer.testing import CliRunner

from recrawl.cli.main import app

N_KILLS = n_times(50, 4)
SETTINGS = {"FETCHING__MIN_DELAY": "0.01"}


def page(n: int) -> str:
    return f"<title>Page {n}</title><p>There is a word on this page: {'abcdefghij'[n % 10] * (n + 2)}</p>"


def changed(driver: Driver, here: Receiver, n: int, text: str) -> str:
    """A page on a host of its own, since a killed run leaves its hosts alone: seen, then seen to differ."""
    path = f"/{n}"
    here.page(path, page(n))
    url = f"http://p{n}.localhost:{here.port}{path}"
    assert driver.run("add", url, "--allow-private", "--no-mask", "--min-gap", "1h").code == 0
    assert driver.run("visit", url).code == 0
    here.page(path, page(n + 1_000) + text)
    assert driver.run("visit", url).code == 0
    return url


def noticed(home: Path, here: Receiver) -> None:
    given = ["--allow-private", "--stdin", "--per-hour", "1000"]
    done = CliRunner().invoke(
        app, ["--home", str(home), "notify", "add", "me", *given], input=f"{here.hook()}\n"
    )
    assert done.exit_code == 0, done.output


def ids(here: Receiver) -> dict[str, set[str]]:
    """Under which ids each URL's news came."""
    found: dict[str, set[str]] = defaultdict(set)
    for got in here.got:
        for news in got.document["news"]:
            found[news["url"]].add(got.headers["webhook-id"])
    return found


@pytest.mark.slow
@pytest.mark.timeout(180 + 30 * N_KILLS)
def test_every_change_is_told_however_often_the_teller_is_killed(tmp_path: Path) -> None:
    moments = random.Random(5)
    home = tmp_path / "home"
    with receiving() as here, driving(home, SETTINGS) as driver:
        noticed(home, here)
        urls = []
        for n in range(N_KILLS):
            urls.append(changed(driver, here, n, "<p>And a second line</p>"))
            here.hold, here.came = Event(), Event()
            run = driver.start("run")
            if n % 2:  # with a message in the air, which was taken and never answered
                assert here.came.wait(60.0)
            else:
                time.sleep(moments.uniform(0.0, 1.5))
            run.kill()
            here.hold.set()
        here.hold = None
        assert driver.run("run", "--once").code == 0
        assert set(ids(here)) == set(urls)
        assert {len(some) for some in ids(here).values()} == {1}
        n_got = len(here.got)
        assert driver.run("run", "--once").code == 0
        assert len(here.got) == n_got  # all of it was told, and is told no more


@pytest.mark.slow
def test_a_recipient_that_never_answers_keeps_no_run_from_ending(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with receiving() as here, driving(home, SETTINGS) as driver:
        noticed(home, here)
        changed(driver, here, 0, "<p>And a second line</p>")
        here.hold = Event()
        run = driver.start("run")
        assert here.came.wait(60.0)
        began = time.monotonic()
        run.send(signal.SIGTERM)
        ended = run.wait()
        assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
        assert time.monotonic() - began < 10.0
