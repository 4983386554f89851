"""A run that is told to stop ends in good order: what was in the air is recorded, and nothing is torn."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from time import monotonic
from typing import Protocol

import pytest

from recrawl.live.clock import WallClock
from recrawl.livingweb import Document, LivingWeb, Script, serving


class Cli(Protocol):
    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]: ...
    def started(self, *args: str) -> subprocess.Popen[str]: ...
    def having(self, **env: str) -> Cli: ...


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_in_good_order(
    cli: Cli, web: LivingWeb, urls: list[str], number: signal.Signals
) -> None:
    slow = next(url for url in web.urls() if "slow." in url)
    cli("add", urls[0], slow, "--allow-private")
    with cli.started("run", "--json") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert first["url"] == urls[0]
    assert [json.loads(line)["url"] for line in out.splitlines()] == [slow]
    assert "Stopped after" in err
    assert "Traceback" not in err
    assert json.loads(cli("verify", "--json").stdout)["problems"] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_living_web_serves_until_it_is_told_to_stop(cli: Cli, number: signal.Signals) -> None:
    with cli.started("livingweb", "--port", "0") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        cli("visit", url, "--add", "--allow-private")
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Traceback" not in err


def test_a_command_that_is_interrupted_ends_without_a_traceback(cli: Cli) -> None:
    with cli.started("add", "-") as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_run_that_waits_ends_at_once_when_told(cli: Cli, urls: list[str]) -> None:
    cli("add", urls[0], "--allow-private")
    cli("run", "--once")
    with cli.started("run", "--json", "--budget", "1/h") as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=4)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 0, err
    assert "0 visits" in err


def test_adding_that_is_interrupted_says_how_many_were_added(cli: Cli) -> None:
    text = "".join(f"https://h{i % 500}.example/{i}\n" for i in range(25_000))
    with cli.started("add", "-") as process:
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.flush()  # and not closed: it waits for more
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=6)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130  # while its standard input is still open
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == "Added 20,000, known 0, refused 0.\n"
        assert "Interrupted" in process.stderr.read()
    assert json.loads(cli("status", "--json").stdout)["resources"] == 20_000


@pytest.fixture
def slow() -> Iterator[LivingWeb]:
    script = Script(
        (
            Document(host="slow.localhost", path="/at-once"),
            Document(host="slow.localhost", path="/late", slow_s=60.0),
        )
    )
    with serving(script, clock=WallClock()) as living:
        yield living


def in_the_air(web: LivingWeb, cli: Cli, *args: str) -> subprocess.Popen[str]:
    """A command that has read robots.txt and waits for the page that is late."""
    n_before = len(web.log)
    process = cli.started(*args)
    for _ in range(200):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
        if len(web.log) > n_before:
            break
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1.0)  # it asks a few hundredths of a second after that
    return process


def test_a_run_that_is_killed_keeps_nobody_from_its_host(cli: Cli, slow: LivingWeb) -> None:
    at_once, late = slow.urls()
    cli = cli.having(RECRAWL_FETCHING__TOTAL_TIMEOUT="8s")  # so long may the server still be at it
    cli("visit", at_once, "--add", "--allow-private")  # how long the host wants to rest is known now
    cli("add", late, "--allow-private")
    with in_the_air(slow, cli, "run") as process:
        process.kill()
    began_s = monotonic()
    assert "Not changed" in cli("visit", at_once, "--allow-private").stdout
    assert monotonic() - began_s < 30.0


def test_a_visit_that_is_interrupted_says_so(cli: Cli, slow: LivingWeb) -> None:
    at_once, late = slow.urls()
    cli("visit", at_once, "--add", "--allow-private")
    cli("add", late, "--allow-private")
    with in_the_air(slow, cli, "visit", late) as process:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert out == ""
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert json.loads(cli("status", "--json").stdout)["visits"] == 1
