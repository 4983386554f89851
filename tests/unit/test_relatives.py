"""`recrawl why` names the kin of a resource, and what they told."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from recrawl.app.account import account
from recrawl.app.build import House, open_house
from recrawl.app.config import load
from recrawl.cli.main import app
from recrawl.finding import Finding
from recrawl.kinship import KEY
from recrawl.live.virtual import VirtualClock
from recrawl.loop import Loop
from recrawl.model import DAY_S, Changed, KinTable, NewResource, Visit

NOW = 1_700_000_000.0
URLS = [f"http://a.example/{i}" for i in range(3)]


def visit(house: House, loop: Loop, resource_id: int, day: float, *, changed: bool) -> None:
    at = NOW + day * DAY_S
    (lease,) = house.store.claim(now=at, limit=1, lease_s=60.0, only=resource_id)
    since_at = lease.standing.since_at
    verdict = Changed.UNKNOWN if isnan(since_at) else Changed(changed)
    made = Visit(
        fetch_id=f"{resource_id}@{at}", resource_id=resource_id, at=at, since_at=since_at, changed=verdict
    )
    loop.absorb([Finding(lease=lease, visit=made, gate_at=at)], at)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1 and 2 are kin of 0; 1 was seen to change since the last look at 0."""
    home = tmp_path_factory.mktemp("kin")
    (home / "recrawl.toml").write_text("")
    with open_house(home, config=load(home), clock=VirtualClock(NOW)) as house:
        house.store.add([NewResource(url=url, host="a.example") for url in URLS], NOW)
        loop = house.loop(per_day=3.0)
        for day in range(6):
            for resource_id in (1, 2, 3):
                visit(house, loop, resource_id, day + resource_id / 100.0, changed=day % 2 == 0)
        visit(house, loop, 2, 6.5, changed=True)
        table = KinTable(id=np.array([1, 1]), of=np.array([3, 2]), weight=np.array([0.25, 0.75]))
        house.store.note_kin(np.array([1]), table)
        house.store.note(KEY, json.dumps([NOW, 0]))
    return home


def test_why_knows_the_kin_and_who_told(home: Path) -> None:
    with open_house(home, config=load(home), clock=VirtualClock(NOW + 7 * DAY_S)) as house:
        found, other = account(house, URLS[0]), account(house, URLS[2])
    assert [(one.url, one.weight) for one in found.kin] == [(URLS[1], 0.75), (URLS[2], 0.25)]
    assert found.kin[0].told_at == NOW + 6.5 * DAY_S
    assert isnan(found.kin[1].told_at)  # it was looked at, and had not changed
    assert 0.2 < found.basis["kin_belief"] < 0.6
    assert list(other.kin) == []
    assert isnan(other.basis["kin_belief"])


def test_why_says_so_in_words_and_in_json(home: Path) -> None:
    said = CliRunner().invoke(app, ["--home", str(home), "why", URLS[0]])
    assert said.exit_code == 0, said.output
    words = " ".join(said.output.split())
    assert f"kin {URLS[1]}, whose changes come with one here by 75.0 %; seen to change 2023-11-21" in words
    assert f"kin {URLS[2]}, whose changes come with one here by 25.0 %" in words
    assert "told by kin of a change since the last look; believed by" in words
    row = json.loads(CliRunner().invoke(app, ["--home", str(home), "why", URLS[0], "--json"]).output)
    assert [one["url"] for one in row["kin"]] == [URLS[1], URLS[2]]
    assert row["kin"][0]["told_at"].startswith("2023-11-21")
    assert row["rests_on"]["kin_belief"] > 0.2
    assert row["kin"][0]["weight"] == 0.75
