"""A command that is forked is the command: it says the same, ends the same, and hears what it is told."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import Cli
from tests.commands import COMMAND, Forked, forkable

BOTH = [subprocess.Popen, Forked]
PIPES: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
URL = "https://example.org/ä"


@pytest.mark.parametrize(
    ("args", "text", "code"),
    [
        (["--version"], "", 0),
        (["--nonsense"], "", 2),
        (["add", "no URL"], "", 2),
        (["add", "-"], f"{URL}\n", 0),
        (["set", URL, "--max-gap", "2h"], "", 0),
        (["show", URL], "", 1),
        (["config"], "", 0),
        (["status", "--home", "/dev/null/x"], "", 3),
    ],
)
def test_both_say_the_same_and_end_the_same(cli: Cli, args: list[str], text: str, code: int) -> None:
    told = []
    for number, started in enumerate(BOTH):
        home = {"RECRAWL_HOME": str(cli.home / str(number)), "NO_COLOR": "1", "TZ": "Asia/Tokyo"}
        if args[0] != "add":
            cli.having(**home)("add", URL, "--min-gap", "1h")
        with started([*COMMAND, *args], env={**cli.env, **home}, text=True, **PIPES) as process:
            out, err = process.communicate(text, timeout=60)
        assert process.returncode == code, err
        told.append([said.replace(home["RECRAWL_HOME"], "HOME") for said in (out, err)])
    assert told[0] == told[1]


@pytest.mark.parametrize("started", BOTH)
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, -15), (signal.SIGINT, 130)]
)
def test_both_hear_signals(cli: Cli, started: Any, number: signal.Signals, code: int) -> None:
    # a test run in the background may have been told to ignore it
    heeded = signal.signal(signal.SIGINT, signal.default_int_handler)
    with started([*COMMAND, "add", "-"], env=cli.env, text=True, **PIPES) as process:
        signal.signal(signal.SIGINT, heeded)
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        assert Path(f"/proc/{process.pid}").exists()
        process.send_signal(number)
        assert process.wait(30) == code
        assert process.poll() == code


def test_both_hold_the_same_open_and_see_the_end_of_what_they_read(cli: Cli) -> None:
    kept = []
    for started in BOTH:
        with started([*COMMAND, "add", "-"], env=cli.env, text=True, **PIPES) as process:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1.5)
            named = [str(path.readlink()) for path in Path(f"/proc/{process.pid}/fd").iterdir()]
            kept.append(sorted(name.partition(":")[0] for name in named))
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(30) == 0
    assert kept[0] == kept[1]


def test_what_an_interpreter_reads_when_it_begins_asks_for_a_fresh_one(cli: Cli) -> None:
    assert forkable(cli.env)
    assert not forkable({**cli.env, "PYTHONIOENCODING": "latin-1"})
    assert not forkable({**cli.env, "LC_ALL": "tlh"})
