"""What other people's WARC files hold, in an order that the files do not have: by URL, then by time.

It lies in a file of its own that is gone afterwards, so that a million records take no memory.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from recrawl.errors import BadUrlError
from recrawl.model import Header, Hop
from recrawl.remember.exchange import hops_of
from recrawl.remember.foreign import Damage, Entry, Source, dated, entries, split, target
from recrawl.remember.records import Record
from recrawl.urls import joined, resource_url

PAGE = 500
ANSWERS = frozenset({"response", "revisit", "resource"})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
HOP_S = 300.0  # a redirect's target was fetched within this time
_TABLES = """
CREATE TABLE record (
    id INTEGER PRIMARY KEY, source INTEGER, offset INTEGER, kind TEXT, url TEXT, at REAL, record_id TEXT,
    concurrent TEXT, refers_id TEXT, refers_url TEXT, refers_at REAL, payload TEXT, status INTEGER,
    media_type TEXT, location TEXT
);
CREATE TABLE asked (record_id TEXT, concurrent TEXT);
CREATE TABLE via (concurrent TEXT, url TEXT, hops TEXT);
CREATE TABLE watched (url TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# An answer to a form says nothing of what a plain look would find. What led to an answer stands beside it.
_ORDER = """
CREATE INDEX record_record_id ON record (record_id);
CREATE INDEX record_concurrent ON record (concurrent) WHERE concurrent <> '';
DELETE FROM record WHERE record_id IN (SELECT concurrent FROM asked WHERE concurrent <> '');
DELETE FROM record WHERE concurrent <> '' AND concurrent IN (SELECT record_id FROM asked);
CREATE INDEX via_concurrent ON via (concurrent);
UPDATE record SET url = v.url FROM via AS v WHERE v.concurrent = record.record_id;
CREATE INDEX record_order ON record (url, at, id);
CREATE INDEX record_payload ON record (payload) WHERE kind <> 'revisit' AND payload <> '';
"""
_COLUMNS = (
    "source, offset, kind, url, at, record_id, concurrent, refers_id, refers_url, refers_at, payload, "
    "status, media_type, location"
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A record in the catalogue."""

    id: int
    source: int
    offset: int
    kind: str
    url: str
    at: float
    record_id: str
    concurrent: str
    refers_id: str
    refers_url: str
    refers_at: float | None
    payload: str  # its digest, as the record states it
    status: int | None
    media_type: str
    location: str


class Catalogue:
    """Made by one pass over the files; then asked."""

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)  # of a process that had this number before
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; " + _TABLES)
        path.unlink()  # whoever has it open keeps it; nothing is left behind, not even after a crash
        self.sources: list[Source] = []

    def take(
        self,
        found: Iterable[Source | Damage],
        skipped: Callable[[Damage], object],
        progress: Callable[[Source], object] = lambda _: None,
    ) -> None:
        """Read the files through. What is damaged, has no date or names nothing to watch is told."""
        for source in found:
            if isinstance(source, Damage):
                skipped(source)
                continue
            self.sources.append(source)
            self._db.execute("BEGIN")
            for entry in entries(source):
                problem = entry.problem if isinstance(entry, Damage) else self._listed(entry)
                if problem:
                    skipped(Damage(source.name, entry.offset, problem))
                progress(source)
            self._db.execute("COMMIT")
        self._db.executescript(_ORDER)

    def _listed(self, entry: Entry) -> str:
        """Put it down; what is wrong with it, where it is an answer that cannot be used."""
        record = entry.record
        if record.kind == "request":
            self._ask(record)
        elif record.kind == "metadata":
            self._lead(record)
        if record.kind not in ANSWERS:
            return ""
        text = target(record)
        if ":" in text and not text.lower().startswith(("http:", "https:", "file:")):
            return ""  # a name server's answer, a screenshot, a crawler's own notes
        at = dated(record.field("WARC-Date"))
        try:
            url = resource_url(text)
        except BadUrlError as problem:
            return str(problem)
        if at is None:
            return f"its date cannot be read: {record.field('WARC-Date')[:40]!r}"
        status, headers = _answer(record)
        if status is None and record.kind != "revisit":
            return "it holds no HTTP answer"
        said = {name.lower(): value for name, value in reversed(headers)}
        location = ""
        if status in REDIRECTS and said.get("location"):
            location = _joined(url, said["location"])
        media_type = said.get("content-type", "").partition(";")[0].strip().lower()
        self._db.execute(
            f"INSERT INTO record ({_COLUMNS}) VALUES ({', '.join('?' * 14)})",  # noqa: S608
            (
                *(len(self.sources) - 1, entry.offset, record.kind, url, at, record.id),
                record.field("WARC-Concurrent-To"),
                record.field("WARC-Refers-To"),
                _plain_url(record.field("WARC-Refers-To-Target-URI")),
                dated(record.field("WARC-Refers-To-Date")),
                record.field("WARC-Payload-Digest"),
                *(status, media_type, location),
            ),
        )
        return ""

    def _ask(self, record: Record) -> None:
        if record.block[:4].upper() != b"GET ":
            self._db.execute(
                "INSERT INTO asked VALUES (?, ?)", (record.id, record.field("WARC-Concurrent-To"))
            )

    def _lead(self, record: Record) -> None:
        """Our own files say beside an answer through which redirects it was reached."""
        hops = hops_of(record)
        if hops and (first := _plain_url(hops[0].url)):
            text = json.dumps([asdict(hop) for hop in hops])
            self._db.execute(
                "INSERT INTO via VALUES (?, ?, ?)", (record.field("WARC-Concurrent-To"), first, text)
            )

    # -- asking ----------------------------------------------------------------------------------------

    def watch(self, urls: Iterable[str]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO watched VALUES (?)", ((url,) for url in urls))
        self._db.execute("COMMIT")

    def found(self) -> Iterator[tuple[str, int, str]]:
        """Every URL that was there, with how many answers there are and a media type that they came with."""
        after = ""
        there = "(status BETWEEN 200 AND 299 OR kind = 'revisit')"
        sql = (
            f"SELECT url, count(*), coalesce(max(iif({there}, nullif(media_type, ''), NULL)), '') "  # noqa: S608
            f"FROM record WHERE url > ? GROUP BY url HAVING max({there}) ORDER BY url LIMIT ?"
        )
        while page := self._db.execute(sql, (after, PAGE)).fetchall():
            yield from page
            after = page[-1][0]

    def watched(self) -> Iterator[str]:
        """Those of them that are watched."""
        after = ""
        sql = (
            "SELECT url FROM watched AS w WHERE url > ? AND EXISTS "
            "(SELECT 1 FROM record AS r WHERE r.url = w.url) ORDER BY url LIMIT ?"
        )
        while page := self._db.execute(sql, (after, PAGE)).fetchall():
            yield from (row[0] for row in page)
            after = page[-1][0]

    def n_answers(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM record").fetchone()[0])

    def n_watched(self) -> int:
        """How many answers there are of what is watched."""
        sql = "SELECT count(*) FROM record WHERE url IN (SELECT url FROM watched)"
        return int(self._db.execute(sql).fetchone()[0])

    def answers(self) -> Iterator[Listed]:
        """All of them, in the order of the files."""
        last = 0
        while page := self._rows("id > ? ORDER BY id LIMIT ?", last, PAGE):
            yield from page
            last = page[-1].id

    def of(self, url: str) -> Iterator[Listed]:
        """The answers of this URL in the order of their times."""
        at, last = float("-inf"), 0
        while page := self._rows(
            "url = ? AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?", url, at, last, PAGE
        ):
            yield from page
            at, last = page[-1].at, page[-1].id

    def origin(self, revisit: Listed) -> Listed | None:
        """The answer whose payload this one repeats: by its name, else by place and time, else by content."""
        not_itself = "kind <> 'revisit' AND id <> ?"
        asked: Sequence[tuple[str, tuple[object, ...]]] = (
            ("record_id = ? AND record_id <> ''", (revisit.refers_id,)),
            ("url = ? AND at = ?", (revisit.refers_url, revisit.refers_at)),
            ("payload = ? AND payload <> '' AND at <= ?", (revisit.payload, revisit.at)),
        )
        for condition, values in asked:
            found = self._rows(f"{condition} AND {not_itself} ORDER BY at DESC LIMIT 1", *values, revisit.id)
            if found:
                return found[0]
        return None

    def led_to(self, listed: Listed) -> Listed | None:
        """The answer at the place that this one redirects to, fetched right after it."""
        found = self._rows(
            "url = ? AND at BETWEEN ? AND ? AND id <> ? ORDER BY at LIMIT 1",
            *(listed.location, listed.at - 1.0, listed.at + HOP_S, listed.id),
        )
        return found[0] if found else None

    def hops(self, listed: Listed) -> tuple[Hop, ...]:
        """The redirects that our own files say led here."""
        row = self._db.execute("SELECT hops FROM via WHERE concurrent = ?", (listed.record_id,)).fetchone()
        return tuple(Hop(**said) for said in json.loads(row[0])) if row else ()

    def _rows(self, condition: str, *values: object) -> list[Listed]:
        sql = f"SELECT id, {_COLUMNS} FROM record WHERE {condition}"  # noqa: S608  # all of it is ours
        return [Listed(*row) for row in self._db.execute(sql, values).fetchall()]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()


def _answer(record: Record) -> tuple[int | None, tuple[Header, ...]]:
    if record.kind == "resource":
        return 200, (("Content-Type", record.field("Content-Type")),)
    parts = split(record)
    if parts is None:
        return None, ()
    first, headers, _ = parts
    said = first.split(" ")[1:2]
    return (int(said[0]) if said and re.fullmatch(r"[1-5][0-9]{2}", said[0]) else None), headers


def _plain_url(text: str) -> str:
    try:
        return resource_url(text.removeprefix("<").removesuffix(">")) if text else ""
    except BadUrlError:
        return ""


def _joined(url: str, location: str) -> str:
    try:
        return joined(url, location)
    except BadUrlError:
        return ""
