"""Quantities as people write them: `90s`, `3h`, `1.5d`, `2000/day`, `50/h`, `2GB/day`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from recrawl.errors import BadInputError
from recrawl.model.units import DAY_S, HOUR_S

_UNIT_S = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": HOUR_S, "hour": HOUR_S, "hours": HOUR_S,
    "d": DAY_S, "day": DAY_S, "days": DAY_S,
    "w": 7 * DAY_S, "week": 7 * DAY_S, "weeks": 7 * DAY_S,
}  # fmt: skip
LONGEST_S = 100 * 365.25 * DAY_S
_EARLIEST_AT, _END_AT = -62_135_596_800.0, 253_402_300_800.0  # the years 1 to 9999
MOST_PER_DAY = 1e9
MOST_BYTES_PER_DAY = 1e18
_SPAN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", re.IGNORECASE)
# A comma stands before three digits or between two budgets: 500,2GB is neither 5002GB nor anything else.
_NUMBER = r"((?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9][0-9_]*)\.?[0-9]*)"
_RATE = re.compile(rf"\s*{_NUMBER}\s*(?:/|per\s+)?\s*([a-z]*)\s*", re.IGNORECASE)
_BYTES = re.compile(rf"\s*{_NUMBER}\s*([kmgt]?)(i?)(?:b|bytes?)\s*(?:/|per\s+)\s*([a-z]+)\s*", re.IGNORECASE)
_BOTH = re.compile(r",\s+|(?<=[a-z]),|\s+and\s+|\s*;\s*", re.IGNORECASE)
_SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_VISITS = "write it as 2000/day or 50/h"
_REMEDY = "write it as 2000/day, 50/h, 2GB/day, or both with a comma between them"


def seconds(text: str | float) -> float:
    """A length of time; a bare number is seconds.

    >>> seconds("1.5h"), seconds("2 days"), seconds(30)
    (5400.0, 172800.0, 30.0)
    """
    if isinstance(text, bool):
        raise BadInputError(f"{text} is not a length of time; write it as 90s, 15m, 6h, 2d or 4w.")
    if isinstance(text, int | float):
        return _bounded(float(text), text)
    match = _SPAN.fullmatch(text)
    unit = _UNIT_S.get((match[2] or "s").lower()) if match else None
    if match is None or unit is None:
        raise BadInputError(f"{text!r} is not a length of time; write it as 90s, 15m, 6h, 2d or 4w.")
    return _bounded(float(match[1]) * unit, text)


def visits_per_day(text: str | float) -> float:
    """A budget of visits alone; a bare number is visits a day.

    >>> visits_per_day("2,000/day"), visits_per_day("50/h"), visits_per_day(10)
    (2000.0, 1200.0, 10.0)
    """
    if isinstance(text, str) and any(map(_BYTES.fullmatch, _BOTH.split(text))):
        raise BadInputError(f"{text!r} limits bytes, and here only visits count; {_VISITS}.")
    return _visits_per_day(text, _VISITS)


def _visits_per_day(text: str | float, remedy: str) -> float:
    if isinstance(text, bool):
        raise BadInputError(f"{text} is not a budget; {remedy}.")
    if isinstance(text, int | float):
        return _counted(float(text), text)
    match = _RATE.fullmatch(text)
    unit = _UNIT_S.get((match[2] or "d").lower()) if match else None
    if match is None or unit is None:
        raise BadInputError(f"{text!r} is not a budget; {remedy}.")
    return _counted(float(match[1].replace(",", "").replace("_", "")) * DAY_S / unit, text)


@dataclass(frozen=True, slots=True)
class Budget:
    """Visits a day, bytes a day, or both; None: no limit of that kind."""

    visits_per_day: float | None = None
    bytes_per_day: float | None = None

    def otherwise(self, other: Budget) -> Budget:
        """The other, where this limits nothing."""
        return other if self == Budget() else self

    def __str__(self) -> str:
        parts = []
        if self.visits_per_day is not None:
            parts.append(f"{_figure(self.visits_per_day)}/day")
        if self.bytes_per_day is not None:
            size, name = next(
                (one for one in _SIZES if self.bytes_per_day % one[0] == 0.0 and self.bytes_per_day),
                _SIZES[-1],
            )
            parts.append(f"{_figure(self.bytes_per_day / size)}{name}/day")
        return ", ".join(parts)


def budget(said: str | float | Budget) -> Budget:
    """Visits a day, bytes a day, or both.

    >>> budget("2,000/day, 1.5GB/day")
    Budget(visits_per_day=2000.0, bytes_per_day=1500000000.0)
    >>> print(budget("50/h, 2 MB/h"))
    1200/day, 48MB/day
    """
    if isinstance(said, Budget):
        return said
    visits: float | None = None
    weight: float | None = None
    for part in _BOTH.split(said) if isinstance(said, str) else [said]:
        heavy = _BYTES.fullmatch(part) if isinstance(part, str) else None
        if (visits if heavy is None else weight) is not None:
            raise BadInputError(f"{said!r} says the same kind of budget twice; {_REMEDY}.")
        if heavy is None:
            visits = _visits_per_day(part, _REMEDY)
        else:
            weight = _bytes_per_day(heavy, said)
    if 0.0 in (visits, weight):
        raise BadInputError(f"A budget of nothing allows no visit; {_REMEDY}.")
    return Budget(visits, weight)


def _bytes_per_day(match: re.Match[str], said: object) -> float:
    unit_s = _UNIT_S.get(match[4].lower())
    if unit_s is None:
        raise BadInputError(f"{said!r} is not a budget; {_REMEDY}.")
    power = "kmgt".index(match[2].lower()) + 1 if match[2] else 0
    size = (1024.0 if match[3] else 1000.0) ** power
    per_day = float(match[1].replace(",", "").replace("_", "")) * size * DAY_S / unit_s
    if per_day > MOST_BYTES_PER_DAY:
        raise BadInputError(f"{said} is no budget that can be kept to; stay below a billion GB a day.")
    return per_day


def _figure(value: float) -> str:
    """As it can be read again, without an exponent."""
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def _bounded(span_s: float, text: object) -> float:
    if not 0.0 <= span_s <= LONGEST_S:
        raise BadInputError(f"{text} is no length of time that can be kept to; stay below 100 years.")
    return span_s


def _counted(per_day: float, text: object) -> float:
    if not 0.0 <= per_day <= MOST_PER_DAY:
        raise BadInputError(
            f"{text} is no budget that can be kept to; give more than 0 and less than a billion visits a day."
        )
    return per_day


def written(span_s: float) -> str:
    """A length of time as `seconds` reads it, to the last digit.

    >>> written(180 * DAY_S), written(3600.0), written(90.5)
    ('180 days', '1 hour', '90.5 seconds')
    """
    units = ((DAY_S, "day"), (HOUR_S, "hour"), (60.0, "minute"))
    size, name = next((unit for unit in units if span_s and span_s % unit[0] == 0.0), (1.0, "second"))
    figure = repr(span_s / size).removesuffix(".0")
    return f"{figure} {name}" if figure == "1" else f"{figure} {name}s"


def short(span_s: float) -> str:
    """A length of time where there is little room.

    >>> short(12_600.0), short(40 * DAY_S), short(0.2)
    ('3.5 h', '40 d', '0.2 s')
    """
    units = ((DAY_S, "d"), (HOUR_S, "h"), (60.0, "min"))
    size, name = next((unit for unit in units if span_s >= unit[0]), (1.0, "s"))
    figure = span_s / size
    return f"{figure:.0f} {name}" if figure >= 10.0 else f"{figure:.1f} {name}".replace(".0", "")


def away(at: float, now: float) -> str:
    """How far off a moment is.

    >>> away(12_600.0, 0.0), away(0.0, 2 * DAY_S), away(5.0, 5.0)
    ('in 3.5 h', '2 d ago', 'now')
    """
    if at == now:
        return "now"
    return f"in {short(at - now)}" if at > now else f"{short(now - at)} ago"


def instant(text: str) -> float:
    """A moment, as ISO 8601 or as a 14-digit archive timestamp; UTC where no zone is given. A year, a month
    or a day stands for its beginning.

    >>> instant("2026-01-02T03:04:05Z") == instant("20260102030405")
    True
    >>> instant("2026") == instant("2026-01") == instant("2026-01-01")
    True
    """
    if re.fullmatch(r"\d{4}(-\d\d)?", text, re.ASCII):
        text += "-01-01" if len(text) == 4 else "-01"
    try:
        if text.isdigit() and len(text) == 14:
            moment = datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        else:
            moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInputError(
            f"{text!r} is not a moment; write it as 2026, 2026-01-31, 2026-01-31T12:00 or 20260131120000."
        ) from None
    return in_utc(moment)


def in_utc(moment: datetime) -> float:
    """In seconds; UTC where it has no zone. A zone may carry a moment out of the years that dates can have,
    and then nothing could be made of it.

    >>> in_utc(datetime(1970, 1, 2))
    86400.0
    """
    at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not _EARLIEST_AT <= at < _END_AT:
        raise BadInputError(
            f"{moment.isoformat()} is not within the years 1 to 9999 in UTC; give one that is."
        )
    return at


def stamp(at: float) -> str:
    """An instant as the 14 digits that web archives write.

    >>> stamp(instant("2026-01-31")), stamp(instant("0300"))
    ('20260131000000', '03000101000000')
    """
    moment = datetime.fromtimestamp(at, UTC)
    return f"{moment.year:04}{moment:%m%d%H%M%S}"  # of early years %Y leaves out the zeros


def iso(at: float) -> str | None:
    """An instant as people and programs read it; None for "not known"."""
    if at != at or at in (float("inf"), float("-inf")):
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
