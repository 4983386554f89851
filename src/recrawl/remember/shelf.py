"""Archive files that lie elsewhere: at any address that fsspec knows, read range by range.

A file is looked for in the archive's folder first. One that was carried away and put back is so read from
the folder again, whatever has become of the other.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from recrawl.errors import BadSettingError, ShelfError
from recrawl.remember.tail import sync_folder

if TYPE_CHECKING:
    from typing_extensions import Buffer

STEP_BYTES = 4 << 20  # asked for at once, at most
REST_S = 30.0  # a shelf that cannot be reached is left alone: those who judge visits must not queue for it
PATIENCE_S = 20.0  # on the wall, for one request: the libraries' own patience is minutes

_S3 = {"connect_timeout": 5, "read_timeout": 15, "retries": {"max_attempts": 1}}
_OPTIONS: dict[str, dict[str, Any]] = {"s3": {"config_kwargs": _S3, "use_listings_cache": False}}
T = TypeVar("T")


def system(address: str) -> tuple[Any, str]:
    """What keeps files at this address, and its own name for the place."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise _lacking("fsspec") from None
    scheme = address.partition("://")[0]
    try:
        files, path = url_to_fs(address, **_OPTIONS.get(scheme, {}))
    except ImportError as problem:
        raise _lacking(problem.name or str(problem)) from None
    except ValueError as problem:
        raise BadSettingError(f"archiving.shelf: {address} is no address ({problem}); mend it.") from None
    return files, path


def _lacking(what: str) -> BadSettingError:
    return BadSettingError(
        f"The shelf needs {what}, which is not installed; install it with `pip install 'recrawl[s3]'` (for "
        "other places than S3, fsspec and the package that fsspec names)."
    )


def unreachable(address: str, problem: Exception) -> ShelfError:
    """Each place has errors of its own; all of them mean this."""
    told = str(problem).strip() or type(problem).__name__
    return ShelfError(
        f"The shelf cannot be used: {address} ({told}). What is here is safe; see to the network, the "
        "address and the rights to it, and try again."
    )


class Reach:
    """Whether a shelf can be reached. After trouble nobody asks it for a while, and then a single one does:
    the others are refused at once, instead of waiting in a row."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._troubled = False
        self._rest_until_at = 0.0

    def ask(self, address: str, request: Callable[[], T]) -> T:
        with self._lock:
            now = self._now()
            if self._troubled and now < self._rest_until_at:
                raise ShelfError(f"The shelf could not be used a moment ago ({address}); try again later.")
            self._rest_until_at = now + REST_S
        try:
            found = within(PATIENCE_S, request)
        except FileNotFoundError:
            self._troubled = False
            raise
        except Exception as problem:
            self._troubled, self._rest_until_at = True, self._now() + REST_S
            raise unreachable(address, problem) from problem
        self._troubled = False
        return found


def within(seconds: float, request: Callable[[], T]) -> T:
    """What the request brings, if it does so in time; else it is left behind. Not every library can be told
    how long to wait."""
    answer: list[T] = []
    trouble: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(request())
        except BaseException as problem:
            trouble.append(problem)

    thread = threading.Thread(target=run, name="recrawl-shelf", daemon=True)
    thread.start()
    thread.join(seconds)
    if trouble:
        raise trouble[0]
    if not answer:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return answer[0]


class _Remote(io.RawIOBase):
    """A file elsewhere, as a stream; each read is one request for a range."""

    def __init__(self, address: str, end: int | None, reach: Reach) -> None:
        self._address = address
        self._reach = reach
        self._files, self._path = system(address)
        self._end = reach.ask(address, lambda: int(self._files.size(self._path))) if end is None else end
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        return self._at

    def readinto(self, into: Buffer) -> int:
        target = memoryview(into)
        start, stop = self._at, min(self._end, self._at + len(target))
        if stop <= start:
            return 0
        found: bytes = self._reach.ask(
            self._address, lambda: self._files.cat_file(self._path, start=start, end=stop)
        )
        target[: len(found)] = found
        self._at += len(found)
        return len(found)


def opened(
    address: str, end: int | None = None, reach: Reach | None = None, step_bytes: int = STEP_BYTES
) -> BinaryIO:
    """The file at this address, up to `end`, to read. FileNotFoundError: it is not there; ShelfError: nobody
    knows."""
    asked = reach or Reach(lambda: 0.0)
    return cast("BinaryIO", io.BufferedReader(_Remote(address, end, asked), step_bytes))


def digest_of(stream: BinaryIO, go_on: Callable[[], None] = lambda: None) -> tuple[str, int]:
    """The sha256 of all that follows, and how many bytes that were."""
    whole, n_bytes = hashlib.sha256(), 0
    while piece := stream.read(STEP_BYTES):
        go_on()
        whole.update(piece)
        n_bytes += len(piece)
    return whole.hexdigest(), n_bytes


def copied_here(address: str, to: Path) -> None:
    """Fetch a file, all of it or nothing, and have the disk say that it has it."""
    draft = to.with_name(to.name + ".tmp")
    with opened(address) as far, draft.open("wb") as near:
        while piece := far.read(STEP_BYTES):
            near.write(piece)
        near.flush()
        os.fsync(near.fileno())
    draft.replace(to)
    sync_folder(to.parent)


def remove(address: str) -> None:
    """Remove a file elsewhere; one that is not there is removed."""
    files, path = system(address)
    try:
        within(PATIENCE_S, lambda: files.rm_file(path))
    except FileNotFoundError:
        return
    except Exception as problem:
        raise unreachable(address, problem) from problem


class Files:
    """The archive's files by name, wherever they are. Any thread may read."""

    def __init__(
        self, folder: Path, *, carried: Callable[[], Mapping[str, str]], now: Callable[[], float]
    ) -> None:
        self.folder = folder
        self._carried = carried
        self._known: Mapping[str, str] = {}
        self._lock = threading.Lock()
        self._reach = Reach(now)

    def addresses(self) -> Mapping[str, str]:
        """Where files were carried to, by name."""
        with self._lock:
            self._known = self._carried()
            return self._known

    def address(self, name: str) -> str | None:
        """Where it was carried to; None: it is, or should be, in the folder."""
        known = self._known.get(name)
        return known or self.addresses().get(name)  # another process may have carried it away just now

    def open(self, name: str, end: int | None = None) -> BinaryIO:
        """To read, up to `end` at most. ShelfError: its place cannot be reached; OSError: it is not there."""
        try:
            return (self.folder / name).open("rb")
        except FileNotFoundError:
            address = self.address(name)
            if address is None:
                raise
        return opened(address, end, self._reach)

    def elsewhere(self) -> list[tuple[str, str]]:
        """Name and address of all that are not in the folder."""
        return [item for item in self.addresses().items() if not (self.folder / item[0]).exists()]
