"""Somebody else's part that goes wrong at work: every command says whose it is, and what went wrong."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests import plugins
from tests.acceptance.conftest import Cli
from typer.testing import CliRunner, Result

from recrawl.app.build import STORE_FILE
from recrawl.cli.main import app
from recrawl.errors import PluginError
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.clock import WallClock
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S
from recrawl.plugin import named
from recrawl.registry import made
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.processes import Poisson
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import world_of

CODE = (
    plugins.page_code("width")
    + """
from dataclasses import dataclass
from pathlib import Path

from recrawl.errors import BadSettingError
from recrawl.learn.predictors.gamma import GammaFilter


class Foretelling(MyPredictor):
    def forecast(self, batch, now):
        return 1 / 0


class Learning(MyPredictor):
    def learn(self, seen):
        raise KeyError("nobody")


class Reading(MyPredictor):
    def learn(self, seen):
        Path("/nowhere/at all").read_text()


class Inverting(MyPredictor):
    def forecast(self, batch, now):
        return self._solved(np.zeros((2, 2)))

    def _solved(self, matrix):
        return np.linalg.inv(matrix)


class Leaning(MyPredictor):
    def forecast(self, batch, now):
        return GammaFilter().forecast(None, now)


class Returning(MyPredictor):
    def forecast(self, batch, now):
        return None


class Refusing(MyPredictor):
    def forecast(self, batch, now):
        raise BadSettingError("It knows no such thing; say another.")


@dataclass(frozen=True, slots=True)
class Curves:
    of: GammaForecasts

    def __getattr__(self, name):
        return getattr(self.of, name)

    def survival(self, t_s):
        raise ValueError("no curve")

    def pick(self, rows):
        return Curves(self.of.pick(rows))


class Surviving(MyPredictor):
    def forecast(self, batch, now):
        return Curves(super().forecast(batch, now))


class Worthless:
    name = "worthless"

    def worth(self, forecasts, t_s):
        raise RuntimeError("worth nothing")


class Silent:
    name = "silent"

    def quote(self, batch, forecasts):
        raise RuntimeError("no\\nquote")


class Quote:
    def gaps(self, price):
        raise RuntimeError("no gaps")


class Gapless:
    name = "gapless"

    def quote(self, batch, forecasts):
        return Quote()


class Unmade:
    def __init__(self, goal):
        raise RuntimeError("not today")
"""
)
OFFERS = {
    "predictors": {
        "mine": "MyPredictor",
        "foretelling": "Foretelling",
        "learning": "Learning",
        "reading": "Reading",
        "inverting": "Inverting",
        "leaning": "Leaning",
        "returning": "Returning",
        "refusing": "Refusing",
        "surviving": "Surviving",
    },
    "goals": {"worthless": "Worthless"},
    "policies": {"silent": "Silent", "gapless": "Gapless", "unmade": "Unmade"},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Watched for twenty days, by a predictor of ours."""
    folder = tmp_path_factory.mktemp("plugins")
    now = WallClock().now()
    start_at = now - 20 * DAY_S
    world = world_of(
        [Poisson(rate) for rate in np.geomspace(0.05, 2.0, 20)], start_at=start_at, end_at=now, seed=5
    )
    store = SqliteStore(folder / STORE_FILE)
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=10.0,
        reprice_every_s=12 * HOUR_S,
    )
    simulate(loop, world, start_at=start_at, end_at=now)
    store.close()
    return folder


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with plugins.installed(plugins.package(tmp_path / "site", CODE, OFFERS), monkeypatch):
        yield


def recrawl(*args: str, env: dict[str, str] | None = None, code: int = 3) -> Result:
    done = CliRunner().invoke(app, args, env=env)
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done


WHY = "why", "http://h0.test/0"
PLAN = ("plan",)
RUN = "run", "--for", "1s"
SIMULATE = "simulate", "--corpus", "builtin:wiki", "--policy", "week,index", "--draws", "1"
EVALUATE = "evaluate", "forecasts", "--corpus", "builtin:wiki", "--draws", "1"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("words", "method", "cause"),
    [
        ((*PLAN, "predictor", "foretelling"), "Foretelling.forecast", "ZeroDivisionError: division by zero"),
        ((*WHY, "predictor", "foretelling"), "Foretelling.forecast", "ZeroDivisionError: division by zero"),
        ((*PLAN, "predictor", "inverting"), "Inverting._solved", "LinAlgError: Singular matrix"),
        ((*PLAN, "predictor", "leaning"), "Leaning.forecast", "AttributeError: 'NoneType' object"),
        ((*PLAN, "predictor", "surviving"), "Curves.survival", "ValueError: no curve"),
        ((*RUN, "predictor", "foretelling"), "Foretelling.forecast", "ZeroDivisionError"),
        ((*RUN, "predictor", "surviving"), "Curves.survival", "ValueError: no curve"),
        ((*RUN, "goal", "worthless"), "Worthless.worth", "RuntimeError: worth nothing"),
        ((*RUN, "policy", "silent"), "Silent.quote", "RuntimeError: no quote"),
        ((*RUN, "policy", "gapless"), "Quote.gaps", "RuntimeError: no gaps"),
    ],
)
def test_a_part_that_the_settings_choose_is_named(
    home: Path, words: tuple[str, ...], method: str, cause: str
) -> None:
    *args, what, name = words
    env = {f"RECRAWL_SCHEDULE__{what.upper()}": name}
    said = recrawl("--home", str(home), *args, env=env).stderr
    assert (
        f"The {what} {name!r} (my_package:{name.title()}, of my-package) failed in {method}: {cause}" in said
    )
    assert "(my_package.py, line " in said
    assert "Choose another, or tell those who wrote it; `recrawl --traceback COMMAND`" in said


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*SIMULATE, "--predictor", "foretelling"), "The predictor 'foretelling' (my_package:Foretelling"),
        ((*SIMULATE, "--predictor", "learning"), "failed in Learning.learn: KeyError: 'nobody'"),
        ((*SIMULATE, "--goal", "worthless"), "failed in Worthless.worth: RuntimeError: worth nothing"),
        ((*EVALUATE, "--predictor", "foretelling"), "failed in Foretelling.forecast: ZeroDivisionError"),
        ((*EVALUATE, "--predictor", "learning"), "failed in Learning.learn: KeyError: 'nobody'"),
    ],
)
def test_a_part_that_a_replay_is_asked_for_is_named(words: tuple[str, ...], said: str) -> None:
    assert said in recrawl(*words).stderr


@pytest.mark.usefixtures("installed")
def test_a_policy_that_cannot_be_made_says_whose_it_is(home: Path) -> None:
    said = recrawl("--home", str(home), "status", env={"RECRAWL_SCHEDULE__POLICY": "unmade"}).stderr
    assert "'unmade' of policies cannot be made (not today); choose another" in said
    assert said.endswith("my-package.\n")


@pytest.mark.usefixtures("installed")
def test_what_a_part_says_of_what_the_user_said_stays_as_it_is(home: Path) -> None:
    env = {"RECRAWL_SCHEDULE__PREDICTOR": "refusing"}
    assert recrawl("--home", str(home), *PLAN, env=env, code=2).stderr == (
        "It knows no such thing; say another.\n"
    )


@pytest.mark.usefixtures("installed")
def test_what_goes_wrong_in_our_code_alone_is_ours(home: Path) -> None:
    """Also where it is made of what a part gave."""
    env = {"RECRAWL_SCHEDULE__PREDICTOR": "returning"}
    done = CliRunner().invoke(app, ["--home", str(home), *PLAN], env=env)
    assert type(done.exception) is AttributeError
    with pytest.raises(ZeroDivisionError), named():
        _ = 1 / 0


@pytest.mark.usefixtures("installed")
def test_of_several_parts_in_use_of_one_package_all_are_named(home: Path) -> None:
    env = {"RECRAWL_SCHEDULE__PREDICTOR": "mine", "RECRAWL_SCHEDULE__GOAL": "worthless"}
    assert (
        "The goal 'worthless' (my_package:Worthless, of my-package) or the predictor 'mine' "
        "(my_package:MyPredictor, of my-package) failed in Worthless.worth: "
    ) in recrawl("--home", str(home), *RUN, env=env).stderr


@pytest.mark.usefixtures("installed")
def test_a_part_is_given_as_it_is_made() -> None:
    mine = made("predictors", "mine")
    assert type(mine) is sys.modules["my_package"].MyPredictor
    assert type(made("predictors", "gamma")) is GammaFilter


@pytest.mark.usefixtures("installed")
def test_what_went_wrong_is_the_cause() -> None:
    with pytest.raises(PluginError, match=r"failed in Learning\.learn: ") as caught, named():
        made("predictors", "learning").learn(None)
    assert isinstance(caught.value.__cause__, KeyError)


def test_what_a_part_cannot_read_is_no_trouble_of_the_archive(
    cli: Cli, urls: list[str], tmp_path: Path
) -> None:
    site = plugins.package(tmp_path / "site", CODE, OFFERS)
    cli("add", "--allow-private", urls[0])
    broken = cli.having(PYTHONPATH=str(site), RECRAWL_SCHEDULE__PREDICTOR="reading")
    said = broken("run", "--for", "5s", code=3).stderr
    assert "(my_package:Reading, of my-package) failed in Reading.learn: FileNotFoundError" in said
    assert "archive" not in said


def test_a_run_ends_with_the_name_and_shows_all_that_led_there_where_asked(
    cli: Cli, urls: list[str], tmp_path: Path
) -> None:
    site = plugins.package(tmp_path / "site", CODE, OFFERS)
    cli("add", "--allow-private", urls[0])
    broken = cli.having(PYTHONPATH=str(site), RECRAWL_SCHEDULE__PREDICTOR="learning")
    said = broken("run", "--for", "5s", code=3).stderr
    assert (
        "The predictor 'learning' (my_package:Learning, of my-package) failed in Learning.learn: KeyError"
        in said
    )
    with broken.started("--traceback", "run", "--for", "5s") as process:
        _, shown = process.communicate(timeout=60)
    assert process.returncode == 3
    assert isinstance(process, subprocess.Popen)
    assert 'raise KeyError("nobody")' in shown
    assert "The above exception was the direct cause" in shown
    assert shown.splitlines()[-1] == said.splitlines()[-1]
