"""Taking out, pruning and carrying away, as people do it, also while a run goes on."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.acceptance.conftest import Cli
from tests.keeper import T0, holds, keeper
from tests.pages import Pages, serving
from typer.testing import CliRunner, Result

from recrawl.cli.main import app
from recrawl.model import GLOBAL, Settings

OAK, ELM = "http://oak.example/", "http://elm.example/"


@pytest.fixture
def pages() -> Iterator[Pages]:
    with serving() as server:
        yield server


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A home with four versions of one resource and one of another; nothing is visited by itself."""
    with keeper(tmp_path / "home") as filled:
        for n in range(4):
            filled.sees(OAK, f"of-oak {n} ".encode() * 200, T0 + n)
        filled.sees(ELM, b"of-elm " * 200, T0)
        filled.house.store.say(GLOBAL, Settings(paused=True), T0)
    return tmp_path / "home"


def recrawl(home: Path, *args: str, code: int = 0, env: Mapping[str, str] | None = None) -> Result:
    """The command in this process: most of what a real one takes is its start."""
    done = CliRunner().invoke(app, ["--home", str(home), *args], env=env)
    assert done.exit_code == code, (args, done.exit_code, done.output, done.exception)
    return done


def test_a_resource_is_erased_while_a_run_goes_on(cli: Cli, pages: Pages) -> None:
    oak, elm = pages.url("oak"), pages.url("elm")
    cli = cli.having(RECRAWL_FETCHING__MIN_DELAY="0.01")
    cli("add", "--allow-private", "--min-gap", "1s", "--kind", "file", oak, elm)
    running = cli.started("run", "--json", "--budget", "10000000/day")
    assert running.stdout is not None
    seen = ""
    while seen != oak or not holds(cli.home, b"of-oak"):
        seen = json.loads(running.stdout.readline())["url"]
    done = json.loads(cli("erase", oak, "--yes", "--reason", "asked for", "--json").stdout)
    assert (done["url"], done["why"], done["done"]) == (oak, "asked for", True)
    assert done["versions"] >= 1
    after: list[str] = []
    while len(after) < 3:  # it goes on with the other
        visit = json.loads(running.stdout.readline())
        after += [visit["url"]] if visit["at"] > done["at"] else []
    running.send_signal(signal.SIGTERM)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert set(after) == {elm}
    assert holds(cli.home, b"of-oak") == []
    assert holds(cli.home, b"of-elm")
    assert "0 problems" in recrawl(cli.home, "verify").stderr
    # It comes back when that is wanted, and not before.
    assert json.loads(recrawl(cli.home, "why", oak, "--json").stdout)["paused"]
    recrawl(cli.home, "resume", oak)
    recrawl(cli.home, "visit", oak)
    assert recrawl(cli.home, "show", oak).stdout.startswith("<p>of-oak")


def test_what_was_erased_is_shown_as_that(kept: Path) -> None:
    assert "--yes" in recrawl(kept, "erase", OAK, code=2).stderr
    assert recrawl(kept, "show", OAK).stdout.startswith("of-oak 3")
    said = recrawl(kept, "erase", OAK, "--yes", "--reason", "asked for").stdout
    assert said.startswith(f"Erased 4 versions of {OAK}: 8 records, ")
    assert "its contents were erased" in recrawl(kept, "show", OAK, code=1).stderr
    assert "its contents were erased" in recrawl(kept, "diff", OAK, code=2).stderr
    assert "(asked for)" in recrawl(kept, "history", OAK).stderr
    assert "its contents were erased" in recrawl(kept, "why", OAK).stdout
    assert "erased" in recrawl(kept, "list").stdout.splitlines()[0]
    assert "erased" not in recrawl(kept, "list").stdout.splitlines()[1]
    assert recrawl(kept, "show", ELM).stdout.startswith("of-elm")
    assert "nothing of it is kept" in recrawl(kept, "erase", "http://never.example/", "--yes", code=2).stderr


def test_old_versions_are_pruned_by_hand(kept: Path) -> None:
    assert "no rule is set" in recrawl(kept, "prune", "--dry-run").stderr
    rule = {"RECRAWL_ARCHIVING__KEEP_VERSIONS": "3"}
    shown = recrawl(kept, "prune", "--dry-run", env=rule)
    assert shown.stdout == f"{OAK}\t1 of 4\n"
    assert "nothing was done" in shown.stderr
    done = json.loads(recrawl(kept, "prune", "--json", env=rule).stdout)
    assert (done["versions"], done["records"], done["left"], done["files"]) == (1, 2, 0, 1)
    assert done["bytes"] > 0
    rows = [json.loads(line) for line in recrawl(kept, "export", "versions", "--json").stdout.splitlines()]
    assert [row["seq"] for row in rows] == [1, 3, 4, 1]
    assert len(recrawl(kept, "history", OAK).stdout.splitlines()) == 4
    assert "0 problems" in recrawl(kept, "verify").stderr


def test_old_versions_are_pruned_by_a_run_once_a_day(cli: Cli, kept: Path) -> None:
    cli = cli.having(RECRAWL_HOME=str(kept), RECRAWL_ARCHIVING__KEEP_VERSIONS="2")
    running = cli.started("run")
    assert running.stderr is not None
    told = running.stderr.readline()
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert told.startswith("Let go of 2 old versions")
    with keeper(kept) as left:
        assert [version.seq for version in left.versions(OAK)] == [1, 4]
        assert left.house.store.note("pruned_at")


def test_a_backup_is_made_and_restored(kept: Path, tmp_path: Path) -> None:
    folder, again = tmp_path / "backup", tmp_path / "again"
    said = recrawl(kept, "backup", str(folder))
    assert said.stdout.startswith("Backed up 2 files")
    assert said.stderr == ""  # there are no secrets that could be left out
    (kept / "secrets.json").write_text("{}")
    assert "Secrets are not in it" in recrawl(kept, "backup", str(folder)).stderr
    (kept / "secrets.json").unlink()
    done = json.loads(recrawl(kept, "backup", str(tmp_path / "all.tar"), "--json").stdout)
    assert done["files"] == done["copied"] == 2
    assert "is there already" in recrawl(kept, "backup", str(tmp_path / "all.tar"), code=2).stderr
    (tmp_path / "notes").write_text("mine")
    assert "is a file" in recrawl(kept, "backup", str(tmp_path / "notes"), code=2).stderr
    assert "not empty" in recrawl(kept, "restore", str(folder), code=2).stderr
    assert recrawl(again, "restore", str(tmp_path / "all.tar")).stdout.startswith("Restored 2 files")
    assert recrawl(again, "show", OAK).stdout.startswith("of-oak 3")
    (folder / "recrawl.sqlite").write_bytes(b"something else")
    fourth = tmp_path / "fourth"
    assert "is not restored" in recrawl(fourth, "restore", str(folder), code=2).stderr
    assert not fourth.exists()
