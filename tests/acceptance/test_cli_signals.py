"""A run that is told to stop ends in good order: what was in the air is recorded, and nothing is torn."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Protocol

import pytest

from recrawl.livingweb import LivingWeb


class Cli(Protocol):
    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]: ...
    def started(self, *args: str) -> subprocess.Popen[str]: ...


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
