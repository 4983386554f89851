"""A new user's way through the command line, against a real web."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import subprocess
from pathlib import Path
from typing import Any, Protocol

import pytest

from recrawl.livingweb import LivingWeb

PLENTY = "1000000/day"


class Cli(Protocol):
    home: Path

    def __call__(self, *args: str, code: int = 0, text: str = "") -> subprocess.CompletedProcess[str]: ...


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def seen(cli: Cli, web: LivingWeb, urls: list[str]) -> Cli:
    """Three resources, each seen once, the page then changed and seen again."""
    cli("add", *urls, "--allow-private", "--min-gap", "1s", "--tag", "town")
    cli("run", "--once")
    web.touch(urls[0])
    cli("run", "--for", "3s", "--budget", PLENTY)
    return cli


def test_what_was_added_is_visited_once_and_its_visits_are_told_as_json_lines(
    cli: Cli, urls: list[str]
) -> None:
    added = cli("add", *urls, "--allow-private")
    assert added.stdout == "Added 3, known 0, refused 0.\n"
    done = cli("run", "--once", "--json")
    visits = lines(done)
    assert sorted(visit["url"] for visit in visits) == sorted(urls)
    assert {visit["outcome"] for visit in visits} == {"ok"}
    assert "3 visits (first copies: 3)" in done.stderr


def test_a_change_is_one_line_and_shows_in_history_diff_and_why(
    cli: Cli, web: LivingWeb, urls: list[str]
) -> None:
    cli("add", *urls, "--allow-private", "--min-gap", "1s")
    cli("run", "--once")
    web.touch(urls[0])
    told = cli("run", "--for", "3s", "--budget", PLENTY).stdout.splitlines()
    assert [line.split("\t")[1] for line in told] == [urls[0]]
    changes = lines(cli("history", urls[0], "--changes", "--json"))
    assert [visit["changed"] for visit in changes] == [True]
    assert lines(cli("history", urls[1], "--changes", "--json")) == []
    difference = cli("diff", urls[0], code=1).stdout
    assert difference.startswith("--- version 1, ")
    assert any(line.startswith("+") and not line.startswith("+++") for line in difference.splitlines())
    marked = cli("diff", urls[0], "--words", code=1).stdout
    assert "{+" in marked
    assert "1 change seen in" in cli("why", urls[0]).stdout
    assert json.loads(cli("why", urls[1], "--json").stdout)["n_changes"] == 0


def test_a_resource_with_one_version_does_not_differ(cli: Cli, urls: list[str]) -> None:
    cli("add", urls[0], "--allow-private")
    cli("run", "--once")
    done = cli("diff", urls[0])
    assert done.stdout == ""
    assert "only one version" in done.stderr


def test_show_gives_the_very_bytes_of_each_version(seen: Cli, urls: list[str]) -> None:
    versions = [row for row in lines(seen("export", "versions", "--json")) if row["url"] == urls[0]]
    assert [row["seq"] for row in versions] == [1, 2]
    for row in versions:
        body = seen("show", urls[0], "--at", f"v{row['seq']}").stdout.encode()
        assert f"sha256:{hashlib.sha256(body).hexdigest()}" == row["digest"]
    document = json.loads(seen("show", urls[0], "--json").stdout)
    assert document["seq"] == 2
    assert "<html" not in document["text"]


def test_before_the_first_copy_there_is_nothing_to_show(seen: Cli, urls: list[str]) -> None:
    assert "no copy as early as 2001-01-01" in seen("show", urls[0], "--at", "2001-01-01", code=1).stderr


def test_status_and_list_give_the_figures(seen: Cli, urls: list[str]) -> None:
    status = json.loads(seen("status", "--json").stdout)
    assert (status["resources"], status["changes"], status["versions"]) == (3, 1, 4)
    assert status["visits_last_24h"] == status["visits"]
    assert [row["url"] for row in lines(seen("list", "--json"))] == urls
    assert [line.split("\t")[0] for line in seen("list", "--host", _host(urls[1])).stdout.splitlines()] == [
        urls[1]
    ]
    limited = seen("list", "--limit", "2")
    assert len(limited.stdout.splitlines()) == 2
    assert "3 are watched in all" in limited.stderr


def _host(url: str) -> str:
    return url.split("/")[2]


def test_exports_are_complete_and_verify_finds_nothing(seen: Cli, tmp_path: Path, urls: list[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(seen("export", "resources").stdout)))
    assert [row["url"] for row in rows] == urls
    seen("export", "visits", str(tmp_path / "visits.csv"))
    n_visits = json.loads(seen("status", "--json").stdout)["visits"]
    assert len((tmp_path / "visits.csv").read_text().splitlines()) == n_visits + 1
    copied = json.loads(seen("export", "warc", str(tmp_path / "copy"), "--json").stdout)
    assert copied["records"] == len((tmp_path / "copy" / "index.cdxj").read_text().splitlines()) >= 4
    assert json.loads(seen("verify", "--json").stdout)["problems"] == []


def test_verify_finds_a_byte_that_was_changed(seen: Cli) -> None:
    file = sorted((seen.home / "archive").glob("*.warc.gz"))[0]
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 0xFF
    file.write_bytes(damaged)
    done = seen("verify", code=1)
    assert file.name in done.stdout
    assert "0 problems" not in done.stderr


def test_what_is_paused_is_not_visited_until_it_is_resumed(cli: Cli, urls: list[str]) -> None:
    cli("add", *urls, "--allow-private", "--tag", "town")
    cli("pause", "--tag", "town")
    assert lines(cli("run", "--once", "--json")) == []
    cli("resume", urls[0])
    assert [visit["url"] for visit in lines(cli("run", "--once", "--json"))] == [urls[0]]
    assert cli("resume", "--tag", "town").stdout == "Resumed 2.\n"


def test_what_is_said_of_a_tag_holds_until_it_is_taken_back(cli: Cli, urls: list[str]) -> None:
    cli("add", *urls, "--allow-private", "--tag", "town")
    cli("set", "--tag", "town", "--weight", "3", "--min-gap", "2h")
    assert {row["weight"] for row in lines(cli("list", "--json"))} == {3.0}
    cli("set", urls[0], "--weight", "5", "--add-tag", "first")
    cli("set", "--tag", "town", "--clear", "min-gap")
    rows = lines(cli("list", "--json"))
    assert [row["weight"] for row in rows] == [5.0, 3.0, 3.0]
    assert {row["min_gap_s"] for row in rows} == {3600.0}
    assert rows[0]["tags"] == ["first", "town"]


def test_what_is_removed_is_watched_no_more(cli: Cli, urls: list[str]) -> None:
    cli("add", *urls, "--allow-private", "--tag", "town")
    assert "--yes" in cli("remove", "--tag", "town", code=2).stderr
    assert cli("remove", urls[0], "--yes").stdout == "Removed 1.\n"
    assert [row["url"] for row in lines(cli("list", "--json"))] == urls[1:]


def test_one_visit_now_tells_its_verdict_and_adds_only_when_asked_to(cli: Cli, urls: list[str]) -> None:
    assert "not being watched" in cli("visit", urls[0], "--allow-private", code=2).stderr
    first = json.loads(cli("visit", urls[0], "--add", "--allow-private", "--json").stdout)
    assert first["evidence"] == "the first copy"
    # the permission was for that visit alone
    blocked = json.loads(cli("visit", urls[0], "--json", code=1).stdout)
    assert blocked["outcome"] == "blocked"
    assert "Not changed" in cli("visit", urls[0], "--allow-private").stdout


def test_a_run_may_be_allowed_private_addresses_for_itself(cli: Cli, urls: list[str]) -> None:
    cli("visit", urls[0], "--add", "--allow-private")
    cli("set", urls[0], "--min-gap", "1s", "--max-gap", "1s")
    allowed = lines(cli("run", "--for", "3s", "--json", "--budget", PLENTY, "--allow-private"))
    assert {visit["outcome"] for visit in allowed} == {"ok"}
    blocked = lines(cli("run", "--for", "3s", "--json", "--budget", PLENTY))
    assert {visit["outcome"] for visit in blocked} == {"blocked"}


def test_sitemaps_indexes_and_feed_lists_are_read_from_the_web(
    cli: Cli, web: LivingWeb, urls: list[str]
) -> None:
    index = next(url for url in web.urls() if url.endswith("/index.xml"))
    opml = next(url for url in web.urls() if url.endswith(".opml"))
    done = cli("add", "--sitemap", index, "--opml", opml, "--allow-private")
    found = {row["url"] for row in lines(cli("list", "--json"))}
    assert {urls[0], urls[2]} <= found, done.stderr
    refused = cli("add", "--sitemap", index, code=2)
    assert "private-address" in refused.stderr


def test_a_hundred_thousand_urls_are_added_from_a_file_and_listed(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "urls.txt"
    file.write_text("".join(f"https://h{i % 2000}.example.org/{i}\n" for i in range(100_000)))
    assert json.loads(cli("add", str(file), "--json").stdout)["added"] == 100_000
    assert json.loads(cli("status", "--json").stdout)["resources"] == 100_000
    assert len(lines(cli("list", "--json", "--limit", "7"))) == 7
