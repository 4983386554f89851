"""When posts were said: dates, clocks, zones, and times that are counted back from the fetch."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan, nan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.parse.threads.spans import ago
from recrawl.parse.threads.times import SKEW_S, moments
from recrawl.parse.threads.zones import zone_s

AT = datetime(2026, 3, 10, 12, 0, tzinfo=UTC).timestamp()  # a Tuesday
HOUR_S, DAY_S = 3_600.0, 86_400.0


def read(*written: str, at: float = AT, zone_s: float = 0.0) -> list[str]:
    found = moments(written, at=at, zone_s=zone_s)
    return ["" if isnan(one.at) else f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M}" for one in found]


@pytest.mark.parametrize(
    "written",
    [
        "2026-01-31T13:00:00Z", "2026-01-31T14:00:00+0100", "2026-01-31T13:00:00.250+00:00",
        "2026-01-31 13:00", "1769864400", "1769864400000", "Sat, 31 Jan 2026 08:00:00 -0500",
        "Sat Jan 31, 2026 1:00 pm",
        "Sat Jan 31 13:00:00 2026", "Sat Jan 31 14:00:00 CET 2026", "31.01.2026, 13:00", "31.01.26 13:00",
        "31. Januar 2026 um 13:00 Uhr", "31 de enero de 2026 13:00", "31 janvier 2026, 13:00",
        "31 января 2026, 13:00", "31 stycznia 2026 13:00", "January 31, 2026, 01:00:00 PM",
        "Jan 31, 2026 at 1:00 "
        "PM", "31st January 2026 13:00", "01-31-2026, 01:00 PM", "31/01/2026 1:00 p.m.",
        "2026年1月31日 "
        "13:00", "2026/01/31 13:00", "Post by Ada, 31-Jan-2026 13:00",
        "« on: January 31, 2026, 01:00:00 pm »",
        "Jan 31 '26 at 13:00", "31 jan 26 13:00", "31 jan. 26, 1pm", "31 janvier 2026 à 13 h 00",
        "2026년 1월 31일 13:00", "2026년 1월 31일 오후 1:00", "2026年1月31日 下午1:00",
        "31 ene 2026 1:00 p. m.",
    ],
)  # fmt: skip
def test_one_moment_is_read_in_many_spellings(written: str) -> None:
    assert read(written) == ["2026-01-31 13:00"]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Today at 5:13 AM", "2026-03-10 05:13"),
        ("heute, 05:13", "2026-03-10 05:13"),
        ("Yesterday, 11:05 PM", "2026-03-09 23:05"),
        ("gestern um 23:05", "2026-03-09 23:05"),
        ("Monday at 4:00 PM", "2026-03-09 16:00"),
        ("Tuesday at 4:00 PM", "2026-03-03 16:00"),  # not this afternoon, which is still to come
        ("11:05", "2026-03-10 11:05"),
        ("13:05", "2026-03-09 13:05"),
        ("Mar 9", "2026-03-09 00:00"),
        ("24 Dec 13:00", "2025-12-24 13:00"),
        ("February 29, 10:00", "2024-02-29 10:00"),
    ],
)
def test_what_goes_without_saying_is_counted_from_the_fetch(written: str, expected: str) -> None:
    assert read(written) == [expected]


@pytest.mark.parametrize(
    ("written", "ago_s", "unit_s"),
    [
        ("3 hours ago", 3 * HOUR_S, HOUR_S),
        ("an hour ago", HOUR_S, HOUR_S),
        ("1 day 2 hours ago", 26 * HOUR_S, HOUR_S),
        ("vor 3 Stunden", 3 * HOUR_S, HOUR_S),
        ("il y a 2 jours", 2 * DAY_S, DAY_S),
        ("hace una hora", HOUR_S, HOUR_S),
        ("3 giorni fa", 3 * DAY_S, DAY_S),
        ("há 5 minutos", 300.0, 60.0),
        ("2 dagen geleden", 2 * DAY_S, DAY_S),
        ("för 3 timmar sedan", 3 * HOUR_S, HOUR_S),
        ("5 minut temu", 300.0, 60.0),
        ("před 3 hodinami", 3 * HOUR_S, HOUR_S),
        ("5 минут назад", 300.0, 60.0),
        ("3 saat önce", 3 * HOUR_S, HOUR_S),
        ("3時間前", 3 * HOUR_S, HOUR_S),
        ("2天前", 2 * DAY_S, DAY_S),
        ("3시간 전", 3 * HOUR_S, HOUR_S),
        ("3h", 3 * HOUR_S, HOUR_S),
        ("just now", 0.0, 60.0),
    ],
)
def test_relative_times_are_read_in_a_dozen_languages(written: str, ago_s: float, unit_s: float) -> None:
    assert ago(written) == (ago_s, unit_s)
    assert [(AT - one.at, one.coarse_s) for one in moments([written], at=AT)] == [(ago_s, unit_s)]
    assert isnan(moments([written], at=nan)[0].at)  # ago from when?


@pytest.mark.parametrize(
    "written",
    [
        "sobota 31. októbra 2025 11:00",  # a day that has another language's name, in a month of none
        "Monday 9 xyz 11:00",
        "2026 éve 1 hava 31 11:00",
    ],
)
def test_the_clock_of_a_date_that_cannot_be_read_is_not_that_of_today(written: str) -> None:
    assert read(written) == [""]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("31 jan 15h07", "2026-01-31 15:07"),
        ("31 Jan 10 am", "2026-01-31 10:00"),
        ("31 Jan 15.07", "2026-01-31 15:07"),
        ("Jan 31, 10 am", "2026-01-31 10:00"),
        ("31 Jan 12:05 am", "2026-01-31 00:05"),
        ("31 Jan 12:05 pm", "2026-01-31 12:05"),
    ],
)
def test_a_clock_is_no_year_and_no_day(written: str, expected: str) -> None:
    assert read(written) == [expected]


@pytest.mark.parametrize(
    "words", ["12 posts", "Version 1.2.3", "soon", "Feb 30, 2026", "Joined: Mar 2014", "3", ""]
)
def test_what_is_no_time_has_none(words: str) -> None:
    assert read(words) == [""]


def test_a_month_above_12_settles_the_order_for_the_whole_page() -> None:
    assert read("02/03/2026 10:00", "31/01/2026 10:00")[0] == "2026-03-02 10:00"
    assert read("02/03/2026 10:00", "01/31/2026 10:00")[0] == "2026-02-03 10:00"


def test_the_order_of_the_posts_settles_the_order_of_day_and_month() -> None:
    by_month = ["01/02/2025", "01/03/2025", "02/02/2025", "02/03/2025"]
    assert read(*by_month)[1] == "2025-01-03 00:00"
    by_day = ["01/02/2025", "02/02/2025", "03/02/2025", "01/03/2025"]
    assert read(*by_day)[1] == read(*reversed(by_day))[2] == "2025-02-02 00:00"


def test_the_future_settles_it_too_and_else_the_day_comes_first() -> None:
    assert read("03/09/2026 10:00") == ["2026-03-09 10:00"]  # in September nobody has written yet
    assert read("03/02/2026 10:00") == ["2026-02-03 10:00"]


def test_what_lies_in_the_future_is_not_believed_but_for_a_clock_that_is_ahead() -> None:
    found = moments(["2027-01-01T00:00:00Z", f"{AT + SKEW_S:.0f}", f"{AT + SKEW_S + 1:.0f}"], at=AT)
    assert [one.at for one in found[1:2]] == [AT]
    assert isnan(found[0].at)
    assert isnan(found[2].at)


@pytest.mark.parametrize(
    "written",
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "1970-01-01 00:00:00", "100000000", "1 Jan 0001",
     "9999 years ago", "31 Dec 1979 23:59"],
)  # fmt: skip
def test_nobody_posted_anything_before_1980(written: str) -> None:
    assert read(written) == [""]
    assert read("1 Jan 1980", "31 Jan 00") == ["1980-01-01 00:00", "2000-01-31 00:00"]


@pytest.mark.parametrize(
    ("said", "hours"),
    [
        ("All times are UTC", 0.0),
        ("All times are UTC-05:00", -5.0),
        ("All times are UTC - 5 hours [ DST ]", -4.0),
        ("All times are GMT +1. The time now is 02:01 PM.", 2.0),  # it knows no summer time; its clock does
        ("Es ist jetzt 13:02", 1.0),
        ("It is currently Wed Mar 11, 2026 1:00 am\nAll times are UTC+13:00", 13.0),
        ("Alle Zeiten sind UTC+02:00", 2.0),
        ("Zeitzone: CET", 1.0),
        ("The time now is yours", 0.0),
        ("Nothing of the kind", 0.0),
    ],
)
def test_the_zone_of_a_page_is_what_it_says(said: str, hours: float) -> None:
    assert zone_s(said, AT) == hours * HOUR_S


def test_the_zone_of_a_page_holds_for_times_without_one_of_their_own() -> None:
    written = [
        "31.01.2026 13:00",
        "2026-01-31T13:00",
        "2026-01-31T13:00Z",
        "31 Jan 2026 13:00 EST",
        "today 01:00",
    ]
    found = read(*written, zone_s=2 * HOUR_S)
    assert found == [
        "2026-01-31 11:00",
        "2026-01-31 11:00",
        "2026-01-31 13:00",
        "2026-01-31 18:00",
        "2026-03-09 23:00",
    ]


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_no_text_is_too_strange(text: str) -> None:
    found = moments([text, text], at=AT)
    assert all(isnan(one.at) or one.at <= AT for one in found)
    zone_s(text, AT)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2026, 3, 1)))  # noqa: DTZ001
@settings(max_examples=25, deadline=None)
def test_what_programs_write_is_read_back(day: datetime) -> None:
    there = day.replace(second=0, microsecond=0, tzinfo=UTC)
    forms = (
        "%Y-%m-%dT%H:%M:%SZ",
        "%a, %d %b %Y %H:%M:%S +0000",
        "%d.%m.%Y, %H:%M",
        "%B %d, %Y %I:%M %p",
        "%c",
    )
    assert {one.at for one in moments([there.strftime(form) for form in forms], at=AT)} == {there.timestamp()}
