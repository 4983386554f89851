"""Who may do what to archive files that are to be written anew, among all processes and threads.

Whoever archives something and records it, or reads much of the archive, does so (`recording`) while no file
is exchanged for another (`exchanging`). Files are written anew by one at a time (`rewriting`). One that must
have a file which others still write asks for it (`wanting`); they let go of theirs, and wait. Each is a lock
that goes with its process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from recrawl.errors import BusyArchiveError

FOLDER = "locks"
Wait = Callable[[], bool]  # waits a little; False: it is time to give up


class Locks:
    def __init__(self, archive: Path) -> None:
        self._folder = archive / FOLDER

    @contextmanager
    def recording(self, let_go: Callable[[], object]) -> Iterator[None]:
        """`let_go` is called where somebody wants the files that the caller writes."""
        if self.wanted:
            let_go()
            with self._held("wanting", fcntl.LOCK_SH):
                pass
        with self._held("exchanging", fcntl.LOCK_SH):
            yield

    @contextmanager
    def exchanging(self, wait: Wait) -> Iterator[None]:
        with self._held("exchanging", fcntl.LOCK_EX, wait, "the archive is being read (a backup, a check)"):
            yield

    @contextmanager
    def rewriting(self, wait: Wait) -> Iterator[None]:
        with self._held("rewriting", fcntl.LOCK_EX, wait, "archive files are being written anew"):
            yield

    @contextmanager
    def wanting(self, wait: Wait) -> Iterator[None]:
        with self._held("wanting", fcntl.LOCK_EX, wait, "others want the same files"):
            yield

    @property
    def wanted(self) -> bool:
        """Whether somebody wants the files that others write."""
        with suppress(FileNotFoundError):
            fd = os.open(self._folder / "wanting.lock", os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                os.close(fd)
        return False

    @contextmanager
    def _held(self, name: str, how: int, wait: Wait | None = None, why: str = "") -> Iterator[None]:
        """Without `wait`, for as long as it takes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(self._folder / f"{name}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            while wait is not None:
                try:
                    fcntl.flock(fd, how | fcntl.LOCK_NB)
                except BlockingIOError:
                    if not wait():
                        raise BusyArchiveError(
                            f"Not now: {why} by another process; try again later."
                        ) from None
                else:
                    break
            else:
                fcntl.flock(fd, how)
            yield
        finally:
            os.close(fd)
