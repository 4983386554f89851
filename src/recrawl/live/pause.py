"""Waiting that ends early when something happens."""

from __future__ import annotations

import asyncio

from recrawl.contracts import Clock


async def pause(seconds: float, *, clock: Clock, until: asyncio.Event) -> None:
    """For so long on the clock, or until that has happened."""
    sleep = asyncio.ensure_future(clock.sleep(seconds))
    happens = asyncio.ensure_future(until.wait())
    try:
        await asyncio.wait({sleep, happens}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleep.cancel()
        happens.cancel()
