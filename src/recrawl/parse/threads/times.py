"""When posts were said: times as pages write them, in whatever order and zone.

Some can be read only with their neighbours: 02/03/2026 is in March where another post is of 31/01, or where
that alone puts the posts in order. So all times of a page are read together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import inf, isnan, nan

from recrawl.parse.dates import EARLIEST_AT, MONTHS
from recrawl.parse.threads.spans import ago
from recrawl.parse.threads.zones import named_s

MOST_WRITTEN = 120  # characters of one time
SKEW_S = 120.0  # by how much a server's clock may be ahead of ours
_DAY_S = 86_400.0

_MONTHS = {
    **MONTHS,
    **{
        name: month
        for month, names in enumerate(
            (
                "januára января янв stycznia sty ledna led ocak oca januari jaan",
                "февраля фев lutego lut února úno şubat şub",
                "марта мар marca března bře mart",
                "апреля апр kwietnia kwi dubna dub nisan nis",
                "мая май maja května kvě mayıs maj",
                "июня июн czerwca cze června čer haziran haz",
                "июля июл lipca lip července čvc temmuz tem",
                "августа авг sierpnia sie srpna srp ağustos ağu augusti",
                "сентября сен września wrz září zář eylül eyl",
                "октября окт października paź října říj ekim eki",
                "ноября ноя listopada lis listopadu kasım kas",
                "декабря дек grudnia gru prosince pro aralık ara desember des",
            ),
            start=1,
        )
        for name in names.split()
    },
}
_DAYS_AGO = {
    word: n
    for n, words in enumerate(
        (
            "today heute aujourd hoy oggi hoje vandaag idag dzisiaj dzisiaj dziś dnes сегодня bugün "
            "今日 今天 오늘",
            "yesterday gestern hier ayer ieri ontem gisteren igår wczoraj včera вчера dün 昨日 昨天 어제",
        )
    )
    for word in words.split()
}
_WEEKDAYS = {
    word: day
    for day, words in enumerate(
        (
            "monday montag lundi lunes lunedì segunda maandag måndag mandag poniedziałek pondělí понедельник",
            "tuesday dienstag mardi martes martedì terça dinsdag tisdag tirsdag wtorek úterý вторник",
            "wednesday mittwoch mercredi miércoles mercoledì quarta woensdag onsdag środa středa среда",
            "thursday donnerstag jeudi jueves giovedì quinta donderdag torsdag czwartek čtvrtek четверг",
            "friday freitag vendredi viernes venerdì sexta vrijdag fredag piątek pátek пятница",
            "saturday samstag samedi sábado sabato zaterdag lördag lørdag sobota суббота",
            "sunday sonntag dimanche domingo domenica zondag söndag søndag niedziela neděle воскресенье",
        )
    )
    for word in words.split()
}

_UNIX = re.compile(r"[0-9]{9,10}(?:[0-9]{3})?(?:\.[0-9]{1,6})?")
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}[0-9:.,]{0,16} ?(?:Z|[+-][0-9:]{4,6})?")
_YEAR_FIRST = re.compile(
    r"(?<![0-9])([0-9]{4}) ?(?:[-/.]|年|년) ?([0-9]{1,2}) ?(?:[-/.]|月|월) ?([0-9]{1,2})(?![0-9])"
)
_NUMBERS = re.compile(r"(?<![0-9:])([0-9]{1,2})([-/.]) ?([0-9]{1,2})[-/.] ?([0-9]{4}|[0-9]{2})(?![0-9:])")
# Two digits are a year where no clock begins with them.
_YEAR = r"([0-9]{4}|[0-9]{2}(?![0-9:.]| ?h| ?[ap]\.? ?m))"
_DAY_FIRST = re.compile(
    r"(?<![0-9:])([0-9]{1,2})(?:st|nd|rd|th|er|º|\.)?[ -]{0,2}(?:of |de |d')?([^\W\d_]{3,12})\.?"
    rf"(?:,? ?(?:de |del )?-?'?{_YEAR})?"
)
_MONTH_FIRST = re.compile(
    rf"(?<![^\W_])([^\W\d_]{{3,12}})\.? ([0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9:])(?:,? '?{_YEAR})?"
)
_DAY_BEFORE = re.compile(r"(?<![0-9:])[0-9]{1,2}(?:st|nd|rd|th|er|º|\.)?[ -]{0,2}(?:of |de |d')?\Z")
_LAST_YEAR = re.compile(r"(?<![0-9])((?:19|20)[0-9]{2})\s*\Z")
_CLOCK = re.compile(
    r"(?<![0-9:.])([0-9]{1,2})(?:(?:[:.]| ?h ?)([0-9]{2})(?::([0-9]{2}))?)?"
    r"(?: ?([ap])\.? ?m\.?(?![a-z])|(?<=[0-9]{2})(?![0-9.:]))"
)
# The half of the day where it stands before the clock.
_HALVES = {
    **dict.fromkeys(("上午", "午前", "오전"), "a"),
    **dict.fromkeys(("下午", "午後", "오후", "晚上"), "p"),
}
_WITH_CLOCK = frozenset({"am", "pm", "at", "um"})
_WORD = re.compile(r"[^\W\d_]{2,16}")
_DIGIT = re.compile(r"[0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time as it was read."""

    at: float = nan
    coarse_s: float = (
        0.0  # where it was counted back from the fetch: how long the unit is that was counted in
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A time as it is written, before day and month are told apart."""

    year: int
    first: int  # day or month
    second: int
    second_of_day: float
    zone_s: float | None  # of its own


def moments(written: Sequence[str], *, at: float, zone_s: float = 0.0) -> list[Moment]:
    """The times of a page, in the order of its posts; `at` is when it was fetched, and `zone_s` by how much
    the clocks of the page are ahead of UTC. What cannot be read, lies in the future of the fetch, or before
    anybody can have posted it has no time.

    >>> [one.at for one in moments(["31/01/2026 13:00", "02/03/2026 1:00 pm"], at=1.8e9)]
    [1769864400.0, 1772456400.0]
    """
    read = [_read(one, at, zone_s) for one in written]
    day_first = _day_first(read, at, zone_s)
    found: list[Moment] = []
    for one in read:
        moment = Moment(at=_instant(one, day_first, zone_s)) if isinstance(one, Written) else one
        if not isnan(at) and moment.at > at:
            moment = replace(moment, at=at if moment.at <= at + SKEW_S else nan)
        if moment.at < EARLIEST_AT:
            moment = replace(moment, at=nan)
        found.append(moment)
    return found


def told(text: str) -> bool:
    """Whether a text is a time that can be read, whatever the day."""
    read = _read(text, 4e9, 0.0)
    return isinstance(read, Written) or not isnan(read.at)


def _read(text: str, at: float, zone_s: float) -> Moment | Written:
    text = " ".join(text.split())
    if not text or len(text) > MOST_WRITTEN:
        return Moment()
    if _UNIX.fullmatch(text):
        value = float(text)
        return Moment(at=value / 1_000 if value > 1e11 else value)
    if _ISO.fullmatch(text):
        return Moment(at=_iso(text, zone_s))
    low = text.casefold()
    clock = _clock(low)
    if (dated := _dated(low)) is not None:
        year, first, second, fixed = dated
        own_s = named_s(text)
        if fixed:
            whole = Written(year=year, first=first, second=second, second_of_day=clock or 0.0, zone_s=own_s)
            return Moment(at=_instant(whole, True, zone_s))
        if year == 0:
            return Moment(at=_latest(first, second, clock or 0.0, at, zone_s if own_s is None else own_s))
        return Written(year=year, first=first, second=second, second_of_day=clock or 0.0, zone_s=own_s)
    if isnan(at):
        return Moment()
    if (span := ago(low)) is not None:
        return Moment(at=at - span[0], coarse_s=span[1])
    return Moment(at=_near(low, clock, at, zone_s))


def _iso(text: str, zone_s: float) -> float:
    try:
        found = datetime.fromisoformat(text.replace(",", ".").replace(" +", "+").replace(" Z", "Z"))
        if found.tzinfo is None:
            return found.replace(tzinfo=UTC).timestamp() - zone_s
        return found.timestamp()
    except (ValueError, OverflowError):
        return nan


def _clock(low: str) -> float | None:
    """Seconds since midnight."""
    for found in _CLOCK.finditer(low):
        hour, minute, second, half = found.groups()
        if minute is None and half is None:
            continue
        if "." in found[0] and half is None and ":" in low:
            continue  # 31.01: the clock of this text has a colon
        n_hours, n_minutes, n_seconds = int(hour), int(minute or 0), int(second or 0)
        half = half or next((half for word, half in _HALVES.items() if word in low), None)
        if half is not None and 1 <= n_hours <= 12:
            n_hours = n_hours % 12 + (12 if half == "p" else 0)
        if n_hours < 24 and n_minutes < 60 and n_seconds < 61:
            return n_hours * 3_600.0 + n_minutes * 60.0 + n_seconds
    return None


def _dated(low: str) -> tuple[int, int, int, bool] | None:
    """Year (0: not said), and two numbers: day and month in this order where that is `fixed` or the year is
    missing, else in either."""
    if found := _YEAR_FIRST.search(low):
        return int(found[1]), int(found[3]), int(found[2]), True
    if found := _NUMBERS.search(low):
        year = int(found[4]) if len(found[4]) == 4 else 2_000 + int(found[4])
        return year, int(found[1]), int(found[3]), found[2] == "."
    for pattern, day, month in ((_MONTH_FIRST, 2, 1), (_DAY_FIRST, 1, 2)):
        for found in pattern.finditer(low):
            if found[month] in _MONTHS and not (month == 1 and _DAY_BEFORE.search(_before(low, found))):
                said = found[3] or ""
                if not said and (last := _LAST_YEAR.search(low)):  # as programs in C write it
                    said = last[1]
                year = int(said or 0) + (2_000 if len(said) == 2 else 0)
                return year, int(found[day]), _MONTHS[found[month]], bool(said)
    return None


def _before(low: str, found: re.Match[str]) -> str:
    return low[max(0, found.start() - 9) : found.start()]


def _instant(written: Written, day_first: bool, zone_s: float) -> float:
    day, month = (written.first, written.second) if day_first else (written.second, written.first)
    try:
        midnight = datetime(written.year, month, day, tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return nan
    if midnight < EARLIEST_AT:
        return nan
    return midnight + written.second_of_day - (zone_s if written.zone_s is None else written.zone_s)


def _day_first(read: Sequence[Moment | Written], at: float, zone_s: float) -> bool:
    """Whether the day comes before the month in dates of numbers. A number above 12 is no month, and nothing
    was said in the future; else the order in which most posts follow each other tells, and where that does
    not, most of the world writes the day first."""
    open_ones = [one for one in read if isinstance(one, Written)]
    ways = [[_instant(one, day_first, zone_s) for one in open_ones] for day_first in (True, False)]
    latest_at = inf if isnan(at) else at + SKEW_S
    n_wrong = [sum(not one <= latest_at for one in way) for way in ways]
    if n_wrong[0] != n_wrong[1]:
        return n_wrong[0] < n_wrong[1]
    return _turns(ways[0]) <= _turns(ways[1])


def _turns(at: Sequence[float]) -> int:
    """How many posts are out of order, whether the first or the last come first."""
    steps = [later - earlier for earlier, later in pairwise(at) if later != earlier]
    n_back = sum(not step > 0 for step in steps)
    return min(n_back, sum(not step < 0 for step in steps))


def _latest(day: int, month: int, second_of_day: float, at: float, zone_s: float) -> float:
    """The last such day up to the fetch: its year goes without saying."""
    if isnan(at):
        return nan
    this = datetime.fromtimestamp(at + zone_s + SKEW_S, UTC).year
    for year in (this, this - 1, this - 2, this - 3, this - 4):  # 29 February may be some years ago
        written = Written(year=year, first=day, second=month, second_of_day=second_of_day, zone_s=zone_s)
        found = _instant(written, True, zone_s)
        if found <= at + SKEW_S:
            return found
    return nan


def _near(low: str, clock: float | None, at: float, zone_s: float) -> float:
    """Today, yesterday, or a day of the last week; a clock alone is of the last day. Where other numbers are
    left, they are of a date that could not be read."""
    if _DIGIT.search(_CLOCK.sub("", low)):
        return nan
    words = _WORD.findall(low)
    here = datetime.fromtimestamp(at + zone_s, UTC)
    midnight = here.replace(hour=0, minute=0, second=0, microsecond=0)
    days = [_DAYS_AGO[word] for word in words if word in _DAYS_AGO]
    weekdays = [_WEEKDAYS[word] for word in words if word in _WEEKDAYS]
    if days:
        day = midnight - timedelta(days=days[0])
    elif weekdays and clock is not None:
        day = midnight - timedelta(days=(here.weekday() - weekdays[0]) % 7 or 7)
    elif clock is not None and ":" in low and not [word for word in words if word not in _WITH_CLOCK]:
        day = midnight
        if day.timestamp() + clock > here.timestamp() + SKEW_S:
            day -= timedelta(days=1)
    else:
        return nan
    return day.timestamp() + (clock or 0.0) - zone_s
