"""`recrawl plan` and `recrawl backtest`, on a home with four weeks of visits behind it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from recrawl.app.build import STORE_FILE
from recrawl.cli.main import app
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.clock import WallClock
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, NewResource
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.processes import Poisson
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import world_of


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("foresight")
    now = WallClock().now()
    start_at = now - 20 * DAY_S
    rates = np.geomspace(0.05, 2.0, 40)
    world = world_of([Poisson(rate) for rate in rates], start_at=start_at, end_at=now, seed=5)
    store = SqliteStore(folder / STORE_FILE)
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Index(Fresh(), jitter=0.07),
        rule="index:fresh",
        per_day=20.0,
        reprice_every_s=12 * HOUR_S,
        fit_priors_every_s=DAY_S,
    )
    simulate(loop, world, start_at=start_at, end_at=now)
    store.close()
    return folder


def recrawl(home: Path, *args: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["--home", str(home), *args])
    assert done.exit_code == code, done.output
    return done


def test_plan_shows_what_budgets_buy_and_writes_it_down(home: Path, tmp_path: Path) -> None:
    svg, html = tmp_path / "curve.svg", tmp_path / "budgets.html"
    done = recrawl(
        home, "plan", "--budgets", "10,40/day", "--within", "6h", "--share", "80%", "--json",
        "--svg", str(svg), "--html", str(html),
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert [round(point["per_day"]) for point in found["points"]] == [10, 20, 40]
    assert found["present_per_day"] == 20.0
    fresh = [point["freshness"]["value"] for point in found["points"]]
    assert fresh == sorted(fresh)
    assert found["needed"]["possible"]
    assert found["needed"]["per_day"] > 40.0
    assert found["untold"]["resources_asked"] == found["resources"]
    assert found["untold"]["beta"]["denied"] == {"a": 1.0, "b": 9.0}
    assert any("not modified" in sentence for sentence in found["assumes"])
    assert found["gain"]["per_day"] == pytest.approx(40.0)
    assert found["gain"]["resources"][0]["other_gap_s"] < found["gain"]["resources"][0]["gap_s"]
    assert svg.read_text("utf-8").startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "What a budget buys" in html.read_text("utf-8")
    assert "Assumed: Resources go on as they did" in html.read_text("utf-8")


def test_plan_says_what_is_in_the_way_where_no_budget_is_enough(home: Path) -> None:
    done = recrawl(home, "plan", "--within", "1m", "--share", "99%")
    assert "no budget is enough" in done.stdout
    assert "now: 20" in done.stdout
    assert "Assumed: " in done.stderr
    assert "--within" in recrawl(home, "plan", "--share", "99%", code=2).stderr


def test_plan_says_where_a_budget_is_too_small_for_the_largest_gaps(home: Path) -> None:
    done = recrawl(home, "plan", "--budgets", "0.1/day")
    assert re.search(r"The largest gaps alone ask for 0\.2\d+ visits a day\. With fewer", done.stderr)
    assert "The largest gaps alone" not in recrawl(home, "plan", "--budgets", "10/day").stderr


def test_backtest_replays_the_past_beside_what_happened(home: Path, tmp_path: Path) -> None:
    html = tmp_path / "past.html"
    done = recrawl(home, "backtest", "--policy", "uniform", "--draws", "2", "--json", "--html", str(html))
    found = json.loads(done.stdout)
    assert [row["policy"] for row in found["rows"]] == ["as it was", "uniform"]
    assert found["rows"][0]["recall"]["value"] is None
    uniform = found["rows"][1]
    assert uniform["freshness"]["low"] <= uniform["freshness"]["value"] <= uniform["freshness"]["high"]
    assert uniform["visits"] == pytest.approx(found["visits"], rel=0.05)
    assert "would have done" in html.read_text("utf-8")
    assert found["predictor"] == "either"


def test_backtest_forecasts_as_the_settings_say(home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "home"
    shutil.copytree(home, copy)
    with (copy / "recrawl.toml").open("a", encoding="utf-8") as settings:
        settings.write('[schedule]\npredictor = "gamma"\n')
    asked = ("backtest", "--policy", "week", "--draws", "1", "--json")
    assert json.loads(recrawl(copy, *asked).stdout)["predictor"] == "gamma"
    assert json.loads(recrawl(copy, *asked, "--predictor", "rhythm").stdout)["predictor"] == "rhythm"


def test_both_say_what_is_missing_where_nothing_was_visited(tmp_path: Path) -> None:
    assert "recrawl run" in recrawl(tmp_path, "backtest", code=2).stderr
    assert "recrawl run" in recrawl(tmp_path, "plan", code=2).stderr


def test_plan_counts_what_was_never_seen_by_what_is_usual(home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "home"
    shutil.copytree(home, copy)
    before = json.loads(recrawl(copy, "plan", "--budgets", "20/day", "--json").stdout)
    store = SqliteStore(copy / STORE_FILE)
    new = [NewResource(url=f"{resource.url}/new", host=resource.host) for resource, _, _ in store.resources()]
    store.add(new, WallClock().now())
    store.close()
    found = json.loads(recrawl(copy, "plan", "--budgets", "20,40/day", "--json").stdout)
    assert found["resources"] == 2 * before["resources"]
    assert f"{len(new)} of {found['resources']} resources were never seen" in " ".join(found["notes"])
    shared, doubled = (point["freshness"] for point in found["points"])
    alone = before["points"][0]["freshness"]
    assert shared["value"] < alone["value"]
    # twice as many, alike as far as is known, do as well with twice the visits
    assert doubled["value"] == pytest.approx(alone["value"], abs=0.05)
    assert doubled["low"] <= alone["value"] <= doubled["high"]
    assert found["untold"]["resources_asked"] == before["untold"]["resources_asked"]
