"""News as it comes: a stream of events that says when visits were recorded, so that pages can look again.

One question every two seconds serves all who listen, and none is asked while nobody does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from recrawl.app.build import House
from recrawl.errors import RecrawlError
from recrawl.web.face.desk import Desk

EVERY_S = 2.0
BEAT_S = 20.0  # a comment, so that no proxy takes the silence for an end
MOST = 64  # who may listen at once

router = APIRouter()


def _counts(house: House) -> dict[str, int]:
    return dict(house.store.counts(house.clock.now()))


class Ticker:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._task: asyncio.Task[None] | None = None
        self._listeners: set[asyncio.Queue[dict[str, int] | None]] = set()
        self._wanted = asyncio.Event()

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._tick())

    def hush(self) -> None:
        """All who listen are told that there is no more: a server that ends waits for them."""
        for listener in self._listeners:
            _tell(listener, None)

    async def end(self) -> None:
        self.hush()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _tick(self) -> None:
        before: dict[str, int] | None = None
        while True:
            await self._wanted.wait()
            with suppress(RecrawlError):  # a store that cannot be read now may be so later
                counts = await self._desk.ask(_counts)
                if before is not None and counts != before:
                    for listener in self._listeners:
                        _tell(listener, counts)
                before = counts
            await asyncio.sleep(EVERY_S)

    async def news(self) -> AsyncIterator[str]:
        mine: asyncio.Queue[dict[str, int] | None] = asyncio.Queue(1)
        self._listeners.add(mine)
        self._wanted.set()
        try:
            yield "retry: 5000\n\n"
            while True:
                try:
                    counts = await asyncio.wait_for(mine.get(), BEAT_S)
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if counts is None:
                    return
                yield f"event: news\ndata: {json.dumps(counts)}\n\n"
        finally:
            self._listeners.discard(mine)
            if not self._listeners:
                self._wanted.clear()

    @property
    def full(self) -> bool:
        return len(self._listeners) >= MOST


def _tell(listener: asyncio.Queue[dict[str, int] | None], news: dict[str, int] | None) -> None:
    """A slow reader is told of the newest alone."""
    with suppress(asyncio.QueueEmpty):
        listener.get_nowait()
    listener.put_nowait(news)


@router.get("/live")
async def live(request: Request) -> StreamingResponse:
    ticker: Ticker = request.app.state.ticker
    if ticker.full:
        return StreamingResponse(iter(()), 503, {"Retry-After": "60"})
    return StreamingResponse(ticker.news(), media_type="text/event-stream")
