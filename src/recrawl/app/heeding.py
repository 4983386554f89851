"""A run that goes on for months heeds another budget as soon as the settings file has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from recrawl.app import config as configuration
from recrawl.app.private import stamp
from recrawl.app.quantity import Budget
from recrawl.errors import RecrawlError

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.loop import Loop

LOOK_S = 1.0  # on the wall


@asynccontextmanager
async def heeding(
    house: House, loop: Loop, said: Budget, tell: Callable[[str], object]
) -> AsyncIterator[None]:
    """While this goes on. A run that was told its budget (`said`) keeps to that, whatever the file says."""
    if said != Budget():
        yield
        return
    watching = asyncio.create_task(_watching(house, loop, tell))
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watching(house: House, loop: Loop, tell: Callable[[str], object]) -> None:
    path = house.home / configuration.FILE_NAME
    known: object = ()  # the file is read once in any case: it may have changed since this house was opened
    in_force = house.config.schedule.limits
    while True:
        await asyncio.sleep(LOOK_S)
        if (now := stamp(path)) == known:
            continue
        known = now
        try:
            wanted = configuration.load(house.home).schedule.limits
        except RecrawlError as problem:  # somebody is at it, or has made a mistake: go on as before
            tell(f"The settings changed and cannot be used: {problem}")
            continue
        if wanted == in_force:
            continue
        in_force = wanted
        await house.worker.call(loop.rebudget, wanted.visits_per_day, wanted.bytes_per_day)
        tell(f"The budget is {wanted} from now on, as the settings have it.")
