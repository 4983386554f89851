"""Fetches to archive, and archives read as another program reads them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from recrawl.contracts import Archive
from recrawl.model import Fetch, Header, Outcome, Request, Version
from recrawl.remember.warc import WarcArchive

AT = 1_794_734_100.123456  # 2026-11-15 09:15:00 UTC
URL = "http://example.org/news?page=2"
PAGE = b"<!doctype html><title>News</title><p>Nothing new today." + b"<p>padding" * 50


def archive_in(folder: Path, **settings: Any) -> WarcArchive:
    return WarcArchive(folder, **{"now": lambda: AT, **settings})


def fetched(body: bytes = PAGE, headers: tuple[Header, ...] = (), **said: Any) -> Fetch:
    given: dict[str, Any] = {
        "request": Request(url=URL),
        "outcome": Outcome.OK,
        "url": URL,
        "started_at": AT,
        "ended_at": AT + 0.5,
        "status": 200,
        "http_reason": "OK",
        "headers": (("Content-Type", "text/html; charset=utf-8"), *headers),
        "body": body,
        "wire": body,
        "request_headers": (("Host", "example.org"), ("User-Agent", "recrawl/test")),
        "ip": "192.0.2.7",
    }
    return Fetch(**{**given, **said})


def version_of(fetch: Fetch) -> Version:
    return Version(
        resource_id=1,
        seq=1,
        at=fetch.ended_at,
        digest=f"sha256:{hashlib.sha256(bytes(fetch.body)).hexdigest()}",
        media_type="text/html",
        charset="utf-8",
        status=fetch.status,
        n_bytes=len(fetch.body),
    )


def put(archive: Archive, fetch: Fetch, same_as: Version | None = None) -> Version:
    return archive.put(fetch, version_of(fetch), same_as)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def records(folder: Path) -> list[tuple[dict[str, str], str, list[Header], bytes]]:
    """WARC fields, first HTTP line, HTTP headers and payload of every record, as another reader sees them."""
    found = []
    for path in files(folder):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                http = record.http_headers
                line = f"{http.protocol} {http.statusline}" if http else ""
                headers = list(http.headers) if http else []
                found.append((dict(record.rec_headers.headers), line, headers, record.raw_stream.read()))
    return found
