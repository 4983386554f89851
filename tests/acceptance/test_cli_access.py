"""Manners, secrets and moved resources on the command line."""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from recrawl.live.clock import WallClock
from recrawl.livingweb import Document, LivingWeb, Redirect, Script, serving

URL = "https://example.org/"


class Cli(Protocol):
    home: Path
    env: Mapping[str, str]

    def __call__(
        self, *args: str, code: int = 0, text: str | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_how_a_resource_is_looked_at_is_said_shown_and_taken_back(cli: Cli) -> None:
    cli("add", URL, "https://example.com/", "--tag", "t", "--max-bytes", "5000")
    cli("set", URL, "--insecure", "--user-agent", "example-bot/2.0", "--page-rows", "10")
    cli("set", "--tag", "t", "--render", "--max-bytes", "6000")
    row, other = lines(cli("list", "--json"))
    assert (row["insecure"], row["render"], row["max_bytes"]) == (True, True, 5000)
    assert (row["page_rows"], row["user_agent"]) == (10, "example-bot/2.0")
    assert (other["insecure"], other["render"], other["user_agent"]) == (False, True, None)
    shown = cli("list").stdout.splitlines()
    assert "insecure: certificate not verified" in shown[0]
    assert "insecure" not in shown[1]
    assert "insecure: certificate not verified" in cli("why", URL).stdout
    assert json.loads(cli("why", URL, "--json").stdout)["insecure"] is True
    cli("set", URL, "--clear", "insecure", "--clear", "max-bytes", "--no-render")
    row, _ = lines(cli("list", "--json"))
    assert (row["insecure"], row["render"], row["max_bytes"]) == (False, False, 6000)
    assert "insecure" not in cli("why", URL).stdout


def test_a_manner_that_cannot_be_kept_is_refused(cli: Cli) -> None:
    cli("add", URL)
    for args in (
        ["--max-bytes", "10"],
        ["--max-bytes", str(2**31)],
        ["--page-rows", "0"],
        ["--user-agent", "bot\r\nX-Evil: 1"],
        ["--user-agent", "/1.0"],
        ["--clear", "colour"],
    ):
        assert args[1 if args[0] == "--clear" else 0] in cli("set", URL, *args, code=2).stderr
    row = lines(cli("list", "--json"))[0]
    assert (row["user_agent"], row["max_bytes"], row["page_rows"]) == (None, None, None)


def test_secrets_are_kept_listed_by_name_and_cleared(cli: Cli) -> None:
    cli("add", URL)
    given = ("--header", "X-Key", "--cookie", "c", "--basic", "ada", "--proxy", "--stdin")
    text = "one\r\ntwo\nthree\nhttp://p.example:3128\n"
    kept = cli("access", "set", URL, *given, text=text)
    assert kept.stdout == "Kept; it reaches 1 resource now.\n"
    cli("access", "set", "--host", "example.org", "--bearer", "--stdin", text="four")
    document = json.loads((cli.home / "secrets.json").read_text())
    assert document["scopes"][0]["name"] == URL
    assert document["scopes"][0]["basic"] == ["ada", "three"]
    assert stat.S_IMODE((cli.home / "secrets.json").stat().st_mode) == 0o600
    assert cli("access", "list").stdout.splitlines() == [
        "host\texample.org\tbearer",
        f"resource\t{URL}\theader X-Key, cookie c, basic, proxy",
    ]
    assert lines(cli("access", "list", "--json"))[1] == {
        "scope": "resource", "name": URL,
        "headers": ["X-Key"], "cookies": ["c"], "basic": True, "bearer": False, "proxy": True,
    }  # fmt: skip
    cli("access", "clear", URL, "--cookie", "c", "--basic")
    assert "header X-Key, proxy" in cli("access", "list").stdout
    cli("access", "clear", URL)
    assert cli("access", "clear", URL, code=1).stdout == "There was nothing to forget.\n"
    assert cli("access", "list").stdout == "host\texample.org\tbearer\n"


def test_what_is_removed_takes_its_secrets_along(cli: Cli) -> None:
    cli("add", URL)
    cli("access", "set", URL, "--bearer", "--stdin", text="x\n")
    cli("remove", URL, "--yes")
    assert cli("access", "list").stdout == ""


def test_what_cannot_be_kept_is_refused_with_a_remedy(cli: Cli) -> None:
    cli("add", URL)
    for args, text, said in (
        ([URL, "--header", "X-Key"], "x\n", "--stdin"),  # no terminal to ask at
        ([URL, "--header", "X-Key", "--stdin"], "", "does not fit"),
        ([URL, "--header", "X-Key", "--stdin"], "x\ny\n", "Standard input has 2 lines; give 1"),
        ([URL, "--header", "X-Key", "--cookie", "c", "--stdin"], "x\n", "header X-Key, cookie c"),
        ([URL, "--header", "Cookie", "--stdin"], "x\n", "--cookie"),
        ([URL, "--stdin"], "x\n", "Say what to keep"),
        (["--stdin", "--bearer"], "x\n", "in one way"),
        (["https://unknown.example/", "--bearer", "--stdin"], "x\n", "not being watched"),
        ([URL, "--bearer", "--basic", "ada", "--stdin"], "x\ny\n", "one login"),
    ):
        assert said in cli("access", "set", *args, text=text, code=2).stderr
    assert not (cli.home / "secrets.json").exists()


def test_a_secrets_file_that_others_may_read_stops_every_visit(cli: Cli) -> None:
    cli("add", URL)
    cli("access", "set", URL, "--bearer", "--stdin", text="x\n")
    (cli.home / "secrets.json").chmod(0o644)
    assert "chmod 600" in cli("visit", URL, code=2).stderr
    assert "chmod 600" in cli("run", "--once", code=2).stderr
    assert lines(cli("history", URL, "--json")) == []


def test_at_a_terminal_the_secret_is_asked_for_and_not_shown(cli: Cli) -> None:
    cli("add", URL)
    args = [sys.executable, "-m", "recrawl", "access", "set", URL, "--basic", "ada"]
    terminal, far_end = os.openpty()
    process = subprocess.Popen(
        args,
        env=cli.env,
        stdin=far_end,
        stdout=far_end,
        stderr=far_end,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # what asks for secrets asks at /dev/tty
    )
    os.close(far_end)
    shown = b""
    try:
        while b"password of ada" not in shown:
            shown += os.read(terminal, 1024)
        os.write(terminal, b"sesame\n")
        while chunk := os.read(terminal, 1024):
            shown += chunk
    except OSError:  # the other end has closed
        pass
    finally:
        code = process.wait(30)
        os.close(terminal)
    assert code == 0, shown
    assert b"sesame" not in shown
    assert "sesame" in (cli.home / "secrets.json").read_text()


@pytest.fixture
def moving() -> Iterator[LivingWeb]:
    script = Script(
        (
            Redirect(host="old.localhost", path="/page", to=("new.localhost", "/page")),
            Redirect(host="older.localhost", path="/page", to=("old.localhost", "/page"), status=308),
            Redirect(host="away.localhost", path="/page", to=("new.localhost", "/page"), status=302),
            Document(host="new.localhost", path="/page"),
        )
    )
    with serving(script, clock=WallClock()) as living:
        yield living


def test_a_resource_that_moved_is_offered_and_keeps_its_history(cli: Cli, moving: LivingWeb) -> None:
    old, older, away, new = moving.urls()
    cli("add", old, older, away, "--allow-private", "--tag", "t")
    cli("set", older, "--weight", "5")
    for url in (old, older, away):
        cli("visit", url)
    assert cli("moved").stdout == ""
    for url in (old, older, away):
        cli("visit", url)
    rows = lines(cli("moved", "--json"))
    assert [(row["url"], row["moved_to"]) for row in rows] == [(old, new), (older, new)]
    assert all(re.match(r"\d{4}-\d\d-\d\dT", row["since_at"]) for row in rows)
    assert f"moved to {new}" in cli("list", "--text", old).stdout
    assert "in one way" in cli("moved", "--apply", code=2).stderr
    assert "has not moved" in cli("moved", "--apply", away, code=2).stderr
    assert cli("moved", "--apply", older).stdout == "Moved 1.\n"
    row = next(row for row in lines(cli("list", "--json")) if row["url"] == new)
    assert (row["weight"], row["tags"], row["n_informative"], row["moved_to"]) == (5.0, ["t"], 2, None)
    assert [visit["moved_to"] for visit in lines(cli("history", new, "--json"))] == [new, new]
    assert "not being watched" in cli("history", older, code=2).stderr
    refused = cli("moved", "--apply", "--all", code=1)
    assert refused.stdout == "Moved 0.\n"
    assert "is watched already; `recrawl remove` one of the two" in refused.stderr
    cli("visit", new)
    assert [one.host for one in moving.log[-2:]] == ["new.localhost"] * 2
    assert json.loads(cli("verify", "--json").stdout)["problems"] == []
