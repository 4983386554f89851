"""Threads for all that takes time, so that the event loop never waits for a disk or a parser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Worker:
    """Does one thing after the other, or `n_threads` at once. `threads` False keeps all in the event loop's
    own thread."""

    def __init__(self, *, threads: bool = True, n_threads: int = 1) -> None:
        self.threads = threads
        self._n_threads = n_threads
        self._executor: ThreadPoolExecutor | None = None

    def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        if not self.threads:
            return _at_once(function, *args, **kwargs)
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._n_threads, "recrawl-worker")
        return asyncio.get_running_loop().run_in_executor(self._executor, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """End the threads; a later call begins others."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown()

    def abandon(self) -> None:
        """As `close`, without waiting for what is under way."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)


async def _at_once(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    return function(*args, **kwargs)
