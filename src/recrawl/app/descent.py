"""One site, breadth first: all pages of a level are visited, then their links are read and some chosen.

Nothing is kept but what store and archive have anyway: resources with their depth and tag, visits, versions.
Whoever begins again reads the links of what was fetched already, and goes on from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from math import inf, isnan

from recrawl.app.frontier import Frontier, Read, Wish
from recrawl.app.sites import Site
from recrawl.app.sources import Candidate, Refused
from recrawl.app.watchlist import admitted
from recrawl.contracts import Archive
from recrawl.errors import BadUrlError, RecrawlError
from recrawl.live.turns import Round
from recrawl.loop import Loop
from recrawl.model import Lease, NewResource, Outcome, Resource, Settings, Standing, Version
from recrawl.parse.outlinks import outlinks
from recrawl.parse.pool import ParseFailed

N_FRUITLESS = 3  # rounds in a row in which nothing could be visited
_AGAIN_S = 0.05
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_START_BYTES = 1024

Row = tuple[Resource, Standing]


@dataclass(slots=True)
class Level:
    """What became of one level. `n_found` are addresses that were seen there first."""

    level: int
    n_found: int = 0
    n_chosen: int = 0
    n_fetched: int = 0
    n_gone: int = 0
    n_failed: int = 0
    n_blocked: int = 0  # robots.txt asks us to stay away
    n_left: int = 0  # not asked for yet


class Descent:
    """Asked in the loop's worker thread, but for its figures."""

    def __init__(self, site: Site, wish: Wish, loop: Loop, archive: Archive, readers: Executor) -> None:
        self.site = site
        self.wish = wish
        self.tag = wish.tag or site.name
        self.levels = [Level(1, n_found=1)]
        self.frontier = Frontier(site, wish)
        self.over = False
        self.problem = ""  # why it ended before its time, and what to do
        self.n_landed = self.n_todo = 0  # of the visits to be made on this level
        self.n_unread = 0
        self._loop = loop
        self._archive = archive
        self._readers = readers
        self._round: Round | None = None
        self._reading: deque[Future[Read]] | None = None
        self._n_landed_before = self._n_fruitless = 0

    @property
    def complete(self) -> bool:
        """Whether everything that should be there is, but for what is gone or must not be asked for."""
        missing = self.n_unread or any(level.n_failed or level.n_left for level in self.levels)
        return self.over and not self.problem and not missing

    @property
    def visiting(self) -> bool:
        return self._round is not None

    def due(self, now: float, limit: int, speed: float) -> list[Lease]:
        if self.over:
            return []
        if self._round is not None and not self._round.over(now, now):
            return self._round.due(now, limit)
        if self._reading is None:
            self._begin(now, speed)
        elif self._all_taken():
            self._descend(now)
        return []

    def wake_at(self, now: float, speed: float) -> float:
        if self.over:
            return inf
        if self._round is not None and not self._round.over(now, now):
            return self._round.wake_at(now)
        return now + _AGAIN_S * speed if self._reading else now

    def give_up(self, why: str) -> None:
        """What is left of this level stays due; deeper ones would not be what they should be."""
        self._round, self.over, self.problem = None, True, why

    def count(self) -> None:
        """Bring the present level's figures up to date."""
        rows, level = self._rows(), self.levels[-1]
        versions = [standing.version for _, standing in rows if standing.n_informative]
        untold = [resource for resource, standing in rows if _told_nothing(standing)]
        level.n_chosen = len(rows)
        level.n_found = max(level.n_found, len(rows))
        level.n_gone = sum(version is not None and version.gone for version in versions)
        level.n_fetched = len(versions) - level.n_gone
        level.n_blocked = sum(map(self._blocked, untold))
        level.n_failed = len(untold) - level.n_blocked
        level.n_left = len(rows) - len(versions) - len(untold)

    # -- visiting --------------------------------------------------------------------------------------

    def _begin(self, now: float, speed: float) -> None:
        """Visit what is left of this level; where nothing is, read what was fetched."""
        rows = self._rows()
        turns: dict[str, list[tuple[float, int]]] = {}
        for resource, standing in rows:
            if not standing.n_informative and standing.due_at <= now and not resource.effective.paused:
                turns.setdefault(resource.host, []).append((standing.due_at, resource.id))
        n_todo = sum(map(len, turns.values()))
        fruitless = self._round is not None and self.n_landed == self._n_landed_before
        self._n_fruitless = self._n_fruitless + 1 if fruitless else 0
        if n_todo and self._n_fruitless < N_FRUITLESS:
            self.n_todo, self._n_landed_before = self.n_landed + n_todo, self.n_landed
            self._round = Round(self._loop, turns, now, inf, speed)
            return
        self.count()
        if n_todo:
            self.give_up(f"another process is visiting {self.site.name}; collect it again after that")
            return
        self._round = None
        self._reading = deque(
            self._readers.submit(read, self._archive, resource.id, standing.version, self.wish.agent)
            for resource, standing in rows
            if standing.version is not None and not standing.version.gone
        )
        if self.frontier.depth == 1 and not self._reading:
            self._no_root(rows)

    def _no_root(self, rows: Sequence[Row]) -> None:
        visits = [visit for resource, _ in rows for visit in self._loop.store.visits(resource.id, 1)]
        why = visits[0].evidence if visits else "it is paused"
        self.give_up(f"{self.site.root} cannot be begun with ({why}); try again later, or another page")

    def _rows(self) -> list[Row]:
        found = (self._row(resource_id) for resource_id in self.frontier.members[self.frontier.depth])
        return [row for row in found if row is not None]

    def _row(self, resource_id: int) -> Row | None:
        """None where it was removed meanwhile."""
        page = self._loop.store.resources(after=resource_id - 1, limit=1)
        return next(((one, standing) for one, standing, _ in page if one.id == resource_id), None)

    def _blocked(self, resource: Resource) -> bool:
        visits = self._loop.store.visits(resource.id, 1)
        return any(one.outcome is Outcome.BLOCKED and one.evidence.startswith("robots") for one in visits)

    # -- reading ---------------------------------------------------------------------------------------

    def _all_taken(self) -> bool:
        """Take in what was read so far, in the order of the pages; whether that was all."""
        assert self._reading is not None  # noqa: S101 - whoever calls has looked
        while self._reading and self._reading[0].done():
            page = self._reading[0].result()
            self.n_unread += page.failed
            on_site = self.frontier.take(page)
            if self.frontier.depth == 1:
                self.problem = self._rootless(page, on_site)
            self._reading.popleft()
        return not self._reading

    def _rootless(self, page: Read, on_site: bool) -> str:
        """Why nothing can be collected from this first page; empty where something can."""
        root = self.site.root
        if not on_site:
            place, _, _ = page.url.partition("?")  # what follows may be a secret
            return f"{root} leads to {place}, off the site; collect that one instead"
        if self.wish.depth == 1 or self.frontier.n_found:
            return ""
        if page.failed:
            why = "its links cannot be read"
        elif page.links and all(link.nofollow for link in page.links):
            why = "it asks that its links are not followed"
        else:
            why = page.barren or "it has no link to its own site"
        return f"{root} leads nowhere ({why}); begin with another page, or use --depth 1"

    def _descend(self, now: float) -> None:
        """The next level, all of it in one transaction; or the end."""
        frontier = self.frontier
        frontier.rejoin()
        self._add(frontier.chosen(), frontier.depth + 1, now)
        links = frontier.links()
        if len(links):
            self._loop.store.connect(links[:, 0], links[:, 1])
        self._reading = None
        self.over = frontier.depth == self.wish.depth or not frontier.members.get(frontier.depth + 1)
        if not self.over:
            self.levels.append(Level(frontier.depth + 1, frontier.descend()))
            self.n_landed = self.n_todo = self._n_landed_before = 0
            self.count()

    def _add(self, chosen: Sequence[str], depth: int, now: float) -> None:
        store = self._loop.store
        found = [admitted_page(self._spelt(url), self.site, self.wish, depth) for url in chosen]
        new = [one for one in found if isinstance(one, NewResource)]
        if new:
            store.add(new, now)
        for one in new:
            resource = store.find(one.url)
            if resource is not None:
                self.frontier.join(resource.id, resource.url, depth)

    def _spelt(self, url: str) -> str:
        """With http or https, as it is watched already."""
        scheme, _, rest = url.partition("://")
        other = f"{'http' if scheme == 'https' else 'https'}://{rest}"
        find = self._loop.store.find
        return other if find(url) is None and find(other) is not None else url


def admitted_page(url: str, site: Site, wish: Wish, depth: int) -> NewResource | Refused:
    settings = Settings(allow_private=wish.allow_private or None)
    new = admitted(Candidate(url, site.root), settings, (wish.tag or site.name,), ())
    return new if isinstance(new, Refused) else replace(new, depth=depth)


def root_of(site: Site, wish: Wish) -> NewResource:
    root = admitted_page(site.root, site, wish, 1)
    if isinstance(root, Refused):
        raise BadUrlError(root.reason)
    return root


def read(archive: Archive, resource_id: int, version: Version, agent: str) -> Read:
    """What is not HTML leads nowhere. Called in threads of its own: a hostile page takes seconds."""
    nothing = Read(resource_id, "", version.digest)
    if version.media_type and version.media_type not in _HTML:
        return replace(nothing, barren=f"it is {version.media_type}, not HTML")
    try:
        page = archive.snapshot(version)
    except RecrawlError:
        return replace(nothing, failed=True)
    if not version.media_type and b"<html" not in bytes(page.body[:_START_BYTES]).lower():
        return replace(nothing, barren="it is no HTML")
    links = outlinks(page.body, page.charset, page.url, page.headers, agent=agent)
    if isinstance(links, ParseFailed):
        return Read(resource_id, page.url, version.digest, failed=True)
    return Read(resource_id, page.url, version.digest, links)


def _told_nothing(standing: Standing) -> bool:
    return not standing.n_informative and not isnan(standing.last_at)
