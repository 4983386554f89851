"""Slow questions of the overview, and for how long their answers hold: the same for pages and programs."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.app import hosts, overview, stream, vitals
from recrawl.app.doctor import Check
from recrawl.app.overview import Day, Progress
from recrawl.app.rows import Row
from recrawl.model import Changer, Failures
from recrawl.web.face.desk import Desk

_STALE_S = 3_600.0  # what is worked out anew meanwhile may be so old


async def day(desk: Desk) -> Day:
    return await desk.slow(overview.day, keep_s=10.0, late_s=_STALE_S)


async def progress(desk: Desk) -> Progress:
    """Of weeks: it holds for minutes."""
    return await desk.slow(overview.progress, keep_s=300.0, late_s=_STALE_S, long=True)


async def most_changed(desk: Desk, days: float, limit: int) -> Sequence[Changer]:
    """The longer the time, the more there is to count and the less a minute changes."""
    return await desk.slow(
        stream.most_changed, days, limit, keep_s=max(20.0 * days, 10.0), late_s=_STALE_S, long=days > 7.0
    )


async def failures(desk: Desk, limit: int) -> Sequence[Failures]:
    return await desk.slow(hosts.failures, None, limit, keep_s=60.0, late_s=_STALE_S)


async def checks(desk: Desk) -> list[Check]:
    return await desk.slow(vitals.checks, keep_s=30.0, late_s=600.0)


async def whole_round(desk: Desk) -> Row | None:
    return await desk.slow(vitals.whole_round, keep_s=600.0, late_s=_STALE_S, long=True)
