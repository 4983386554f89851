"""What cannot be used is refused in a line or two, with the remedy; never a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

import recrawl
from recrawl.livingweb import LivingWeb

X = "https://x.example/"


class Cli(Protocol):
    home: Path
    env: Mapping[str, str]

    def __call__(
        self, *args: str, code: int = 0, text: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["add"], "nothing to add"),
        (["add", "example.org"], "neither a file nor a URL"),
        (["add", "ftp://example.org/"], "http:// or https://"),
        (["add", "http://user:secret@example.org/"], "leave it out"),
        (["add", "http://localhost/"], "--allow-private"),
        (["add", "http://sub.localhost/"], "--allow-private"),
        (["add", "http://127.0.0.1/"], "--allow-private"),
        (["add", "http://127.1/"], "--allow-private"),
        (["add", "http://2130706433/"], "--allow-private"),
        (["add", "http://[::ffff:10.0.0.1]/"], "--allow-private"),
        (["add", "http://169.254.169.254/latest"], "--allow-private"),
        (["add", X, "--kind", "movie"], "page"),
        (["add", X, "--weight", "0"], "above 0"),
        (["add", X, "--weight", "nan"], "above 0"),
        (["add", X, "--min-gap", "soon"], "90s"),
        (["add", X, "--min-gap", "0s"], "longer than nothing"),
        (["add", X, "--min-gap", "2d", "--max-gap", "1d"], "swap"),
        (["add", "--sitemap", "missing.xml"], "cannot be read"),
        (["set", X], "nothing to set"),
        (["set", X, "--weight", "2"], "recrawl add"),
        (["set", "--weight", "2"], "in one way"),
        (["set", X, "--tag", "t", "--weight", "2"], "in one way"),
        (["set", "--all", "--weight", "2"], "settings file"),
        (["set", "--tag", "t", "--clear", "colour"], "colour"),
        (["pause"], "in one way"),
        (["run"], "recrawl add"),
        (["run", "--budget", "lots"], "2000/day"),
        (["run", "--for", "ever"], "90s"),
        (["visit", X], "recrawl add"),
        (["history", X], "recrawl add"),
        (["show", X], "recrawl add"),
        (["diff", X], "recrawl add"),
        (["why", "nonsense"], "http://"),
        (["export", "warc"], "folder"),
        (["export", "everything"], "everything"),
        (["demo", "--for", "a while"], "90s"),
        (["nonsense"], "nonsense"),
        (["list", "--colour"], "--colour"),
    ],
)
def test_bad_input_is_refused_with_its_remedy(cli: Cli, args: list[str], said: str) -> None:
    done = cli(*args, code=2)
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 4
    assert "Added" in done.stdout if "Refused" in done.stderr else done.stdout == ""


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["set", "--all", "--weight", "2"], 2, "settings file"),
        (["set", "--all", "--kind", "page"], 2, "--home"),
        (["set", "--tag", "t", "--weight", "2", "--anyway"], 2, "--home"),
        (["set", "--tag", "t", "--weight", "2"], 1, "has the tag"),
        (["pause", "--host", "x.example", "--anyway"], 2, "--home"),
        (["resume", "--tag", "t"], 1, "has the tag"),
        (["remove", X], 2, "recrawl add"),
        (["access", "set", X, "--bearer", "--stdin"], 2, "recrawl add"),
        (["access", "set", "--all", "--proxy", "--stdin"], 2, "proxy"),
        (["access", "clear", "--all"], 1, ""),
        (["notify", "add", "me", "--url", X, "--stdin"], 2, "recrawl add"),
        (["notify", "add", "me", "--stdin"], 2, "no address"),
        (["notify", "remove", "me"], 1, ""),
        (["token", "remove", "me"], 2, "no token"),
        (["erase", X, "--yes"], 2, "recrawl list"),
        (["prune"], 0, ""),
        (["relearn"], 0, ""),
        (["moved", "--apply", "--all"], 0, ""),
    ],
)
def test_what_changes_what_is_there_makes_no_home(cli: Cli, args: list[str], code: int, said: str) -> None:
    """It may be mistyped, and an empty store in it would look as if nothing was ever watched."""
    env = {"RECRAWL_ARCHIVING__KEEP_VERSIONS": "3"}
    assert said in cli(*args, code=code, text="nonsense\n", env=env).stderr
    assert not cli.home.exists()


def test_secrets_and_notices_may_come_before_all_else(cli: Cli) -> None:
    """Whoever collects a site behind a door needs the key first."""
    cli("access", "set", "--host", "x.example", "--bearer", "--stdin", text="key\n")
    assert [path.name for path in cli.home.iterdir()] == ["secrets.json"]
    cli("notify", "add", "me", "--stdin", text="https://hooks.example/x\n")
    cli("add", X)
    assert "bearer" in cli("access", "list").stdout
    assert "me" in cli("notify", "list").stdout


def test_a_goal_that_is_not_there_names_those_that_are(cli: Cli) -> None:
    cli("add", X)
    assert "capture" in cli("run", "--goal", "fame", code=2).stderr


@pytest.mark.parametrize(
    ("name", "told"), [("goal", "capture"), ("policy", "uniform"), ("predictor", "gamma")]
)
def test_status_refuses_a_setting_with_the_words_of_a_run(cli: Cli, name: str, told: str) -> None:
    cli("add", X)
    (cli.home / "recrawl.toml").write_text(f'[schedule]\n{name} = "fame"\n')
    refused = cli("status", code=2)
    assert told in refused.stderr
    assert refused.stdout == ""
    assert refused.stderr == cli("run", "--once", code=2).stderr


def test_status_takes_a_goal_that_its_policy_does_not_ask_for(cli: Cli) -> None:
    cli("add", X)
    (cli.home / "recrawl.toml").write_text('[schedule]\ngoal = "fame"\npolicy = "nutch"\n')
    assert "nutch" in cli("status").stdout


def test_a_bad_line_does_not_stop_the_rest_and_is_told_with_its_number(cli: Cli) -> None:
    text = "# three lines\nhttps://a.example/\n\nnot a url\nhttps://b.example/  \nhttps://a.example/\n"
    done = cli("add", "-", text=text)
    assert done.stdout == "Added 2, known 1, refused 1.\n"
    assert "standard input:4" in done.stderr


def test_a_broken_settings_file_is_told_by_name(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "recrawl.toml").write_text("[schedule]\nbudgte = 5\n")
    assert "schedule.budgte: is not a setting" in cli("list", code=2).stderr
    (cli.home / "recrawl.toml").write_text("[schedule\n")
    assert "not a TOML file" in cli("list", code=2).stderr


def test_a_home_that_is_a_file_and_a_store_that_is_none_are_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "choose another with --home" in cli("--home", str(tmp_path / "file"), "list", code=3).stderr
    cli.home.mkdir()
    (cli.home / "recrawl.sqlite").write_bytes(b"no database" * 1000)
    assert "recrawl.sqlite" in cli("list", code=3).stderr


def test_home_may_stand_before_or_after_the_command(cli: Cli, tmp_path: Path) -> None:
    there = str(tmp_path / "elsewhere")
    cli("--home", there, "add", X)
    assert X in cli("list", "--home", there).stdout
    assert cli("list").stdout == ""


def test_settings_say_where_they_come_from(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "recrawl.toml").write_text('[gaps]\nmin_gap = "2h"\n')
    rows = json.loads(cli("config", "--json", env={"RECRAWL_SCHEDULE__BUDGET": "50/h"}).stdout)
    found = {row["name"]: (row["value"], row["from"]) for row in rows}
    assert found["gaps.min_gap"] == (7200.0, "recrawl.toml")
    assert found["schedule.budget"] == (1200.0, "environment")
    assert found["schedule.goal"] == ("fresh", "default")
    assert "gaps.min_gap\t2 hours\trecrawl.toml" in cli("config").stdout


def test_doctor_is_content_with_a_new_home_and_finds_a_missing_archive_file(
    cli: Cli, web: LivingWeb, urls: list[str]
) -> None:
    assert "none yet" in cli("doctor").stdout
    cli("visit", urls[0], "--add", "--allow-private")
    assert "WRONG" not in cli("doctor").stdout
    for file in (cli.home / "archive").glob("*.warc.gz"):
        file.unlink()
    assert "WRONG  archive" in cli("doctor", code=1).stdout


def test_nothing_alone_prints_help_and_version_prints_the_version(cli: Cli) -> None:
    assert cli("--version").stdout == f"recrawl {recrawl.__version__}\n"
    assert cli().stdout.startswith("Usage: recrawl [OPTIONS] COMMAND")


def test_a_reader_that_goes_away_ends_it_quietly(cli: Cli) -> None:
    cli("add", "-", text="".join(f"https://h{i}.example/\n" for i in range(5000)))
    piped = f"'{sys.executable}' -m recrawl list --all --json | head -1"
    done = subprocess.run(["bash", "-c", piped], env=cli.env, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["url"] == "https://h0.example/"
    assert done.stderr == ""


def test_control_characters_of_the_web_do_not_reach_the_terminal(cli: Cli) -> None:
    done = cli("why", "http://x.example/\x1b]0;title", code=2)
    assert "\x1b" not in done.stderr
