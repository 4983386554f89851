"""WARC files as other crawlers write them."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType

from recrawl.model import DAY_S

T0 = 1_600_000_000.0  # 2020-09-13 12:26:40 UTC
URL = "http://example.org/"
HTML = (("Content-Type", "text/html; charset=utf-8"),)
_NUMBERS = count(1)


def day(n: float) -> float:
    return T0 + n * DAY_S


def page(text: str) -> bytes:
    return f"<!doctype html><title>News</title><p>Of all the days in the year, {text} is the best.".encode()


def stamp(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def sha1(data: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()}"


def record(kind: str, at: float, block: bytes, fields: dict[str, str], url: str = URL) -> bytes:
    said = {
        "WARC-Type": kind,
        "WARC-Target-URI": url,
        "WARC-Date": stamp(at),
        "WARC-Record-ID": f"<urn:test:{next(_NUMBERS)}>",
        "Content-Type": f"application/http; msgtype={kind}",
        "Content-Length": str(len(block)),
        **fields,
    }
    top = "".join(f"{name}: {value}\r\n" for name, value in said.items())
    return f"WARC/1.0\r\n{top}\r\n".encode() + block + b"\r\n\r\n"


def answer(
    at: float,
    body: bytes,
    *,
    url: str = URL,
    status: str = "200 OK",
    headers: Iterable[tuple[str, str]] = HTML,
    kind: str = "response",
    fields: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """A response; `fields` are further ones of the record."""
    top = "".join(f"{name}: {value}\r\n" for name, value in headers)
    block = f"HTTP/1.1 {status}\r\n{top}\r\n".encode() + body
    return record(kind, at, block, {"WARC-Payload-Digest": sha1(body), **fields}, url)


def chunked(body: bytes, n: int = 7) -> bytes:
    parts = [body[i : i + n] for i in range(0, len(body), n)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def warc(path: Path, *records: bytes) -> Path:
    path.write_bytes(b"".join(map(gzip.compress, records) if path.suffix == ".gz" else records))
    return path
