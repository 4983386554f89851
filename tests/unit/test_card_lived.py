"""The report card of a simulated past, whose truth is known."""

from __future__ import annotations

import json
from contextlib import closing
from math import inf
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from recrawl.app.build import STORE_FILE
from recrawl.cli.main import app
from recrawl.contracts import Store
from recrawl.evaluate.card import reading
from recrawl.evaluate.card.figures import Card
from recrawl.evaluate.card.missed import CROWDED
from recrawl.evaluate.card.rates import rates
from recrawl.evaluate.card.reading import read_card
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import DAY_S, NewResource
from recrawl.remember.memory import MemoryStore
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import TraceWorld

T0 = 1_700_000_000.0
DAYS = 21
END_AT = T0 + DAYS * DAY_S


def world(n: int, seed: int) -> TraceWorld:
    rng = np.random.default_rng(seed)
    rates = np.exp(rng.normal(np.log(0.2), 0.8, n))
    events = [np.sort(T0 + DAYS * DAY_S * rng.random(rng.poisson(rate * DAYS))) for rate in rates]
    hosts = [f"h{i}.example" for i in range(n)]
    return TraceWorld([NewResource(url=f"http://{host}/", host=host) for host in hosts], events)


def lived(store: Store, some: TraceWorld, per_day: float, *, days: float = DAYS) -> Store:
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=per_day,
        reprice_every_s=DAY_S / 2,
        fit_priors_every_s=DAY_S,
    )
    simulate(loop, some, start_at=T0, end_at=T0 + days * DAY_S)
    return store


@pytest.fixture(scope="module")
def past() -> tuple[TraceWorld, Store, Card]:
    some = world(90, 3)
    store = lived(MemoryStore(), some, 45.0)
    return some, store, read_card(store, END_AT, 7.0)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of ten days on the disk."""
    home = tmp_path_factory.mktemp("home")
    with closing(SqliteStore(home / STORE_FILE)) as store:
        lived(store, world(12, 4), 8.0, days=10)
    return home


def typed(home: Path, *args: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["--home", str(home), "report", *args])
    assert done.exit_code == code, done.output
    return done.output


def test_missed_changes_and_delays_of_a_lived_past(past: tuple[TraceWorld, Store, Card]) -> None:
    some, store, found = past
    truth, delays_s = [0, 0], []  # missed where the card says how many, and where gaps are crowded
    (page,) = store.looked(END_AT - 7 * DAY_S, END_AT)
    per_s = rates(store.prospects(), page, page.id - 1).per_s
    for i in np.flatnonzero(page.changed == 1):
        row = page.id[i] - 1
        inside = some.events[row][(some.events[row] > page.since_at[i]) & (some.events[row] <= page.at[i])]
        truth[int(per_s[row] * (page.at[i] - page.since_at[i]) > CROWDED)] += len(inside) - 1
        delays_s.append(page.at[i] - inside[-1])
    assert found.n_changes == len(delays_s) > 80
    assert found.missed is not None
    assert found.missed.n_found + found.missed.n_crowded == found.n_changes
    assert found.missed.least <= truth[0] <= found.missed.most
    assert found.missed.crowded_least <= truth[1]
    assert found.delay is not None
    assert found.delay.mean_least_s <= np.mean(delays_s) <= found.delay.mean_most_s
    assert found.delay.median_least_s <= np.median(delays_s) <= found.delay.median_most_s
    assert found.delay.mean_s == pytest.approx(np.mean(delays_s), rel=0.15)
    assert found.delay.median_s == pytest.approx(np.median(delays_s), rel=0.25)


def test_forecasts_of_a_lived_past_are_kept_and_come_true(past: tuple[TraceWorld, Store, Card]) -> None:
    good = past[2].calibration
    assert good is not None
    assert good.n == past[2].waste.n_looked == past[2].n_visits == 7 * 45
    assert good.least - 0.03 < good.forecast < good.most + 0.03
    assert good.brier < good.brier_of_share
    assert sum(one.n for one in good.curve) == good.n
    assert past[2].waste.expected == pytest.approx(past[2].waste.n_nothing, rel=0.15)


def test_a_lived_past_lies_between_uniform_visits_and_a_little_above_the_optimum(
    past: tuple[TraceWorld, Store, Card],
) -> None:
    """A little, since the gaps of one week are not those of the long run."""
    ours, even, best = past[2].rivals
    assert even.freshness < ours.freshness < best.freshness + 0.01
    assert even.wait_s == pytest.approx(90 / 45 * DAY_S / 2)


def test_every_store_has_the_same_card(home: Path) -> None:
    one, now = lived(MemoryStore(), world(12, 4), 8.0, days=10), T0 + 10 * DAY_S
    with closing(SqliteStore(home / STORE_FILE)) as other:
        cards = [read_card(store, now, 7.0).document() for store in (one, other)]
    assert cards[0] == cards[1]
    assert cards[0]["forecasts"]["n"] >= 50


def test_a_young_store_is_judged_from_its_first_visit_on(home: Path) -> None:
    with closing(SqliteStore(home / STORE_FILE)) as store:
        found = read_card(store, T0 + 10 * DAY_S, 400.0)
        assert found.n_visits == store.n_visits_since(-inf)
        later = read_card(store, T0 + 100 * DAY_S, 7.0)
    assert found.from_at == T0
    assert any("begins with it" in note for note in found.notes)
    assert later.until_at <= T0 + 10 * DAY_S
    assert later.n_visits >= 50


def test_many_visits_are_counted_and_what_else_is_said_is_of_some(
    past: tuple[TraceWorld, Store, Card], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, store, whole = past
    monkeypatch.setattr(reading, "MOST_READ", 7 * 45 // 3 + 1)
    part = read_card(store, END_AT, 7.0)
    assert part.days == whole.days
    assert part.n_changes == whole.n_changes
    assert part.calibration is not None
    assert 50 <= part.calibration.n < 150
    assert part.waste.n_looked == whole.waste.n_looked
    assert part.missed is not None
    assert whole.missed is not None
    assert part.missed.expected == pytest.approx(whole.missed.expected, rel=0.4)
    assert any("one resource in 3" in note for note in part.notes)


def test_the_command_prints_writes_and_draws(home: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert "No visit in the last 7 days" in typed(nowhere)
    assert json.loads(typed(nowhere, "--json"))["visits"] == 0
    assert not nowhere.exists()
    page, drawing = tmp_path / "card.html", tmp_path / "card.svg"
    shown = typed(home, "--html", str(page), "--svg", str(drawing))
    for name in ("visits", "changes", "delay", "wasted", "missed", "forecasts", "against", "hosts"):
        assert f"\n{name} " in shown
    assert "uniform\t" in shown
    assert json.loads(typed(home, "--json"))["budget_per_day"] == 8.0
    assert ElementTree.fromstring(drawing.read_text("utf-8")).tag == "{http://www.w3.org/2000/svg}svg"  # noqa: S314
    assert "Against other schedules" in page.read_text("utf-8")
    few = typed(home, "--days", "0.5", "--svg", str(tmp_path / "few.svg"), code=1)
    assert "nothing was drawn" in few
    assert not (tmp_path / "few.svg").exists()
    typed(home, "--svg", str(nowhere / "x.svg"), code=2)
