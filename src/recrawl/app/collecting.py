"""Collecting whole sites, breadth first, through the same runner as every other visit.

The sites go down level by level, each by itself; their hosts are asked as politely as ever, and only while
the budget has a visit free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import TYPE_CHECKING

from recrawl.app import rounds
from recrawl.app.descent import Descent, Level, root_of
from recrawl.app.frontier import Wish
from recrawl.app.quantity import iso
from recrawl.app.rows import Row
from recrawl.app.sites import Site, host_of
from recrawl.errors import BadInputError, StoreError
from recrawl.model import DAY_S, Lease, Scope, ScopeKind, Settings

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.rounds import Tally
    from recrawl.live.runner import Landed
    from recrawl.loop import Loop

__all__ = ["Collecting", "Wish", "collect", "sites_named"]

MOST_DEPTH = 20
PATIENCE_S = 900.0  # on the wall: a host that wants to be left alone for longer is left for another day
N_READERS = 2  # as many as there are parsing processes


def sites_named(words: Sequence[str], *, host_only: bool = False) -> list[Site]:
    """Those that were asked for; none may be part of another."""
    sites = list(dict.fromkeys(Site.named(word, host_only=host_only) for word in words))
    for n, site in enumerate(sites):
        for other in sites[:n]:
            if site.overlaps(other):
                raise BadInputError(
                    f"{site.root} and {other.root} are one site; collect one after the other."
                )
    return sites


class Collecting:
    """The turns of a run that collects sites. `line` may be asked in any thread."""

    def __init__(self, house: House, sites: Sequence[Site], wish: Wish) -> None:
        self.descents: list[Descent] = []
        self.loop: Loop | None = None
        self._house = house
        self._sites = sites
        self._wish = wish
        self._readers = ThreadPoolExecutor(N_READERS, "recrawl-links")
        self._owners: dict[str, Descent | None] = {}  # by host
        self._known = False
        self._n_turns = 0
        self._poor, self._wake_at, self._free_at = False, inf, inf

    def begun(self, loop: Loop) -> Collecting:
        self.loop = loop
        self.descents = [
            Descent(site, self._wish, loop, self._house.archive, self._readers) for site in self._sites
        ]
        return self

    def due(self, now: float, limit: int) -> list[Lease]:
        assert self.loop is not None  # noqa: S101 - a run has begun
        if not self._known:
            self._recall()
        n_free = self.loop.n_free(now)
        self._poor, limit = n_free < 1, int(min(limit, n_free))
        self._n_turns += 1
        first = self._n_turns % len(self.descents)
        leases: list[Lease] = []
        for descent in self.descents[first:] + self.descents[:first]:
            try:
                leases += descent.due(now, limit - len(leases), self._house.clock.speed)
            except StoreError:
                if not leases:
                    raise
                break  # else nobody would hold those; the trouble shows again at the next turn
        return leases

    def wake_at(self, now: float) -> float:
        assert self.loop is not None  # noqa: S101 - a run has begun
        speed, free_at = self._house.clock.speed, self.loop.purse.ready_at(now) if self._poor else now
        self._free_at, wake_at = free_at, inf
        for descent in self.descents:
            ready_at = descent.wake_at(now, speed)
            wake_at = min(wake_at, max(ready_at, free_at) if descent.visiting else ready_at)
        self._wake_at = wake_at
        return wake_at

    def over(self, began_at: float, now: float) -> bool:  # noqa: ARG002 - every level has its own beginning
        """Asked while nothing is in the air."""
        speed = self._house.clock.speed
        left = [descent for descent in self.descents if not descent.over]
        if left and all(one.visiting and one.wake_at(now, speed) > now + PATIENCE_S * speed for one in left):
            for one in left:
                one.count()
                one.give_up(f"{one.site.name} is in trouble, or asked to be left alone; go on later")
            return True
        return not left

    def landed(self, one: Landed) -> None:
        owner = self._owner(host_of(one.lease.resource.url))
        if owner is not None:
            owner.n_landed += 1

    def poor_until(self, now: float) -> str:
        """When the budget has a visit free again; empty where it has one."""
        return (iso(self._free_at) or "") if self._poor and now < self._free_at else ""

    def line(self, now: float) -> str:
        """How far it is, for people."""
        going = [one for one in self.descents if not one.over]
        if not going:
            return "Ending …" if self.descents else "Starting …"
        depths = sorted({one.frontier.depth for one in going})
        level = f"level {depths[0]}" if len(depths) == 1 else f"levels {depths[0]} to {depths[-1]}"
        named = going[0].site.name if len(going) == 1 else f"{len(going):,} sites"
        wait_s = self._wake_at - now
        waits = ""
        if self.poor_until(now):
            waits = f"; waiting for the budget until {self.poor_until(now)}"
        elif 1.0 <= wait_s < inf:
            waits = f"; waiting {wait_s:,.0f} s to be polite"
        return (
            f"{named}, {level}: {sum(one.n_landed for one in going):,} of "
            f"{sum(one.n_todo for one in going):,} visited, "
            f"{sum(one.frontier.n_found for one in going):,} found{waits}"
        )

    def close(self) -> None:
        self._readers.shutdown(cancel_futures=True)

    def _recall(self) -> None:
        """The first pages, and what was collected before, with the same tag."""
        for descent in self.descents:
            root = self._house.store.find(descent.site.root)
            if root is not None:
                descent.frontier.join(root.id, root.url, 1)
        for tag in dict.fromkeys(descent.tag for descent in self.descents):
            for resource, _, _ in self._house.store.resources(tag=tag):
                owner = self._owner(host_of(resource.url))
                if resource.depth is not None and owner is not None and owner.tag == tag:
                    owner.frontier.know(resource.id, resource.url)
        self._known = True

    def _owner(self, host: str) -> Descent | None:
        if host not in self._owners:
            holds = (one for one in self.descents if one.site.holds(f"http://{host}/"))
            self._owners[host] = next(holds, None)
        return self._owners[host]


async def collect(
    house: House,
    sites: Sequence[Site],
    wish: Wish,
    *,
    daily: bool = False,
    for_s: float = inf,
    per_day: float | None = None,
    bytes_per_day: float | None = None,
    begun: Callable[[Collecting], object] = lambda _: None,
    tell: Callable[[str], object] = lambda _: None,
) -> tuple[Collecting, Tally]:
    """Collect these sites, or go on with them; until all is there, for this long, or until a signal."""
    now, roots = house.clock.now(), [root_of(site, wish) for site in sites]
    house.store.add(roots, now)
    if daily:
        for tag in dict.fromkeys(tag for root in roots for tag in root.tags):
            once_a_day = Settings(min_gap_s=DAY_S, max_gap_s=DAY_S)
            house.store.say(Scope(ScopeKind.TAG, tag), once_a_day, now)
    collecting = Collecting(house, sites, wish)
    try:
        tally = await rounds.run(
            house,
            for_s=for_s,
            per_day=per_day,
            bytes_per_day=bytes_per_day,
            allow_private=wish.allow_private,
            watch=lambda landed, _: collecting.landed(landed),
            begun=lambda *_: begun(collecting),
            tell=tell,
            turns=collecting.begun,
        )
    finally:
        collecting.close()
    for descent in collecting.descents:
        if not descent.over:
            descent.count()
    return collecting, tally


def site_row(descent: Descent) -> Row:
    """What became of a site, as JSON knows it."""
    return {
        "site": descent.site.name,
        "root": descent.site.root,
        "tag": descent.tag,
        "complete": descent.complete,
        "problem": descent.problem or None,
        "levels": [level_row(level) for level in descent.levels],
        "unread": descent.n_unread,
    }


def level_row(level: Level) -> Row:
    return {
        "level": level.level,
        "found": level.n_found,
        "chosen": level.n_chosen,
        "fetched": level.n_fetched,
        "gone": level.n_gone,
        "failed": level.n_failed,
        "blocked": level.n_blocked,
        "left": level.n_left,
    }
