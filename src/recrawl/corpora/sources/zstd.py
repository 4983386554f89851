"""Zstandard streams that say when they are cut off; the library's own reader just ends there."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, BinaryIO

import zstandard

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# The library has no bound on what one step returns. So much holds 256 blocks, of 128 KiB each when unpacked.
_STEP_BYTES = 1024


class ZstdReader(io.RawIOBase):
    """All frames of a file, one after the other. EOFError where the last one has no end."""

    def __init__(self, raw: BinaryIO, *, max_window_bytes: int) -> None:
        self._raw = raw
        self._frames = zstandard.ZstdDecompressor(max_window_size=max_window_bytes)
        self._frame = self._frames.decompressobj()
        self._is_open = False  # in the middle of a frame
        self._ready = memoryview(b"")
        self._problem: zstandard.ZstdError | None = None  # of what follows on what is ready

    def readable(self) -> bool:
        return True

    def readinto(self, into: WriteableBuffer) -> int:
        while not self._ready:
            if self._problem is not None:
                raise self._problem
            packed = self._raw.read(_STEP_BYTES)
            if not packed:
                if self._is_open:
                    raise EOFError("the stream stops before its end")
                return 0
            self._ready = memoryview(self._unpacked(packed))
        target = memoryview(into).cast("B")
        n_bytes = min(len(target), len(self._ready))
        target[:n_bytes] = self._ready[:n_bytes]
        self._ready = self._ready[n_bytes:]
        return n_bytes

    def _unpacked(self, packed: bytes) -> bytes:
        found = b""
        while packed:
            try:
                found += self._frame.decompress(packed)
            except zstandard.ZstdError as problem:
                if not found:
                    raise
                self._problem = problem
                break
            self._is_open = not self._frame.eof
            if self._is_open:
                break
            packed = self._frame.unused_data
            self._frame = self._frames.decompressobj()
        return found
