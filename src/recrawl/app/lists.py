"""Lists of URLs that somebody pastes or hands over as a file: one a line, a table, a sitemap, a feed, OPML.

Whoever gives one need not run this machine, so that none of them may name its files.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO, StringIO
from itertools import islice

from recrawl.app.sources import Candidate, Found, Refused, locations, meant_by

_GZIP = b"\x1f\x8b"
_DELIMITERS = ",;\t|"
_N_TRIED = 100  # rows from which a table's column of URLs is told


def pasted(text: str, where: str = "line") -> Iterator[Found]:
    """One URL a line; empty lines and those that begin with # say nothing."""
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if word and not word.startswith("#"):
            yield _candidate(word, f"{where} {number}")


def handed(data: bytes, name: str) -> Iterator[Found]:
    """What stands in a file, told by its beginning; of text, by its name and first line."""
    begin = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if data.startswith(_GZIP) or begin == b"<":
        yield from _marked_up(data, name)
    elif b"\0" in data:
        yield Refused(name, "", "it is no text; give a list of URLs, a table, a sitemap, a feed or OPML.")
    else:
        text = data.decode("utf-8-sig", errors="replace")
        yield from _table(text, name) if _tabular(text, name) else pasted(text, f"{name} line")


def _marked_up(data: bytes, name: str) -> Iterator[Found]:
    for item, element in locations(BytesIO(data), name):
        if element == "sitemap":
            yield Refused(item.text, name, "it is another sitemap; give the address of the index instead.")
        else:
            yield item


def _tabular(text: str, name: str) -> bool:
    """A URL may well have a comma in it: a list without a header is a table only where its name says so."""
    if name.lower().endswith((".csv", ".tsv")):
        return True
    first, _, rest = text.lstrip().partition("\n")
    return "://" not in first and "://" in rest and any(mark in first for mark in _DELIMITERS)


def _table(text: str, name: str) -> Iterator[Found]:
    """The cells of the column in which most look like URLs."""
    header = text.lstrip().partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header.count)
    try:
        column = _column(islice(csv.reader(StringIO(text), delimiter=delimiter), _N_TRIED))
        if column is None:
            yield Refused(name, "", "no column of it holds URLs; begin each with http:// or https://.")
            return
        for number, row in enumerate(csv.reader(StringIO(text), delimiter=delimiter), 1):
            word = row[column].strip() if column < len(row) else ""
            if word and not (number == 1 and "://" not in word):  # that is the header
                yield _candidate(word, f"{name} row {number}")
    except csv.Error as problem:
        yield Refused(name, "", f"it cannot be read to its end ({problem}); what stood before that is used.")


def _column(rows: Iterable[Sequence[str]]) -> int | None:
    n: dict[int, int] = {}
    for row in rows:
        for place, cell in enumerate(row):
            if "://" in cell:
                n[place] = n.get(place, 0) + 1
    return max(n, key=lambda place: (n[place], -place)) if n else None


def _candidate(word: str, where: str) -> Found:
    meant = "" if "://" in word else meant_by(word)
    if meant:
        return Refused(word, where, f"it has no http:// or https:// before it; did you mean {meant}?")
    return Candidate(word, where)
