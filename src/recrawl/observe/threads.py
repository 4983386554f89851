"""Looks at a thread: the page where the last visit stopped, and those that have come after it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from recrawl.contracts import Fetcher, Premises
from recrawl.errors import BadUrlError
from recrawl.model import Failure, Fetch, Header, Kind, Leaf, Outcome, Request
from recrawl.parse import charset, threads
from recrawl.parse.html import tame, too_large
from recrawl.parse.pool import ParseFailed, shared
from recrawl.urls import canonical, host_key, parsed

MAX_PAGES = 20  # of one visit: the next one goes on there
PAGES_HEADER = "X-Crawler-Pages"
_VALIDATORS = frozenset({"etag", "last-modified"})
_PERMANENT = frozenset({301, 308})
_BUSY = frozenset({408, 429})  # statuses that tell of the moment and not of the page


@dataclass(slots=True, kw_only=True)
class _Walk:
    """The pages of one visit, as far as it has come."""

    fetches: list[Fetch] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    ahead: dict[str, Fetch] = field(default_factory=dict)  # by address: asked for before their turn
    leaning: bool = False  # the last page can be read with the one before it alone
    n_bytes: int = 0
    wait_s: float = 0.0
    started_at: float
    ended_at: float = 0.0
    stopped: Failure | None = None  # why it did not come to the end
    spoilt: bool = False  # and that nothing can be made of it

    def take(self, fetch: Fetch, leaf: Leaf) -> None:
        self.fetches.append(fetch)
        self.leaves.append(leaf)
        self.n_bytes += len(fetch.body)

    def heard(self, fetch: Fetch) -> None:
        self.wait_s = max(self.wait_s, fetch.wait_s)
        self.ended_at = fetch.ended_at

    def next_url(self) -> str:
        """Where the last page leads, if that is on its host and was not visited yet."""
        leaf, here = self.leaves[-1], self.fetches[-1].url
        if not leaf.posts or not leaf.next_url:
            return ""
        try:
            known = {canonical(fetch.url) for fetch in self.fetches}
            follows = host_key(leaf.next_url) == host_key(here) and canonical(leaf.next_url) not in known
        except BadUrlError:
            return ""
        return leaf.next_url if follows else ""

    def repeats(self, leaf: Leaf) -> bool:
        """Whether a page says nothing that others have not said: some sites show the last page for ever."""
        said = {post.key for known in self.leaves for post in known.posts}
        return all(post.key in said for post in leaf.posts)

    def strays(self, fetch: Fetch) -> bool:
        """Whether a further page was redirected to another host: only a thread's own address may be."""
        return not _same_host(fetch.url, self.fetches[0].url)


class ThreadHandler:
    """One visit asks for the page where the last one stopped, then for those that follow it, `MAX_PAGES` in
    all.

    Where one page was fetched, its bytes are the body; where several were, they are one of multipart/mixed,
    and the address is the last one's: the next visit begins there. Of a thread that is longer than
    `MAX_PAGES` the first visit takes the first page and the last. If a later page fails, has no posts or is
    on another host, what came before it counts, without validators, so that the next visit cannot be told
    that nothing is new.
    """

    schemes: frozenset[str] = frozenset()
    kinds = frozenset({Kind.THREAD})
    media_types: frozenset[str] = frozenset()

    def __init__(self, premises: Premises) -> None:
        self._max_bytes = premises.max_bytes

    async def aclose(self) -> None:
        """Nothing is open."""

    async def fetch(self, request: Request, web: Fetcher) -> Fetch:
        max_bytes = request.manner.max_bytes or self._max_bytes
        anew = not request.resume_url
        elsewhere = request.resume_url not in ("", request.url)
        first = await web.fetch(_asking(request, request.resume_url or request.url))
        walk = _Walk(started_at=first.started_at)
        walk.heard(first)
        if elsewhere and _astray(first, request.resume_url):
            # Posts were removed, or the thread has moved: it is read from its beginning again.
            anew, elsewhere = True, False
            first = await web.fetch(_page(request, request.url))
            walk.heard(first)
        if first.outcome is not Outcome.OK:
            return _whole(walk, first, request, elsewhere)
        walk.take(first, await _read(first))
        if anew:
            await self._jump(walk, request, web, max_bytes)
        await self._follow(walk, request, web, max_bytes)
        return _made(walk, request, elsewhere)

    async def _jump(self, walk: _Walk, request: Request, web: Fetcher, max_bytes: int) -> None:
        """From the first page of a long thread to its last; where all can be walked, that waits its turn."""
        last_url = walk.leaves[0].last_url
        if not walk.next_url() or last_url in ("", walk.leaves[0].next_url, walk.fetches[0].url):
            return
        if not _same_host(last_url, walk.fetches[0].url):
            return
        last = await web.fetch(_page(request, last_url))
        walk.heard(last)
        if last.outcome is not Outcome.OK:
            return
        walk.ahead[canonical(last_url)] = last
        if walk.strays(last) or walk.n_bytes + len(last.body) > max_bytes:
            return
        leaf = await _read(last)
        if leaf.number > MAX_PAGES and leaf.posts and not walk.repeats(leaf):
            walk.take(last, leaf)

    async def _follow(self, walk: _Walk, request: Request, web: Fetcher, max_bytes: int) -> None:
        while url := walk.next_url():
            if len(walk.fetches) >= MAX_PAGES:
                walk.stopped = _unfinished(f"{MAX_PAGES} pages were read; the next visit goes on there")
                return
            fetch = walk.ahead.get(canonical(url))
            if fetch is None:
                fetch = await web.fetch(_page(request, url))
                walk.heard(fetch)
            if fetch.outcome is not Outcome.OK:
                walk.stopped = _unfinished(f"the next page could not be read, {fetch.trouble}")
                return
            if walk.strays(fetch):
                walk.stopped = _unfinished("the next page leads to another host")
                return
            if walk.n_bytes + len(fetch.body) > max_bytes:
                walk.spoilt = len(walk.fetches) == 1  # the next visit would come no further
                told = f"together they are more than {max_bytes:,} bytes; raise --max-bytes"
                walk.stopped = Failure(reason="length", detail=told) if walk.spoilt else _unfinished(told)
                return
            leaf = await _read(fetch)
            leaning = not leaf.posts
            if leaning:
                leaf = await _read(fetch, walk.fetches[-1])
            if not leaf.posts:  # "down for maintenance" is no end of a thread
                walk.stopped = _unfinished("no posts are found on the next page")
                return
            if walk.repeats(leaf):
                return
            walk.take(fetch, leaf)
            walk.leaning = leaning


# -- what is asked -------------------------------------------------------------------------------------


def _asking(request: Request, url: str) -> Request:
    """For one page. What opens the door of the resource's host is shown to no other."""
    access = request.access if url == request.url or _same_origin(url, request.url) else None
    return replace(request, url=url, access=access, resume_url="")


def _page(request: Request, url: str) -> Request:
    """For a page that we hold no copy of."""
    return replace(_asking(request, url), etag=None, last_modified=None)


def _same_origin(url: str, other: str) -> bool:
    try:
        return parsed(url).origin() == parsed(other).origin()
    except (BadUrlError, ValueError):
        return False


def _same_host(url: str, other: str) -> bool:
    try:
        return host_key(url) == host_key(other)
    except BadUrlError:
        return False


# -- what came back ------------------------------------------------------------------------------------


def _astray(fetch: Fetch, url: str) -> bool:
    """Whether the page where we stopped is not to be had any more, while the thread may well be."""
    if fetch.outcome is Outcome.GONE:
        return True
    if fetch.outcome is Outcome.OK:
        return not _same_host(fetch.url, url)
    if fetch.outcome is Outcome.BLOCKED:
        return fetch.failure is not None and fetch.failure.reason == "robots"
    refused = fetch.status is not None and 400 <= fetch.status < 500 and fetch.status not in _BUSY
    return fetch.outcome is Outcome.HTTP_ERROR and refused


async def _read(fetch: Fetch, before: Fetch | None = None) -> Leaf:
    """The page; without posts where it cannot be read, so that nothing is followed from it."""
    if too_large(fetch.body) is not None:
        return Leaf(url=fetch.url, posts=())
    pages = [_page_of(one) for one in (before, fetch) if one is not None]
    if all(tame(page.body) for page in pages):
        try:
            return threads.leaves(pages, fetch.ended_at)[-1]
        except (ValueError, RecursionError):
            return Leaf(url=fetch.url, posts=())
    found = await asyncio.to_thread(lambda: shared().run(threads.leaves, pages, fetch.ended_at))
    return Leaf(url=fetch.url, posts=()) if isinstance(found, ParseFailed) else found[-1]


def _page_of(fetch: Fetch) -> threads.Page:
    return threads.Page(
        url=fetch.url,
        body=bytes(fetch.body),
        media_type=fetch.media_type,
        charset=charset.said(fetch.header("content-type")),
    )


def _unfinished(detail: str) -> Failure:
    return Failure(reason="paging", detail=detail)


def _made(walk: _Walk, request: Request, elsewhere: bool) -> Fetch:
    """The visit as one fetch. Everything in it is the last page's, but for what is of them all."""
    whole = _whole(walk, walk.fetches[-1], request, elsewhere)
    if walk.stopped is not None or walk.leaning:
        headers = tuple(header for header in whole.headers if header[0].lower() not in _VALIDATORS)
        whole = replace(whole, headers=headers, failure=walk.stopped)
    if walk.leaning:  # the next visit begins on the page without which that one says nothing
        whole = replace(whole, url=walk.fetches[-2].url)
    if walk.spoilt:
        return replace(whole, outcome=Outcome.TRUNCATED)
    return whole if len(walk.fetches) == 1 else _together(whole, walk.fetches)


def _whole(walk: _Walk, last: Fetch, request: Request, elsewhere: bool) -> Fetch:
    # Where a later page has moved to is not where the thread has.
    moved = elsewhere and all(hop.status in _PERMANENT for hop in last.hops)
    return replace(
        last,
        request=request,
        started_at=walk.started_at,
        ended_at=walk.ended_at,
        wait_s=walk.wait_s,
        hops=() if moved else last.hops,
        unverified=last.unverified or any(fetch.unverified for fetch in walk.fetches),
    )


def _together(whole: Fetch, fetches: Sequence[Fetch]) -> Fetch:
    pages = [_page_of(fetch) for fetch in fetches]
    content_type, body = threads.bundled(pages)
    # The validators are the last page's: that is the one which will be asked for with them.
    told = (header for header in whole.headers if header[0].lower() in _VALIDATORS)
    headers: tuple[Header, ...] = (
        ("Content-Type", content_type),
        ("Content-Length", str(len(body))),
        (PAGES_HEADER, str(len(pages))),  # no server sent this document: it was put together here
        *told,
    )
    # The redirects of a page lead to that page, not to the whole.
    return replace(whole, headers=headers, body=body, wire=b"", hops=())
