"""What would be watched, shown before it is: read from wherever it is listed, and judged as adding judges it.

A draft is made by whoever holds a token of the web face, and need not run this machine. So it names no files,
and private addresses only where the one who does has allowed them: for their host, for a tag that they are
given, or for everything.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from recrawl.app import gaps
from recrawl.app.build import House
from recrawl.app.lists import handed, pasted
from recrawl.app.sources import Found, Reader, Refused
from recrawl.app.watchlist import N_TOGETHER, Added, admitted, private_name
from recrawl.contracts import Store
from recrawl.errors import BadUrlError
from recrawl.model import GLOBAL, NewResource, Scope, ScopeKind, Settings, settled
from recrawl.urls import host_key, parsed

MOST = 50_000  # in one draft: what a sitemap may hold
READ_S = 120.0  # so long an address may take, with all that it leads to


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Where the URLs are: any of these, or several."""

    text: str = ""  # one a line
    address: str = ""  # of a sitemap, a feed or an OPML file
    name: str = ""  # of a file
    data: bytes = b""


@dataclass(slots=True, kw_only=True)
class Draft:
    settings: Settings
    tags: tuple[str, ...]
    new: list[NewResource] = field(default_factory=list)  # each URL once
    known: list[NewResource] = field(default_factory=list)  # watched already
    refused: Added = field(default_factory=Added)
    full: bool = False  # there was more


async def drafted(house: House, given: Given, settings: Settings, tags: tuple[str, ...]) -> Draft:
    """Nothing is added by it."""
    draft = Draft(settings=settings, tags=tags)
    allowed = lru_cache(maxsize=1_000)(lambda host: private_allowed(house.store, host, tags))
    vain = gaps.vain(house.store, settings, tags)
    seen: dict[str, NewResource] = {}
    private: dict[str, Refused] = {}
    async for item in _found(house, given, allowed):
        if len(seen) == MOST:
            draft.full = True
            break
        new = admitted(item, settings, tags, (), allowed=allowed, remedy=_REMEDY, vain=vain)
        if isinstance(new, Refused):
            # one that is private may be watched all the same: whoever runs this machine added it
            if isinstance(
                near := admitted(item, settings, tags, (), allowed=lambda _: True, vain=vain), Refused
            ):
                draft.refused.refuse(new)
                continue
            private.setdefault(near.url, new)
            new = near
        seen.setdefault(new.url, new)
    urls = list(seen)
    known: set[str] = set()
    for start in range(0, len(urls), N_TOGETHER):
        known |= house.store.known(urls[start : start + N_TOGETHER])
    draft.new = [new for url, new in seen.items() if url not in known and url not in private]
    clash = gaps.retagging(house.store, tags)
    for new in (new for url, new in seen.items() if url in known):
        if reason := clash(new.url):
            draft.refused.refuse(Refused(new.url, "", reason))
        else:
            draft.known.append(new)
    for url, refused in private.items():
        if url not in known:
            draft.refused.refuse(refused)
    return draft


_REMEDY = "who runs recrawl may allow it with `recrawl set --host {host} --allow-private --anyway`."


def private_allowed(store: Store, host: str, tags: tuple[str, ...]) -> bool:
    """Whether the one who runs this machine said so, of this host, of one of these tags or of everything."""
    near = [*(Scope(ScopeKind.TAG, tag) for tag in sorted(tags)), Scope(ScopeKind.HOST, host), GLOBAL]
    return settled(said for _, said in store.said(near)).allow_private


async def _found(house: House, given: Given, allowed: Callable[[str], bool]) -> AsyncIterator[Found]:
    for item in _at_hand(given):
        yield item
    if given.address:
        async for item in _fetched(house, given.address, allowed):
            yield item


def _at_hand(given: Given) -> Iterator[Found]:
    yield from pasted(given.text)
    if given.data:
        yield from handed(given.data, given.name or "the file")


async def _fetched(house: House, address: str, allowed: Callable[[str], bool]) -> AsyncIterator[Found]:
    """All that is listed there, on the web: a path would be read from the disk."""
    try:
        url = parsed(address)
    except BadUrlError as problem:
        yield Refused(address, "", str(problem))
        return
    private = allowed(host_key(url))
    if private_name(url.raw_host or "") and not private:
        remedy = _REMEDY.format(host=host_key(url))
        yield Refused(address, "", f"{url.raw_host} is on this machine or network; {remedy}")
        return
    try:
        async with asyncio.timeout(READ_S), house.fetcher() as fetcher:
            reader = Reader(fetcher, allow_private=private, access_at=house.secrets.access_at)
            async for item in reader.sitemap(str(url)):
                yield item
    except TimeoutError:
        reason = f"it took longer than {READ_S:g} seconds; add it with `recrawl add --sitemap {address}`."
        yield Refused(address, "", reason)


def watch(
    store: Store, draft: Draft, now: float, progress: Callable[[int], object] = lambda _: None
) -> Added:
    """Add what was drafted, many at a time; those known before only gain tags."""
    done = Added(n_refused=draft.refused.n_refused, refused=draft.refused.refused)
    waiting = [*draft.new, *draft.known]
    for start in range(0, len(waiting), N_TOGETHER):
        n_added, n_known = store.add(waiting[start : start + N_TOGETHER], now)
        done.n_added += n_added
        done.n_known += n_known
        progress(done.n_added + done.n_known)
    return done
