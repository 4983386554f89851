"""Places at which a process dies, or a call fails: around every call that makes something durable.

The product knows nothing of them. A process that is to have a fault puts these wraps round the calls of the
operating system, of SQLite and of the acknowledgement, and then runs the real command.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recrawl.cli import terminal

BEFORE, HALF, AFTER = "before", "half", "after"
KILL = "kill"
ERRORS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC}
SQLITE_ERRORS = {"EIO": "disk I/O error", "ENOSPC": "database or disk is full"}
# What the bytes of the archive and the rows of the store pass through on their way to the disk.
CALLS = ("open", "write", "fsync", "rename", "unlink", "truncate", "begin", "commit", "ack")


@dataclass(frozen=True)
class Fault:
    """What happens at the `nth` of these calls: the process is killed, or the call fails. With `since`, those
    count that come after one of that kind."""

    call: str
    nth: int
    when: str = BEFORE
    what: str = KILL
    since: str = ""

    def strike(self) -> None:
        if self.what == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.call in ("begin", "commit"):
            raise sqlite3.OperationalError(SQLITE_ERRORS[self.what])
        raise OSError(ERRORS[self.what], os.strerror(ERRORS[self.what]))


class Failpoints:
    """Counts the calls that concern the folder `home`; `reached` is written there when the fault strikes."""

    def __init__(self, home: str, fault: Fault) -> None:
        self._home = home
        self._fault = fault
        self._counts: Counter[str] = Counter()

    def install(self) -> None:
        self._wrap(os, "open", "open", self._creates)
        self._wrap(io, "open", "open", self._creates)
        self._wrap(os, "write", "write", self._has)
        self._wrap(os, "fsync", "fsync", self._has)
        self._wrap(os, "ftruncate", "truncate", self._has)
        self._wrap(os, "replace", "rename", self._is_inside)
        self._wrap(os, "rename", "rename", self._is_inside)
        self._wrap(os, "unlink", "unlink", self._is_inside)
        self._wrap(terminal, "say_json_line", "ack", lambda *_: True)
        failpoints = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                call = {"BEGIN IMMEDIATE": "begin", "COMMIT": "commit"}.get(sql, "")
                return failpoints.passed(call, super().execute, sql, *values)  # type: ignore[no-any-return]

        connect = sqlite3.connect
        setattr(sqlite3, "connect", lambda *args, **kw: connect(*args, **{"factory": Connection, **kw}))  # noqa: B010

    def _wrap(self, place: Any, name: str, call: str, concerns: Callable[..., bool]) -> None:
        real = getattr(place, name)

        def wrapped(*args: Any, **named: Any) -> Any:
            return self.passed(call if concerns(*args) else "", real, *args, **named)

        setattr(place, name, wrapped)

    def passed(self, call: str, real: Callable[..., Any], *args: Any, **named: Any) -> Any:
        fault = self._fault
        self._counts[call] += call != fault.call or not fault.since or self._counts[fault.since] > 0
        if call != fault.call or self._counts[call] != fault.nth:
            return real(*args, **named)
        self._counts[call] += 1  # what follows from the fault is not the fault
        self._mark()
        if fault.when == BEFORE:
            fault.strike()
        if fault.when == HALF:
            real(args[0], bytes(args[1])[: len(args[1]) // 2])
            fault.strike()
        done = real(*args, **named)
        if fault.when == AFTER:
            fault.strike()
        return done

    def _mark(self) -> None:
        os.close(_REAL_OPEN(f"{self._home}/reached", os.O_CREAT | os.O_WRONLY))

    def _is_inside(self, path: Any, *_: Any) -> bool:
        return isinstance(path, str | os.PathLike) and os.fspath(path).startswith(f"{self._home}/")

    def _creates(self, path: Any, how: Any = "r", *_: Any) -> bool:
        writes = bool(how & (os.O_CREAT | os.O_TMPFILE)) if isinstance(how, int) else how[0] in "wax"
        return writes and self._is_inside(path)

    def _has(self, fd: int, *_: Any) -> bool:
        return str(Path(f"/proc/self/fd/{fd}").readlink()).startswith(f"{self._home}/")


_REAL_OPEN = os.open
