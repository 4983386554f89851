"""An archive file written anew: without some of its records, and with some that had to change."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from recrawl.model import Body, digest, pieces
from recrawl.parse.spool import Joined
from recrawl.remember import cdx
from recrawl.remember.records import HTTP_ENCODING, Place, Record, head, member, places, record
from recrawl.remember.tail import sync_folder

Spot = tuple[str, int]  # a file and an offset in it
_REFERS = ("warc-profile", "warc-refers-to", "warc-refers-to-target-uri", "warc-refers-to-date")
_ANSWER = "application/http; msgtype=response"


@dataclass(frozen=True, slots=True)
class Filled:
    """A revisit becomes a response: the record at `payload`, which it referred to, is about to go."""

    payload: Spot


@dataclass(frozen=True, slots=True)
class Redirected:
    """A revisit refers to another record from now on."""

    id: str
    url: str
    date: str


@dataclass(slots=True)
class Orders:
    """What is to be done to one file; places are given by their offsets."""

    drop: set[int] = field(default_factory=set)  # answers, or what cannot be read
    drop_ids: set[str] = field(default_factory=set)  # of these answers: what stands beside them goes too
    change: dict[int, Filled | Redirected] = field(default_factory=dict)
    add: list[tuple[Spot, str, str]] = field(default_factory=list)  # payloads kept for a URL, with the date
    purge: bool = False  # what cannot be read goes, but for `spare`
    spare: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Copied:
    """A new file, durable and still locked, and where things are in it."""

    path: Path
    fd: int
    length: int
    spots: Mapping[int, tuple[int, int]]  # by the old offset: offset and length
    filled: Mapping[Spot, tuple[int, int]]  # payloads that came from elsewhere
    n_dropped: int
    n_kept: int  # without the record that says who wrote the file


def copied(
    source: BinaryIO, orders: Orders, path: Path, load: Callable[[Spot], Record], go_on: Callable[[], object]
) -> Copied:
    """Copy the records of `source` to a new file at `path`. Records that do not change keep every bit."""
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        writer = _Writer(fd, path)
        for place in places(source, source.seek(0, os.SEEK_END), path.parent):
            go_on()
            writer.take(place, source, orders, load)
        for spot, url, date in orders.add:
            writer.fill(spot, kept_for(load(spot), url, date))
        writer.flush()
        os.fsync(fd)
        cdx.write(path, sorted(writer.lines))
        sync_folder(path.parent)
    except BaseException:
        os.close(fd)
        raise
    return Copied(
        path, fd, writer.at, writer.spots, writer.filled, writer.n_dropped, writer.n_written - writer.n_infos
    )


class _Writer:
    def __init__(self, fd: int, path: Path) -> None:
        self._stream = os.fdopen(os.dup(fd), "wb")
        self._path = path
        self.at = 0
        self.lines: list[str] = []
        self.spots: dict[int, tuple[int, int]] = {}
        self.filled: dict[Spot, tuple[int, int]] = {}
        self.n_dropped = self.n_written = self.n_infos = 0

    def take(self, place: Place, source: BinaryIO, orders: Orders, load: Callable[[Spot], Record]) -> None:
        kept, change = place.record, orders.change.get(place.offset)
        if _goes(place, orders):
            self.n_dropped += 1
        elif kept is None:
            self.spots[place.offset] = self._copy(place, source)
        elif isinstance(change, Filled):
            self.spots[place.offset] = self.fill(change.payload, filled(kept, load(change.payload)))
        elif isinstance(change, Redirected):
            self.spots[place.offset] = self._write(redirected(kept, change))
        elif kept.kind == "warcinfo" and kept.field("WARC-Filename"):
            self.n_infos += 1
            self._write(_with(kept, {"warc-filename": self._path.name}))
        else:
            self.spots[place.offset] = self._copy(place, source)

    def fill(self, spot: Spot, written: Record) -> tuple[int, int]:
        self.filled[spot] = self._write(written)
        return self.filled[spot]

    def flush(self) -> None:
        self._stream.close()

    def _write(self, written: Record) -> tuple[int, int]:
        data = member(written, self._path.parent)
        return self._append(pieces(data), len(data), written)

    def _copy(self, place: Place, source: BinaryIO) -> tuple[int, int]:
        source.seek(place.offset)
        return self._append(_slices(source, place.length), place.length, place.record)

    def _append(self, data: Iterator[bytes], length: int, written: Record | None) -> tuple[int, int]:
        spot = (self.at, length)
        self._stream.writelines(data)
        if written is not None:
            self.lines.extend(cdx.lines(written, self._path.name, *spot))
        self.at += length
        self.n_written += 1
        return spot


def _goes(place: Place, orders: Orders) -> bool:
    if place.offset in orders.drop:
        return True
    if place.record is None:
        return orders.purge and place.offset not in orders.spare
    return place.record.field("WARC-Concurrent-To") in orders.drop_ids


def _slices(source: BinaryIO, length: int) -> Iterator[bytes]:
    while length and (piece := source.read(min(length, 1 << 20))):
        yield piece
        length -= len(piece)


def filled(revisit: Record, origin: Record) -> Record:
    """The revisit's own answer, with the payload that it referred to."""
    payload = origin.payload
    block: Body = Joined(_top(revisit, origin), payload)
    fields = [
        ("WARC-Type", "response") if name.lower() == "warc-type" else (name, value)
        for name, value in revisit.fields
        if name.lower() not in (*_REFERS, "warc-truncated")
    ]
    if cut := origin.field("WARC-Truncated"):
        fields.append(("WARC-Truncated", cut))
    return _with(Record(fields=tuple(fields), block=block), {})


def _top(revisit: Record, origin: Record) -> bytes:
    if len(revisit.block):
        return bytes(revisit.block)  # the head of the answer, and the empty line that ends it
    return _plain_top(origin)


def _plain_top(origin: Record) -> bytes:
    """The head of an answer that says what is needed to read the payload, and nothing else of the origin."""
    http = origin.http()
    wanted = ("content-type", "content-encoding")
    said = [(name, value) for name, value in http.headers if name.lower() in wanted]
    length = ("Content-Length", str(origin.n_payload))
    return head(f"HTTP/1.1 {http.status or 200} OK", [*said, length], HTTP_ENCODING)


def kept_for(origin: Record, url: str, date: str) -> Record:
    """The payload as an answer of another URL, where no revisit of its own is left."""
    fields = [
        ("WARC-Target-URI", url),
        ("WARC-Date", date),
        ("WARC-Payload-Digest", origin.field("WARC-Payload-Digest")),
        ("WARC-Truncated", origin.field("WARC-Truncated")),
    ]
    block = Joined(_plain_top(origin), origin.payload)
    return record("response", fields, block=block, block_type=_ANSWER)


def redirected(revisit: Record, to: Redirected) -> Record:
    return _with(
        revisit,
        {"warc-refers-to": to.id, "warc-refers-to-target-uri": to.url, "warc-refers-to-date": to.date},
    )


def _with(kept: Record, said: Mapping[str, str]) -> Record:
    """With these fields changed, and with those that speak of the block as they must be."""
    said = {
        **said,
        "warc-block-digest": digest(kept.block),
        "content-length": str(len(kept.block)),
    }
    return replace(kept, fields=tuple((name, said.get(name.lower(), value)) for name, value in kept.fields))
