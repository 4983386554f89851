"""Another budget in the settings file: written there without touching the rest, and heeded by a run."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.keeper import Still

from recrawl.app.amending import amend, amended_text, set_budget
from recrawl.app.build import House, open_house
from recrawl.app.heeding import heeding
from recrawl.app.quantity import Budget
from recrawl.errors import BadInputError, BadSettingError
from recrawl.model import NewResource

FILE = "recrawl.toml"


def test_a_setting_is_changed_and_the_rest_stays(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text(
        '# mine\n[fetching]\ncontact = "me"  # yes\n\n[schedule]\n  budget = "5/day"\ngoal = "fresh"\n'
    )
    path.chmod(0o640)
    assert set_budget(tmp_path, "50/h") == Budget(1200.0)
    assert path.read_text() == (
        '# mine\n[fetching]\ncontact = "me"  # yes\n\n[schedule]\nbudget = "1200/day"\ngoal = "fresh"\n'
    )
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_setting_comes_into_a_file_that_has_none(tmp_path: Path) -> None:
    set_budget(tmp_path, "7/day")
    assert (tmp_path / FILE).read_text() == '[schedule]\nbudget = "7/day"\n'
    assert amended_text("[gaps]\nweight = 2\n", "schedule", "goal", "fresh") == (
        '[gaps]\nweight = 2\n\n[schedule]\ngoal = "fresh"\n'
    )
    assert amended_text('[schedule]\ngoal = "x"\n[gaps]\n', "schedule", "budget", "1/day") == (
        '[schedule]\nbudget = "1/day"\ngoal = "x"\n[gaps]\n'
    )


def test_what_cannot_be_changed_safely_is_left(tmp_path: Path) -> None:
    for text in ('schedule = { budget = "5/day" }\n', '[schedule]\ngoal = """\nbudget = "x"\n"""\n', "[[[\n"):
        (tmp_path / FILE).write_text(text)
        with pytest.raises(BadSettingError, match="by hand"):
            amend(tmp_path, "schedule", "budget", "9/day")
        assert (tmp_path / FILE).read_text() == text
    with pytest.raises(BadInputError, match="2000/day"):
        set_budget(tmp_path, "much")


def _heeded(home: Path, said: Budget, *writings: str) -> tuple[list[float | None], list[str]]:
    """What a run's budget was after each writing of the file."""
    told: list[str] = []

    async def run(house: House) -> list[float | None]:
        loop = house.loop(per_day=said.visits_per_day)
        found = [loop.per_day]
        async with heeding(house, loop, said, told.append):
            for text in writings:
                (home / FILE).write_text(text)
                await asyncio.sleep(1.5)
                found.append(loop.per_day)
        return found

    with open_house(home, clock=Still()) as house:
        return asyncio.run(run(house)), told


def test_a_run_heeds_the_file(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('[schedule]\nbudget = "5/day"\n')
    found, told = _heeded(tmp_path, Budget(), '[schedule]\nbudget = "9/day"\n', "[schedule]\nbudget = 'x'\n")
    assert found == [5.0, 9.0, 9.0]
    assert "9/day" in told[0]
    assert "cannot be used" in told[1]


def test_a_run_that_was_told_its_budget_keeps_to_that(tmp_path: Path) -> None:
    found, told = _heeded(tmp_path, Budget(3.0), '[schedule]\nbudget = "9/day"\n')
    assert found == [3.0, 3.0]
    assert not told


def test_a_run_heeds_another_kind_of_limit(tmp_path: Path) -> None:
    """What limited it before ends only when the other begins."""
    (tmp_path / FILE).write_text('[schedule]\nbudget = "20/day"\n')
    told: list[str] = []

    async def run(house: House) -> None:
        now = house.clock.now()
        house.store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(500)], now)
        loop = house.loop()
        loop.start(now)
        loop.reprice(now)
        assert loop.n_free(now) == 5
        async with heeding(house, loop, Budget(), told.append):
            (tmp_path / FILE).write_text('[schedule]\nbudget = "2MB/day"\n')
            await asyncio.sleep(1.5)
        assert loop.must_reprice(now)
        loop.reprice(now)
        assert len(loop.due(now, 1_000)) == 10  # half a million bytes, of 50,000 each as far as is known
        assert loop.due(now, 1_000) == []

    with open_house(tmp_path, clock=Still()) as house:
        asyncio.run(run(house))
    assert told == ["The budget is 2MB/day from now on, as the settings have it."]
