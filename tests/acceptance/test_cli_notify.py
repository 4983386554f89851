"""Being told: from a change on a real server to a message at a real receiver, by the commands alone."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
import stat
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.receivers import Receiver, receiving
from typer.testing import CliRunner

from recrawl.app.outbox import LOG, NOTE
from recrawl.cli.main import app
from recrawl.remember.sqlite import SqliteStore

SECRET = "a secret to sign with"
ONE = "<title>The shop</title><p>In stock: 12 lamps and chairs</p><p>Open from nine to five</p>"
TWO = "<title>The shop</title><p>Everything is sold out until spring</p><p>Open from nine to five</p>"


@dataclass
class Cli:
    """In this process: a dozen commands would take long to start."""

    home: Path
    env: dict[str, str]

    def __call__(self, *args: str, text: str = "", code: int = 0) -> str:
        done = CliRunner().invoke(app, list(args), input=text, env=self.env)
        assert done.exit_code == code, (args, done.exit_code, done.output, done.exception)
        return done.output

    def rows(self, *args: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self(*args, "--json").splitlines()]

    def note(self, key: str, change: Callable[[Any], object] | None = None) -> Any:
        """What the store keeps, changed where a test wants that."""
        with closing(SqliteStore(self.home / "recrawl.sqlite")) as store:
            value = json.loads(store.note(key) or "null")
            if change is not None:
                change(value)
                store.note(key, json.dumps(value))
        return value


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    home = tmp_path / "home"
    return Cli(home, {"RECRAWL_HOME": str(home), "RECRAWL_FETCHING__MIN_DELAY": "0.01", "COLUMNS": "200"})


@pytest.fixture
def here() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def watched(cli: Cli, here: Receiver, *more: str) -> str:
    """A page that was seen once."""
    url = here.page("/shop", ONE)
    cli("add", url, "--allow-private", "--min-gap", "1s", "--no-mask", *more)
    cli("visit", url)
    return url


def added(cli: Cli, here: Receiver, name: str, *more: str, to: str = "") -> None:
    cli("notify", "add", name, "--allow-private", "--stdin", *more, text=(to or here.hook(f"/{name}")) + "\n")


def told(cli: Cli) -> str:
    return cli("run", "--once")


def test_a_change_is_told_once_signed_and_with_what_came_and_went(cli: Cli, here: Receiver) -> None:
    url = watched(cli, here)
    cli(
        *("notify", "add", "me", "--allow-private", "--sign", "--stdin"),
        *("--link", "https://face.example/r?url={url}&v={version}"),
        text=f"{here.hook()}\n{SECRET}\n",
    )
    told(cli)
    assert here.got == []  # what was before is no news
    here.page("/shop", TWO)
    cli("visit", url)
    assert here.got == []  # `run` tells
    told(cli)
    told(cli)
    (got,) = here.got
    whole = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    signature = b64decode(got.headers["webhook-signature"].removeprefix("v1,"))
    assert hmac.compare_digest(signature, hmac.new(SECRET.encode(), whole, hashlib.sha256).digest())
    assert abs(int(got.headers["webhook-timestamp"]) - time.time()) < 120.0
    document = got.document
    assert got.headers["idempotency-key"] == document["id"]
    (news,) = document["news"]
    assert (news["what"], news["url"], news["title"]) == ("change", url, "The shop")
    assert news["added"] == ["Everything is sold out until spring"]
    assert news["removed"] == ["In stock: 12 lamps and chairs"]
    assert (news["before"], news["version"]) == (1, 2)
    assert news["link"].startswith("https://face.example/r?url=http%3A%2F%2Fpage.localhost")
    assert news["link"].endswith("&v=2")
    (row,) = cli.rows("notify", "log")
    assert (row["notice"], row["n_news"], row["delivered"], row["id"]) == ("me", 1, True, document["id"])
    assert [row["name"] for row in cli.rows("notify", "list")] == ["me"]
    assert "well" in cli("notify", "list")
    assert "1 of 1 well" in cli("doctor")


def test_notices_choose_by_tag_text_and_kind_of_news(cli: Cli, here: Receiver) -> None:
    url = watched(cli, here, "--tag", "shop")
    added(cli, here, "tagged", "--tag", "shop")
    added(cli, here, "elsewhere", "--tag", "other")
    added(cli, here, "host", "--host", f"page.localhost:{here.port}")
    added(cli, here, "words", "--url", url, "--match", "Sold  OUT", "--in", "added")
    added(cli, here, "wrong-side", "--match", "sold out", "--in", "removed")
    added(cli, here, "pattern", "--pattern", r"stock: \d+ lamps", "--in", "removed")
    # takes for ever on what came: told in vain rather than not at all, and within seconds
    added(cli, here, "endless", "--pattern", r"(\w+\s*)+$!")
    added(cli, here, "gone", "--on", "gone")
    added(cli, here, "back", "--on", "back")
    here.page("/shop", TWO)
    cli("visit", url)
    told(cli)
    changed = {"/tagged", "/host", "/words", "/pattern", "/endless"}
    assert {got.path for got in here.got} == changed
    here.got.clear()
    here.page("/shop", "", status=404)
    cli("visit", url)
    told(cli)
    assert {got.path for got in here.got} == {
        "/tagged",
        "/host",
        "/words",
        "/wrong-side",
        "/pattern",
        "/endless",
        "/gone",
    }
    assert {got.document["news"][0]["what"] for got in here.got} == {"gone"}
    here.got.clear()
    here.page("/shop", TWO)
    cli("visit", url)
    told(cli)
    assert "/back" in {got.path for got in here.got}
    assert {got.document["news"][0]["what"] for got in here.got} == {"back"}


def test_apprise_tells_services_and_hostile_pages_are_quoted(cli: Cli, here: Receiver) -> None:
    url = watched(cli, here)
    added(cli, here, "app", to=f"json://127.0.0.1:{here.port}/app?format=html")
    hostile = "<title>&lt;script&gt;alert(1)&lt;/script&gt;</title><p>@everyone [x](javascript:y)</p>"
    here.page("/shop", hostile)
    cli("visit", url)
    told(cli)
    (got,) = here.got
    assert got.path == "/app"
    document = got.document
    assert document["title"] == "Changed: <script>alert(1)</script>"
    assert "<script" not in document["message"]
    assert "@everyone" not in document["message"]
    assert "everyone" in document["message"]


def test_nothing_goes_to_a_private_address_unless_that_was_said(cli: Cli, here: Receiver) -> None:
    cli("add", here.page("/shop", ONE), "--allow-private")
    for name, to in (("hook", here.hook()), ("app", f"json://127.0.0.1:{here.port}/app")):
        cli("notify", "add", name, "--stdin", text=f"{to}\n")
        assert "--allow-private" in cli("notify", "test", name, code=1)
        assert "localhost" not in cli("notify", "test", name, code=1)
    assert here.got == []
    for name, to in (("hook", here.hook()), ("app", f"json://127.0.0.1:{here.port}/app")):
        cli("notify", "add", name, "--replace", "--allow-private", "--stdin", text=f"{to}\n")
        assert cli("notify", "test", name) == "Delivered.\n"
    assert [got.path for got in here.got] == ["/hook", "/app"]


def test_a_recipient_that_fails_is_tried_again_with_the_same_id_and_seen_by_the_doctor(
    cli: Cli, here: Receiver
) -> None:
    url = watched(cli, here)
    added(cli, here, "me")
    added(cli, here, "other")
    here.page("/shop", TWO)
    cli("visit", url)
    here.answers = [503, 503]
    told(cli)
    assert {got.path for got in here.got} == {"/me", "/other"}
    assert "it answered 503" in cli("doctor", code=1)
    status = json.loads(cli("status", "--json"))
    assert (status["notices"], status["notices_failing"]) == (2, ["me", "other"])
    told(cli)
    assert len(here.got) == 2  # it rests
    cli.note(NOTE, lambda state: [box.update(retry_at=0.0) for box in state["boxes"].values()])
    told(cli)
    assert len(here.got) == 4
    assert len({(got.path, got.headers["webhook-id"]) for got in here.got}) == 2
    assert "2 of 2 well" in cli("doctor")
    assert json.loads(cli("status", "--json"))["notices_failing"] == []
    assert [row["delivered"] for row in cli.rows("notify", "log")] == [True, True, False, False]


def test_what_waits_is_told_later_and_holds_nothing_of_what_was_erased(cli: Cli, here: Receiver) -> None:
    url = watched(cli, here)
    added(cli, here, "me", "--daily", "23:59")
    here.page("/shop", TWO)
    cli("visit", url)
    told(cli)
    assert here.got == []
    assert [row["n_waiting"] for row in cli.rows("notify", "list")] == [1]
    for key in (NOTE, LOG):
        assert "sold out" not in json.dumps(cli.note(key))
    cli("erase", url, "--yes")
    cli.note(NOTE, lambda state: [box.update(heard_at=0.0) for box in state["boxes"].values()])
    told(cli)
    (got,) = here.got
    assert b"sold out" not in got.body
    assert got.document["news"][0]["url"] == url
    assert got.document["news"][0]["added"] == []


def test_several_changes_of_data_are_told_as_one_with_the_values_that_differ(
    cli: Cli, here: Receiver
) -> None:
    url = here.page("/data", '{"price": 5, "name": "lamp"}')
    cli("add", url, "--allow-private", "--min-gap", "1s", "--no-mask", "--kind", "json")
    cli("visit", url)
    added(cli, here, "me", "--every", "6h", "--match", "price: 7", "--match", "price: 6", "--in", "added")
    added(cli, here, "other", "--match", "price: 5", "--in", "added")
    for price in (6, 7):
        here.page("/data", f'{{"price": {price}, "name": "lamp"}}')
        cli("visit", url)
    told(cli)
    assert [row["n_waiting"] for row in cli.rows("notify", "list")] == [2, 0]
    cli.note(NOTE, lambda state: [box.update(heard_at=0.0) for box in state["boxes"].values()])
    told(cli)
    (got,) = here.got
    (news,) = got.document["news"]
    assert (news["n_changes"], news["before"], news["version"]) == (2, 1, 3)
    assert (news["added"], news["removed"]) == (["$.price: 7"], ["$.price: 5"])
    assert "$.price: 5 → 7" in got.document["text"]
    assert got.document["subject"].startswith("2 changes on page.localhost")


def test_another_notice_of_the_same_name_is_not_told_what_waited(cli: Cli, here: Receiver) -> None:
    url = watched(cli, here)
    added(cli, here, "me", "--every", "6h")
    here.page("/shop", TWO)
    cli("visit", url)
    told(cli)
    assert "already" in cli("notify", "add", "me", "--stdin", text="https://x.example/\n", code=2)
    cli("notify", "remove", "me")
    assert "no notice me" in cli("notify", "remove", "me", code=1)
    added(cli, here, "me")
    told(cli)
    assert here.got == []


def test_our_own_trouble_is_told(cli: Cli, here: Receiver) -> None:
    watched(cli, here)
    added(cli, here, "ops", "--on", "trouble")
    cli.env |= {"RECRAWL_ARCHIVING__MIN_FREE_BYTES": str(10**15), "RECRAWL_ARCHIVING__MIN_FREE_SHARE": "1.0"}
    assert "make room" in cli("run", "--for", "6s")
    (got,) = here.got
    assert "make room" in got.document["subject"]
    assert got.document["news"][0]["what"] == "trouble"
    here.got.clear()
    assert "make room" in cli("run", "--once", code=3)  # which does not wait, and says so at last
    assert [got.document["news"][0]["what"] for got in here.got] == ["trouble"]


def test_what_cannot_be_a_notice_is_refused_before_anything_is_typed(cli: Cli) -> None:
    for args, words in (
        (["me", "--on", "rain"], "choose of"),
        (["me", "--quiet", "late"], "22:00-07:00"),
        (["me", "--zone", "Mars"], "Europe/Vienna"),
        (["me", "--daily", "8", "--every", "6h"], "choose one"),
        (["me", "--every", "1s"], "6h"),
        (["me", "--per-hour", "0"], "1000"),
        (["me", "--in", "middle"], "added"),
        (["me", "--pattern", "("], "mend"),
        (["me", "--link", "{secret}"], "{url}"),
        (["me", "--link", "javascript:x{url}"], "https://"),
        (["a/b"], "letters"),
        (["me", "--tag", "a", "--host", "b"], "one way"),
    ):
        assert words in cli("notify", "add", *args, "--stdin", text="https://x.example/\n", code=2), args
    assert "no terminal" in cli("notify", "add", "me", code=2)
    assert not (cli.home / "notices.json").exists()
    assert "notify add" in cli("notify", "list")
    cli("notify", "test", "nobody", code=2)
    assert "does not know" in cli("notify", "add", "me", "--stdin", text="nothing://known/x\n", code=2)


def test_the_file_is_private_and_a_backup_has_it_only_where_that_is_said(cli: Cli, tmp_path: Path) -> None:
    cli("notify", "add", "me", "--stdin", text="https://hooks.example/t0psecret\n")
    path = cli.home / "notices.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "notices.json" in cli("backup", str(tmp_path / "without"))
    assert not (tmp_path / "without" / "notices.json").exists()
    cli("backup", str(tmp_path / "with"), "--with-secrets")
    cli("restore", str(tmp_path / "with"), "--home", str(tmp_path / "again"))
    assert cli("notify", "list", "--home", str(tmp_path / "again")).startswith("me\t")
    path.chmod(0o644)
    assert "chmod 600" in cli("notify", "list", code=2)
    path.chmod(0o600)
    path.write_text('{"format": 1, "notices": [{"to": "t0psecret"}]}')
    assert "t0psecret" not in cli("notify", "list", code=2)
    with closing(sqlite3.connect(cli.home / "recrawl.sqlite")) as raw:
        assert not any("t0psecret" in line for line in raw.iterdump())
