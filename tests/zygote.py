"""`python -m tests.zygote SOCKET` has made all imports of the `recrawl` command, and forks one a request.

Each test of the command line starts several, and nearly all that a short one does is to import. A child of
this is a real process with streams, signals and an exit code of its own, which runs the same `__main__`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import time
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import recrawl

LARGEST = 200_000  # bytes of a request, which comes in one piece


def everything_imported() -> None:
    for module in pkgutil.walk_packages(recrawl.__path__, "recrawl."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    n_threads = len(list(Path("/proc/self/task").iterdir()))
    assert n_threads == 1  # a fork would lose the others, with whatever they have locked
    gc.freeze()  # what is here stays, and is not looked through in every child


def serve(requests: socket.socket) -> bool:
    """Returns in each child, which does as requested, and says no where there will be no more requests."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        request, passed, _, _ = socket.recv_fds(requests, LARGEST, 4)
        if not request:
            return False
        if not os.fork():
            requests.close()
            if _is_other(*passed):
                _begin(json.loads(request), passed[1:])
                return True
        for descriptor in passed:
            os.close(descriptor)
        _bury()


def _bury() -> None:
    """Whoever has ended; the time that they took is counted with ours."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _is_other(news: int, *streams: int) -> bool:
    """Yes in yet another process; while this one tells which that is, and how it ended, and never returns."""
    pid = os.fork()
    if not pid:
        os.close(news)
        return True
    try:
        for descriptor in streams:  # else whoever reads from it would wait for us too
            os.close(descriptor)
        os.write(news, pid.to_bytes(4, "big"))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(news, code.to_bytes(4, "big", signed=True))
    finally:
        os._exit(0)


def _begin(request: dict[str, Any], streams: list[int]) -> None:
    """As an interpreter does that is started with these."""
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = _stream(0, "rb", sys.stdin)
    sys.stdout = _stream(1, "wb", sys.stdout)
    sys.stderr = _stream(2, "wb", sys.stderr)
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    os.chdir(request["cwd"])
    sys.path[0] = request["cwd"]
    sys.argv[1:] = request["args"]
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _stream(number: int, mode: str, like: Any) -> TextIOWrapper:
    at_once = bool(like.write_through)  # where PYTHONUNBUFFERED is set
    raw = open(number, mode, 0 if at_once and number else -1, closefd=False)  # noqa: SIM115  # as long as the process is
    by_lines = number == 2 or os.isatty(number)
    return TextIOWrapper(raw, like.encoding, like.errors, line_buffering=by_lines, write_through=at_once)


def end(code: int) -> None:
    """As an interpreter does, but for taking each module apart, which takes longer than most commands do.
    Where the last words cannot be said it returns, and an end of the usual kind tells."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code)


if __name__ == "__main__":
    everything_imported()
    with socket.socket(fileno=int(sys.argv[1])) as ours:
        wanted = serve(ours)
    if wanted:
        try:
            runpy.run_module("recrawl", run_name="__main__", alter_sys=True)
        except SystemExit as said:
            if isinstance(said.code, int):
                end(said.code)
            raise
