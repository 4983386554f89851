"""Which changes count: said, seen on a real server, told, learned anew, kept and erased."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from recrawl.app.build import STORE_FILE
from recrawl.app.health import unsound
from recrawl.cli.main import app
from recrawl.model import Bags
from recrawl.remember.sqlite import SqliteStore

TEXT = (
    "The river rose during the night and the lower meadow is under water so the sheep were brought to the "
    "upper pasture where the grass is short and the wind is cold but they are safe and dry"
)
OTHER = "Everything must go this week only: lamps, chairs, tables and beds at half their price"


class Site(ThreadingHTTPServer):
    daemon_threads = True
    text = TEXT

    @property
    def url(self) -> str:
        return f"http://page.localhost:{self.server_port}/"


class _Answer(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        found = self.path != "/robots.txt"
        body = f"<html><title>Farm</title><p>{self.server.text}</p></html>".encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
        """Nothing is logged."""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(("127.0.0.1", 0), _Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class Cli:
    """In this process: a dozen commands would take long to start."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {"RECRAWL_HOME": str(home), "RECRAWL_FETCHING__MIN_DELAY": "0.05", "COLUMNS": "200"}

    def __call__(self, *args: str) -> str:
        done = CliRunner().invoke(app, list(args), env=self.env)
        assert done.exit_code == 0, (args, done.output, done.exception)
        return done.output

    def row(self, *args: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self(*args, "--json"))
        return found


@contextmanager
def stored(home: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(home / STORE_FILE)) as store:
        yield store


def words(store: SqliteStore) -> tuple[list[float], Bags]:
    ((_, at, bags),) = store.bags(np.array([1]))
    return at.tolist(), bags


def test_only_significant_changes_count_and_all_are_archived(tmp_path: Path, site: Site) -> None:
    cli, url = Cli(tmp_path / "home"), site.url
    cli("add", url, "--allow-private", "--changes", "significant", "--no-mask")
    assert "only significant changes count" in cli("list")
    assert cli("visit", url).startswith("Seen: the first copy")
    site.text = f"{TEXT} again"
    assert cli("visit", url).startswith("Changed slightly, which does not count: ")
    site.text = OTHER
    assert cli("visit", url).startswith("Changed significantly: ")
    assert [json.loads(line)["counts"] for line in cli("history", url, "--json").splitlines()] == [
        True,
        False,
        None,
    ]
    told = cli("why", url)
    assert "1 significant change seen in 3 visits" in told
    assert "a significant change in 1 of 3 visits" in told
    assert cli.row("list")["n_changes"] == 1
    with stored(cli.home) as store:
        assert len(list(store.versions(1))) == 3
        at, _ = words(store)
        assert at == [version.at for version in store.versions(1)]
        base = store.base(1)
        assert base is not None
        assert base.at == at[2]
        assert store.standing(1)[0].bits == 1

    # another word about what counts: the past is counted so too once it is learned anew
    assert "recrawl relearn" in cli("set", url, "--changes", "any")
    assert cli.row("list")["n_changes"] == 1
    cli("relearn")
    assert cli.row("list")["n_changes"] == 2
    assert [json.loads(line)["counts"] for line in cli("history", url, "--json").splitlines()][1] is True
    cli("set", url, "--clear", "changes")
    assert cli.row("list")["changes"] == "any"
    assert (
        "choose one of: any, significant"
        in CliRunner().invoke(app, ["set", url, "--changes", "some"], env=cli.env).output
    )


def test_words_are_read_anew_backed_up_and_erased(tmp_path: Path, site: Site) -> None:
    cli, url = Cli(tmp_path / "home"), site.url
    cli("add", url, "--allow-private", "--no-mask")
    for site.text in (TEXT, f"{TEXT} again", OTHER):
        cli("visit", url)
    with stored(cli.home) as store:
        at, bags = words(store)
        base = store.base(1)
        assert store.rebag(1, [], at[-1]) == 0
        assert list(store.bags()) == []
    assert cli.row("relearn", "--words") == {"resources": 1, "versions": 3, "unread": 0}
    with stored(cli.home) as store:
        assert words(store)[0] == at
        for name in ("bounds", "word", "count"):
            assert getattr(words(store)[1], name).tolist() == getattr(bags, name).tolist()
        assert store.base(1) == base
        assert store.base(1, at[-1]) == store.base(1, at[1]), "the slight change in between is no base"
    cli("backup", str(tmp_path / "copy"))
    cli("restore", str(tmp_path / "copy"), "--home", str(tmp_path / "again"))
    with stored(tmp_path / "again") as store:
        assert words(store)[0] == at
    cli("erase", url, "--yes")
    with stored(cli.home) as store:
        assert list(store.bags()) == []
    assert cli.row("relearn", "--words") == {"resources": 0, "versions": 0, "unread": 0}
    assert list(unsound(cli.home / STORE_FILE)) == []
