"""A process of its own for slow questions, so that pages come while it thinks.

It keeps its house open between questions. Whoever asks what was asked a moment ago has the same answer, and
several who ask the same at once wait for one. Who would rather have an answer that is a little late than wait
has the last one, while it is worked out anew.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from recrawl.app.build import House
from recrawl.errors import RecrawlError
from recrawl.live.clock import FastClock, stopwatch
from recrawl.plugin import named
from recrawl.web.face.rooms import Rooms

T = TypeVar("T")
Question = Callable[..., T]
N_KEPT = 256  # answers
N_WAITING = 16  # questions: whoever asked may be gone long before the last of more is answered

_ENDING = "The server is ending; ask again when it is back."

_rooms: Rooms | None = None  # of this process, where it is a back room


class StillWorkingError(RecrawlError):
    """This takes longer than a page may wait; load it again in a moment."""


@dataclass(slots=True)
class _Answer:
    future: asyncio.Future[Any]
    before: asyncio.Future[Any] | None = None  # the last one, which may be given out until this is there
    until_s: float = inf  # on the stopwatch: so long it is kept …
    late_s: float = 0.0  # … and so much longer for whoever would rather not wait


class BackRoom:
    def __init__(self, home: Path, clock: FastClock | None = None) -> None:
        self._begin = (home, clock)
        self._pool: ProcessPoolExecutor | None = None
        self._answers: OrderedDict[tuple[object, ...], _Answer] = OrderedDict()
        self._closed = False

    async def ask(
        self,
        question: Question[T],
        *args: object,
        deadline_s: float = 5.0,
        keep_s: float = 30.0,
        late_s: float = 0.0,
    ) -> T:
        """Within the deadline, or `StillWorkingError`: it is gone on with, and kept for who asks again."""
        key = (question.__module__, question.__qualname__, *args)
        known = answer = self._answers.get(key)
        if answer is None or answer.until_s < stopwatch():
            if sum(not one.future.done() for one in self._answers.values()) >= N_WAITING:
                raise StillWorkingError("Much else is being worked out; ask again in a moment.")
            answer = self._answers[key] = _Answer(asyncio.ensure_future(self._asked(question, args)))
            if known is not None and stopwatch() < known.until_s + known.late_s:
                answer.before = known.future
            answer.future.add_done_callback(lambda done: self._settle(key, done, keep_s, late_s))
        self._answers.move_to_end(key)
        if answer.before is not None and not answer.future.done():
            last: T = answer.before.result()
            return last
        try:
            return await asyncio.wait_for(asyncio.shield(answer.future), deadline_s)
        except TimeoutError:
            raise StillWorkingError from None

    def _settle(
        self, key: tuple[object, ...], done: asyncio.Future[Any], keep_s: float, late_s: float
    ) -> None:
        answer = self._answers.get(key)
        if answer is None or answer.future is not done:
            return
        if done.cancelled() or done.exception() is not None:
            del self._answers[key]  # asked again, it may go well
            return
        answer.until_s, answer.late_s, answer.before = stopwatch() + keep_s, late_s, None
        over = [known for known, one in self._answers.items() if one.until_s + one.late_s < stopwatch()]
        for known in over + list(self._answers)[: max(len(self._answers) - len(over) - N_KEPT, 0)]:
            if (old := self._answers.get(known)) is not None and old.future.done():
                del self._answers[known]

    def forget(self) -> None:
        """After something was changed: what was answered may no longer hold."""
        for key, answer in list(self._answers.items()):
            answer.before = None
            if answer.future.done():
                del self._answers[key]

    async def _asked(self, question: Question[T], args: tuple[object, ...]) -> T:
        for last in (False, True):
            if self._closed:
                raise StillWorkingError(_ENDING)
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(1, context, _enter, self._begin)
            pool = self._pool
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, _answer, question, args)
            except asyncio.CancelledError:
                if self._closed:
                    raise StillWorkingError(_ENDING) from None
                raise
            except BrokenProcessPool:  # it was killed, for its memory perhaps
                if self._pool is pool:
                    self._pool = None
                pool.shutdown(wait=False)
                if last and not self._closed:
                    raise RecrawlError(
                        "The process that works this out was ended twice; is there enough memory?"
                    ) from None
        raise StillWorkingError(_ENDING)

    def close(self) -> None:
        """Whoever still waits is told so."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:  # nobody waits for its answer any more
                process.kill()


def _enter(home: Path, clock: FastClock | None) -> None:
    global _rooms
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    logging.disable(logging.INFO)
    _rooms = Rooms(home, clock)
    threading.Thread(target=_orphaned, name="recrawl-orphan", daemon=True).start()


def _orphaned() -> None:
    """Nobody is left to be answered once the server was killed."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def _answer(question: Question[T], args: tuple[object, ...]) -> T:
    if _rooms is None:
        raise AssertionError("this is no back room")
    house: House = _rooms.house()
    with named():  # here: to the other process no error brings the lines that led to it
        return question(house, *args)
