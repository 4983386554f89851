"""Rendered fetches: a page as a real browser would show it, once its scripts have run.

The browser fetches nothing itself. The page and all that its scripts ask for come through the same web
fetcher as everything else, with its robots.txt, its delays, its shield and its limits.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from recrawl.contracts import Clock, Fetcher
from recrawl.errors import BadUrlError
from recrawl.model import Access, Failure, Fetch, Header, Kind, Manner, Outcome, Request
from recrawl.observe.chromium import NO_LIBRARY, BrowserError, Chromium
from recrawl.observe.rendering import Ask, Rendered, RenderLimits, rendered
from recrawl.urls import host_key, parsed

if TYPE_CHECKING:
    from playwright.async_api import Playwright

__all__ = ["RENDERED", "Browser", "RenderLimits"]

RENDERED = "X-Recrawl-Rendered"  # marks a body that a browser made; says which, and out of how many requests

_NOBODY = Access()
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
# They speak of the bytes that the server sent: what a browser made of them may change while they do not.
_OF_THE_WIRE = frozenset(
    ("content-type", "content-encoding", "content-length", "transfer-encoding", "etag", "last-modified")
)


class Browser:
    """Renders pages. Nothing is started before the first one."""

    schemes: frozenset[str] = frozenset()  # it claims nothing: a resource's manner asks for it
    kinds: frozenset[Kind] = frozenset()
    media_types: frozenset[str] = frozenset()

    def __init__(self, *, clock: Clock, user_agent: str, limits: RenderLimits | None = None) -> None:
        self._clock = clock
        self._user_agent = user_agent
        self._limits = limits or RenderLimits()
        self._free = asyncio.Semaphore(self._limits.n_browsers)
        self._idle: list[Chromium] = []
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None

    async def fetch(self, request: Request, web: Fetcher) -> Fetch:
        """The page as it is once its scripts have run; what is no page, or not there, as it came."""
        started_at = self._clock.now()
        try:
            # A browser first: to ask a server for a page that cannot be shown would be a waste of its time.
            async with self._chromium(request.not_after_at) as chromium:
                first = await web.fetch(_plain(request))
                if first.outcome is not Outcome.OK or first.media_type not in _PAGES or not first.body:
                    return replace(first, request=request)
                return await self._rendered(request, first, chromium, web)
        except BrowserError as problem:
            return Fetch(
                request=request,
                outcome=Outcome.BLOCKED,
                url=request.url,
                started_at=started_at,
                ended_at=self._clock.now(),
                failure=Failure(reason="browser", detail=str(problem)),
            )

    async def aclose(self) -> None:
        while self._idle:
            await self._idle.pop().aclose()
        if self._playwright is not None:
            await self._playwright.stop()
            self._playwright = None

    # -- browsers --------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _chromium(self, not_after_at: float) -> AsyncIterator[Chromium]:
        """A browser of one's own, as soon as one is free."""
        left_s = (not_after_at - self._clock.now()) / self._clock.speed
        try:
            async with asyncio.timeout(left_s if isfinite(left_s) else None):
                await self._free.acquire()
        except TimeoutError:
            raise BrowserError(
                f"all {self._limits.n_browsers} browsers were busy for too long; raise fetching.browsers"
            ) from None
        try:
            chromium = self._idle.pop() if self._idle else await self._another()
            try:
                await chromium.start()
                yield chromium
            finally:
                self._idle.append(chromium)
        finally:
            self._free.release()

    async def _another(self) -> Chromium:
        async with self._starting:
            if self._playwright is None:
                try:
                    from playwright.async_api import async_playwright
                except ImportError:
                    raise BrowserError(NO_LIBRARY) from None
                self._playwright = await async_playwright().start()
        limits = self._limits
        return Chromium(self._playwright, memory_bytes=limits.memory_bytes, n_pages=limits.n_pages)

    # -- one page --------------------------------------------------------------------------------------

    async def _rendered(self, request: Request, first: Fetch, chromium: Chromium, web: Fetcher) -> Fetch:
        from playwright.async_api import Error

        waits = [first.wait_s]
        left_s = (request.not_after_at - self._clock.now()) / self._clock.speed
        limits = replace(self._limits, total_s=max(0.0, min(self._limits.total_s, left_s)))
        agent = request.manner.user_agent or self._user_agent
        try:
            async with chromium.context(user_agent=agent) as context:
                page = await rendered(context, first, ask=_asking(request, web, waits), limits=limits)
        except (BrowserError, Error) as problem:
            why = str(problem).partition("\n")[0][:200]
            if chromium.too_large:
                why = f"it took more than {limits.memory_bytes >> 20} MiB of memory"
            outcome, failure = Outcome.UNREADABLE, Failure(reason="browser", detail=why)
            made = replace(first, outcome=outcome, failure=failure)
        else:
            made = _made(page, chromium.name, limits)
        return replace(
            made,
            request=request,
            hops=first.hops,
            started_at=first.started_at,
            ended_at=self._clock.now(),
            wait_s=max(waits),
        )


def _plain(request: Request) -> Request:
    """Without validators: what the scripts fetch may have changed where the page around them has not."""
    manner = replace(request.manner, render=None)
    return replace(request, etag=None, last_modified=None, manner=manner)


def _asking(request: Request, web: Fetcher, waits: list[float]) -> Ask:
    """How the page's scripts ask the web.

    What was allowed for the resource (private addresses, secrets) holds for its own origin alone, scheme and
    port included: a page decides what its scripts ask for, and they can tell others what they read.
    """
    home = parsed(request.url).origin()
    access = request.access or _NOBODY
    lines: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask(url: str, accept: str, reader: str) -> Fetch:
        try:
            host = host_key(url)
            at_home = parsed(url).origin() == parsed(reader).origin() == home
        except BadUrlError:
            host, at_home = "", False  # the fetcher says what is wrong with it
        asked = Request(
            url=url,
            accept=accept,
            allow_private=request.allow_private and at_home,
            access=access if at_home else replace(_NOBODY, proxy=access.proxy),
            manner=Manner(
                insecure=request.manner.insecure if at_home else None,
                user_agent=request.manner.user_agent,
            ),
            not_after_at=request.not_after_at,
            leased_host=request.leased_host,
        )
        async with lines[host]:  # one after another here: else they would wait for each other at the gate
            fetch = await web.fetch(asked)
        if at_home:
            waits.append(fetch.wait_s)
        return fetch

    return ask


def _made(page: Rendered, browser: str, limits: RenderLimits) -> Fetch:
    body = page.html.encode("utf-8", "replace")
    outcome, failure = Outcome.OK, None
    if page.cut or page.missing:
        outcome, failure = Outcome.TRUNCATED, _shortcoming(page, limits)
    if len(body) > limits.body_bytes:
        body = body[: limits.body_bytes]
        outcome = Outcome.TRUNCATED
        failure = Failure(reason="length", detail=f"cut after {limits.body_bytes:,} bytes")
    kept: tuple[Header, ...] = tuple(
        (name, value)
        for name, value in page.document.headers
        if name.lower() not in _OF_THE_WIRE and name.lower() != RENDERED.lower()
    )
    marks = (
        ("Content-Type", "text/html; charset=utf-8"),
        (RENDERED, f"{browser}; requests={page.n_requests}"),
    )
    return replace(
        page.document, outcome=outcome, failure=failure, headers=(*kept, *marks), body=body, wire=body
    )


def _shortcoming(page: Rendered, limits: RenderLimits) -> Failure:
    if page.cut == "time":
        detail = f"its scripts were not done within {limits.total_s:.0f} s; raise fetching.render_timeout"
        return Failure(reason="time", detail=detail)
    if page.cut:
        detail = f"its scripts asked for more than {limits.n_requests} things; raise fetching.render_requests"
        return Failure(reason="requests", detail=detail)
    others = f" and {len(page.missing) - 1} more" if len(page.missing) > 1 else ""
    return Failure(reason="parts", detail=f"{page.missing[0]}{others} could not be had this time")
