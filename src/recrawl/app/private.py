"""Files that nobody but their owner can read: written in one piece, by one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recrawl.errors import BadSettingError

_OTHERS = 0o077  # the bits of a file's mode that are not its owner's

Stamp = tuple[int, ...]


def stamp(path: Path) -> Stamp | None:
    """What differs once it was written anew; None: it is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size, found.st_mode, found.st_dev


def read(path: Path) -> bytes:
    """Refused where others may read it too."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise BadSettingError(
                    f"{path} holds secrets and others may read it; run `chmod 600 {path}`, and consider "
                    "changing what is in it."
                )
            return file.read()
    except OSError as problem:
        raise BadSettingError(
            f"{path} cannot be read ({problem.strerror}); see to its owner and mode."
        ) from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Read, change and `write` it in here: other processes wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
        os.fsync(folder)
    except OSError as problem:
        raise BadSettingError(
            f"{path} cannot be written ({problem.strerror}); see to its folder and its disk."
        ) from None
    finally:
        os.close(folder)


def write(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        fresh.unlink()  # what a crash left
    # born private: no moment at which others could open it
    private = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(private, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
