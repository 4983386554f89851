from __future__ import annotations

from pathlib import Path

import pytest

from recrawl.app import config
from recrawl.app.quantity import instant, iso, seconds, visits_per_day
from recrawl.errors import BadInputError, BadSettingError


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, _, variable, _ in config.rows():
        monkeypatch.delenv(variable, raising=False)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert config.load(tmp_path).schedule.budget == 2000.0


def test_the_file_wins_over_the_defaults_and_the_environment_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / config.FILE_NAME).write_text('[schedule]\nbudget = "50/h"\ngoal = "prompt"\n')
    assert config.load(tmp_path).schedule.budget == 1200.0
    monkeypatch.setenv("RECRAWL_SCHEDULE__BUDGET", "10/day")
    loaded = config.load(tmp_path)
    assert (loaded.schedule.budget, loaded.schedule.goal) == (10.0, "prompt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[schedule]\nbudget = 0\n", "schedule.budget"),
        ('[gaps]\nmin_gap = "soon"\n', "gaps.min_gap"),
        ("[fetching]\nspeed = 3\n", "fetching.speed: is not a setting"),
        ("[colours]\nred = 1\n", "colours: is not a setting"),
        ("budget = \n", "not a TOML file"),
    ],
)
def test_a_setting_that_does_not_fit_is_told_by_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / config.FILE_NAME).write_text(text)
    with pytest.raises(BadSettingError, match=said):
        config.load(tmp_path)


def test_every_setting_has_a_description_and_a_variable_that_sets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _, value, variable, description in config.rows():
        assert description
        monkeypatch.setenv(variable, value)
    assert config.load(tmp_path) == config.Config()


def test_the_user_agent_carries_the_contact_address() -> None:
    told = config.Fetching(contact="https://example.org/bot")  # type: ignore[call-arg]
    assert told.user_agent.endswith("(+https://example.org/bot)")


@pytest.mark.parametrize("text", ["", "h", "3 fortnights", "-1h", "1e3", "nan"])
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="length of time"):
        seconds(text)


@pytest.mark.parametrize("text", ["", "many", "5/fortnight", "-5/day", "inf"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="budget"):
        visits_per_day(text)


@pytest.mark.parametrize("text", ["2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00", "20260131120000"])
def test_a_moment_reads_the_same_in_every_spelling(text: str) -> None:
    assert iso(instant(text)) == "2026-01-31T12:00:00Z"


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "99999999999999"])
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="moment"):
        instant(text)


def test_folders_are_a_list_in_the_file_and_stand_between_colons_in_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recrawl.toml").write_text('[fetching]\nallow_files = ["/data/a/../b", "~/c"]\n')
    assert config.load(tmp_path).fetching.allow_files == (Path("/data/b"), Path.home() / "c")
    monkeypatch.setenv("RECRAWL_FETCHING__ALLOW_FILES", "/x:/y z")
    assert config.load(tmp_path).fetching.allow_files == (Path("/x"), Path("/y z"))
