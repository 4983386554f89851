"""Hours as the clocks of a place show them, whatever summer time does to them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from recrawl.errors import BadInputError, ConflictError, UnknownPartError

_CLOCK = re.compile(r"([01]?[0-9]|2[0-3])(?::([0-5][0-9]))?", re.ASCII)
_SPAN = re.compile(r"([0-9:]{1,5})-([0-9:]{1,5})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Hours:
    """From one minute of the day until another, over midnight where that comes first."""

    from_minute: int
    until_minute: int

    def __str__(self) -> str:
        return f"{clock(self.from_minute)}-{clock(self.until_minute)}"


def minute(text: str) -> int:
    """The minute of the day that a clock shows.

    >>> minute("8"), minute("22:30")
    (480, 1350)
    """
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise BadInputError(f"{text!r} is no time of day; write it as 8 or 22:30.")
    return 60 * int(found[1]) + int(found[2] or 0)


def hours(text: str) -> Hours:
    """
    >>> print(hours("22-7:30"))
    22:00-07:30
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise BadInputError(f"{text!r} are no hours; write them as 22:00-07:00.")
    asked = Hours(minute(found[1]), minute(found[2]))
    if asked.from_minute == asked.until_minute:
        raise ConflictError(f"{text} would be always or never; write two different times.")
    return asked


def clock(minute_of_day: int) -> str:
    return f"{minute_of_day // 60:02}:{minute_of_day % 60:02}"


@cache
def zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise UnknownPartError(
            f"{name!r} is no time zone that is known here; write it as Europe/Vienna or UTC. Where even "
            "those are unknown, install the system's tzdata."
        ) from None


def within(asked: Hours, zone_name: str, now: float) -> bool:
    """Whether the clocks there show a time in these hours."""
    there = datetime.fromtimestamp(now, zone(zone_name))
    shown = 60 * there.hour + there.minute
    if asked.from_minute < asked.until_minute:
        return asked.from_minute <= shown < asked.until_minute
    return shown >= asked.from_minute or shown < asked.until_minute


def last_shown(minute_of_day: int, zone_name: str, now: float) -> float:
    """The last moment, now at the latest, at which clocks there came to show this: once a day. Where they
    leap over it, it is as long after the leap; where they show it twice, the first time."""
    there = datetime.fromtimestamp(now, zone(zone_name))
    at = there.replace(hour=minute_of_day // 60, minute=minute_of_day % 60, second=0, microsecond=0, fold=0)
    while at.timestamp() > now:
        at -= timedelta(days=1)  # of the calendar: its hours are what clocks show
    return at.timestamp()
