"""Quantities as people write them: `90s`, `3h`, `1.5d`, `2000/day`, `50/h`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

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
MOST_PER_DAY = 1e9
_SPAN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", re.IGNORECASE)
_RATE = re.compile(r"\s*([0-9][0-9_,]*\.?[0-9]*)\s*(?:/|per\s+)?\s*([a-z]*)\s*", re.IGNORECASE)


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
    """A budget; a bare number is visits a day.

    >>> visits_per_day("2,000/day"), visits_per_day("50/h"), visits_per_day(10)
    (2000.0, 1200.0, 10.0)
    """
    if isinstance(text, bool):
        raise BadInputError(f"{text} is not a budget; write it as 2000/day or 50/h.")
    if isinstance(text, int | float):
        return _counted(float(text), text)
    match = _RATE.fullmatch(text)
    unit = _UNIT_S.get((match[2] or "d").lower()) if match else None
    if match is None or unit is None:
        raise BadInputError(f"{text!r} is not a budget; write it as 2000/day or 50/h.")
    return _counted(float(match[1].replace(",", "").replace("_", "")) * DAY_S / unit, text)


def _bounded(span_s: float, text: object) -> float:
    if not 0.0 <= span_s <= LONGEST_S:
        raise BadInputError(f"{text} is no length of time that can be kept to; stay below 100 years.")
    return span_s


def _counted(per_day: float, text: object) -> float:
    if not 0.0 <= per_day <= MOST_PER_DAY:
        raise BadInputError(f"{text} is no budget that can be kept to; stay below a billion visits a day.")
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
            return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInputError(
            f"{text!r} is not a moment; write it as 2026, 2026-01-31, 2026-01-31T12:00 or 20260131120000."
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def stamp(at: float) -> str:
    """An instant as the 14 digits that web archives write.

    >>> stamp(instant("2026-01-31"))
    '20260131000000'
    """
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%d%H%M%S}"


def iso(at: float) -> str | None:
    """An instant as people and programs read it; None for "not known"."""
    if at != at or at in (float("inf"), float("-inf")):
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
