"""The only place that reads the clock."""

from __future__ import annotations

import asyncio
import time
from math import inf


class WallClock:
    """The time on the wall."""

    speed = 1.0

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class FastClock:
    """A clock that starts at `start_at` and runs `speed` times as fast as the wall's; at once, or where it is
    `standing` when it is started, so that a day is not over before all is ready."""

    def __init__(self, *, start_at: float, speed: float, standing: bool = False) -> None:
        self.speed = speed
        self._start_at = start_at
        self._begun = inf if standing else time.monotonic()

    def start(self) -> None:
        self._begun = min(self._begun, time.monotonic())

    def now(self) -> float:
        return self._start_at + max(time.monotonic() - self._begun, 0.0) * self.speed

    def wall_at(self, at: float) -> float:
        """What a clock that showed `start_at` too, and runs as the wall's does, shows when this one shows
        `at`."""
        return self._start_at + (at - self._start_at) / self.speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds) / self.speed)


def stopwatch() -> float:
    """Seconds on a clock that never goes back, for telling how long something took."""
    return time.monotonic()
