"""What the page about plug-ins gives to start from keeps the contract, and can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import plugins
from tests.plugins import page_code
from typer.testing import CliRunner

from recrawl.checks.predictor import CHECKS, MakePredictor
from recrawl.cli.main import app
from recrawl.errors import PluginError
from recrawl.evaluate.contenders import predictor_named, predictors_named

OFFERS = {
    "predictors": {"mine": "MyPredictor", "absent": "Nope", "needy": "Needy", "mute": "Mute"},
    "policies": {"mypolicy": "MyPolicy"},
}


def code() -> str:
    return page_code("width")


def predictor() -> Any:
    module: dict[str, Any] = {"__name__": "my_package"}
    exec(code(), module)  # noqa: S102 - it is ours
    return module["MyPredictor"]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_the_predictor_to_start_from_keeps_the_contract(check: Callable[[MakePredictor], None]) -> None:
    check(predictor())


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that offers a predictor that works, one that is not there, and one that cannot be made."""
    others = "class Needy:\n    def __init__(self, what):\n        pass\n\nclass Mute:\n    width = 2\n"
    with plugins.installed(plugins.package(tmp_path, code() + others, OFFERS), monkeypatch):
        yield


@pytest.mark.usefixtures("installed")
def test_it_can_be_measured_by_its_name() -> None:
    assert predictors_named("mine, GAMMA") == ("mine", "gamma")
    assert type(predictor_named("mine")).__name__ == "MyPredictor"
    said = ("simulate", "--corpus", "builtin:wiki", "--policy", "week,index", "--predictor", "mine")
    ended = CliRunner().invoke(app, [*said, "--draws", "1"])
    assert ended.exit_code == 0, ended.output
    assert "index" in ended.output


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "remedy"), [("absent", "reinstall"), ("needy", "choose another"), ("mute", "choose another")]
)
def test_a_part_that_cannot_be_had_says_whose_it_is(name: str, remedy: str) -> None:
    with pytest.raises(
        PluginError, match=f"'{name}' of predictors (cannot be|has no) .*{remedy}.*: my-package"
    ):
        predictor_named(name)


@pytest.mark.usefixtures("installed")
def test_a_policy_that_can_run_alone_is_not_said_to_be_missing() -> None:
    ended = CliRunner().invoke(app, ["simulate", "--corpus", "builtin:wiki", "--policy", "mypolicy"])
    assert ended.exit_code == 2
    assert "The policy 'mypolicy' can run, not be replayed here; choose some of: fix" in ended.output


def test_a_name_in_capital_letters_is_no_slower_twin_of_the_part() -> None:
    """What goes by names, the fast path among others, would take it for another part."""
    for said in (("--predictor", "Rhythm"), ("--goal", "Fresh")):
        ended = CliRunner().invoke(
            app, ["simulate", "--corpus", "builtin:wiki", "--policy", "week,index", *said]
        )
        assert ended.exit_code == 2
        assert f"called '{said[1]}'; choose one of" in ended.output
