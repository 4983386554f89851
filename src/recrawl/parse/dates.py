"""Dates as people and programs write them. Whatever the text, the work grows no faster than its length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from math import nan

# What is dated before it was not said on any network: programs write such times for none (the year 1, 1970).
EARLIEST_AT = datetime(1980, 1, 1, tzinfo=UTC).timestamp()
MOST_DATES = 10_000  # of a text; nobody needs to know how many more there are
_MOST_YEARS = 50_000  # numbers of a text that are looked at
_MOST_WRITTEN = 64  # characters of a single date
# Every date is looked for around its year: most texts hold few numbers that might be one.
# Its first digit comes first in the expression: to look for one of two characters is the fastest search.
_YEAR = re.compile(r"(?:19|20)[0-9]{2}(?<![0-9]{5})(?![0-9])")
_BEFORE = 32  # characters in which the day and the month may stand
_AFTER = 12

_NAMED_DAY_FIRST = re.compile(
    r"(?<![0-9])([0-9]{1,2})(?:st|nd|rd|th|er|º|\.)?[ -]?(?:of |de |d')?"
    r"([^\W\d_]{3,10})\.?,?[ -]?(?:de |del )?\Z"
)
_NAMED_MONTH_FIRST = re.compile(r"(?<![^\W_])([^\W\d_]{3,10})\.? ?([0-9]{1,2})(?:st|nd|rd|th)?,? ?\Z")
_NUMBERS_BEFORE = re.compile(r"(?<![\w.])([0-9]{1,2})\. ?([0-9]{1,2})\. ?\Z")
_SLASHES_BEFORE = re.compile(r"(?<![\w/])([0-9]{1,2})/([0-9]{1,2})/\Z")
_NUMBERS_AFTER = re.compile(
    r"([-/.])([0-9]{1,2})\1([0-9]{1,2})(?![0-9])|(?: ?年 ?)([0-9]{1,2}) ?月 ?([0-9]{1,2}) ?日"
)

# In English, German, French, Spanish, Italian, Portuguese and Dutch, with the usual short forms.
MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari",
            "february feb februar februari février févr fevrier febrero febbraio fevereiro fev",
            "march mar märz mrz mars marzo março maart mrt",
            "april apr avril avr abril abr aprile",
            "may mai mayo maggio mag maio mei",
            "june jun juni juin junio giugno giu junho",
            "july jul juli juillet juil julio luglio lug julho",
            "august aug août aout agosto ago augustus",
            "september sep sept septembre septiembre settembre set setembro",
            "october oct oktober okt octobre octubre ottobre ott outubro out",
            "november nov novembre noviembre novembro",
            "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
        ),
        start=1,
    )
    for name in names.split()
}


def in_text(text: str) -> Iterator[float]:
    """The days that a text names, as the instants at which they begin in UTC, in order: 2024-03-12,
    12 March 2024, March 12, 2024, 12.03.2024, 2024年3月12日. At most `MOST_DATES` of them. Between words
    there is a single space.

    >>> list(in_text("Since 12 March 2024, not 31.02.2024.")) == [instant("2024-03-12")]
    True
    """
    n_found = 0
    for year in islice(_YEAR.finditer(text), _MOST_YEARS):
        at = _around(text, year.start(), year.end())
        if at == at:
            yield at
            n_found += 1
            if n_found == MOST_DATES:
                return


def instant(written: str) -> float:
    """A time as metadata and headers have it; where there is no zone it is taken for UTC, and a day for its
    beginning. NaN: it is none.

    >>> instant("1970-01-02"), instant("Fri, 02 Jan 1970 00:00:00 GMT"), instant("1970-01-02T01:00:00+0100")
    (86400.0, 86400.0, 86400.0)
    >>> instant("soon")
    nan
    """
    text = written.strip()
    if not 10 <= len(text) <= _MOST_WRITTEN:
        return nan
    for reader in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = reader(text)
            return (at if at.tzinfo is not None else at.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return next(in_text(text), nan)


def _around(text: str, start: int, end: int) -> float:
    year = int(text[start:end])
    before, after = text[max(0, start - _BEFORE) : start], text[end : end + _AFTER]
    if found := _NUMBERS_AFTER.match(after):
        return _day(year, int(found[2] or found[4]), int(found[3] or found[5]))
    if found := _NUMBERS_BEFORE.search(before):
        return _day(year, int(found[2]), int(found[1]))
    if found := _SLASHES_BEFORE.search(before):
        return _either(year, int(found[1]), int(found[2]))
    if found := _NAMED_DAY_FIRST.search(before):
        return _day(year, MONTHS.get(found[2].lower(), 0), int(found[1]))
    if found := _NAMED_MONTH_FIRST.search(before):
        return _day(year, MONTHS.get(found[1].lower(), 0), int(found[2]))
    return nan


def _either(year: int, one: int, other: int) -> float:
    """In some countries the day comes first, in some the month: a date only where one reading is."""
    ways = {at for at in (_day(year, one, other), _day(year, other, one)) if at == at}
    return ways.pop() if len(ways) == 1 else nan


def _day(year: int, month: int, day: int) -> float:
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    except ValueError:
        return nan
