"""`recrawl train` and `recrawl classes`, on a home whose pages were sighted and visited for some weeks."""

from __future__ import annotations

import json
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from recrawl.app.build import STORE_FILE
from recrawl.cli.main import app
from recrawl.finding import Finding
from recrawl.grounds import KEY as PRIORS_KEY
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.sights.model import KEY, Trained
from recrawl.live.clock import WallClock
from recrawl.loop import Loop
from recrawl.model import DAY_S, FEATURES, Changed, NewResource, Outcome, Priors, Sight, Visit
from recrawl.model.sight import column
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.policies.uniform import Uniform

N, N_HOSTS, N_DAYS = 72, 9, 10


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages with many links change on most days, the others hardly ever."""
    folder = tmp_path_factory.mktemp("sighted")
    start_at = WallClock().now() - (N_DAYS + 1) * DAY_S
    store = SqliteStore(folder / STORE_FILE)
    hosts = [f"h{i % N_HOSTS}.example" for i in range(N)]
    store.add([NewResource(url=f"http://{host}/{i}", host=host) for i, host in enumerate(hosts)], start_at)
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Uniform(),
        rule="uniform",
        per_day=None,
        fit_priors_every_s=np.inf,
    )
    loop.start(start_at)
    rng = np.random.default_rng(1)
    busy = rng.random(N) < 0.5
    for day in range(N_DAYS):
        for i in range(N):
            at = start_at + day * DAY_S + i
            for lease in store.claim(now=at, limit=1, lease_s=60.0, only=i + 1):
                changed = Changed(bool(rng.random() < (0.8 if busy[i] else 0.03)))
                visit = Visit(
                    fetch_id=f"{i}@{day}",
                    resource_id=i + 1,
                    at=at,
                    since_at=lease.standing.since_at,
                    outcome=Outcome.OK,
                    changed=changed if day else Changed.UNKNOWN,
                )
                sight = None
                if not day:
                    values = [nan] * len(FEATURES)
                    values[column("links")] = float(
                        rng.integers(100, 400) if busy[i] else rng.integers(1, 90)
                    )
                    values[column("images")] = float(rng.integers(0, 50))
                    sight = Sight(resource_id=i + 1, at=at, values=tuple(values))
                loop.absorb([Finding(lease=lease, visit=visit, gate_at=at, sight=sight)], at)
    store.close()
    return folder


def recrawl(home: Path, *args: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["--home", str(home), *args])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def said(home: Path) -> Any:
    """What was printed where a model was learned; the home has it from then on."""
    assert "recrawl train" in recrawl(home, "train", "--show", code=2).stderr
    return json.loads(recrawl(home, "train", "--k", "2", "--json").stdout)


def test_training_says_how_good_it_is_keeps_the_model_and_gives_hunches(home: Path, said: Any) -> None:
    assert said["sites"] == N_HOSTS
    assert 30 <= said["resources"] < N  # some are kept apart
    assert said["log_rate"]["by_site"]["explained"] > 0.3
    assert said["classifier"]["features"] == ["links"]
    assert said["classifier"]["error_by_site"] < 0.1
    assert said["importance"][0]["feature"] == "links"
    store = SqliteStore(home / STORE_FILE)
    kept = store.note(KEY)
    assert kept is not None
    model = Trained.read(kept)
    assert model.name == said["name"]
    ((ids, values),) = store.sights()
    assert len(ids) == N
    per_day, gap_s = (np.empty(N) for _ in range(2))
    for place, one in enumerate(ids.tolist()):
        ((name, _, hunch),) = store.hunches_of(one)
        assert name == model.name
        per_day[place], gap_s[place] = hunch.per_day, hunch.gap_s
    store.close()
    busy = values[:, column("links")] > 95
    assert per_day[busy].min() > 3 * per_day[~busy].max()
    assert gap_s[busy].max() < gap_s[~busy].min()


@pytest.mark.usefixtures("said")
def test_what_was_learned_is_shown_again_for_people_and_for_programs(home: Path) -> None:
    shown = recrawl(home, "train", "--show").stdout
    assert f"of {N_HOSTS} sites" in shown
    assert "unseen sites" in shown
    assert "a tree of 2 leaves on: links" in shown
    assert "taken for:" in shown
    assert json.loads(recrawl(home, "train", "--show", "--json").stdout)["classes"]["n"]


@pytest.mark.usefixtures("said")
def test_a_damaged_model_is_said_to_be_so(home: Path) -> None:
    store = SqliteStore(home / STORE_FILE)
    text = store.note(KEY)
    assert text is not None
    store.note(KEY, text[:-20])
    assert "learn it anew with `recrawl train`" in recrawl(home, "train", "--show", code=3).stderr
    assert "leave one of them out" in recrawl(home, "train", "--show", "--k", "3", code=2).stderr
    store.note(KEY, text)
    store.close()


@pytest.mark.usefixtures("said")
def test_why_speaks_of_a_look_as_a_reason_only_where_it_is_heeded(home: Path) -> None:
    url = "http://h0.example/0"
    plain = Priors(shape=0.5, scale_s=5.0 * DAY_S)
    for hunched in (None, Priors(shape=2.0, scale_s=2.0 * DAY_S)):
        store = SqliteStore(home / STORE_FILE)
        store.note(PRIORS_KEY, replace(plain, hunched=hunched).written())
        store.close()
        heeded = hunched is not None
        shown, row = recrawl(home, "why", url).stdout, json.loads(recrawl(home, "why", url, "--json").stdout)
        assert row["first_sight"]["heeded"] is heeded
        assert row["first_sight"]["changes_per_day"] > 0.0
        assert ("as is usual of what looks so" in shown) is heeded
        assert ("as is usual there" in shown) is not heeded
        assert ("not heeded" in shown) is not heeded
        assert ("looks like pages" in row["reason"]) is heeded


def test_classes_are_shown_with_the_reasons_for_their_number(home: Path) -> None:
    found = json.loads(recrawl(home, "classes", "--json").stdout)
    assert found["resources"] == N
    assert [one["k"] for one in found["groupings"]] == [2, 3, 4, 5, 6]
    for one in found["groupings"]:
        assert sum(part["n"] for part in one["classes"]) == N
        days = [part["interval_days"] for part in one["classes"]]
        assert days == sorted(days)
    assert found["k"] in {2, 3, 4, 5, 6}
    done = recrawl(home, "classes", "--k", "7")
    assert "as was asked for" in done.stderr
    assert "7 *\t" in done.stdout
    assert "5 of as equal size as can be (not 7: " in done.stdout  # ten visits make few different rates
    assert "after 9 visits in the median" in done.stderr
    sure = [one["sure"] for one in found["groupings"]]
    assert sure == sorted(sure, reverse=True)  # the more classes the less it is known who is in which
    assert 0.5 < sure[-1] < sure[0] < 1.0


def test_where_nothing_was_seen_both_say_what_to_do(tmp_path: Path) -> None:
    assert "recrawl run" in recrawl(tmp_path, "classes", code=2).stderr
    assert "recrawl run" in recrawl(tmp_path, "train", code=2).stderr
