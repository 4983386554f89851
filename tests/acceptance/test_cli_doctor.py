"""The doctor is there for when things are broken; what one check meets hides no other."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest
from tests import plugins

X = "https://x.example/"
LAST = "store"  # what is looked at last, or last but one


class Cli(Protocol):
    home: Path

    def __call__(
        self, *args: str, code: int = 0, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The last finding of each name, with its word before it."""
    return {line.split()[1]: line for line in done.stdout.splitlines()}


def test_a_store_that_is_garbage_is_one_finding_among_others(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "recrawl.sqlite").write_bytes(b"no database" * 1000)
    found = findings(cli("doctor", code=1))
    assert found["store"].startswith("WRONG")
    assert found["disk"].startswith("ok")
    begins = {len(line) - len(line[7:].split("  ", 1)[1].lstrip()) for line in found.values()}
    assert len(begins) == 1  # all findings stand in one column


def test_settings_that_are_broken_hide_nothing(cli: Cli) -> None:
    cli("add", X)
    (cli.home / "recrawl.toml").write_text("[schedule\n")
    found = findings(cli("doctor", code=1))
    assert "not a TOML file" in found["settings"]
    assert found["settings"].startswith("WRONG")
    assert "1 resource," in found["store"]


def test_a_home_below_a_file_is_told(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "home"):
        found = findings(cli("--home", str(place), "doctor", code=1))
        assert found["home"].startswith("WRONG")
        assert "is a file" in found["home"]
        assert LAST in found


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_cannot_be_written_is_told(cli: Cli) -> None:
    cli.home.mkdir(mode=0o500)
    assert "cannot be written" in findings(cli("doctor", code=1))["home"]


def test_a_home_on_a_file_system_that_cannot_be_written_is_told(cli: Cli) -> None:
    assert "cannot be written" in findings(cli("--home", "/proc/recrawl", "doctor", code=1))["home"]


@pytest.mark.parametrize(
    ("name", "told"), [("goal", "capture"), ("policy", "uniform"), ("predictor", "gamma")]
)
def test_a_part_that_is_not_there_is_told_before_a_run_needs_it(cli: Cli, name: str, told: str) -> None:
    env = {f"RECRAWL_SCHEDULE__{name.upper()}": "fame"}
    wrong = findings(cli("doctor", env=env, code=1))["settings"]
    assert wrong.startswith("WRONG")
    assert told in wrong
    shown = cli("config", env=env, code=1)
    assert f"schedule.{name}\tfame" in shown.stdout
    assert told in shown.stderr


PARTS = """
import asyncio


class Needy:
    def __init__(self, what):
        pass


class Broken:
    def __init__(self, goal=None):
        raise RuntimeError("not on a Tuesday")


class Mute:
    name = "mute"


class Handling:
    schemes, kinds, media_types = frozenset({"gopher"}), frozenset(), frozenset()

    def __init__(self, premises):
        asyncio.get_running_loop()  # as a session of a library's wants it

    async def fetch(self, request, web):
        return await web.fetch(request)

    async def aclose(self):
        pass


class Greedy(Handling):
    schemes = frozenset({"https"})


class Asking(Handling):
    @property
    def kinds(self):
        raise RuntimeError("nobody knows")


class Leaking(Handling):
    schemes = frozenset({"telnet"})

    async def aclose(self):
        raise RuntimeError("still open")
"""


@pytest.mark.parametrize(
    ("group", "kind", "told"),
    [
        ("predictors", "Needy", "'mine' of predictors cannot be made (Needy.__init__() missing 1"),
        ("predictors", "Gone", "'mine' of predictors cannot be loaded (module 'my_package' has no"),
        ("goals", "Mute", "'mine' of goals has no worth, which every goal has"),
        ("policies", "Broken", "'mine' of policies cannot be made (not on a Tuesday)"),
        ("detectors", "Broken", "'mine' of detectors cannot be made (not on a Tuesday)"),
        ("handlers", "Needy", "'mine' of handlers has no schemes and no kinds"),
        ("handlers", "Greedy", "The handler 'mine' claims the whole web"),
        (
            "handlers",
            "Asking",
            "(my_package:Asking, of my-package) failed in Asking.kinds: RuntimeError",
        ),
        ("handlers", "Leaking", "'mine' of handlers cannot be closed (still open)"),
    ],
)
def test_a_part_of_a_plug_in_is_made_to_see_whether_it_can_be(
    cli: Cli, tmp_path: Path, group: str, kind: str, told: str
) -> None:
    site = plugins.package(tmp_path / "site", PARTS, {group: {"mine": kind}})
    found = findings(cli("doctor", env={"PYTHONPATH": str(site)}, code=1))
    assert found[group].startswith("WRONG")
    assert told in found[group]
    assert [name for name, line in found.items() if line.startswith("WRONG")] == [group]
    if group in _SETTINGS:
        env = {"PYTHONPATH": str(site), f"RECRAWL_SCHEDULE__{_SETTINGS[group]}": "mine"}
        assert told in findings(cli("doctor", env=env, code=1))["settings"]
        assert told in cli("config", env=env, code=1).stderr


_SETTINGS = {"predictors": "PREDICTOR", "goals": "GOAL", "policies": "POLICY"}


def test_parts_of_plug_ins_that_can_be_made_are_listed(cli: Cli, tmp_path: Path) -> None:
    offers = {"predictors": {"mine": "Mine"}, "handlers": {"gopher": "Handling"}}
    code = PARTS + plugins.page_code("width").replace("MyPredictor", "Mine")
    site = plugins.package(tmp_path / "site", code, offers)
    found = findings(cli("doctor", env={"PYTHONPATH": str(site)}))
    assert "mine" in found["predictors"]
    assert "gopher" in found["handlers"]


def test_secrets_that_others_may_read_are_told(cli: Cli) -> None:
    cli("add", X)
    cli("access", "set", X, "--bearer", "--stdin", text="x\n")
    assert findings(cli("doctor"))["secrets"].startswith("ok")
    (cli.home / "secrets.json").chmod(0o644)
    assert "chmod 600" in findings(cli("doctor", code=1))["secrets"]


def test_the_findings_are_json_too(cli: Cli) -> None:
    (cli.home.parent / "home").mkdir()
    (cli.home / "recrawl.sqlite").write_bytes(b"no database" * 1000)
    found = {row["name"]: row["ok"] for row in json.loads(cli("doctor", "--json", code=1).stdout)}
    assert (found["store"], found["disk"], found["contact"]) == (False, True, None)


# -- settings --------------------------------------------------------------------------------------------


def test_a_variable_that_is_misspelt_stops_every_command_but_the_doctor(cli: Cli) -> None:
    env = {"RECRAWL_SCHEDUL__BUDGET": "5"}
    assert "RECRAWL_SCHEDULE__BUDGET" in cli("status", env=env, code=2).stderr
    assert "RECRAWL_SCHEDULE__BUDGET" in findings(cli("doctor", env=env, code=1))["settings"]


def test_the_demo_asks_the_environment_for_its_home_alone(cli: Cli) -> None:
    env = {"RECRAWL_GAPS__MIN_GAP": "abc", "RECRAWL_FETCHING__MAX_BYTES": "none"}
    done = json.loads(cli("demo", "--for", "1s", "--json", env=env).stdout)
    assert done["budget_per_day"] == 100.0
    assert done["store"] == str(cli.home / "recrawl.sqlite")
