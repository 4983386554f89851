"""Times as others write them, as seconds since 1970 UTC. ValueError where they cannot be read."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

UNREADABLE = "the time cannot be read"
FIRST_AT, LAST_AT = 0.0, 4_102_444_800.0  # 1970 and 2100: what lies outside is no time of the web's
_STAMP_REST = "00000101000000"
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE]\+?[0-9]+)?")


def stamp(text: str) -> float:
    """YYYYMMDDhhmmss, or as much of it as is known, from the year on; CDX files write times so.

    >>> stamp("19700102000001"), stamp("1971")
    (86401.0, 31536000.0)
    """
    n = len(text)
    if n > 14:
        text, n = text[:14], 14  # fractions of a second
    if n < 4 or n % 2 or not (text.isascii() and text.isdigit()):
        raise ValueError(UNREADABLE)
    whole = text + _STAMP_REST[n:]
    hour, minute, second = int(whole[8:10]), int(whole[10:12]), int(whole[12:])
    if hour > 23 or minute > 59 or second > 60:
        raise ValueError(UNREADABLE)
    try:
        midnight_at = _midnight(whole[:8])
    except ValueError:
        raise ValueError(UNREADABLE) from None
    return within(midnight_at + 3600.0 * hour + 60.0 * minute + second)


@lru_cache(maxsize=1 << 16)
def _midnight(day: str) -> float:
    return datetime(int(day[:4]), int(day[4:6]), int(day[6:]), tzinfo=UTC).timestamp()


def iso(text: str) -> tuple[float, bool]:
    """ISO 8601, and whether it names its zone; one that does not is read as UTC.

    >>> iso("1970-01-01T01:00:00+01:00"), iso("1970-01-02")
    ((0.0, True), (86400.0, False))
    """
    said = text.strip()
    if said[-4:] in (" UTC", " GMT"):
        said = said[:-4].rstrip() + "Z"
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        raise ValueError(UNREADABLE) from None
    has_zone = moment.tzinfo is not None
    return within((moment if has_zone else moment.replace(tzinfo=UTC)).timestamp()), has_zone


def number(text: str, *, per_s: float) -> float:
    """Seconds, or milliseconds where there are 1000 `per_s`."""
    if not (text.isascii() and text.isdigit()) and not _NUMBER.fullmatch(text):
        raise ValueError(UNREADABLE)
    return within(float(text) / per_s)


def within(at: float) -> float:
    if not FIRST_AT <= at < LAST_AT:
        raise ValueError("the time is not between 1970 and 2100")
    return at
