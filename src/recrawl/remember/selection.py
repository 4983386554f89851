"""Some of an archive's records, picked out of its files so that every revisit finds what it repeats.

Records are copied byte by byte. What is chosen lies in a database that is gone afterwards, so that a million
of them take no memory.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Self

from recrawl.errors import BadUrlError, DamagedError
from recrawl.remember.exchange import hops_of
from recrawl.remember.records import Place, Record, Unreadable, places, read_from
from recrawl.urls import resource_url

# One write at a time, no way back: after a crash nobody looks at it again.
_BEGIN = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE line (
    file TEXT, offset INTEGER, length INTEGER, url TEXT, stamp TEXT, digest TEXT, revisit INTEGER, line TEXT,
    tail INTEGER NOT NULL DEFAULT 0,  -- how long its request and metadata are, which follow it
    chosen INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (file, offset)
) WITHOUT ROWID;
CREATE TABLE own (url TEXT PRIMARY KEY) WITHOUT ROWID;
-- where payloads lie, and the address that each came from: of two with the same payload, one has a revisit
CREATE TABLE place (file TEXT, offset INTEGER, url TEXT, PRIMARY KEY (file, offset, url)) WITHOUT ROWID;
CREATE INDEX place_url ON place (url);
CREATE TABLE refers (url TEXT, stamp TEXT, PRIMARY KEY (url, stamp)) WITHOUT ROWID;
CREATE TABLE written (line TEXT);
"""
_CANDIDATES = """
SELECT file, offset, length, url, stamp, revisit FROM line
WHERE (file, offset) > (:file, :offset) AND stamp >= :since AND stamp < :until AND (
    :all OR url IN (SELECT url FROM own) OR (file, offset) IN (SELECT file, offset FROM place)
    OR (revisit AND digest IN (SELECT digest FROM line JOIN place USING (file, offset)))
)
ORDER BY file, offset LIMIT 1000
"""
_ORIGINS = """
SELECT file, offset, length, url, stamp, revisit FROM line
WHERE (file, offset) > (:file, :offset) AND NOT chosen AND NOT revisit
    AND (url, stamp) IN (SELECT url, stamp FROM refers)
ORDER BY file, offset LIMIT 1000
"""
_CHOSEN = """
SELECT file, offset, length, tail, line FROM line WHERE (file, offset) > (:file, :offset) AND chosen
ORDER BY file, offset LIMIT 1000
"""
_STEP_BYTES = 1 << 20
_BESIDE = frozenset({"request", "metadata"})


class Selection:
    """`take` the index, say what is wanted, `choose`; then read the files that come of it, and their index.

    `opened` gives a file to read, `lengths` says how much of each is recorded.
    """

    def __init__(self, path: Path, opened: Callable[[str], BinaryIO], lengths: Mapping[str, int]) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript(_BEGIN)
        self._opened = opened
        self._lengths = lengths
        self._all = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def take(self, lines: Iterable[str]) -> None:
        """The index of the archive; what is not recorded yet is left out."""
        self._db.execute("BEGIN")
        self._db.executemany(
            "INSERT OR REPLACE INTO line (file, offset, length, url, stamp, digest, revisit, line) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (_row(line) for line in recorded(lines, self._lengths)),
        )
        self._db.execute("COMMIT")

    def want(self, urls: Iterable[str], payloads: Iterable[tuple[str, int, str]]) -> None:
        """Only what was asked for as these URLs; each payload with its file, its offset and the URL that it
        came from, where redirects led elsewhere."""
        self._all = False
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO own VALUES (?)", ((url,) for url in urls))
        self._db.executemany("INSERT OR IGNORE INTO place VALUES (?, ?, ?)", payloads)
        self._db.execute("COMMIT")

    def choose(
        self, *, since: str, until: str, progress: Callable[[int], object] = lambda _: None
    ) -> tuple[int, int]:
        """Those from one 14-digit moment up to another, and what revisits among them repeat, whenever that
        was. How many records of answers, and how many bytes with all that belongs to them."""
        n_read = 0
        span = {"since": since, "until": until, "all": self._all}
        for query, values in ((_CANDIDATES, span), (_ORIGINS, {})):
            for page in self._pages(query, values):
                self._db.execute("BEGIN")
                with ExitStack() as files:
                    streams: dict[str, BinaryIO] = {}
                    for row in page:
                        if row[0] not in streams:
                            streams[row[0]] = files.enter_context(self._opened(row[0]))
                        self._look(streams[row[0]], row, origin=query is _ORIGINS)
                self._db.execute("COMMIT")
                n_read += len(page)
                progress(n_read)
        found = self._db.execute("SELECT count(*), coalesce(sum(length + tail), 0) FROM line WHERE chosen")
        n_chosen, n_bytes = found.fetchone()
        return n_chosen, n_bytes

    def _look(self, stream: BinaryIO, row: tuple[Any, ...], *, origin: bool) -> None:
        file, offset, length, url, stamp, revisit = row
        beside = list(self._beside(stream, file, offset + length, url, stamp))
        asked = next((first for place in beside if (first := _via(place.record))), url)
        if not (origin or self._all or self._is_own(file, offset, url, asked, revisit)):
            return
        tail = sum(place.length for place in beside)
        self._db.execute(
            "UPDATE line SET chosen = 1, tail = ? WHERE file = ? AND offset = ?", (tail, file, offset)
        )
        if revisit:
            try:
                kept = read_from(stream, offset, length)
            except Unreadable as problem:
                raise DamagedError(
                    f"{file} is damaged at byte {offset}: {problem}. `recrawl verify` shows what else is."
                ) from None
            refers = kept.field("WARC-Refers-To-Target-URI"), _stamp(kept.field("WARC-Refers-To-Date"))
            self._db.execute("INSERT OR IGNORE INTO refers VALUES (?, ?)", refers)

    def _beside(self, stream: BinaryIO, file: str, start: int, url: str, stamp: str) -> Iterator[Place]:
        """The request and the metadata of the answer that ends at `start`."""
        for place in places(stream, self._lengths[file], start=start):
            kept = place.record
            if kept is None or kept.kind not in _BESIDE or kept.field("WARC-Target-URI") != url:
                return
            if _stamp(kept.field("WARC-Date")) != stamp:
                return
            yield place

    def _is_own(self, file: str, offset: int, url: str, asked: str, revisit: int) -> bool:
        """Whether it was asked for as one of the URLs, or is where one of their payloads came from; a payload
        is found again there, too, when it is asked for by another name."""
        found = self._db.execute(
            "SELECT 1 FROM own WHERE url = :asked UNION ALL "
            "SELECT 1 FROM place WHERE file = :file AND offset = :offset AND url IN ('', :url) UNION ALL "
            "SELECT 1 FROM place WHERE :revisit AND url = :url",
            {"asked": asked, "file": file, "offset": offset, "url": url, "revisit": revisit},
        )
        return found.fetchone() is not None

    # -- what comes of it ------------------------------------------------------------------------------

    def files(self, max_bytes: int) -> Iterator[tuple[str, Iterator[bytes]]]:
        """New WARC files by name; each must be read to its end before the next is asked for."""
        rows = _Ahead(row for page in self._pages(_CHOSEN, {}) for row in page)
        number = 0
        while rows.file:
            number += 1
            name = f"selection-{number:05d}.warc.gz"
            yield name, self._file(name, rows, max_bytes)

    def _file(self, name: str, rows: _Ahead, max_bytes: int) -> Iterator[bytes]:
        n_written = 0
        while rows.file and n_written < max_bytes:
            file = rows.file
            with self._opened(file) as stream:
                about = self._about(stream, file)
                yield about
                n_written += len(about)
                while rows.file == file and n_written < max_bytes:
                    _, offset, length, tail, line = rows.take()
                    self._db.execute("INSERT INTO written VALUES (?)", (_moved(line, name, n_written),))
                    yield from _copied(stream, offset, length + tail)
                    n_written += length + tail

    def _about(self, stream: BinaryIO, file: str) -> bytes:
        """The record that says who wrote the file."""
        first = next(places(stream, self._lengths[file]), None)
        if first is None or first.record is None or first.record.kind != "warcinfo":
            return b""
        return b"".join(_copied(stream, 0, first.length))

    def lines(self) -> Iterator[str]:
        """The index of the new files, in order, once they are written."""
        yield from (row[0] for row in self._db.execute("SELECT line FROM written ORDER BY line"))

    def _pages(self, query: str, values: Mapping[str, object]) -> Iterator[list[tuple[Any, ...]]]:
        at: dict[str, object] = {"file": "", "offset": -1}
        while page := self._db.execute(query, {**values, **at}).fetchall():
            yield page
            at = {"file": page[-1][0], "offset": page[-1][1]}


class _Ahead:
    """Rows, with the file of the next one; empty when there is no more."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self._first = next(rows, ())

    @property
    def file(self) -> str:
        return self._first[0] if self._first else ""

    def take(self) -> tuple[Any, ...]:
        taken, self._first = self._first, next(self._rows, ())
        return taken


def recorded(lines: Iterable[str], lengths: Mapping[str, int]) -> Iterator[str]:
    """Those lines of an index that speak of what is recorded: a run may be writing beyond it."""
    for line in lines:
        said = json.loads(line.split(" ", 2)[2])
        if int(said["offset"]) + int(said["length"]) <= lengths.get(said["filename"], 0):
            yield line


def _row(line: str) -> tuple[object, ...]:
    _, stamp, text = line.split(" ", 2)
    said = json.loads(text)
    revisit = said.get("mime") == "warc/revisit"
    place = said["filename"], int(said["offset"]), int(said["length"])
    return (*place, said["url"], stamp, said.get("digest", ""), revisit, line)


def _moved(line: str, file: str, offset: int) -> str:
    key, stamp, text = line.split(" ", 2)
    return f"{key} {stamp} {json.dumps({**json.loads(text), 'offset': str(offset), 'filename': file})}"


def _stamp(date: str) -> str:
    return re.sub(r"\D", "", date)[:14]


def _via(kept: Record | None) -> str:
    """The URL that was asked for, where redirects led from it."""
    hops = hops_of(kept) if kept is not None else []
    try:
        return resource_url(hops[0].url) if hops else ""
    except BadUrlError:
        return ""


def _copied(stream: BinaryIO, offset: int, length: int) -> Iterator[bytes]:
    stream.seek(offset)
    while length > 0 and (piece := stream.read(min(length, _STEP_BYTES))):
        yield piece
        length -= len(piece)
