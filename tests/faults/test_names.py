"""S7: whatever a URL or a server says, it names no file and forges no line of a record."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.faults.tails import archive_in, fetched, version_of
from warcio.archiveiterator import ArchiveIterator

from recrawl.model import Fetch, Hop, Request
from recrawl.remember import records

FORGED = "\r\nWARC-Type: warcinfo\r\nX-Forged: 1\r\n\r\nWARC/1.1\r\n"
URLS = [
    "http://h/../../../../etc/passwd",
    "http://h/%2e%2e/%2e%2e/%2fetc%2fpasswd",
    "http://h/..\\..\\windows",
    "http://h/a\x00b.warc.gz",
    f"http://h/{'long/' * 60}{'x' * 300}",
    f"http://h/{FORGED}",
    "http://h/\r\n\r\nHTTP/1.1 200 OK\r\nX-Forged: 1",
    "http://h/\n X-Forged: 1",
    "http://h/\x85X-Forged: 1\u2028X-Forged: 1",
]
KINDS = {"warcinfo", "request", "response", "metadata", "revisit"}
OURS = re.compile(r"recrawl-[0-9TZ]+-[0-9a-f]+-[0-9]+\.(warc\.gz|cdxj)")


def hostile(url: str) -> Fetch:
    """An answer that tries it everywhere at once."""
    plain = fetched(b"the body")
    return replace(
        plain,
        request=Request(url=url),
        url=url,
        headers=(
            *plain.headers,
            ("X-Bad", FORGED),
            (f"X-Bad{FORGED}", "1"),
            ("Set-Cookie", "a=b\r\nX-Forged: 1"),
        ),
        http_reason=f"OK{FORGED}",
        http_version=f"HTTP/1.1{FORGED}",
        request_headers=(("Host", "h"), ("Referer", url), (f"A{FORGED}", FORGED)),
        hops=(Hop(url=url, status=302, location=f"{url}{FORGED}"),),
        ip=f"127.0.0.1{FORGED}",
    )


def write(folder: Path) -> None:
    """Archive an answer for each of the URLs."""
    archive = archive_in(folder)
    for url in URLS:
        body = url.encode("utf-8", "backslashreplace")
        archive.put(replace(hostile(url), body=body, wire=body), version_of(body))
    archive.close()


def records_of(folder: Path) -> list[Any]:
    """As another program reads them."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                found.append(record)
    return found


def forged(folder: Path) -> list[str]:
    """Fields that nobody of ours wrote, or why none can be read."""
    said = []
    try:
        for record in records_of(folder):
            fields = [name for name, _ in record.rec_headers.headers]
            fields += [name for name, _ in record.http_headers.headers] if record.http_headers else []
            said += [name for name in fields if name == "X-Forged"]
            said += ["WARC-Type"] * (fields.count("WARC-Type") - 1)
    except Exception as problem:  # what another reader raises is its own affair
        said.append(repr(problem))
    return said


def strays(folder: Path, around: Path) -> list[Path]:
    """Files that are not where and what they should be."""
    return [
        path
        for path in around.rglob("*")
        if path.is_file()
        and path.parent.name != "locks"
        and (path.parent != folder or not OURS.fullmatch(path.name))
    ]


def test_no_url_and_no_server_names_a_file_or_forges_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "down" / "archive"
    write(folder)
    kinds = [record.rec_type for record in records_of(folder)]
    assert strays(folder, tmp_path) == []
    assert set(kinds) <= KINDS
    assert kinds.count("response") == len(URLS)
    assert kinds.count("warcinfo") == 1
    assert forged(folder) == []


def test_the_check_catches_a_writer_that_escapes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_CONTROL", re.compile(r"(?!)"))
    monkeypatch.setattr(records, "_NOT_TOKEN", re.compile(r"(?!)"))
    write(tmp_path)
    assert forged(tmp_path)


def by_url(folder: Path, url: str) -> Path:
    return folder / url.removeprefix("http://h/")


def by_last_part(folder: Path, url: str) -> Path:
    return folder / url.rpartition("/")[2]


@pytest.mark.parametrize("name_of", [by_url, by_last_part])
def test_the_check_catches_names_that_are_made_of_urls(
    tmp_path: Path, name_of: Callable[[Path, str], Path]
) -> None:
    folder = tmp_path / "deep" / "down" / "archive"
    folder.mkdir(parents=True)
    for url in ("http://h/../../x", *URLS):
        path = name_of(folder, url)
        with suppress(OSError, ValueError):  # some of them are no names at all
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
    assert strays(folder, tmp_path)
