"""Every kind of resource on the command line: added, visited, changed, visited again."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from recrawl.app import rounds
from recrawl.app.build import open_house
from recrawl.app.config import Config
from recrawl.app.watchlist import watched
from recrawl.live.clock import WallClock
from recrawl.livingweb import Document, Form, LivingWeb, Query, Script, serving
from recrawl.model import Changed, Kind, NewResource, Settings
from recrawl.urls import host_key

GRAPH = Document(host="graph.localhost", path="/graph", form=Form.RDF)
FEED = Document(host="feed.localhost", path="/news.xml", form=Form.RSS)
SITEMAP = Document(host="feed.localhost", path="/sitemap.xml", form=Form.SITEMAP)
TABLE = Document(host="data.localhost", path="/table.csv", form=Form.CSV)
NUMBERS = Document(host="data.localhost", path="/numbers.json", form=Form.JSON)
ROWS = Document(host="graph.localhost", path="/sparql", form=Form.SPARQL, query=Query.ALL, max_rows=2)


class Cli(Protocol):
    home: Path

    def __call__(
        self, *args: str, code: int = 0, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def living() -> Iterator[LivingWeb]:
    with serving(Script((GRAPH, FEED, SITEMAP, TABLE, NUMBERS, ROWS)), clock=WallClock()) as web:
        yield web


def visited(cli: Cli, url: str, *, code: int = 0, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(cli("visit", url, "--json", code=code, env=env).stdout)
    return row


@pytest.mark.parametrize(
    ("kind", "entry", "touched"),
    [
        (Kind.RDF, GRAPH, GRAPH),
        (Kind.AUTO, GRAPH, GRAPH),
        (Kind.CSV, TABLE, TABLE),
        (Kind.JSON, NUMBERS, NUMBERS),
        (Kind.FEED, FEED, FEED),
        (Kind.SITEMAP, SITEMAP, FEED),
    ],
    ids=lambda value: getattr(value, "path", value),
)
def test_a_kind_is_added_visited_and_its_change_is_seen(
    tmp_path: Path, living: LivingWeb, kind: Kind, entry: Document, touched: Document
) -> None:
    url, config = living.url(entry), Config(fetching={"min_delay": 0.05})  # type: ignore[arg-type]
    with open_house(tmp_path, config=config) as house:
        said = Settings(kind=kind, allow_private=True)
        house.store.add([NewResource(url=url, host=host_key(url), settings=said)], house.clock.now())

        def changed() -> Changed:
            resource = watched(house.store, url)
            return asyncio.run(rounds.visit(house, resource)).absorbed.visit.changed

        assert changed() is Changed.UNKNOWN
        # for graphs: this server's serialisations take turns unless one is asked for before all others
        assert changed() is Changed.NO
        living.touch(living.url(touched))
        assert changed() is Changed.YES


def test_kinds_are_said_when_resources_are_added(cli: Cli) -> None:
    cli("add", "--kind", "rdf", "http://example.org/data")
    assert json.loads(cli("list", "--json").stdout)["kind"] == "rdf"


def test_the_result_of_a_query_is_watched_by_the_page(cli: Cli, living: LivingWeb) -> None:
    endpoint = living.url(ROWS).partition("?")[0]
    said = ["--query", Query.ALL, "--page-rows", "2", "--allow-private"]
    assert cli("add", "--sparql", endpoint, *said).stdout == "Added 1, known 0, refused 0.\n"
    url = json.loads(cli("list", "--json").stdout)["url"]
    assert url == living.url(ROWS)
    assert visited(cli, url)["outcome"] == "ok"
    assert visited(cli, url)["changed"] is False
    living.touch(url)
    assert visited(cli, url)["changed"] is True
    rows = json.loads(cli("show", url).stdout)["results"]["bindings"]
    assert len(rows) == 6
    assert [one.status for one in living.log if one.path == "/sparql"] == [200] * (3 + 3 + 4)
    # an endpoint in trouble makes a failed visit, and is then left alone
    living.misbehave(url, 429, retry_after_s=1)
    assert visited(cli, url, code=1)["outcome"] == "http-error"
    assert cli("verify").returncode == 0


def test_a_query_is_read_from_a_file_or_from_standard_input(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.rq").write_text("ASK { ?s ?p ?o }\n")
    cli("add", "--sparql", "http://example.org/sparql", "--query-file", str(tmp_path / "a.rq"))
    done = cli("add", "--sparql", "http://example.org/sparql", "--query-file", "-", text="ASK { ?s ?p ?o }")
    assert done.stdout == "Added 0, known 1, refused 0.\n"


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        (["--sparql", "http://h.example/", "--query", "SELECT * { ?s ?p ?o"], "ends before its last }"),
        (["--sparql", "http://h.example/", "--query", "DELETE WHERE {}"], "only looks"),
        (["--sparql", "http://h.example/"], "--query-file"),
        (["--query", "ASK {}"], "--sparql ENDPOINT"),
        (["--sparql", "http://h.example/", "--query", "ASK {}", "--query-file", "x"], "one of"),
        (["--sparql", "http://h.example/", "--query-file", "/nowhere"], "cannot be read"),
        (["--sparql", "http://h.example/", "--query", "ASK {}", "http://h.example/"], "nothing else"),
        (["--sparql", "http://h.example/", "--query", "ASK {}", "--kind", "page"], "no other --kind"),
        (["--sparql", "http://h.example/", "--query", "ASK {}", "--page-rows", "5"], "Only a SELECT"),
        (["--kind", "sparql", "http://h.example/sparql"], "one query"),
        (["http://h.example/", "--page-rows", "5"], "--page-rows is for SPARQL"),
    ],
)
def test_a_query_that_cannot_be_watched_is_refused_when_it_is_added(
    cli: Cli, args: list[str], wrong: str
) -> None:
    assert wrong in cli("add", *args, code=2).stderr
    assert cli("list", "--json").stdout == ""


# -- files ---------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def allowing(folder: Path) -> dict[str, str]:
    return {"RECRAWL_FETCHING__ALLOW_FILES": str(folder)}


def write(path: Path, text: str, at_s: int) -> None:
    path.write_text(text)
    os.utime(path, (at_s, at_s))


def test_a_file_is_visited_changed_removed_and_back(cli: Cli, data: Path) -> None:
    env, path = allowing(data), data / "x.csv"
    url = path.as_uri()
    write(path, "a,b\n1,2\n", 1_700_000_000)
    assert cli("add", url, env=env).stdout == "Added 1, known 0, refused 0.\n"
    assert visited(cli, url, env=env)["outcome"] == "ok"
    assert visited(cli, url, env=env)["outcome"] == "not-modified"
    write(path, "a,b\n1,3\n", 1_700_000_100)
    assert visited(cli, url, env=env)["changed"] is True
    path.unlink()
    assert visited(cli, url, env=env)["outcome"] == "gone"
    write(path, "a,b\n1,4\n", 1_700_000_200)
    assert visited(cli, url, env=env)["changed"] is True
    assert cli("show", url).stdout == "a,b\n1,4\n"
    assert cli("show", url, "--at", "v1").stdout == "a,b\n1,2\n"
    cli("verify")
    cli("export", "warc", str(data.parent / "copy"))
    assert "file:///" in (data.parent / "copy" / "index.cdxj").read_text()


def test_many_files_are_visited_in_one_run_without_waiting_for_each_other(cli: Cli, data: Path) -> None:
    for i in range(30):
        write(data / f"{i}.txt", f"{i}", 1_700_000_000)
    env = allowing(data) | {"RECRAWL_FETCHING__MIN_DELAY": "60s"}
    cli("add", *((data / f"{i}.txt").as_uri() for i in range(30)), env=env)
    done = cli("run", "--once", "--json", env=env)
    assert [json.loads(line)["outcome"] for line in done.stdout.splitlines()] == ["ok"] * 30


def test_a_folder_is_watched_by_what_is_in_it(cli: Cli, data: Path) -> None:
    env = allowing(data)
    write(data / "a.txt", "1", 1_700_000_000)
    cli("add", data.as_uri(), env=env)  # typed without its slash
    assert json.loads(cli("list", "--json").stdout)["url"] == f"{data.as_uri()}/"
    assert visited(cli, data.as_uri(), env=env)["outcome"] == "ok"
    assert visited(cli, data.as_uri(), env=env)["outcome"] == "not-modified"
    write(data / "b.txt", "2", 1_700_000_000)
    assert visited(cli, data.as_uri(), env=env)["changed"] is True
    assert '"b.txt"' in cli("show", data.as_uri()).stdout


def test_files_are_watched_only_where_that_is_allowed(cli: Cli, data: Path, tmp_path: Path) -> None:
    write(tmp_path / "secret.txt", "canary", 1_700_000_000)
    secret = (tmp_path / "secret.txt").as_uri()
    refused = cli("add", secret, env=allowing(data), code=2)
    assert "fetching.allow_files" in refused.stderr
    assert "fetching.allow_files" in cli("visit", "--add", secret, env=allowing(data), code=2).stderr
    cli("add", secret, env=allowing(tmp_path))
    # the leave was taken back since
    row = visited(cli, secret, env=allowing(data), code=1)
    assert row["outcome"] == "blocked"
    assert "allow_files" in row["evidence"]


@pytest.mark.parametrize(
    "text", ["<urlset><url><loc>{}</loc></url></urlset>", '<opml><outline xmlUrl="{}"/></opml>']
)
def test_a_list_from_elsewhere_names_no_files(cli: Cli, data: Path, text: str) -> None:
    write(data / "a.txt", "1", 1_700_000_000)
    (data / "list.xml").write_text(text.format((data / "a.txt").as_uri()))
    option = "--opml" if "opml" in text else "--sitemap"
    done = cli("add", option, str(data / "list.xml"), env=allowing(data), code=2)
    assert "by hand" in done.stderr


def test_a_folder_that_is_no_whole_path_is_a_bad_setting(cli: Cli) -> None:
    done = cli("status", env={"RECRAWL_FETCHING__ALLOW_FILES": "/whole:data"}, code=2)
    assert "fetching.allow_files" in done.stderr
    assert "begin it with /" in done.stderr
