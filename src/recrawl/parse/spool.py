"""Content too large for memory, kept in files without a name: they are gone when nobody holds them any more,
and after a crash."""

from __future__ import annotations

import errno
import os
import tempfile
import weakref
from operator import eq
from pathlib import Path

from recrawl.model import Body, pieces

MEMORY_BYTES = 1 << 20  # what is no longer than this stays in memory

# A folder of somebody else's archive may be read and not written to.
_CLOSED_FOLDER = frozenset({errno.ENOENT, errno.EACCES, errno.EPERM, errno.EROFS})


class Spooled:
    """A stretch of an unnamed file, as a `Body`. The last one to let go of the file closes it."""

    __slots__ = ("_file", "_n_bytes", "_start")

    def __init__(self, file: _File, start: int, n_bytes: int) -> None:
        self._file = file
        self._start = start
        self._n_bytes = n_bytes

    def __len__(self) -> int:
        return self._n_bytes

    def __getitem__(self, where: slice, /) -> bytes:
        start, stop, step = _bounds(where, self._n_bytes)
        found = self._file.read(self._start + start, stop - start)
        return found if step == 1 else found[::step]

    def __bytes__(self) -> bytes:
        return self[:]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, bytes | Spooled):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, pieces(self), pieces(other)))

    __hash__ = None  # type: ignore[assignment]  # equal bytes have another

    def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
        return bytes, (bytes(self),)  # no other process has the file

    def part(self, start: int, stop: int) -> Spooled:
        """This stretch of it, without a copy."""
        start, stop, _ = slice(start, stop).indices(self._n_bytes)
        return Spooled(self._file, self._start + start, max(0, stop - start))


class Joined:
    """Several bodies, one after the other, as one."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: Body) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __getitem__(self, where: slice, /) -> bytes:
        start, stop, step = _bounds(where, len(self))
        found, at = [], 0
        for part in self._parts:
            found.append(part[max(0, start - at) : max(0, stop - at)])
            at += len(part)
        return b"".join(found)[::step]

    def __bytes__(self) -> bytes:
        return self[:]


def _bounds(where: slice, n_bytes: int) -> tuple[int, int, int]:
    """From where to where to read, forwards; then every how many-th byte of that makes the slice."""
    chosen = range(*where.indices(n_bytes))
    if not chosen:
        return 0, 0, 1
    return min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1, chosen.step


def part(body: Body, start: int, stop: int) -> Body:
    """A stretch of a body: without a copy where it lies on the disk."""
    return body.part(start, stop) if isinstance(body, Spooled) else body[start:stop]


class Spool:
    """Takes in a body piece by piece; from `MEMORY_BYTES` on it lies on the disk, in `folder`.

    `write` may wait for the disk, and raises OSError where there is no room. Without a folder, or where it
    may not be written to, the system's folder for such files is used.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._held = bytearray()
        self._file: _File | None = None
        self._n_written = 0

    def __len__(self) -> int:
        return self._n_written + len(self._held)

    def overflows(self, n_bytes: int) -> bool:
        """Whether taking in so many more means to write to the disk, which may take a while."""
        return len(self._held) + n_bytes > MEMORY_BYTES

    def write(self, piece: bytes) -> None:
        overflows = self.overflows(len(piece))
        self._held += piece
        if overflows:
            self._empty()

    def body(self, limit: int | None = None) -> Body:
        """What was taken in, or the first `limit` bytes of it."""
        n_bytes = len(self) if limit is None else min(limit, len(self))
        if self._file is None:
            return bytes(memoryview(self._held)[:n_bytes])
        self._empty()
        found = Spooled(self._file, 0, n_bytes)
        return bytes(found) if n_bytes <= MEMORY_BYTES else found

    def _empty(self) -> None:
        if self._file is None:
            self._file = _File(_unnamed(self._folder))
        self._file.write(self._n_written, self._held)
        self._n_written += len(self._held)
        self._held = bytearray()


class _File:
    """A descriptor that is closed with the last stretch of it. May be read by many threads at once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

    def read(self, start: int, n_bytes: int) -> bytes:
        found = os.pread(self._descriptor, n_bytes, start)
        while len(found) < n_bytes:  # one call gives no more than 2 GiB, and may be interrupted
            more = os.pread(self._descriptor, n_bytes - len(found), start + len(found))
            if not more:
                raise OSError(errno.EIO, "a spooled file is shorter than it was")
            found += more
        return found

    def write(self, start: int, data: bytearray) -> None:
        left = memoryview(data)
        while left:
            n_bytes = os.pwrite(self._descriptor, left, start)
            left, start = left[n_bytes:], start + n_bytes


def _unnamed(folder: Path | None) -> int:
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            return os.dup(file.fileno())
    except OSError as problem:
        if folder is None or problem.errno not in _CLOSED_FOLDER:
            raise
    return _unnamed(None)
