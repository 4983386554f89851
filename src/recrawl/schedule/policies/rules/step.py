"""One step of any rule: which one it is, is a number, so that one compiled function serves all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recrawl.schedule.policies.rules import crawlers, readers, umbrich
from recrawl.schedule.policies.rules.crawlers import climbed, halved, multiplied, synchronised
from recrawl.schedule.policies.rules.readers import auto_ttl, commafeed, miniflux
from recrawl.schedule.policies.rules.umbrich import Numbers, Row, agreed, chained, windowed

FIXED, AGREED, WINDOWED, CHAINED, MULTIPLIED, SYNCHRONISED, HALVED, CLIMBED, MINIFLUX, COMMAFEED, AUTO_TTL = (
    range(11)
)


def step(code: int, p: Numbers, row: Row, at: float, elapsed_s: float, changed: bool) -> float:
    """Take in a visit that told something `elapsed_s` after the one before; the gap to the next."""
    if code == AGREED:
        return agreed(p, row, changed)
    if code == WINDOWED:
        return windowed(p, row, changed)
    if code == CHAINED:
        return chained(p, row, changed)
    if code == MULTIPLIED:
        return multiplied(p, row, changed)
    if code == SYNCHRONISED:
        return synchronised(p, row, at, elapsed_s, changed)
    if code == HALVED:
        return halved(p, row, changed)
    if code == CLIMBED:
        return climbed(p, row, changed)
    if code == MINIFLUX:
        return miniflux(p, row, at, changed)
    if code == COMMAFEED:
        return commafeed(p, row, at, changed)
    if code == AUTO_TTL:
        return auto_ttl(p, row, at, changed)
    return row[0]


# All that a step may call, for whoever compiles it.
STEPS: tuple[Callable[..., Any], ...] = (
    *(umbrich.within, umbrich.agreed, umbrich.n_snapshots, umbrich.windowed, umbrich.stretched),
    *(umbrich.chained, umbrich.rung, multiplied, synchronised, halved, crawlers.climbed),
    *(readers.noted, readers.entry, readers.n_since, miniflux, commafeed, auto_ttl, step),
)
