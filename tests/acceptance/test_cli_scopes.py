"""Tags and hosts on the command line: what means nothing is told, and counts say what really changed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

A, B = "https://a.example/", "https://b.example:8080/"


class Cli(Protocol):
    home: Path
    env: Mapping[str, str]

    def __call__(
        self, *args: str, code: int = 0, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def two(cli: Cli) -> Cli:
    cli("add", A, "--tag", "news")
    cli("add", B)
    return cli


def said(cli: Cli) -> list[tuple[str, str]]:
    return [(row["scope"], row["name"]) for row in json.loads(cli("set", "--show", "--json").stdout)]


def paused(cli: Cli) -> list[str]:
    rows: list[dict[str, Any]] = [json.loads(line) for line in cli("list", "--json").stdout.splitlines()]
    return [row["url"] for row in rows if row["paused"]]


@pytest.mark.parametrize("command", [["pause"], ["resume"], ["set", "--weight", "3"], ["remove", "--yes"]])
@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        (["--tag", "nws"], "has the tag 'nws'; tags: news"),
        (["--host", "B.example"], "on the host 'b.example'; hosts: b.example:8080"),
        (["--host", "https://c.example/x"], "on the host 'c.example'; hosts: a.example"),
    ],
)
def test_a_tag_or_host_that_nothing_has_is_told_with_those_there_are(
    two: Cli, command: list[str], chosen: list[str], told: str
) -> None:
    done = two(*command, *chosen, code=1)
    assert told in done.stderr
    assert done.stdout == ""
    assert said(two) == [("global", "")]


def test_what_is_said_of_later_ones_is_said_anyway(two: Cli) -> None:
    two("pause", "--tag", "later", "--anyway")
    two("set", "--host", "C.example", "--weight", "3", "--anyway")
    assert said(two) == [("global", ""), ("host", "c.example"), ("tag", "later")]
    two("add", "https://c.example/", "--tag", "later")
    assert paused(two) == ["https://c.example/"]
    two("remove", "https://c.example/", "--yes")
    # what was said can be taken back though nothing has the tag any more
    two("resume", "--tag", "later")
    assert said(two) == [("global", ""), ("host", "c.example")]


@pytest.mark.parametrize("host", ["b.example:8080", "B.EXAMPLE:8080", "https://b.example:8080/other"])
def test_a_host_may_be_given_in_any_spelling_or_as_a_url_on_it(two: Cli, host: str) -> None:
    assert two("pause", "--host", host).stdout == "Paused 1.\n"
    assert paused(two) == [B]
    assert two("list", "--host", host).stdout.startswith(B)


@pytest.mark.parametrize("args", [["--tag", "nws"], ["--host", "x.example"], ["--text", "zzz"]])
def test_an_empty_list_says_why_it_is_empty(two: Cli, args: list[str]) -> None:
    done = two("list", *args)
    assert done.stdout == ""
    assert "No watched" in done.stderr


def test_a_resource_that_was_resumed_by_url_pauses_with_its_host_again(two: Cli) -> None:
    two("pause", A)
    assert two("resume", A).stdout == "Resumed 1.\n"
    assert said(two) == [("global", "")]
    assert two("pause", "--host", "a.example").stdout == "Paused 1.\n"
    assert paused(two) == [A]


def test_a_resource_goes_on_against_its_host_only_as_long_as_that_pauses(two: Cli) -> None:
    two("pause", "--host", "a.example")
    two("resume", A)
    assert paused(two) == []
    again = two("pause", "--host", "a.example")
    assert again.stdout == "Paused 0.\n"
    assert "Not paused: 1 resource" in again.stderr
    two("resume", "--host", "a.example")
    assert said(two) == [("global", "")]
    assert two("pause", "--host", "a.example").stdout == "Paused 1.\n"


def test_counts_say_how_many_really_changed(two: Cli) -> None:
    two("pause", A)
    assert two("pause", A).stdout == "Paused 0.\n"
    still = two("resume", "--tag", "news")
    assert still.stdout == "Resumed 0.\n"
    assert "Still paused: 1 resource" in still.stderr
    assert json.loads(two("resume", A, B, "--json").stdout) == {"resumed": 1}


def test_all_that_was_said_is_shown_by_scope(two: Cli) -> None:
    two("set", "--tag", "news", "--min-gap", "2h", "--render")
    two("set", B, "--user-agent", "example-bot/1.0")
    assert two("set", "--show").stdout.splitlines() == [
        "global\teverything\tweight 1.0, min-gap 1 hour, max-gap 180 days",
        "tag\tnews\tmin-gap 2 hours, render yes",
        f"resource\t{B}\tuser-agent example-bot/1.0",
    ]
    assert json.loads(two("set", "--show", "--json").stdout)[1] == {
        "scope": "tag", "name": "news", "min_gap_s": 7200.0, "render": True,
    }  # fmt: skip
    assert "nothing else" in two("set", "--show", "--weight", "2", code=2).stderr


@pytest.mark.parametrize(
    "args",
    [
        ["add", "https://c.example/", "--tag", ""],
        ["add", "https://c.example/", "--tag", "a\nb"],
        ["set", A, "--add-tag", " "],
        ["set", "--tag", "", "--weight", "2"],
        ["list", "--tag", ""],
        ["pause", "--host", ""],
        ["pause", "--host", "a.example/news"],
    ],
)
def test_a_tag_or_host_without_a_name_is_refused(two: Cli, args: list[str]) -> None:
    assert "write it as" in two(*args, code=2).stderr
    assert len(two("list", "--json").stdout.splitlines()) == 2


def test_what_can_be_cleared_is_named_as_the_options_are(two: Cli) -> None:
    refused = two("set", "--tag", "news", "--clear", "min_gap_s", code=2).stderr
    assert "min-gap" in refused
    assert "max_gap_s" not in refused


def test_settings_given_for_known_resources_point_to_set(two: Cli) -> None:
    assert "recrawl set" in two("add", A, "--weight", "9").stderr
    assert "recrawl set" not in two("add", A).stderr


# -- reading leaves no trace -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["list"], 0),
        (["status"], 0),
        (["verify"], 0),
        (["config"], 0),
        (["doctor"], 0),
        (["moved"], 0),
        (["set", "--show"], 0),
        (["access", "list"], 0),
        (["export", "resources"], 0),
        (["why", A], 2),
        (["history", A], 2),
        (["show", A], 2),
        (["diff", A], 2),
        (["visit", A], 2),
        (["run"], 2),
        (["remove", A, "--yes"], 2),
        (["pause", A], 2),
        (["pause", "--tag", "t"], 1),
        (["resume", "--tag", "t"], 1),
    ],
)
def test_where_nothing_is_watched_nothing_is_made(cli: Cli, args: list[str], code: int) -> None:
    cli(*args, code=code)
    assert not cli.home.exists()


def test_where_nothing_is_watched_json_is_empty(cli: Cli) -> None:
    assert cli("list", "--json").stdout == ""
    assert json.loads(cli("status", "--json").stdout)["resources"] == 0
    assert f"Nothing is watched in {cli.home} yet" in cli("list").stderr
    assert cli("export", "visits").stdout.startswith("url,at,outcome,")


def test_commands_that_read_leave_the_defaults_as_they_were_said(two: Cli) -> None:
    other = {"RECRAWL_GAPS__MIN_GAP": "2h"}
    for command in (["list"], ["status"], ["why", A], ["history", A], ["set", "--show"], ["verify"]):
        two(*command, env=other)
    assert json.loads(two("set", "--show", "--json").stdout)[0]["min_gap_s"] == 3600.0
    two("pause", A, env=other)
    assert json.loads(two("set", "--show", "--json", env=other).stdout)[0]["min_gap_s"] == 7200.0


def bounds(cli: Cli) -> dict[str, tuple[float, float]]:
    rows = [json.loads(line) for line in cli("list", "--json").stdout.splitlines()]
    return {row["url"]: (row["min_gap_s"], row["max_gap_s"]) for row in rows}


def test_a_largest_gap_below_the_default_smallest_one_counts(two: Cli) -> None:
    two("set", A, "--max-gap", "10m")
    two("set", "--host", "b.example:8080", "--max-gap", "20m")
    two("add", "https://c.example/", "--max-gap", "30m")
    assert list(bounds(two).values()) == [(600.0, 600.0), (1200.0, 1200.0), (1800.0, 1800.0)]


def test_a_largest_gap_that_would_not_count_is_refused_with_what_helps(two: Cli) -> None:
    two("set", "--tag", "news", "--min-gap", "2h")
    two("set", "--host", "b.example:8080", "--min-gap", "3h")
    for url, whose in ((A, "tag news is 2 hours"), (B, "host b.example:8080 is 3 hours")):
        told = two("set", url, "--max-gap", "30m", code=2).stderr
        assert whose in told
        assert "(--min-gap)" in told
        two("set", url, "--max-gap", "30m", "--min-gap", "5m")  # as it was told
    assert set(bounds(two).values()) == {(300.0, 1800.0)}
    refused = two("add", f"{B}new", "--max-gap", "30m", code=2).stderr
    assert "host b.example:8080 is 3 hours" in refused
    two("add", f"{B}new", "--max-gap", "30m", "--min-gap", "30m")
    told = two("set", A, "--max-gap", "2m", code=2).stderr  # its own smallest gap is longer
    assert "The smallest gap of https://a.example/ was said to be 5 minutes" in told
    told = two("set", A, "--min-gap", "2h", code=2).stderr
    assert "The largest gap of https://a.example/ was said to be 30 minutes" in told
    assert "say both" in two("set", "--tag", "news", "--max-gap", "1h", code=2).stderr
    two("set", A, "--max-gap", "2m", "--clear", "min-gap", code=2)  # now its tag's is
    two("set", A, "--max-gap", "3h", "--clear", "min-gap")
    assert bounds(two)[A] == (7_200.0, 10_800.0)
