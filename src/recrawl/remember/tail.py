"""The end of one archive file, held by one writer: what is on the disk, and what waits to be.

The writer keeps a lock on its file for as long as it may still grow. A crashed process's lock goes with
it, so that a file which can be locked is one that nobody writes.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from math import inf
from pathlib import Path

from recrawl.model import Body, pieces
from recrawl.remember import cdx
from recrawl.remember.records import Record, member

_BATCH_BYTES = 1 << 20  # written at once
_OURS = re.compile(r"recrawl-(\d{8}T\d{6})Z-[0-9a-f]{8}-\d{5,}\.warc\.gz")


def file_name(at: float, token: str, serial: int) -> str:
    """Made of nothing that a server could choose."""
    return f"recrawl-{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}-{token}-{serial:05d}.warc.gz"


def is_ours(name: str) -> bool:
    return _OURS.fullmatch(name) is not None


@lru_cache(maxsize=1024)  # asked of the same file for every record
def begun_at(name: str) -> float:
    """When a file of ours was begun; one of others is as old as can be."""
    found = _OURS.fullmatch(name)
    with suppress(ValueError):  # a month without such a day
        return -inf if found is None else datetime.strptime(f"{found[1]}+0000", "%Y%m%dT%H%M%S%z").timestamp()
    return -inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large and how old a file may get; then it is finished, and nobody goes on writing it."""

    max_bytes: int
    max_age_s: float

    def finished(self, name: str, length: int, now: float) -> bool:
        return length > self.max_bytes or now - begun_at(name) > self.max_age_s


class Tail:
    """A file that grows by whole batches: after `sync` all of a batch is durable, after `undo` none is.

    With `fd` an earlier file is taken up, which has this length and is locked.
    """

    def __init__(self, path: Path, *, fd: int | None = None, length: int = 0) -> None:
        self.path = path
        self.length = length  # on the disk for sure
        self._fd = fd
        self._waiting: list[Body] = []
        self._n_waiting = 0
        self._lines: list[str] = []
        self._n_before = length  # written by another process
        self._indexed = True  # whether `_lines` has a line for all that lies before

    @property
    def end(self) -> int:
        return self.length + self._n_waiting

    @property
    def waits(self) -> bool:
        return self._n_waiting > 0

    def add(self, records: Sequence[Record]) -> list[tuple[int, int]]:
        """Buffer these records, all of them or none; the offset and the length of each in the file."""
        spots: list[tuple[int, int]] = []
        packed = [member(written, self.path.parent) for written in records]  # a disk may be full here
        for written, data in zip(records, packed, strict=True):
            spots.append((self.end, len(data)))
            self._waiting.append(data)
            self._n_waiting += len(data)
            self._lines.extend(cdx.lines(written, self.path.name, *spots[-1]))
        return spots

    def sync(self) -> None:
        """Append what waits and have the disk say that it has it."""
        if self._fd is None:
            self._fd = _created(self.path)
        elif self.length == self._n_before:
            self._outdate_index()
        for data in _batches(self._waiting):
            left = memoryview(data)
            while left:
                left = left[os.write(self._fd, left) :]
        os.fsync(self._fd)
        if self.length == 0:
            sync_folder(self.path.parent)
        self.length, self._n_waiting, self._waiting = self.end, 0, []

    def undo(self, length: int) -> None:
        """Go back to this length, forget what waits, and let go of the file.

        It is not written again: after a failed fsync nobody knows what the disk holds of the next one.
        """
        self._waiting, self._n_waiting = [], 0
        with suppress(OSError):  # a disk that fails here as well leaves a tail for the next recovery
            if self._fd is not None and length:
                os.ftruncate(self._fd, length)
                os.fsync(self._fd)
            elif self._fd is not None:
                self.path.unlink(missing_ok=True)
        self.length = length
        self.release()

    def finish(self) -> None:
        """Write the index beside the file and let go of it."""
        if self.length > self._n_before:
            with suppress(OSError):  # it can be made again from the file, and recovery does
                cdx.write(self.path, sorted(self._lines) if self._indexed else cdx.index(self.path))
        self.release()

    def _outdate_index(self) -> None:
        """Before the file grows: no index beside it may ever pass for one of all of it."""
        path = cdx.index_path(self.path)
        try:
            self._lines[:0] = path.read_text("ascii").splitlines()
        except (OSError, ValueError):
            self._indexed = False
        path.unlink(missing_ok=True)
        sync_folder(path.parent)

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _batches(waiting: Iterable[Body]) -> Iterator[bytes]:
    """What waits, in pieces: small records together, as there are many of them."""
    together: list[bytes] = []
    n_together = 0
    for piece in (piece for data in waiting for piece in pieces(data)):
        together.append(piece)
        n_together += len(piece)
        if n_together >= _BATCH_BYTES:
            yield b"".join(together)
            together, n_together = [], 0
    yield b"".join(together)


def claimed(path: Path) -> int | None:
    """The file, opened and locked, if no living process writes it. Closing it gives it back."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        os.close(fd)
        if isinstance(problem, BlockingIOError):
            return None
        raise
    return fd


def taken_up(
    folder: Path, committed: Callable[[], Mapping[str, int]], open_to_more: Callable[[str, int], bool]
) -> Tail | None:
    """The newest of our files that is open to more, that nobody writes, and that is as long as recorded."""
    for name, length in sorted(committed().items(), reverse=True):
        if not is_ours(name) or not open_to_more(name, length):
            continue
        try:
            fd = claimed(folder / name)
        except OSError:  # it is elsewhere, or may only be read
            continue
        if fd is None:
            continue
        # Asked again now that it is ours: its last writer may have recorded more, or someone removed it.
        length, present = committed().get(name, 0), os.fstat(fd)
        if present.st_nlink and present.st_size == length and open_to_more(name, length):
            fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
            return Tail(folder / name, fd=fd, length=length)
        os.close(fd)
    return None


def in_use(path: Path) -> bool:
    """Whether a living process writes this file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def sync_folder(folder: Path) -> None:
    """Make the names in it durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _created(path: Path) -> int:
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        sync_folder(path.parent.parent)
    while True:
        fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o644)
        fcntl.flock(fd, fcntl.LOCK_EX)
        if os.fstat(fd).st_nlink:
            return fd
        os.close(fd)  # a recovery came between the two and took it for a dead writer's; once more
