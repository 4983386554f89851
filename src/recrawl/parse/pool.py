"""Killable parsing. A parser written in C cannot be interrupted; a process can be killed.

Workers are fresh interpreters rather than forks: a fork of a process with threads or an event loop inherits
locks that nobody will release, and a fresh interpreter imports no more than it is asked to run.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Pipe
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_START_S = 60.0  # for a fresh interpreter on a very busy machine
_PATIENCE_S = 120.0  # a machine that has no time for us says nothing about the document


@dataclass(frozen=True, slots=True)
class ParseFailed:
    """Why hostile or broken bytes gave no result. A value: it is part of the history."""

    reason: str  # "size", "time", "memory", "crash" or "error"
    detail: str = ""


class Pool:
    """A few worker processes, each started when first needed. `run` may be called from any thread.

    A task may take `limit_s` of CPU time and `memory_bytes`. One that wants more is ended, if need be with
    its worker, and the next task finds a new one; so is one that is not done after `patience_s` on the wall.
    """

    def __init__(
        self,
        *,
        n_workers: int = 2,
        limit_s: float = 10.0,
        memory_bytes: int = 1 << 30,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._limit_s = limit_s
        self._patience_s = patience_s
        self._memory_bytes = memory_bytes
        self._turns = threading.BoundedSemaphore(n_workers)
        self._guard = threading.Lock()
        self._idle: list[_Worker] = []
        self._closed = False

    def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | ParseFailed:
        """What `function`, which stands at the top level of a module, returns; or why it did not."""
        with self._turns:
            worker = self._taken()
            try:
                return worker.ask(function, args, kwargs, self._patience_s)  # type: ignore[return-value]
            finally:
                self._put_back(worker)

    def close(self) -> None:
        """End all workers; those with a task under way once it is done."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _taken(self) -> _Worker:
        with self._guard:
            while self._idle:
                worker = self._idle.pop()
                if worker.running:
                    return worker
                worker.end()
        return _Worker(self._limit_s, self._memory_bytes)

    def _put_back(self, worker: _Worker) -> None:
        with self._guard:
            if worker.alive and not self._closed:
                self._idle.append(worker)
                return
        worker.end()


class _Worker:
    """One process at the other end of a pipe. When the pipe closes, for whatever reason, it ends."""

    def __init__(self, limit_s: float, memory_bytes: int) -> None:
        self._limit_s = limit_s
        self._pipe, theirs = Pipe()
        with theirs:
            figures = [str(theirs.fileno()), str(limit_s), str(memory_bytes)]
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter, our own module
                [sys.executable, "-P", "-m", "recrawl.parse.worker", *figures],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the parent; workers end when it does
            )
        self.alive = True
        self._answer(_START_S)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def ask(self, function: object, args: object, kwargs: object, patience_s: float) -> object:
        try:
            self._pipe.send((function, args, kwargs))
            answer = self._answer(patience_s)
        except OSError:
            return self._death()
        except BaseException:
            self.end()  # else its late answer would be taken for the next task's
            raise
        if isinstance(answer, ParseFailed) and answer.reason == "memory":
            self.end()
        return answer

    def _answer(self, patience_s: float) -> object:
        try:
            if self._pipe.poll(patience_s):
                return self._pipe.recv()
        except (EOFError, OSError):
            return self._death()
        self.end()
        return ParseFailed("time", f"not done within {patience_s:g} s on a busy machine")

    def _death(self) -> ParseFailed:
        self.end()
        code = self._process.returncode
        if code == -signal.SIGPROF:
            return ParseFailed("time", f"more than {self._limit_s:g} s of CPU time")
        return ParseFailed("crash", f"the parsing process ended with {code}")

    def end(self) -> None:
        self.alive = False
        self._pipe.close()
        self._process.kill()
        self._process.wait()


_shared: Pool | None = None
_shared_guard = threading.Lock()


def shared() -> Pool:
    """The pool of this process."""
    global _shared
    with _shared_guard:
        if _shared is None:
            _shared = Pool()
            atexit.register(_shared.close)
        return _shared


def _forget_shared() -> None:
    # A forked child must not talk into its parent's pipes.
    global _shared, _shared_guard
    _shared, _shared_guard = None, threading.Lock()


os.register_at_fork(after_in_child=_forget_shared)
