"""Content codings, undone within bounds: a bomb costs its limit and no more, half a stream is never a whole.

The one place that turns `Fetch.wire` into `Fetch.body`, so that the archive reads back what was observed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import brotli
import zstandard

from recrawl.model import Body
from recrawl.parse.spool import Spool, part

STEP_BYTES = 65_536
MAX_LAYERS = 2
_ZSTD_WINDOW_BYTES = 8 << 20  # all that RFC 9659 lets a server ask for
_ZSTD_SKIPPED = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
_ZSTD_FRAME = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")


class Ending(StrEnum):
    """How the decoding ended; only `whole` gives the full body."""

    WHOLE = "whole"
    LIMIT = "limit"  # there was more than the limit
    SHORT = "short"  # the stream stopped before its own end mark
    BROKEN = "broken"  # not valid data of this coding
    UNKNOWN = "unknown"  # a coding that we do not know, or too many layers: the body is the wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """What could be decoded, at most `limit` bytes of it, and how that ended."""

    body: Body
    ending: Ending
    detail: str = ""

    @property
    def whole(self) -> bool:
        return self.ending is Ending.WHOLE


class _Short(Exception):  # noqa: N818  # control flow of this file, never seen outside
    pass


def decoded(wire: Body, codings: Sequence[str], limit: int, *, spool: Path | None = None) -> Decoded:
    """Undo `codings`, given in the order in which they were applied (that of Content-Encoding).

    A body too large for memory comes to lie in the folder `spool`; OSError says that it has no room.

    Bytes after the end of a gzip, deflate or zstd stream are ignored, as browsers do; brotli marks no
    place to stop at, so that trailing bytes break it. An empty payload is whole: nothing was sent.
    """
    layers = [name for name in (coding.strip().lower() for coding in codings) if name not in _NOTHING]
    unknown = [name for name in layers if name not in _DECODERS]
    if unknown or len(layers) > MAX_LAYERS:
        why = f"unknown coding {unknown[0]!r}" if unknown else f"{len(layers)} codings on one body"
        return Decoded(body=part(wire, 0, limit), ending=Ending.UNKNOWN, detail=why)
    result = Decoded(body=wire, ending=Ending.WHOLE)
    for name in reversed(layers) if len(wire) else ():
        inner = _undone(name, result.body, limit, spool)
        result = inner if result.whole else replace(result, body=inner.body)  # the first trouble is the cause
    if len(result.body) > limit:
        body = part(result.body, 0, limit)
        return Decoded(body=body, ending=Ending.LIMIT, detail=f"more than {limit} bytes")
    return result


def _undone(name: str, wire: Body, limit: int, folder: Path | None) -> Decoded:
    taken = Spool(folder)
    ending, detail = Ending.WHOLE, ""
    try:
        for piece in _DECODERS[name](wire):
            taken.write(piece)
            if len(taken) > limit:
                ending, detail = Ending.LIMIT, f"{name}: more than {limit} bytes"
                break
    except _Short:
        ending, detail = Ending.SHORT, f"{name}: the stream stops before its end"
    except (zlib.error, brotli.error, zstandard.ZstdError) as problem:
        ending, detail = Ending.BROKEN, f"{name}: {problem}"
    return Decoded(body=taken.body(limit), ending=ending, detail=detail)


def _inflate(wire: Body, at: int, wbits: int) -> Generator[bytes, None, int]:
    """One zlib stream from `at` on; returns where it ended."""
    stream = zlib.decompressobj(wbits)
    n_next = 512  # small at first: zlib copies what lies behind the end, and there may be a million members
    while not stream.eof:
        chunk = wire[at : at + n_next]
        piece = stream.decompress(chunk, STEP_BYTES)
        if not chunk and not piece and not stream.eof:
            raise _Short
        at += len(chunk) - len(stream.unconsumed_tail) - len(stream.unused_data)
        n_next = min(2 * n_next, STEP_BYTES)
        yield piece
    return at


def _gzip(wire: Body) -> Iterator[bytes]:
    at = yield from _inflate(wire, 0, 31)
    while wire[at : at + 2] == b"\x1f\x8b":
        at = yield from _inflate(wire, at, 31)


def _deflate(wire: Body) -> Iterator[bytes]:
    """The standard means a zlib stream; many servers send a bare one."""
    head = wire[:2]
    has_zlib_head = len(head) == 2 and head[0] & 15 == 8 and int.from_bytes(head) % 31 == 0
    yield from _inflate(wire, 0, 15 if has_zlib_head else -15)


def _brotli(wire: Body) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    for at in range(0, len(wire), STEP_BYTES):
        piece = stream.process(wire[at : at + STEP_BYTES], output_buffer_limit=STEP_BYTES)
        while piece:  # even where it could take more, it may hold some back
            yield piece
            piece = b"" if stream.is_finished() else stream.process(b"", output_buffer_limit=STEP_BYTES)
    if not stream.is_finished():
        raise _Short


def _zstd(wire: Body) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    at = 0
    while at == 0 or _ZSTD_FRAME.match(wire[at : at + 4]):
        if _ZSTD_SKIPPED.match(wire[at : at + 4]):
            at += 8 + int.from_bytes(wire[at + 4 : at + 8], "little")
            if at > len(wire):
                raise _Short
            continue
        stream = decompressor.decompressobj()
        for stretch in zstd_stretches(wire, at):
            yield stream.decompress(stretch)
            at += len(stretch)
        if not stream.eof:
            raise _Short


def zstd_stretches(wire: Body, at: int) -> Iterator[bytes]:
    """A frame's head, its blocks one by one, its checksum.

    The library has no bound on what it returns, but no block may hold more than 128 KiB (RFC 8878).
    """
    top = wire[at : at + 5]
    if len(top) < 5:
        raise _Short
    flags = top[4]
    single = flags >> 5 & 1
    n_head = 6 - single + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
    yield wire[at : at + n_head]
    at += n_head
    last = 0
    while not last and at < len(wire):
        head = int.from_bytes(wire[at : at + 3], "little")
        last, is_run, n_bytes = head & 1, head >> 1 & 3 == 1, head >> 3
        end = at + 3 + (1 if is_run else n_bytes)
        yield wire[at:end]
        at = end
    if flags & 4:
        yield wire[at : at + 4]


_Decoder = Callable[[Body], Iterator[bytes]]
_DECODERS: dict[str, _Decoder] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
_NOTHING = frozenset({"", "identity"})
