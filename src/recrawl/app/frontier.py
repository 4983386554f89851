"""Which addresses of a site are known, and which of those found on a level are taken into the next one.

At most so many a level, and so many a host. Where more were found, it is a sample: every address has a random
number of its own, and the smallest are taken. So the choice depends neither on the order of the links nor on
where a collection was broken off; a calendar or a maze gets no more of it than its share of the links.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from recrawl.app.sites import Site, host_of, number, plain, winding
from recrawl.model import Ints
from recrawl.parse.outlinks import Outlink

MOST_FOUND = 1_000_000  # addresses of a site; of each, eight bytes are remembered


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be collected of each site."""

    depth: int = 9
    per_level: int = 500
    most: int = 5_000  # resources of one host
    seed: int = 1
    tag: str | None = None  # None: the site's name
    allow_private: bool = False
    agent: str = "recrawl"


@dataclass(frozen=True, slots=True)
class Read:
    """A page that was fetched, and where it leads."""

    resource_id: int
    url: str  # where the answer came from; empty: nobody asked
    digest: str
    links: tuple[Outlink, ...] = ()
    failed: bool = False  # what it holds could not be read
    barren: str = ""  # why nothing leads on from here, whatever it holds


class Frontier:
    def __init__(self, site: Site, wish: Wish) -> None:
        self.site = site
        self.wish = wish
        self.depth = 1  # of the level whose pages are read
        self.members: dict[int, list[int]] = {1: []}  # of each level, the resources
        self.n_found = 0  # for the next level, so far
        self._joined: set[int] = set()
        self._ids: dict[int, int] = {}  # by address, whatever is known
        self._n_of_host: Counter[str] = Counter()
        self._seen: set[int] = set()  # addresses
        self._bodies: set[str] = set()
        self._targets: dict[int, list[int]] = {}  # of each page of this level, addresses
        self._candidates: dict[int, str] = {}  # for the next, by address
        self._recalled: set[int] = set()  # for the next, addresses of what was collected before

    def know(self, resource_id: int, url: str) -> None:
        """It was collected before, perhaps from another first page. Whether it is part of this collection is
        seen when a link leads there."""
        address = self._address(url)
        if address not in self._ids:
            self._ids[address] = resource_id
            self._n_of_host[host_of(url)] += 1

    def join(self, resource_id: int, url: str, depth: int) -> None:
        """It is one of those that are collected."""
        self.know(resource_id, url)
        address = self._address(url)
        self._seen.add(address)
        if self._ids[address] == resource_id:
            self._take_in(resource_id, depth)

    def rejoin(self) -> None:
        """Of what was collected before, those found here are part of the next level, as many as it holds."""
        for address in sorted(self._recalled)[: self.wish.per_level]:
            self._take_in(self._ids[address], self.depth + 1)

    def _take_in(self, resource_id: int, depth: int) -> None:
        if resource_id not in self._joined:
            self._joined.add(resource_id)
            self.members.setdefault(depth, []).append(resource_id)

    def take(self, page: Read) -> bool:
        """Consider where a page of this level leads; False where a redirect led off the site, and nothing
        there is followed."""
        if page.url and not self.site.holds(page.url):
            return False
        if page.url:  # a redirect may have led there
            landed = self._address(page.url)
            self._seen.add(landed)
            self._ids.setdefault(landed, page.resource_id)
        # A page with the very content of another leads nowhere new, however its relative links are read.
        known = page.digest in self._bodies
        self._bodies.add(page.digest)
        targets: list[int] = []
        for link in page.links:
            if link.nofollow or not self.site.holds(link.url):
                continue
            url = plain(link.url)
            if winding(url):
                continue
            address = self._address(url)
            targets.append(address)
            if not known and self.depth < self.wish.depth:
                self._consider(address, url)
        self._targets[page.resource_id] = targets
        return True

    def chosen(self) -> list[str]:
        """What else is to be taken into the next level, beside what is in it already."""
        return list(self._sample().values())

    def links(self) -> Ints:
        """Who links to whom, a row for each pair of those collected so far; from this level alone."""
        pairs = {
            (from_id, self._ids[address])
            for from_id, addresses in self._targets.items()
            for address in addresses
            if address in self._ids and self._ids[address] != from_id
        }
        return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)

    def descend(self) -> int:
        """On to the next level; how many addresses were seen there first."""
        n_found, self.n_found = self.n_found, 0
        self.depth += 1
        self._targets, self._candidates, self._recalled = {}, {}, set()
        return n_found

    def _consider(self, address: int, url: str) -> None:
        if address in self._seen:
            if url.startswith("https:") and address in self._candidates:
                self._candidates[address] = url
            return
        if len(self._seen) >= MOST_FOUND:
            return
        self._seen.add(address)
        self.n_found += 1
        if address in self._ids:
            self._recalled.add(address)
        else:
            self._candidates[address] = url
            if len(self._candidates) > 4 * self.wish.per_level + 1_000:
                self._candidates = self._sample()  # what is not in it now is not in that of more either

    def _sample(self) -> dict[int, str]:
        room = self.wish.per_level - len(self.members.get(self.depth + 1, ()))
        n_of_host = self._n_of_host.copy()
        kept: dict[int, str] = {}
        for address in sorted(self._candidates):
            if len(kept) >= room:
                break
            host = host_of(self._candidates[address])
            if address not in self._ids and n_of_host[host] < self.wish.most:
                n_of_host[host] += 1
                kept[address] = self._candidates[address]
        return kept

    def _address(self, url: str) -> int:
        return number(plain(url), self.wish.seed)
