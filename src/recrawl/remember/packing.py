"""How a WARC file packs its records: plain, one gzip member each, or one zstd frame each.

Every step is bounded, whatever the file says: nothing here trusts it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self

import zstandard

from recrawl.parse.coding import zstd_stretches
from recrawl.remember.records import TORN, Unreadable

STEP_BYTES = 65_536
_GZIP = b"\x1f\x8b"
_GZIP_START = b"\x1f\x8b\x08"
_ZSTD_START = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY = b"\x5d\x2a\x4d\x18"
_MAX_DICTIONARY_BYTES = 32 << 20
_ZSTD_WINDOW_BYTES = 128 << 20  # what the zstd command itself unpacks without being told to
_WARC = b"WARC/"


class Stretch:
    """A file, or a part of one, as a `Body` that is read where it is asked for."""

    def __init__(self, path: Path, start: int, n_bytes: int) -> None:
        self._file = path.open("rb")
        self._start = start
        self._n_bytes = n_bytes

    def __len__(self) -> int:
        return self._n_bytes

    def __getitem__(self, where: slice, /) -> bytes:
        start, stop, step = where.indices(self._n_bytes)
        self._file.seek(self._start + start)
        return self._file.read(max(0, stop - start))[::step]

    def __bytes__(self) -> bytes:
        return self[:]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class Unpacked(Protocol):
    """What is packed from some place on, piece by piece."""

    at: int  # where in the file reading has come to; true once `read` has given nothing

    def read(self) -> bytes:
        """The next bytes, some 128 KiB at most; none at the end of the member."""


class Packing(Protocol):
    start: bytes  # what every record begins with, as it stands in the file

    def open(self, at: int) -> Unpacked: ...


class _PlainReader:
    def __init__(self, data: Stretch, at: int) -> None:
        self._data = data
        self.at = at

    def read(self) -> bytes:
        piece = self._data[self.at : self.at + STEP_BYTES]
        self.at += len(piece)
        return piece


class _GzipReader:
    def __init__(self, data: Stretch, at: int) -> None:
        self._data = data
        self.at = at
        self._member = zlib.decompressobj(31)
        self._n_next = 1024  # small at first: zlib copies what lies behind the end of every member

    def read(self) -> bytes:
        while not self._member.eof:
            packed = self._data[self.at : self.at + self._n_next]
            self._n_next = min(2 * self._n_next, STEP_BYTES)
            try:
                piece = self._member.decompress(packed, STEP_BYTES)
            except zlib.error as problem:
                raise Unreadable(f"the compressed record is damaged ({problem})") from None
            self.at += len(packed) - len(self._member.unconsumed_tail) - len(self._member.unused_data)
            if piece:
                return piece
            if not packed:
                raise Unreadable(TORN)
        return b""


class _ZstdReader:
    def __init__(self, data: Stretch, at: int, decompressor: zstandard.ZstdDecompressor) -> None:
        self.at = at
        self._pieces = self._unpacked(data, decompressor.decompressobj())

    def read(self) -> bytes:
        return next(self._pieces, b"")

    def _unpacked(self, data: Stretch, frame: zstandard.ZstdDecompressionObj) -> Iterator[bytes]:
        if data[self.at : self.at + 4] != _ZSTD_START or self.at + 5 > len(data):
            raise Unreadable("no zstd frame begins here" if self.at + 5 <= len(data) else TORN)
        try:
            for stretch in zstd_stretches(data, self.at):
                piece = frame.decompress(stretch)
                self.at += len(stretch)
                if piece:
                    yield piece
        except zstandard.ZstdError as problem:
            raise Unreadable(f"the compressed record is damaged ({problem})") from None
        if not frame.eof:
            raise Unreadable(TORN)


class _Packed:
    def __init__(self, start: bytes, open_at: Callable[[int], Unpacked]) -> None:
        self.start = start
        self.open = open_at


def packing(data: Stretch) -> Packing:
    """How this file packs, told by its first bytes."""
    head = data[:4]
    if head[:2] == _GZIP:
        return _Packed(_GZIP_START, lambda at: _GzipReader(data, at))
    if head in (_ZSTD_START, _ZSTD_DICTIONARY):
        decompressor = _decompressor(data)
        return _Packed(_ZSTD_START, lambda at: _ZstdReader(data, at, decompressor))
    if data[:64].lstrip().startswith(_WARC):
        return _Packed(_WARC, lambda at: _PlainReader(data, at))
    raise Unreadable("it is no WARC file: it begins with neither WARC/ nor gzip's nor zstd's mark")


def _decompressor(data: Stretch) -> zstandard.ZstdDecompressor:
    """A file of frames may begin with the dictionary that all of them were packed with."""
    if data[:4] != _ZSTD_DICTIONARY:
        return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    n_bytes = int.from_bytes(data[4:8], "little")
    if n_bytes > _MAX_DICTIONARY_BYTES:
        raise Unreadable("its zstd dictionary is too large")
    dictionary = data[8 : 8 + n_bytes]
    try:
        if dictionary[:4] == _ZSTD_START:
            dictionary = zstandard.ZstdDecompressor().decompress(
                dictionary, max_output_size=_MAX_DICTIONARY_BYTES
            )
        made = zstandard.ZstdCompressionDict(dictionary)
        return zstandard.ZstdDecompressor(dict_data=made, max_window_size=_ZSTD_WINDOW_BYTES)
    except (zstandard.ZstdError, MemoryError) as problem:
        raise Unreadable(f"its zstd dictionary cannot be used ({problem})") from None


def first_at(data: Stretch) -> int:
    """Where the first record is: behind a dictionary, where there is one."""
    if data[:4] == _ZSTD_DICTIONARY:
        return 8 + int.from_bytes(data[4:8], "little")
    return 0


def next_at(data: Stretch, start: bytes, at: int) -> int:
    """Where the next record seems to begin, from `at` on; the length where none does."""
    kept = b""
    while at < len(data):
        piece = data[at : at + STEP_BYTES]
        if not piece:
            break  # it is shorter than it was
        found = (kept + piece).find(start)
        if found >= 0:
            return at - len(kept) + found
        at += len(piece)
        kept = piece[1 - len(start) :]
    return len(data)


def stored(stream: BinaryIO, header_at: int) -> int:
    """Where a zip entry's bytes begin; the central directory knows only where its own header is."""
    stream.seek(header_at)
    header = stream.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise Unreadable("its entry in the zip is damaged")
    return header_at + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
