"""The `recrawl` command as a real process: afresh, or forked from one that has made its imports."""

from __future__ import annotations

import atexit
import inspect
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, AnyStr

COMMAND = [sys.executable, "-m", "recrawl"]
_AT_START = ("LANG", "LC_", "LD_", "PYTHON")  # variables of such names are read when an interpreter begins
_STARTING = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]


def forkable(env: Mapping[str, str]) -> bool:
    """Whether a command with these variables may come of a process that began with ours."""
    return sys.platform == "linux" and _read_at_start(env) == _read_at_start(os.environ)


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_AT_START)}


class Forked(subprocess.Popen[AnyStr]):
    """What `Popen` of the command would be. It is no child of ours: its end is heard of from the zygote."""

    _news: socket.socket

    def _execute_child(self, *stated: Any) -> None:
        """The one place where `Popen` starts something."""
        said = _STARTING.bind(self, *stated).arguments
        args = said["args"]
        assert args[: len(COMMAND)] == COMMAND
        assert said["cwd"] is said["preexec_fn"] is None
        assert forkable(said["env"])
        request = {"args": args[len(COMMAND) :], "env": dict(said["env"]), "cwd": str(Path.cwd())}
        theirs = [said[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        passed: list[int] = [own if given == -1 else given for own, given in enumerate(theirs)]
        self._news, far = socket.socketpair()
        with far:
            socket.send_fds(_zygote(), [json.dumps(request).encode()], [far.fileno(), *passed])
        self.pid = self._heard()
        self._child_created = True
        both = [said[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")]
        self._close_pipe_fds(*both)  # type: ignore[attr-defined]

    def _heard(self) -> int:
        told = self._news.recv(4)
        assert told, "the zygote has died"
        return int.from_bytes(told, "big", signed=True)

    def poll(self) -> int | None:
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._news.settimeout(None if timeout is None else max(timeout, 0.0))
            try:
                self.returncode = self._heard()
            except (BlockingIOError, TimeoutError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0) from None
            self._news.close()
        return self.returncode


@cache
def _zygote() -> socket.socket:
    """Ours, as long as this process lives."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with far:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.zygote", str(far.fileno())],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # no threads then, which a fork would lose
            pass_fds=[far.fileno()],
        )
    atexit.register(process.wait)
    atexit.register(near.close)  # which comes first, and ends it
    return near
