"""Who is alive: a lock that lasts exactly as long as its process.

A process that is killed cannot give its leases back. Whoever comes next finds its lock free, and ends them.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from contextlib import suppress
from pathlib import Path


class Presence:
    """This process, in a folder that all processes of a house share."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name = uuid.uuid4().hex
        self._folder = folder
        self._path = folder / f"{self.name}.lock"
        self._fd = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX)

    def dead(self) -> list[str]:
        """The processes that left a lock behind and hold it no more. The caller ends their leases, then
        calls `buried`."""
        return [path.stem for path in self._folder.glob("*.lock") if path != self._path and _free(path)]

    def buried(self, names: list[str]) -> None:
        for name in names:
            (self._folder / f"{name}.lock").unlink(missing_ok=True)

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._fd)


def n_alive(folder: Path) -> int:
    """How many processes visit now, asked by whoever does not."""
    return sum(not _free(path) for path in folder.glob("*.lock"))


def _free(path: Path) -> bool:
    with suppress(OSError):
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(fd)
        return True
    return False
