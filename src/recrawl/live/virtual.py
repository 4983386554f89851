"""A clock for the live shell that jumps: asynchronous code runs through months in seconds, always alike.

Whenever every task is waiting, time moves on to the earliest moment that one of them waits for. Nothing
may wait for the outside world meanwhile, so fetchers and stores must answer from memory.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualClock:
    """Stands still while anything can be done, then jumps."""

    speed = 1.0

    def __init__(self, start_at: float) -> None:
        self._now = start_at
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._now + max(seconds, 0.0), next(self._order), woken))
        await woken

    def jump(self) -> bool:
        """Wake the earliest sleeper; False when there is none."""
        while self._sleepers:
            at, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():
                self._now = max(self._now, at)
                woken.set_result(None)
                return True
        return False

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on this clock, to its end."""
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(_Jumping(self))) as runner:
            return runner.run(main)


class _Jumping(selectors.DefaultSelector):
    """asyncio asks this whether anything happened outside; where it would block, time jumps instead."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if not ready and (timeout is None or timeout > 0.0) and not self._clock.jump():
            raise RuntimeError("every task waits for something that cannot happen on a virtual clock")
        return ready
