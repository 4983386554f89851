"""Pages and their revisions out of a MediaWiki XML dump, some at a time, however large the file is.

The parser is expat, in machine code. A document type is refused, and with it every entity of the file's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha1
from typing import BinaryIO
from xml.parsers.expat import ExpatError, ParserCreate

from recrawl.corpora.sources.lines import STEP_BYTES, Flaw, pieces

N_TOGETHER = 20_000  # revisions of one page
MAX_DEPTH = 64
MAX_PIECE_BYTES = 1 << 24  # of a tag, or of the text of anything but a revision
_ALIVE = b"<mediawiki><page>"  # all that a parser need know of what lies before the end of a page
# What is read, and how deep it lies; a contributor has an id too, one deeper.
_LEAVES = {"sitename": 3, "base": 3, "title": 3, "ns": 3, "id": 4, "timestamp": 4, "sha1": 4}
_MAX_DIGITS = 16
_BASE_36 = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class Page:
    """A page, or a stretch of one with very many revisions; these are columns, in the order of the file."""

    line: int
    title: str = ""
    namespace: str = ""
    redirects: bool = False
    is_first: bool = True  # stretch of its page
    is_whole: bool = False  # the page ends with it
    timestamp: list[str] = field(default_factory=list)
    digest: list[str] = field(default_factory=list)  # empty: it was taken from public view
    is_minor: list[bool] = field(default_factory=list)
    size: list[int | None] = field(default_factory=list)  # of the text, in bytes, where the dump says it
    at_line: list[int] = field(default_factory=list)
    end: tuple[int, int] = (0, 1)  # where another run may begin: a byte of the unpacked file, and its line

    def rest(self) -> Page:
        """The stretch that follows."""
        return Page(self.line, self.title, self.namespace, self.redirects, is_first=False)


class _UnsoundError(Exception):
    """Stops the parser."""


class Dump:
    """Reads a dump from its beginning, or from the end of a page on (`Page.end`)."""

    def __init__(self, stream: BinaryIO, *, begin: tuple[int, int] = (0, 1)) -> None:
        self.site_name = self.base = ""  # what the wiki is called, and where its main page is
        self._stream = stream
        self._begin, self._first_line = begin
        self._ready: list[Page] = []
        self._leaf: list[str] = []
        self._is_open: Callable[[], bool] = lambda: False
        self._parser = ParserCreate()
        self._listen()

    def pages(self) -> Iterator[tuple[int, Page | Flaw]]:
        """By line. A flaw is the end: nobody knows what to make of what follows it in the file."""
        n_before = 0
        if self._begin:
            self._parser.Parse(_ALIVE, False)
        for piece in pieces(self._stream):
            if isinstance(piece, Flaw):
                yield self._line(), piece
                return
            fresh = piece[max(0, self._begin - n_before) :]
            n_before += len(piece)
            flaw = self._fed(fresh, n_before)
            yield from ((page.line, page) for page in self._ready)
            self._ready.clear()
            if flaw is not None:
                yield self._line(), flaw
                return
        if self._is_open() or not n_before:
            yield self._line(), Flaw("the dump stops in the middle")

    def _fed(self, fresh: bytes, n_read: int) -> Flaw | None:
        try:
            self._parser.Parse(fresh, False)
        except ExpatError:
            return Flaw("this is not XML, from here on")
        except _UnsoundError as problem:
            return Flaw(problem)
        if n_read - self._offset() > MAX_PIECE_BYTES or len(self._leaf) > MAX_PIECE_BYTES // STEP_BYTES:
            return Flaw(f"there is something longer than {MAX_PIECE_BYTES >> 20} MiB")
        return None

    def _offset(self) -> int:
        return self._parser.CurrentByteIndex + (self._begin - len(_ALIVE) if self._begin else 0)

    def _line(self) -> int:
        return self._parser.CurrentLineNumber + self._first_line - 1

    def _listen(self) -> None:
        """Functions that share variables instead of methods: they are called thirty times a revision."""
        parser, leaf, ready = self._parser, self._leaf, self._ready
        parser.buffer_text = True
        parser.ordered_attributes = True  # a flat list, cheaper than a dictionary
        parser.buffer_size = 1 << 16
        take, leaves = leaf.append, _LEAVES.get
        depth = 0
        page = Page(0)
        said: dict[str, str] = {}
        hashed = sha1(usedforsecurity=False)
        n_chars = 0
        size: int | None = None
        is_minor = is_hidden = is_elsewhere = False

        def take_text(piece: str) -> None:
            nonlocal n_chars
            n_chars += len(piece)
            hashed.update(piece.encode())

        def start(name: str, attributes: list[str]) -> None:
            nonlocal depth, page, is_minor, is_hidden, is_elsewhere, hashed, n_chars, size
            depth += 1
            if leaves(name) == depth:
                parser.CharacterDataHandler = take
            elif depth == 4:
                if name == "text":
                    is_hidden = "deleted" in attributes[::2]
                    is_elsewhere = "id" in attributes[::2]  # a stub says only where the text is
                    size = _size(attributes)
                    hashed = sha1(usedforsecurity=False)
                    n_chars = 0
                    parser.CharacterDataHandler = take_text
                elif name == "minor":
                    is_minor = True
            elif depth == 3:
                if name == "revision":
                    page.at_line.append(self._line())
                    said.clear()
                    is_minor = is_hidden = is_elsewhere = False
                    n_chars = -1
                    size = None
                elif name == "redirect":
                    page.redirects = True
            elif depth == 2 and name == "page":
                page = Page(self._line())
            elif depth == 1 and name != "mediawiki":
                raise _UnsoundError("this is no MediaWiki dump")
            elif depth > MAX_DEPTH:
                raise _UnsoundError("the elements are nested too deeply")

        def end(name: str) -> None:
            nonlocal depth, page
            depth -= 1
            if leaves(name) == depth + 1:
                parser.CharacterDataHandler = None
                value = "".join(leaf)
                leaf.clear()
                if depth == 3:
                    said.setdefault(name, value)
                elif name == "title":
                    page.title = value
                elif name == "ns":
                    page.namespace = value
                elif name == "base":
                    self.base = value
                else:
                    self.site_name = value
            elif depth == 3:
                parser.CharacterDataHandler = None
            elif depth == 2 and name == "revision":
                page.timestamp.append(said.get("timestamp", ""))
                page.digest.append(digest())
                page.is_minor.append(is_minor)
                page.size.append(size)
                if len(page.timestamp) == N_TOGETHER:
                    ready.append(page)
                    page = page.rest()
            elif depth == 1 and name == "page" and (page.title or page.timestamp):
                page.is_whole = True
                page.end = self._offset(), self._line()
                ready.append(page)
                page = Page(self._line())  # what follows outside of any page is not this one's

        def digest() -> str:
            if known := said.get("sha1", ""):
                return known
            if is_hidden:
                return ""
            if n_chars > 0 or (n_chars == 0 and not is_elsewhere):
                return _in_base_36(int.from_bytes(hashed.digest()))
            return f"r{said['id']}" if said.get("id") else ""

        def refused(*_: object) -> None:
            raise _UnsoundError("the file declares a document type, which no dump does")

        def declared(_version: str, encoding: str | None, _standalone: int) -> None:
            if encoding is not None and encoding.lower() not in ("utf-8", "utf8", "us-ascii"):
                raise _UnsoundError("the file is not in UTF-8")

        self._is_open = lambda: depth > 0
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.StartDoctypeDeclHandler = refused
        parser.EntityDeclHandler = refused
        parser.XmlDeclHandler = declared


def _size(attributes: list[str]) -> int | None:
    """What a text's tag says of its length: a flat list of names and values."""
    for place in range(0, len(attributes), 2):
        said = attributes[place + 1]
        if attributes[place] == "bytes" and said.isascii() and said.isdigit() and len(said) < _MAX_DIGITS:
            return int(said)
    return None


def _in_base_36(value: int) -> str:
    """As MediaWiki writes digests, so that one it did not write down equals the same one where it did."""
    digits = []
    while value:
        value, digit = divmod(value, 36)
        digits.append(_BASE_36[digit])
    return "".join(reversed(digits)).rjust(31, "0")
