"""One thread for all that touches the store or the archive, so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Worker:
    """Does one thing after the other. `threads` False keeps all in the event loop's own thread."""

    def __init__(self, *, threads: bool = True) -> None:
        self._threads = threads
        self._executor: ThreadPoolExecutor | None = None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        if not self._threads:
            return _at_once(function, *args, **kwargs)
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "recrawl-worker")
        return asyncio.get_running_loop().run_in_executor(self._executor, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """End the thread; a later call begins another."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()


async def _at_once(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return function(*args, **kwargs)
