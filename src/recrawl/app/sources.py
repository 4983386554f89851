"""Where URLs come from: words, lists, sitemaps, feeds and OPML files, on the disk or on the web.

All of them give candidates one by one, and trouble with one of them does not stop the rest.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from math import isfinite
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import ParseError

from recrawl.contracts import Fetcher
from recrawl.errors import BadUrlError
from recrawl.model import Access, Outcome, Request
from recrawl.model.sight import CHANGEFREQ
from recrawl.parse import dates
from recrawl.urls import MAX_URL_BYTES, canonical, is_file_url, unsigned

# The sitemap protocol allows 50 MB; a compressed file can hold a thousand times its own size.
MAX_XML_BYTES = 64 * 2**20
MAX_XML_DEPTH = 100
MAX_SITEMAPS = 1_000
MAX_SITEMAP_DEPTH = 3
_CHUNK_BYTES = 64 * 1024
_TOLD = frozenset({"loc", "lastmod", "changefreq"})
_OF_LISTS = frozenset({".txt", ".csv", ".tsv", ".list", ".xml", ".opml", ".json", ".gz"})  # not hosts
_PEEKED_BYTES = 8 * 1024  # of a file that should be text


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be a URL, and where it stands."""

    text: str
    where: str
    by_hand: bool = False  # said by whoever runs this: others may not name files of this machine
    changefreq: str = ""  # what a sitemap says of it, one of `CHANGEFREQ`
    lastmod_at: float | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Something that cannot be used, and why. What is told of it holds no password."""

    text: str
    where: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", unsigned(self.text))


Found = Candidate | Refused


def lines(stream: Iterable[str], where: str) -> Iterator[Found]:
    """One URL a line; empty lines and those that begin with # say nothing."""
    for number, line in enumerate(stream, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield Candidate(text, f"{where}:{number}", by_hand=True)


def words(given: Iterable[str], stdin: Iterable[str]) -> Iterator[Found]:
    """What was typed: URLs, names of files that list URLs, and `-` for standard input."""
    for word in given:
        if word == "-":
            yield from lines(stdin, "standard input")
        elif "://" in word or is_file_url(word):
            yield Candidate(word, "", by_hand=True)
        else:
            yield from _listed(word)


def _listed(word: str) -> Iterator[Found]:
    """What stands in the file of this name."""
    try:
        path = Path(word).expanduser()
        if path.is_dir():
            reason = f"it is a folder; name a file in it, or watch it as {path.absolute().as_uri()}/."
            yield Refused(word, "", reason)
            return
        with path.open("rb") as stream:  # once: a pipe can be read only once
            if b"\0" in stream.peek(_PEEKED_BYTES):
                yield Refused(word, "", "it is no text; give a file with one URL a line.")
                return
            with TextIOWrapper(stream, encoding="utf-8-sig", errors="replace") as text:
                yield from lines(text, word)
    except (FileNotFoundError, ValueError, RuntimeError):  # no name that a file could have
        meant = meant_by(word)
        hint = (
            f"did you mean {meant}?" if meant else "write out the URL, or the path of a file that is there."
        )
        reason = f"{word!r} is neither a file nor a URL with http:// or https:// before it; {hint}"
        yield Refused(word, "", reason)
    except OSError as problem:
        yield Refused(word, "", f"it cannot be read ({problem.strerror}); give a file that you may read.")


def meant_by(word: str) -> str:
    """The URL that somebody may have meant by a name without a scheme."""
    named = re.fullmatch(r"([\w-]+\.)*([a-z][\w-]+)(:\d+)?(/\S*)?", word, re.IGNORECASE)
    if not named or not (named[1] or named[2] == "localhost") or f".{named[2].lower()}" in _OF_LISTS:
        return ""
    return f"{'http' if named[2] == 'localhost' else 'https'}://{word}"


class Reader:
    """Reads sitemaps, feeds and OPML files; what is on the web is asked for as politely as a visit."""

    def __init__(
        self,
        fetcher: Fetcher,
        *,
        allow_private: bool = False,
        access_at: Callable[[str], Access | None] = lambda _: None,
    ) -> None:
        self._fetcher = fetcher
        self._allow_private = allow_private
        self._access_at = access_at

    async def sitemap(self, place: str) -> AsyncIterator[Found]:
        """All URLs of a sitemap, or of the entries of a feed; those named by an index are read too, each
        once."""
        todo = deque([(place, 1)])
        seen = {place}
        n_read = 0
        while todo:
            place, depth = todo.popleft()
            if n_read == MAX_SITEMAPS:
                yield Refused(place, "", f"{MAX_SITEMAPS} sitemaps were read already; add this one itself")
                return
            n_read += 1
            opened = await self._opened(place)
            if isinstance(opened, Refused):
                yield opened
                continue
            for item, element in locations(opened, place):
                if element != "sitemap":
                    yield item
                elif depth == MAX_SITEMAP_DEPTH:
                    yield Refused(item.text, place, f"indexes are {depth} deep here; add this sitemap itself")
                elif "://" not in item.text:  # else a sitemap from the web could name files on this disk
                    yield Refused(item.text, place, "an index names sitemaps by their URLs; this is none")
                elif item.text not in seen:
                    seen.add(item.text)
                    todo.append((item.text, depth + 1))

    async def opml(self, place: str) -> AsyncIterator[Found]:
        """The feeds of an OPML subscription list."""
        opened = await self._opened(place)
        if isinstance(opened, Refused):
            yield opened
            return
        for item, _ in locations(opened, place):
            yield item

    async def _opened(self, place: str) -> IO[bytes] | Refused:
        if "://" in place:
            try:
                url = canonical(place)
            except BadUrlError as problem:
                return Refused(place, "", str(problem))
            asked = Request(url=url, allow_private=self._allow_private, access=self._access_at(url))
            fetch = await self._fetcher.fetch(asked)
            if fetch.outcome is not Outcome.OK:
                return Refused(place, "", f"it could not be fetched: {fetch.trouble}")
            return BytesIO(bytes(fetch.body))
        return _opened_file(place)


def _opened_file(place: str) -> IO[bytes] | Refused:
    try:
        return Path(place).expanduser().open("rb")
    except OSError as problem:
        return Refused(place, "", f"it cannot be read ({problem.strerror})")


class _Target:
    """Keeps the locations of what the XML parser sees, and no tree: a hostile file fills no memory."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str, dict[str, str]]] = []  # text, the element around it, what it says
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._n_text = 0
        self._open: tuple[str, str] | None = None  # what may still be told of the last location
        self._said: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._path.append(name)
        if len(self._path) > MAX_XML_DEPTH:
            raise ValueError(f"elements stand more than {MAX_XML_DEPTH} deep")
        around = self._path[-2:-1]
        if (name in _TOLD and around in (["url"], ["sitemap"])) or (name == "link" and around == ["item"]):
            self._text, self._n_text = [], 0
        elif name == "outline" and attributes.get("xmlUrl"):
            self.found.append((attributes["xmlUrl"].strip(), name, {}))
        elif name == "link" and around == ["entry"] and attributes.get("rel", "alternate") == "alternate":
            self.found.append((attributes.get("href", "").strip(), "entry", {}))

    def data(self, text: str) -> None:
        # one character more than any URL has is enough to see that it is none
        if self._text is not None and self._n_text <= MAX_URL_BYTES:
            self._text.append(text[: MAX_URL_BYTES + 1])
            self._n_text += len(text)

    def end(self, _tag: str) -> None:
        name = self._path.pop()
        if self._text is not None:
            text, self._text = "".join(self._text).strip(), None
            if name == "loc":
                self.flush()
                self._open = text, self._path[-1]
            elif name == "link":
                self.found.append((text, "item", {}))
            else:
                self._said[name] = text
        elif name in ("url", "sitemap"):
            self.flush()
            self._said = {}

    def flush(self) -> None:
        """Nothing more will be told of the last location."""
        if self._open is not None:
            self.found.append((*self._open, self._said))
            self._open = None

    def close(self) -> None:
        """Nothing is built."""


def locations(stream: IO[bytes], place: str) -> Iterator[tuple[Found, str]]:
    """The locations in a sitemap, feed or OPML file, each with the name of the element around it."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    target = _Target()
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    wrong = ""
    try:
        with stream:
            for chunk in _chunks(stream):
                parser.feed(chunk)
                for text, element, said in target.found:
                    yield _candidate(text, place, said), element
                target.found.clear()
            parser.close()
    except DefusedXmlException:
        wrong = "it declares a document type, which is refused"
    except (ParseError, ValueError, OSError, EOFError, zlib.error) as problem:
        wrong = str(problem)
    target.flush()
    for text, element, said in target.found:
        yield _candidate(text, place, said), element
    if wrong:
        yield (
            Refused(place, "", f"it cannot be read to its end ({wrong}); what stood before that is used"),
            "",
        )


def _candidate(text: str, place: str, said: dict[str, str]) -> Candidate:
    if not said:
        return Candidate(text, place)
    changefreq, lastmod_at = said.get("changefreq", "").lower(), dates.instant(said.get("lastmod", ""))
    return Candidate(
        text,
        place,
        changefreq=changefreq if changefreq in CHANGEFREQ else "",
        lastmod_at=lastmod_at if isfinite(lastmod_at) else None,
    )


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    compressed = stream.read(2) == b"\x1f\x8b"
    stream.seek(0)
    plain = gzip.GzipFile(fileobj=stream) if compressed else stream
    n_read = 0
    while chunk := plain.read(_CHUNK_BYTES):
        n_read += len(chunk)
        if n_read > MAX_XML_BYTES:
            raise ValueError(f"it is longer than {MAX_XML_BYTES >> 20} MiB")
        yield chunk
