"""Lines of a web archive's index: CDX text, CDXJ and what CDX servers answer, as captures."""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from recrawl.corpora.sources.lines import MAX_LINE_BYTES, Flaw, text

# By number of columns, where no line says what they are. Seven are what the Wayback server answers.
_USUAL = {7: "N b a m s k S", 9: "N b a m s k r V g", 10: "N b a m s k r M V g", 11: "N b a m s k r M S V g"}
# The letters of a legend, and the names that servers and CDXJ lines use.
_NAMES = {
    "key": ("N", "A", "urlkey"),
    "stamp": ("b", "timestamp"),
    "url": ("a", "original", "url"),
    "media_type": ("m", "mimetype", "mime"),
    "status": ("s", "statuscode", "status"),
    "digest": ("k", "c", "digest"),
}
_GAP = re.compile(r"[\s,]+")
UNREADABLE = Flaw("the line cannot be read")


class Capture(NamedTuple):
    """A look that an archive took, as its index tells it; empty where it says nothing or `-`."""

    key: str
    stamp: str
    url: str
    media_type: str
    status: str
    digest: str


def places(legend: Sequence[str]) -> list[int | None]:
    """Where in a row each part of a capture is."""
    return [next((legend.index(name) for name in names if name in legend), None) for names in _NAMES.values()]


_USUAL_PLACES = {n_cells: places(legend.split()) for n_cells, legend in _USUAL.items()}


class Index:
    """Takes an index line by line, whatever it is written in; legends are understood as they come."""

    def __init__(self) -> None:
        self._places: list[int | None] | None = None
        self._between: str | None = None
        self.resume_key = ""  # with which a server goes on
        self._is_ending = False

    def capture(self, line: bytes) -> Capture | Flaw | None:
        """None: the line holds none."""
        said = text(line)
        if isinstance(said, Flaw):
            return said
        if not said.strip():
            self._is_ending = True  # a server's blank line goes before the key
            return None
        if said[0] in "!@" or said.startswith("#"):
            return None
        if said[1:4] == "CDX" and said[4:5] == said[0]:  # the line begins with what stands between columns
            self._between = said[0]
            self._places = places(said.split(self._between)[2:])
            return None
        if said.startswith("CDX "):
            self._places = places(said.split()[1:])
            return None
        if said[0] == "{":
            return _of_object(said, "", "")
        cells = said.split(self._between)
        if self._is_ending and len(cells) == 1:
            self.resume_key = said.strip()
            return None
        if len(cells) > 2 and cells[2].startswith("{"):
            return _of_object(said.split(None, 2)[2], cells[0], cells[1])
        known = self._places or _USUAL_PLACES.get(len(cells))
        return UNREADABLE if known is None else _of_cells(cells, known)

    def row(self, cells: object) -> Capture | Flaw | None:
        """A row of a server's JSON answer."""
        if not isinstance(cells, list) or not all(isinstance(cell, str) for cell in cells):
            return UNREADABLE
        if not cells:
            self._is_ending = True
            return None
        if self._is_ending and len(cells) == 1:
            self.resume_key = cells[0]
            return None
        if self._places is None and "timestamp" in cells:
            self._places = places(cells)
            return None
        known = self._places or _USUAL_PLACES.get(len(cells))
        return UNREADABLE if known is None else _of_cells(cells, known)


def _of_cells(cells: Sequence[str], known: Sequence[int | None]) -> Capture | Flaw:
    try:
        said = ["" if place is None else cells[place] for place in known]
    except IndexError:
        return Flaw("the line has too few columns")
    return Capture(*("" if cell == "-" else cell for cell in said))


def _of_object(said: str, key: str, stamp: str) -> Capture | Flaw:
    try:
        facts = json.loads(said)
    except (ValueError, RecursionError):
        return UNREADABLE
    if not isinstance(facts, dict):
        return UNREADABLE
    facts = {"urlkey": key, "timestamp": stamp} | facts
    found = (next((facts[name] for name in names if name in facts), "") for names in _NAMES.values())
    return Capture(*("" if one in ("-", None) else str(one) for one in found))


def json_rows(found: Iterable[bytes | Flaw]) -> Iterator[tuple[int, object]]:
    """The rows of one long JSON array, by line, without holding all of it. A row that cannot be read is a
    flaw; the next one then begins on the next line."""
    decoder, utf8 = json.JSONDecoder(), getincrementaldecoder("utf-8-sig")("replace")
    held, at, line, has_begun, is_over = "", 0, 1, False, False
    for piece in chain(found, (b"",)):
        if isinstance(piece, Flaw):
            yield line, piece
            return
        held, at = held[at:] + utf8.decode(piece), 0
        while not is_over:
            gap = _GAP.match(held, at)
            at, line = (gap.end(), line + gap[0].count("\n")) if gap else (at, line)
            if at == len(held):
                break
            if not has_begun:
                has_begun, at = True, at + 1
                continue
            if held[at] == "]":
                is_over = True
                break
            try:
                row, end = decoder.raw_decode(held, at)
            except (ValueError, RecursionError):
                if piece and len(held) - at < MAX_LINE_BYTES:
                    break  # the rest of it may be in the next piece
                yield line, UNREADABLE
                newline = held.find("\n", at)
                at = len(held) if newline < 0 else newline
                continue
            yield line, row
            line, at = line + held.count("\n", at, end), end
    if not is_over:
        yield line, Flaw("the file stops in the middle")


def url_of(key: str) -> str:
    """The address that a sort-friendly key stands for; what is no such key stays as it is.

    >>> url_of("org,example)/a?b=1"), url_of("org,example:8080)/"), url_of("example.org/")
    ('http://example.org/a?b=1', 'http://example.org:8080/', 'http://example.org/')
    """
    host, closed, rest = key.partition(")")
    if not closed:
        return key if "://" in key else f"http://{key}"
    host = host.removeprefix("http://(").removeprefix("https://(").strip(",")
    name, colon, port = host.partition(":")
    return f"http://{'.'.join(reversed(name.split(',')))}{colon}{port}{rest or '/'}"
