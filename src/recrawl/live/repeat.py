"""A second look, moments after the first: what differs between the two is noise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from recrawl.contracts import Clock, Fetcher
from recrawl.live.pause import pause
from recrawl.model import Fetch, Request

MOST_REST_S = 60.0  # a host that wants to be left alone for longer is not asked twice


async def second_look(
    request: Request,
    first: Fetch,
    *,
    fetcher: Fetcher,
    clock: Clock,
    min_delay_s: float,
    stopping: asyncio.Event,
    charge: Callable[[int, int], Awaitable[object]],
) -> Fetch | None:
    """The same once more, as soon as the host may be asked again; None where that cannot wait.

    It costs a visit like any other: `charge` takes so many visits and bytes off the allowance.
    """
    rest_s = max(min_delay_s, first.wait_s)
    if rest_s > MOST_REST_S or clock.now() + rest_s >= request.not_after_at:
        return None
    await pause(rest_s, clock=clock, until=stopping)
    if stopping.is_set():
        return None
    # Until it is down it weighs what the first did: else all that is in the air would be granted these bytes.
    await charge(1, len(first.body))
    # Without validators: whether it is the same as a moment ago is what we want to see for ourselves.
    again = await fetcher.fetch(replace(request, etag=None, last_modified=None))
    await charge(0, len(again.body) - len(first.body))
    return again
