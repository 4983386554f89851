"""How a table is written: its rows, what stands between columns, and what each column holds."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recrawl.corpora.sources.lines import Flaw, text
from recrawl.corpora.sources.moments import iso, number, stamp
from recrawl.errors import BadInputError

DELIMITERS = ("\t", ",", ";", "|")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "url": ("url", "uri", "page", "resource", "address", "link", "iri"),
    "time": ("time", "at", "timestamp", "datetime", "date", "moment", "changed_at", "seen_at", "when"),
    "digest": ("digest", "hash", "sha1", "sha256", "md5", "checksum", "fingerprint", "etag", "version"),
    "host": ("host", "site", "domain", "group"),
    "changed": ("changed", "change"),
}
TIMES = ("auto", "iso", "seconds", "milliseconds", "stamp")
MAX_CELL = 131_072  # characters: no address, time or digest is longer
MAX_QUOTED_LINES = 100  # that one row may go over
MAX_LOOKED_AT = 1_000  # columns of a row that are looked at to tell which is which
UNCLOSED = "a quotation mark is opened and not closed"

Line = tuple[int, bytes | Flaw]
Row = list[str] | Flaw


@dataclass(frozen=True, slots=True)
class Layout:
    delimiter: str
    columns: Mapping[str, int]  # where each of COLUMNS is, of those that are there
    has_header: bool


class Times:
    """Reads times as the user says, or as they look; remembers what had to be taken for granted."""

    def __init__(self, manner: str) -> None:
        self._manner = manner
        self.n_naive = 0
        self.units: set[str] = set()

    def at(self, said: str) -> float:
        manner = self._manner
        if manner == "auto":
            manner = _manner(said)
        if manner == "iso":
            at, has_zone = iso(said)
            self.n_naive += not has_zone
            return at
        if manner == "stamp":
            return stamp(said)
        self.units.add(manner)
        return number(said, per_s=1.0 if manner == "seconds" else 1000.0)


def _manner(said: str) -> str:
    n_digits = len(said)
    if not said.isdigit():
        if not said.replace(".", "", 1).isdigit():
            return "iso"
        n_digits = said.find(".")
    if n_digits in (8, 14) and said[:2] in ("19", "20"):
        return "stamp"  # as seconds, 8 digits would be in 1970; as milliseconds, 14 digits in 2600
    return "seconds" if n_digits <= 11 else "milliseconds"


def records(found: Iterator[Line], delimiter: str) -> Iterator[tuple[int, Row]]:
    """Rows by the number of their first line. A quoted cell may hold line ends; one that never closes costs
    its own line, not the rest of the file."""
    opening = delimiter.encode() + b'"'
    waiting: deque[Line] = deque()

    def following() -> Line | None:
        return waiting.popleft() if waiting else next(found, None)

    while (got := following()) is not None:
        line_number, line = got
        if isinstance(line, Flaw):
            yield line_number, line
            continue
        if b'"' not in line:
            said = text(line)
            yield line_number, said if isinstance(said, Flaw) else said.split(delimiter) if said else []
            continue
        if line.count(b'"') % 2 and (line.startswith(b'"') or opening in line):
            further = _until_closed(following)
            last = further[-1][1] if further else Flaw(UNCLOSED)
            if isinstance(last, Flaw) or last.count(b'"') % 2 == 0:
                yield line_number, Flaw(UNCLOSED)
                waiting.extendleft(reversed(further))
                continue
            line = b"\n".join([line, *(more for _, more in further if not isinstance(more, Flaw))])
        said = text(line)
        yield line_number, said if isinstance(said, Flaw) else _cells(said, delimiter)


def _until_closed(following: Callable[[], Line | None]) -> list[Line]:
    further: list[Line] = []
    while len(further) < MAX_QUOTED_LINES and (more := following()) is not None:
        further.append(more)
        if isinstance(more[1], Flaw) or more[1].count(b'"') % 2:
            break
    return further


def _cells(said: str, delimiter: str) -> Row:
    try:
        cells = next(csv.reader([said], delimiter=delimiter), [])
    except csv.Error:
        return Flaw("the row cannot be read")
    # The library has a limit too, one for the whole process, which whoever reads tables may have lifted.
    return Flaw("the row cannot be read") if any(len(cell) > MAX_CELL for cell in cells) else cells


def told(
    sample: Sequence[Line], *, delimiter: str | None, columns: Mapping[str, int] | None, time: str
) -> Layout:
    """From a table's first lines: of all delimiters the one with which most rows hold a time; where none
    does, or several do, the one that makes most sense of the header."""
    candidates = DELIMITERS if delimiter is None else (delimiter,)
    tables = {
        one: [
            row[:MAX_LOOKED_AT] for _, row in records(iter(sample), one) if row and not isinstance(row, Flaw)
        ]
        for one in candidates
    }

    def sense(one: str) -> tuple[int, int]:
        rows = tables[one]
        return sum(_time_column(row, time) is not None for row in rows), len(named(rows[0])) if rows else 0

    best = max(candidates, key=sense)
    rows = tables[best]
    if not rows:
        return Layout(best, columns or {"url": 0, "time": 1}, False)
    words = named(rows[0])
    has_header = (
        _time_column(rows[0], time) is None
        and not any("://" in cell for cell in rows[0])
        and (bool(words) or columns is not None)
    )
    if columns is None:
        columns = words if has_header else _by_looks(rows, time)
    if "url" not in columns or "time" not in columns:
        raise BadInputError(
            f"Which columns hold the URL and the time is not clear from {rows[0][:6]!r}; say it with "
            "`--columns url,time,-,digest`, a word or - for each, and how times are written with --time."
        )
    return Layout(best, columns, has_header)


def named(cells: Sequence[str]) -> dict[str, int]:
    """Where the columns are that these words name."""
    found: dict[str, int] = {}
    for place, cell in enumerate(cells):
        word = cell.strip().strip('"').lower().replace(" ", "_")
        for name, words in COLUMNS.items():
            if word in words:
                found.setdefault(name, place)
    return found


def _by_looks(rows: Sequence[Sequence[str]], time: str) -> dict[str, int]:
    """Without a header: the first column that is a time, and the URL beside it; then digest and host."""
    places = [place for row in rows if (place := _time_column(row, time)) is not None]
    if not places:
        return {}
    at = max(set(places), key=places.count)
    row = next(row for row in rows if _time_column(row, time) == at)
    urls = [place for place, cell in enumerate(row) if "://" in cell] or [
        place for place in (0, 1) if place != at
    ]
    if len(row) < 2:
        return {}
    rest = [place for place in range(len(row)) if place not in (at, urls[0])]
    return {"url": urls[0], "time": at, **dict(zip(("digest", "host"), rest, strict=False))}


def _time_column(row: Sequence[str], time: str) -> int | None:
    times = Times(time)
    for place, cell in enumerate(row):
        try:
            times.at(cell.strip())
        except ValueError:
            continue
        return place
    return None
