"""A clock for whoever visits a living web in the same process: time jumps when nobody has anything to do."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from recrawl.live.virtual import VirtualClock

T = TypeVar("T")


class _Counting(asyncio.SelectorEventLoop):
    """Knows whether a thread is still at work."""

    n_busy = 0

    def run_in_executor(  # type: ignore[override]  # whatever it is given, it passes on
        self, executor: Any, func: Any, *args: Any
    ) -> asyncio.Future[Any]:
        def done(_: object) -> None:
            self.n_busy -= 1

        future = super().run_in_executor(executor, func, *args)
        self.n_busy += 1
        future.add_done_callback(done)
        return future


class _Jumping(selectors.DefaultSelector):
    """Where everybody waits for a time to come, and no thread or socket has anything to say, that time is
    now. What is sent over loopback is there at once, so nothing is under way then."""

    loop: _Counting

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready or (timeout is not None and timeout <= 0.0):
            return ready
        if self.loop.n_busy or not self._clock.jump():
            return super().select(timeout)
        return ready


class Standstill(VirtualClock):
    """Stands still while anything is done, over HTTP too. A clock that merely ran fast would let hours pass
    between a look and the second one: what changes often would be taken for noise."""

    speed = 600.0  # how rarely the runner looks around for news, and how long leases are

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        def made() -> asyncio.AbstractEventLoop:
            selector = _Jumping(self)
            selector.loop = _Counting(selector)
            return selector.loop

        with asyncio.Runner(loop_factory=made) as runner:
            return runner.run(main)
