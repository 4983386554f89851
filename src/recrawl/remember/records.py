"""WARC 1.1 records: written as one gzip member each, read back with every check the format allows.

Reading is our own because a torn or flipped record must never pass for a good one.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from recrawl.model import Body, Header, digest, pieces
from recrawl.parse.spool import MEMORY_BYTES, Joined, Spool, part

# Written by us to the last bit, so that a flipped one is seen although no checksum covers it.
GZIP_HEAD = bytes.fromhex("1f8b0800000000000003")
TORN = "the record stops before its end"
HTTP_ENCODING = "latin-1"  # every byte of a header has a character, and comes out as it came in
_GZIP_MAGIC = b"\x1f\x8b\x08"
_LEVEL = 6  # 9 takes three times the time to save one part in a hundred
_LARGE_LEVEL = 1  # other visits wait for it: six times as fast, four parts in a hundred more
_MAX_STEP_BYTES = 65_536
_BLANK = b"\r\n\r\n"

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NOT_TOKEN = re.compile(r"[^!#$%&'*+.^_`|~0-9A-Za-z-]")


class Unreadable(Exception):  # noqa: N818  # caught by whoever knows the file and the place
    """These bytes are not a whole, undamaged record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """The head of the HTTP message inside a record."""

    status: int | None
    headers: tuple[Header, ...]

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name]

    @property
    def codings(self) -> list[str]:
        return [
            part.strip().lower() for value in self.values("content-encoding") for part in value.split(",")
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One WARC record: its named fields in order, and its block."""

    fields: tuple[Header, ...]
    block: Body
    # What was read of these: on its way to the disk a record is asked for the same things many times.
    _named: dict[str, str] = dataclasses.field(default_factory=dict, init=False, repr=False, compare=False)
    _http: list[Http] = dataclasses.field(default_factory=list, init=False, repr=False, compare=False)

    def field(self, name: str) -> str:
        """The first field of that name, in any case of letters; empty where there is none."""
        if not self._named:
            for key, value in self.fields:
                self._named.setdefault(key.lower(), value)
        return self._named.get(name.lower(), "")

    @property
    def kind(self) -> str:
        return self.field("WARC-Type")

    @property
    def id(self) -> str:
        return self.field("WARC-Record-ID")

    def http(self) -> Http:
        if not self._http:
            first, *rest = self.block[: _top(self.block)].decode(HTTP_ENCODING).split("\r\n")
            status = first.split(" ")[1:2]
            number = int(status[0]) if status and status[0].isdecimal() else None
            self._http.append(Http(status=number, headers=tuple(_pairs(rest))))
        return self._http[0]

    @property
    def payload(self) -> Body:
        """What follows the HTTP head; it still has its content codings."""
        return part(self.block, _top(self.block) + len(_BLANK), len(self.block))

    @property
    def n_payload(self) -> int:
        return max(0, len(self.block) - _top(self.block) - len(_BLANK))


def record(kind: str, fields: Iterable[tuple[str, str | None]], *, block: Body, block_type: str) -> Record:
    """A new record; fields without a value are left out."""
    said = [(name, _one_line(value)) for name, value in fields if value]
    return Record(
        fields=(
            ("WARC-Type", kind),
            ("WARC-Record-ID", _new_id()),
            *said,
            ("WARC-Block-Digest", digest(block)),
            ("Content-Type", block_type),
            ("Content-Length", str(len(block))),
        ),
        block=block,
    )


def _new_id() -> str:
    """A random UUID (version 4), written out at once: to make an object of it takes five times as long."""
    drawn = bytearray(os.urandom(16))
    drawn[6], drawn[8] = drawn[6] & 0x0F | 0x40, drawn[8] & 0x3F | 0x80
    text = drawn.hex()
    return f"<urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}>"


def head(first_line: str, fields: Iterable[Header], encoding: str = "utf-8") -> bytes:
    """A first line, named fields, and the empty line that ends them."""
    first = _one_line(first_line).encode(encoding, "backslashreplace")
    return first + b"\r\n" + lines(fields, encoding) + b"\r\n"


def lines(fields: Iterable[Header], encoding: str = "utf-8") -> bytes:
    """Named fields, one a line. Nothing in them can end a line early: control characters are escaped."""
    shown = [f"{_token(name)}: {_one_line(value).strip(' ')}\r\n" for name, value in fields if name]
    return "".join(shown).encode(encoding, "backslashreplace")


@lru_cache(maxsize=1024)  # the same few hundred names, in every record
def _token(name: str) -> str:
    return _NOT_TOKEN.sub(_escaped, name)


def _one_line(text: str) -> str:
    return text if text.isprintable() else _CONTROL.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "backslashreplace"))


def member(written: Record, spool: Path | None = None) -> Body:
    """The record as a gzip member of its own; a large one lies in the folder `spool`."""
    top = head("WARC/1.1", written.fields)
    if len(top) + len(written.block) <= MEMORY_BYTES:
        whole = b"".join((top, bytes(written.block), _BLANK))
        packed_whole = zlib.compress(whole, _LEVEL, -zlib.MAX_WBITS)
        return b"".join((GZIP_HEAD, packed_whole, _gzip_end(zlib.crc32(whole), len(whole))))
    data = Joined(top, written.block, _BLANK)
    stream = zlib.compressobj(_LARGE_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed, check = Spool(spool), 0
    packed.write(GZIP_HEAD)
    for piece in pieces(data):
        packed.write(stream.compress(piece))
        check = zlib.crc32(piece, check)
    packed.write(stream.flush())
    packed.write(_gzip_end(check, len(data)))
    return packed.body()


def _gzip_end(check: int, n_bytes: int) -> bytes:
    return check.to_bytes(4, "little") + (n_bytes & 0xFFFFFFFF).to_bytes(4, "little")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A stretch of a file: a record, or what stands where one should be."""

    offset: int
    length: int
    record: Record | None = None
    problem: str = ""


def places(stream: BinaryIO, end: int, spool: Path | None = None, start: int = 0) -> Iterator[Place]:
    """Every record up to `end`; after a damaged one, reading goes on at the next that begins."""
    offset = start
    while offset < end:
        stream.seek(offset)
        try:
            data, length = _unzipped(stream, end - offset, spool)
            place = Place(offset=offset, length=length, record=_parsed(data))
        except Unreadable as problem:
            length = _next_member(stream, offset + 1, end) - offset
            place = Place(offset=offset, length=length, problem=str(problem))
        yield place
        offset += length


def read(path: Path, offset: int, length: int) -> Record:
    """The record that fills exactly this slice."""
    try:
        with path.open("rb") as stream:
            return read_from(stream, offset, length, path.parent)
    except OSError as problem:
        raise Unreadable(problem.strerror or str(problem)) from None


def read_from(stream: BinaryIO, offset: int, length: int, spool: Path | None = None) -> Record:
    """The record that fills exactly this slice of an open file."""
    n_bytes = stream.seek(0, 2)
    if offset + length > n_bytes:
        raise Unreadable(f"the file ends at byte {n_bytes}")
    stream.seek(offset)
    data, n_used = _unzipped(stream, length, spool)
    if n_used != length:
        raise Unreadable(f"the record is {n_used} bytes long, not {length}")
    return _parsed(data)


def _unzipped(stream: BinaryIO, n_most: int, spool: Path | None) -> tuple[Body, int]:
    """One gzip member from where the stream stands, and its length there."""
    member = zlib.decompressobj(31)
    data = Spool(spool)
    n_read, n_next = 0, 1024  # small at first: zlib copies what lies behind the end of every member
    while not member.eof:
        chunk = member.unconsumed_tail
        if not chunk:
            chunk = stream.read(min(n_next, n_most - n_read))
            n_read += len(chunk)
            n_next = min(2 * n_next, _MAX_STEP_BYTES)
        try:
            piece = member.decompress(chunk, _MAX_STEP_BYTES)
        except zlib.error as problem:
            raise Unreadable(f"the compressed record is damaged ({problem})") from None
        if not chunk and not piece and not member.eof:
            raise Unreadable(TORN)
        data.write(piece)
    return data.body(), n_read - len(member.unused_data)


def _next_member(stream: BinaryIO, start: int, end: int) -> int:
    """Where the next gzip member seems to begin; `end` where none does."""
    stream.seek(start)
    at, kept = start, b""
    while at < end:
        chunk = stream.read(min(_MAX_STEP_BYTES, end - at))
        if not chunk:
            break
        found = (kept + chunk).find(_GZIP_MAGIC)
        if found >= 0:
            return at - len(kept) + found
        at += len(chunk)
        kept = chunk[-2:]
    return end


def _parsed(data: Body) -> Record:
    end = _top(data)
    try:
        first, *named = data[:end].decode("utf-8").split("\r\n")
    except UnicodeDecodeError:
        raise Unreadable("its fields are not UTF-8") from None
    start, stop = end + len(_BLANK), len(data) - len(_BLANK)
    parsed = Record(fields=tuple(_pairs(named)), block=part(data, start, stop))
    if not first.startswith("WARC/1."):
        raise Unreadable(f"it begins with {first[:20]!r}, not with WARC/1.1")
    if parsed.field("Content-Length") != str(stop - start) or data[stop:] != _BLANK:
        raise Unreadable("its length is not the one it states")
    if not agrees(parsed.field("WARC-Block-Digest"), parsed.block):
        raise Unreadable("its content does not match its digest")
    return parsed


def _top(data: Body) -> int:
    """Where the empty line is that ends the named fields; the length where there is none."""
    n_looked = _MAX_STEP_BYTES
    while True:
        found = data[:n_looked].find(_BLANK)
        if found >= 0 or n_looked >= len(data):
            return found if found >= 0 else len(data)
        n_looked *= 4


def _pairs(text: Iterable[str]) -> Iterator[Header]:
    for line in text:
        name, colon, value = line.partition(":")
        if colon:
            yield name, value.strip()


def agrees(said: str, data: Body) -> bool:
    algorithm, _, value = said.partition(":")
    if algorithm.lower() not in hashlib.algorithms_guaranteed or algorithm.startswith("shake"):
        return True  # none, or one that we cannot check
    whole = hashlib.new(algorithm.lower())
    for piece in pieces(data):
        whole.update(piece)
    raw = whole.digest()
    return value in {raw.hex(), raw.hex().upper(), base64.b32encode(raw).decode()}
