"""Quiet hours and daily messages go by what clocks show, also on the days on which they are changed."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from recrawl.errors import BadInputError
from recrawl.notify.hours import Hours, hours, last_shown, minute, within, zone

VIENNA = "Europe/Vienna"
SPRING, AUTUMN = (2026, 3, 29), (2026, 10, 25)  # from 02:00 to 03:00, and from 03:00 back to 02:00


def at(day: tuple[int, int, int], hour: int, minute_: int = 0, fold: int = 0) -> float:
    return datetime(*day, hour, minute_, tzinfo=ZoneInfo(VIENNA), fold=fold).timestamp()


def test_quiet_hours_end_when_the_clock_says_so_whatever_was_done_to_it() -> None:
    night = hours("22:00-07:00")
    for day in (SPRING, AUTUMN, (2026, 6, 1)):
        assert not within(night, VIENNA, at(day, 7))
        assert within(night, VIENNA, at(day, 7) - 1.0)
        assert within(night, VIENNA, at(day, 22))
        assert not within(night, VIENNA, at(day, 22) - 1.0)
    # so that the night is an hour shorter, and one longer
    quiet_s = [
        sum(within(night, VIENNA, at(day, 12) - 60.0 * n) for n in range(24 * 60)) * 60.0
        for day in (SPRING, AUTUMN)
    ]
    assert quiet_s == [8 * 3_600.0, 10 * 3_600.0]


def test_hours_that_are_shown_twice_are_quiet_twice_and_those_leapt_over_never() -> None:
    early = Hours(minute("2:00"), minute("2:30"))
    assert within(early, VIENNA, at(AUTUMN, 2, 15, fold=0))
    assert not within(early, VIENNA, at(AUTUMN, 2, 45, fold=0))
    assert within(early, VIENNA, at(AUTUMN, 2, 15, fold=1))
    start = at(SPRING, 0)
    assert not any(within(early, VIENNA, start + 60.0 * n) for n in range(23 * 60))


@pytest.mark.parametrize("shown", ["2:30", "8:00", "0:00", "23:59"])
@pytest.mark.parametrize("day", [SPRING, AUTUMN])
def test_a_daily_moment_comes_once_a_day(shown: str, day: tuple[int, int, int]) -> None:
    start = at(day, 0) - 2 * 86_400.0
    found = [last_shown(minute(shown), VIENNA, start + 300.0 * n) for n in range(5 * 288)]
    assert all(moment <= start + 300.0 * n for n, moment in enumerate(found))
    assert found == sorted(found)
    moments = sorted(set(found))
    assert len(moments) in (5, 6)  # the autumn day is longer
    assert all(22.4 * 3_600.0 <= later - earlier <= 25.6 * 3_600.0 for earlier, later in pairwise(moments))
    there = [datetime.fromtimestamp(moment, ZoneInfo(VIENNA)) for moment in moments]
    odd = [one for one in there if (one.hour, one.minute) != divmod(minute(shown), 60)]
    assert len(odd) == (shown == "2:30" and day == SPRING)  # which was leapt over


def test_what_is_no_time_is_refused_with_a_remedy() -> None:
    for wrong in ("24:00", "8:60", "noon", "", "-1", "8:5"):
        with pytest.raises(BadInputError, match="write it as"):
            minute(wrong)
    for wrong in ("22:00", "22:00-22:00", "22-", "22:00-7:00-8:00"):
        with pytest.raises(BadInputError, match="write"):
            hours(wrong)
    for wrong in ("Mars/Olympus", "../../etc/passwd", "/etc/localtime", ""):
        with pytest.raises(BadInputError, match="Europe/Vienna"):
            zone(wrong)
