from __future__ import annotations

import re
from math import inf, nan
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from recrawl.app import config
from recrawl.app.quantity import away, budget, instant, iso, seconds, stamp, visits_per_day, written
from recrawl.app.settings import settings
from recrawl.errors import BadInputError, BadSettingError
from recrawl.web.face.api.values import Weight


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, _, variable, _ in config.rows():
        monkeypatch.delenv(variable, raising=False)


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert config.load(tmp_path).schedule.budget == "2000/day"


def test_the_file_wins_over_the_defaults_and_the_environment_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / config.FILE_NAME).write_text('[schedule]\nbudget = "50/h"\ngoal = "prompt"\n')
    assert config.load(tmp_path).schedule.budget == "1200/day"
    monkeypatch.setenv("RECRAWL_SCHEDULE__BUDGET", "10/day")
    loaded = config.load(tmp_path)
    assert (loaded.schedule.budget, loaded.schedule.goal) == ("10/day", "prompt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[schedule]\nbudget = 0\n", "schedule.budget"),
        ('[gaps]\nmin_gap = "soon"\n', "gaps.min_gap"),
        ("[fetching]\nspeed = 3\n", "fetching.speed: is not a setting"),
        ("[colours]\nred = 1\n", "colours: is not a setting"),
        ("[schedule]\nbudgte = 3\n", "did you mean schedule.budget"),
        ("budget = 3\n", "budget: is not a setting .did you mean schedule.budget"),
        ("[schedul]\nbudget = 3\n", "schedul: is not a setting .did you mean .schedule..[)]"),
        ("schedule = 3\n", r"schedule: is a section; write \[schedule\]"),
        ("[schedule]\nbudget = true\n", "schedule.budget: true and false"),
        ("[fetching]\nconcurrency = true\n", "fetching.concurrency: true and false"),
        ("[gaps]\nweight = true\n", "gaps.weight: true and false"),
        ("[gaps]\nweight = inf\n", "gaps.weight"),
        ("[gaps]\nweight = nan\n", "gaps.weight"),
        ("[gaps]\nweight = 1e308\n", "gaps.weight"),
        ("[gaps]\nweight = 5e-324\n", "gaps.weight"),
        ("[gaps]\nmin_gap = inf\n", "gaps.min_gap"),
        ('[gaps]\nmin_gap = "2d"\nmax_gap = "1d"\n', "min_gap .2 days. is longer than max_gap .1 day."),
        ("[fetching]\nslow_factor = nan\n", "fetching.slow_factor"),
        ('[fetching]\ncontact = "a@b.example\\r\\nX-Evil: 1"\n', "fetching.contact"),
        ('[fetching]\ncontact = "ü@b.example"\n', "fetching.contact.*ASCII"),
        ('[archiving]\noperator = "a\\r\\nb"\n', "archiving.operator"),
        ("budget = \n", "not a TOML file"),
    ],
)
def test_a_setting_that_does_not_fit_is_told_by_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / config.FILE_NAME).write_text(text)
    with pytest.raises(BadSettingError, match=said):
        config.load(tmp_path)


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("RECRAWL_SCHEDUL__BUDGET", "did you mean RECRAWL_SCHEDULE__BUDGET"),
        ("RECRAWL_SCHEDULE_BUDGET", "did you mean RECRAWL_SCHEDULE__BUDGET"),
        ("RECRAWL_FETCHING__CONTCAT", "did you mean RECRAWL_FETCHING__CONTACT"),
        ("RECRAWL_HOEM", "did you mean RECRAWL_HOME"),
        ("RECRAWL_COLOURS__RED", "is not a setting"),
        ("RECRAWL_GAPS", "is a section, not a setting"),
    ],
)
def test_a_variable_that_sets_nothing_is_told_with_the_nearest_that_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, said: str
) -> None:
    monkeypatch.setenv(variable, "5")
    with pytest.raises(BadSettingError, match=said):
        config.load(tmp_path)


def test_variables_of_other_programs_are_their_own_affair(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = config.load(tmp_path)
    monkeypatch.setenv("RECRAWL_FAULT_COUNT", "5")
    assert config.load(tmp_path) == plain


def test_a_settings_file_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / config.FILE_NAME).mkdir()
    with pytest.raises(BadSettingError, match=config.FILE_NAME):
        config.load(tmp_path)


def test_values_are_written_as_people_write_them_and_counted_as_programs_do() -> None:
    shown = {name: value for name, value, _, _ in config.rows()}
    assert shown["gaps.max_gap"] == "180 days"
    assert shown["schedule.budget"] == "2000/day"
    values = config.values(config.Config.model_construct())
    assert values["gaps.max_gap"] == 180 * 86_400.0
    assert values["fetching.allow_files"] == []
    assert values["fetching.concurrency"] == 64
    assert values.keys() == shown.keys()


@pytest.mark.parametrize("span_s", [1.0, 60.0, 61.0, 3600.0, 5400.0, 86_400.0, 1.5 * 86_400.0, 0.1, 1e-3])
def test_a_length_of_time_reads_as_it_is_written(span_s: float) -> None:
    assert seconds(written(span_s)) == span_s


def test_how_far_off_a_moment_is_fits_into_a_column() -> None:
    assert [away(at, 1000.0) for at in (1000.0, 1000.5, 13_600.0, -171_800.0)] == [
        "now",
        "in 0.5 s",
        "in 3.5 h",
        "2 d ago",
    ]
    assert max(len(away(10.0**n, 0.0)) for n in range(-1, 10)) <= len("in 11574 d")


def test_a_year_and_a_month_mean_their_beginning() -> None:
    assert iso(instant("2026")) == "2026-01-01T00:00:00Z"
    assert iso(instant("2026-03")) == "2026-03-01T00:00:00Z"


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
    with pytest.raises(BadInputError, match="budget"):
        budget(text)


@pytest.mark.parametrize(
    ("text", "visits", "weight", "shown"),
    [
        ("2,000/day", 2000.0, None, "2000/day"),
        ("2GB/day", None, 2e9, "2GB/day"),
        ("1.5 MiB per hour", None, 24 * 1.5 * 2**20, "37748736B/day"),
        ("2,000/day, 2GB/day", 2000.0, 2e9, "2000/day, 2GB/day"),
        ("2,000/DAY,2GB/day", 2000.0, 2e9, "2000/day, 2GB/day"),
        ("0.00001/day", 1e-5, None, "0.00001/day"),
        ("300 kb/min and 50/h", 1200.0, 432e6, "1200/day, 432MB/day"),
    ],
)
def test_a_budget_is_visits_or_bytes_or_both(
    text: str, visits: float | None, weight: float | None, shown: str
) -> None:
    found = budget(text)
    assert (found.visits_per_day, found.bytes_per_day) == (visits, weight)
    assert str(found) == shown
    assert budget(shown) == found


@pytest.mark.parametrize(
    "text",
    [
        *("2GB", "5/day, 6/day", "2GB/day, 1MB/h", "1XB/day", "0/day", "0 GB/day", "2GB/x"),
        *("500,2GB/day", "2,000,1GB/day", "1,5/day", "10,00/day", "-500/day"),
    ],
)
def test_half_a_budget_or_twice_the_same_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="write it as 2000/day"):
        budget(text)


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


@pytest.mark.parametrize(
    ("said", "holds"), [('max_gap = "10m"', (600.0, 600.0)), ('min_gap = "200d"', (200 * 86_400.0,) * 2)]
)
def test_a_gap_that_nobody_spoke_of_follows_the_other(
    tmp_path: Path, said: str, holds: tuple[float, float]
) -> None:
    (tmp_path / "recrawl.toml").write_text(f"[gaps]\n{said}\n")
    gaps = config.load(tmp_path).gaps
    assert (gaps.min_gap, gaps.max_gap) == holds


@pytest.mark.parametrize("said", ["2GB/day", "500/day, 2GB/day", "2 MB per hour"])
def test_where_only_visits_count_no_remedy_speaks_of_bytes(said: str) -> None:
    with pytest.raises(BadInputError, match="limits bytes, and here only visits count") as refused:
        visits_per_day(said)
    assert str(refused.value).endswith("write it as 2000/day or 50/h.")
    with pytest.raises(BadInputError, match=r"'soon' is not a budget; write it as 2000/day or 50/h\.$"):
        visits_per_day("soon")
    assert budget(said).bytes_per_day


@pytest.mark.parametrize(
    "said",
    [
        "9999-12-31T23:59:59-05:00",
        "0001-01-01T00:00:00+01:00",
        "0001-01-01T00:00+00:01",
        "9999-12-31T24:00-01:00",
    ],
)
def test_a_zone_that_carries_a_moment_out_of_all_years_is_told(said: str) -> None:
    with pytest.raises(BadInputError, match=r"the years 1 to 9999|is not a moment"):
        instant(said)


def test_the_first_and_the_last_moment_are_moments() -> None:
    assert (iso(instant("0001")), stamp(instant("0001"))) == ("0001-01-01T00:00:00Z", "00010101000000")
    assert iso(instant("9999-12-31T23:59:59Z")) == "9999-12-31T23:59:59Z"
    assert iso(instant("9999-12-31T23:59:59+05:00")) == "9999-12-31T18:59:59Z"
    assert stamp(instant("0300")) < stamp(instant("2026"))  # as WARC files are chosen by it


@pytest.mark.parametrize("weight", [0.0, -1.0, 1e308, 5e-324, inf, nan])
def test_a_weight_is_refused_with_what_may_be_said(weight: float) -> None:
    with pytest.raises(BadSettingError, match=re.escape("give a number above 0, from 1e-09 to 1e+09.")):
        settings(weight=weight)
    with pytest.raises(ValidationError):
        TypeAdapter(Weight).validate_python(weight)
    assert settings(weight=1e-9).weight == TypeAdapter(Weight).validate_python(1e-9) == 1e-9
    assert settings(weight=1e9).weight == TypeAdapter(Weight).validate_python(1e9) == 1e9
