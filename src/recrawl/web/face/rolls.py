"""Lists of all that is watched, for pages and programs: columns that are kept a few seconds, rows read anew.

The columns come from the back room. They are asked for again as soon as resources, tags or settings have
changed, and every few seconds for what visits change; meanwhile the last ones serve.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from recrawl.app.build import House
from recrawl.app.chances import Chances, chances
from recrawl.app.roll import Line, Wanted, found, lines
from recrawl.model import Ints, Roll
from recrawl.web.face.backroom import StillWorkingError
from recrawl.web.face.desk import Desk

KEEP_S, LATE_S = 5.0, 60.0  # the columns
CHANCES_KEEP_S, CHANCES_LATE_S = 60.0, 600.0  # to work these out takes seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One page of a list."""

    lines: list[Line]
    n_found: int
    n_watched: int
    page: int
    n_pages: int
    chances: Chances | None  # None: they are being worked out


def rolled(house: House, said: str | None) -> Roll:  # noqa: ARG001 - another word, another answer
    return house.store.roll()


async def listed(
    desk: Desk, wanted: Wanted, page: int, size: int, *, visits: bool = True, wait: bool = False
) -> Listed:
    """The page of this number, or the last; chances are waited for where the list goes by them, or with
    `wait`."""
    roll = await _roll(desk)
    known = await _chances(desk, wait=wait or wanted.by_chance)

    def read(house: House) -> Listed:
        now = house.clock.now()
        ids = found(house.store, roll, wanted, now, known)
        n_pages = max(1, ceil(len(ids) / size))
        here = min(page, n_pages)
        shown = ids[(here - 1) * size : here * size].tolist()
        return Listed(
            lines=lines(house.store, shown, now, known, visits=visits),
            n_found=len(ids),
            n_watched=len(roll),
            page=here,
            n_pages=n_pages,
            chances=known,
        )

    return await desk.ask(read)


async def numbers(desk: Desk, wanted: Wanted) -> Ints:
    """Of all that are wanted."""
    roll = await _roll(desk)
    known = await _chances(desk, wait=wanted.by_chance)
    return await desk.ask(lambda house: found(house.store, roll, wanted, house.clock.now(), known))


async def _roll(desk: Desk) -> Roll:
    said = await desk.ask(lambda house: house.store.note("said"))
    return await desk.slow(rolled, said, keep_s=KEEP_S, late_s=LATE_S)


async def _chances(desk: Desk, *, wait: bool) -> Chances | None:
    try:
        return await desk.slow(
            chances, deadline_s=5.0 if wait else 0.0, keep_s=CHANCES_KEEP_S, late_s=CHANCES_LATE_S
        )
    except StillWorkingError:
        if wait:
            raise
        return None
