"""By how much the clocks of a page are ahead of UTC."""

from __future__ import annotations

import re
from math import isnan

_HOUR_S = 3_600.0
_QUARTER_S = 900.0
_DAY_S = 86_400.0
_MOST_S = 14 * _HOUR_S
_AGED_S = 180.0  # by how much a page's own clock may be wrong, or its copy old

# Abbreviations that mean one zone nearly everywhere.
_NAMED = {
    "z": 0.0, "utc": 0.0, "gmt": 0.0, "wet": 0.0, "ut": 0.0,
    "bst": 1.0, "cet": 1.0, "mez": 1.0, "west": 1.0,
    "cest": 2.0, "mesz": 2.0, "eet": 2.0, "eest": 3.0, "msk": 3.0,
    "edt": -4.0, "est": -5.0, "cdt": -5.0, "cst": -6.0, "mdt": -6.0, "mst": -7.0, "pdt": -7.0, "pst": -8.0,
    "jst": 9.0, "kst": 9.0, "aest": 10.0, "aedt": 11.0, "nzst": 12.0, "nzdt": 13.0,
}  # fmt: skip
_OFFSET = re.compile(
    r"\b(?:UTC|GMT) ?([+\u2212-]) ?([0-9]{1,2})(?::?([0-9]{2}))?(?![0-9])( hours?)?(?: \[ ?DST ?\])?"
)
_BARE = re.compile(r":[0-9]{2} ?([+-])([0-9]{2}):?([0-9]{2})(?![0-9])")
# One letter is as likely somebody's initial, unless it stands right behind the clock.
_NAME = re.compile(r"(?<![\w/])[A-Z]{2,4}(?![\w/])|(?:(?<=[0-9])|(?<=[0-9] ))Z(?![\w/.])")
# What boards say of their times, and what follows it.
_SAID = re.compile(
    r"(?:all times are|times are in|alle zeiten sind|toutes les heures sont|todos los horarios son|"
    r"tutti gli orari sono|alle tijden zijn|time ?zone:?|zeitzone:?|fuseau horaire[^:]{0,20}:?)[^.\n]{0,60}",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"(?:the time (?:is )?now(?: is)?:?|it is currently|current time(?: is)?:?|es ist jetzt|aktuelle zeit:?)"
    r"\s*([^\n]{4,60})",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?<![0-9:])([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?(?: ?([AaPp])\.?[Mm])?(?![0-9:])")
_MOST_LOOKED = 4_000_000  # characters


def named_s(text: str) -> float | None:
    """The zone that a time names, as seconds ahead of UTC.

    >>> named_s("31 Jan 2026 13:00 +0100"), named_s("GMT-5"), named_s("13:00 CET"), named_s("13:00")
    (3600.0, -18000.0, 3600.0, None)
    >>> named_s("31 Jan 2026 13:00 Z"), named_s("by Ada Z. 31 Jan 2026 13:00")
    (0.0, None)
    """
    if found := _OFFSET.search(text):
        return _signed(found[1], found[2], found[3]) + (_HOUR_S if "DST" in found[0] else 0.0)
    if found := _BARE.search(text):
        return _signed(found[1], found[2], found[3])
    for name in _NAME.findall(text):
        if name.lower() in _NAMED:
            return _NAMED[name.lower()] * _HOUR_S
    return None


def zone_s(text: str, at: float) -> float:
    """What the text of a page says of its times; 0 where it says nothing.

    What it says the time is now is believed more than the zone that it names: that may know no summer time.
    """
    looked = text[:_MOST_LOOKED]
    if not isnan(at) and (now := _NOW.search(looked)) and (clock := _TIME.search(now[1])):
        hour, minute = int(clock[1]), int(clock[2])
        if clock[3]:
            hour = hour % 12 + (12 if clock[3] in "pP" else 0)
        ahead_s = (hour * _HOUR_S + minute * 60.0 - at % _DAY_S + _DAY_S / 2) % _DAY_S - _DAY_S / 2
        rounded_s = round(ahead_s / _QUARTER_S) * _QUARTER_S
        if hour < 24 and minute < 60 and abs(ahead_s - rounded_s) <= _AGED_S:
            said_s = _said_s(looked)
            # A clock cannot tell 13 hours ahead from 11 behind; what is said beside it can.
            if said_s is not None and abs(said_s - rounded_s) > _DAY_S / 2:
                rounded_s += _DAY_S if said_s > rounded_s else -_DAY_S
            return rounded_s
    return _said_s(looked) or 0.0


def _said_s(text: str) -> float | None:
    for said in _SAID.finditer(text):
        if (found_s := named_s(said[0])) is not None:
            return found_s
    return None


def _signed(sign: str, hours: str, minutes: str | None) -> float:
    value_s = int(hours) * _HOUR_S + int(minutes or 0) * 60.0
    return min(value_s, _MOST_S) * (1.0 if sign == "+" else -1.0)
