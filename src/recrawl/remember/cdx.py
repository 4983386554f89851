"""CDXJ: one sorted line for every payload or revisit, so that replay tools find them without reading all.

`NAME.cdxj` stands beside a finished `NAME.warc.gz` and can always be made again from it.
"""

from __future__ import annotations

import heapq
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from urllib.parse import unquote_to_bytes

from yarl import URL

from recrawl.remember.records import Http, Record, places

N_OPEN = 128  # indexes that are read side by side
_INDEXED = frozenset({"response", "resource", "revisit"})
_WWW = re.compile(r"^www\d*\.(?=.)")
_NO_DIGIT = re.compile(r"\D")
_PORTS = {"http": 80, "https": 443}
_PLAIN = re.compile(
    r"(https?)://([a-z0-9-]+(?:\.[a-z0-9-]+)*)(?::([0-9]{1,4}|[1-5][0-9]{4}))?"
    r"((?:/[A-Za-z0-9_~-][A-Za-z0-9_~.-]*)*/?)(?:\?([A-Za-z0-9=&_~.-]*))?"
)
_ESCAPED = re.compile(rb"[\x00-\x20#%\x7f-\xff]")


def surt(url: str) -> str:
    """The key under which replay tools look for a URL: host names turned round, case and order ironed out.

    >>> surt("https://www.Example.org:8080/A/?b=2&a=1")
    'org,example:8080)/a?a=1&b=2'
    """
    return _plain_surt(url) or _any_surt(url)


def _plain_surt(url: str) -> str:
    """Of a URL in which there is nothing to iron out but case and order; empty where there may be more."""
    found = _PLAIN.fullmatch(url)
    if found is None:
        return ""
    scheme, host, port, path, query = found.groups()
    key = ",".join(reversed(_WWW.sub("", host).split(".")))
    if port and int(port) != _PORTS[scheme]:
        key += f":{int(port)}"
    if query:
        query = "&".join(map("".join, sorted(pair.partition("=") for pair in query.lower().split("&"))))
    return f"{key}){path.lower().rstrip('/') or '/'}" + (f"?{query}" if query else "")


def _any_surt(url: str) -> str:
    parts = URL(url, encoded=True)
    host = _WWW.sub("", (parts.raw_host or "").lower())
    key = host if ":" in host else ",".join(reversed(host.split(".")))
    port = parts.explicit_port
    if port is not None and port != _PORTS.get(parts.scheme):
        key += f":{port}"
    path = re.sub(r"/+", "/", _ironed(parts.raw_path)).rstrip("/") or "/"
    pairs = sorted(pair.partition("=") for pair in _ironed(parts.raw_query_string).split("&"))
    query = "&".join("".join(pair) for pair in pairs)
    return f"{key}){path}" + (f"?{query}" if query else "")


def _ironed(text: str) -> str:
    """Percent-escapes undone, however often they were applied, and only the needed ones made again."""
    raw = text.encode("utf-8", "surrogateescape")
    while (less := unquote_to_bytes(raw)) != raw:
        raw = less
    return _ESCAPED.sub(lambda found: b"%%%02x" % found[0][0], raw).decode("ascii").lower()


def lines(kept: Record, file: str, offset: int, length: int) -> Sequence[str]:
    """The record's line in the index, if it is of a kind that has one."""
    if kept.kind not in _INDEXED:
        return ()
    url = kept.field("WARC-Target-URI")
    http = kept.http()
    said = {
        "url": url,
        "mime": "warc/revisit" if kept.kind == "revisit" else _media_type(kept, http),
        "status": "" if http.status is None else str(http.status),
        "digest": kept.field("WARC-Payload-Digest"),
        "length": str(length),
        "offset": str(offset),
        "filename": file,
    }
    stamp = _NO_DIGIT.sub("", kept.field("WARC-Date"))[:14]
    return (f"{surt(url)} {stamp} {json.dumps({name: value for name, value in said.items() if value})}",)


def _media_type(kept: Record, http: Http) -> str:
    said = http.values("content-type") if kept.kind == "response" else [kept.field("Content-Type")]
    return "".join(said[:1]).partition(";")[0].strip().lower() or "unk"


def index(path: Path) -> list[str]:
    """The sorted lines of a file, from its records; a damaged record or a torn end has none."""
    with path.open("rb") as stream:
        found = [
            line
            for place in places(stream, path.stat().st_size, path.parent)
            if place.record is not None
            for line in lines(place.record, path.name, place.offset, place.length)
        ]
    return sorted(found)


def cdxj(folder: Path, elsewhere: Iterable[Iterator[str]] = ()) -> Iterator[str]:
    """The index of the whole folder, in order, files that are still being written included; with the sorted
    lines of files that lie `elsewhere`."""
    return _merged(chain((_lines_of(path) for path in sorted(folder.glob("*.warc.gz"))), elsewhere))


def _merged(indexes: Iterator[Iterator[str]]) -> Iterator[str]:
    """Some at a time, where there are many: neither all of them are open at once, nor all in memory."""
    groups: list[Iterator[str]] = []
    while group := list(islice(indexes, N_OPEN)):
        merged = heapq.merge(*group)
        groups.append(_spooled(merged) if groups or len(group) == N_OPEN else merged)
    return heapq.merge(*groups)


def _spooled(lines: Iterable[str]) -> Iterator[str]:
    with tempfile.TemporaryFile("w+", encoding="ascii") as spool:
        spool.writelines(f"{line}\n" for line in lines)
        spool.seek(0)
        yield from (line.rstrip("\n") for line in spool)


def _lines_of(path: Path) -> Iterator[str]:
    try:
        stream = index_path(path).open("r", encoding="ascii")
    except FileNotFoundError:
        yield from index(path)
        return
    with stream:
        yield from (line.rstrip("\n") for line in stream)


def index_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj")


def write(path: Path, sorted_lines: Iterable[str]) -> None:
    """Write the index of this archive file, all of it or nothing."""
    target = index_path(path)
    draft = target.with_name(target.name + ".tmp")
    with draft.open("w", encoding="ascii") as stream:
        stream.writelines(f"{line}\n" for line in sorted_lines)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(target)
