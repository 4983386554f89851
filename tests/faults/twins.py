"""Faulty relatives of `recrawl run`: each check here must find out about the ones that concern it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recrawl.app.rows import visit_row
from recrawl.cli import terminal, visits
from recrawl.errors import ArchiveError
from recrawl.live.ground import Ground
from recrawl.live.runner import Runner
from recrawl.remember.warc import WarcArchive

ACKS_EARLY = "acks-early"  # a visit is acknowledged once it is judged
ACKS_FOR_NOTHING = "acks-for-nothing"  # … and then forgotten
LAZY_WRITES = "lazy-writes"  # bytes are said to be written, and are with the next ones
NO_RECOVERY = "no-recovery"  # what a crash left torn stays as it is
SWALLOWS = "swallows"  # an archive that cannot be written is no reason to stop
GIVES_UP = "gives-up"  # trouble of our own ends the run
FORGETS = "forgets"  # what is in the air when it is told to stop is dropped


def _put(place: Any, name: str, value: object) -> None:
    setattr(place, name, value)  # in this process alone


def _acks_early() -> None:
    absorb = Ground.absorb

    def early(self: Ground, batch: Any, now: float) -> Any:
        for lease, _, judgement in batch:
            terminal.say_json_line(visit_row(judgement.visit, lease.resource.url))
        return absorb(self, batch, now)

    _put(Ground, "absorb", early)
    _put(visits, "_told", lambda *_: None)


def _acks_for_nothing() -> None:
    def forgotten(self: Ground, batch: Any, now: float) -> Any:
        for lease, fetch, judgement in batch:
            terminal.say_json_line(visit_row(judgement.visit, lease.resource.url))
            self.loop.store.release([lease], self.gate_at(fetch))
        return [], []

    _put(Ground, "absorb", forgotten)


def _lazy_writes() -> None:
    write, waiting = os.write, dict[int, bytes]()

    def late(fd: int, data: Any) -> int:
        if Path(f"/proc/self/fd/{fd}").readlink().suffix != ".gz":
            return write(fd, data)
        if fd in waiting:
            write(fd, waiting[fd])
        waiting[fd] = bytes(data)
        return len(data)

    _put(os, "write", late)


def _swallows() -> None:
    sync = WarcArchive.sync

    def whatever(self: WarcArchive) -> Any:
        try:
            return sync(self)
        except ArchiveError:
            return {}

    _put(WarcArchive, "sync", whatever)


def _gives_up() -> None:
    def met(self: Runner, problem: Exception) -> None:
        self._problem = self._problem or problem

    _put(Runner, "_met", met)


async def _nothing(_: Runner) -> None:
    """Nothing comes down, nothing is given back."""


TWINS: dict[str, Callable[[], None]] = {
    ACKS_EARLY: _acks_early,
    ACKS_FOR_NOTHING: _acks_for_nothing,
    LAZY_WRITES: _lazy_writes,
    NO_RECOVERY: lambda: _put(WarcArchive, "recover", lambda *_: []),
    SWALLOWS: _swallows,
    GIVES_UP: _gives_up,
    FORGETS: lambda: _put(Runner, "_land", _nothing),
}
