"""One page in a browser: what it may ask for, when it is done, and what it looks like then."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from yarl import URL

from recrawl.model import Fetch, Outcome
from recrawl.observe.chromium import BrowserError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page, Request, Route

T = TypeVar("T")

Ask = Callable[[str, str, str], Awaitable[Fetch]]  # a URL, what is accepted from it, the page that asks

# Pictures, fonts, sounds and styles change nothing in the text of a page; frames are not part of it.
_LOADED = frozenset({"document", "script", "xhr", "fetch"})
# About the bytes on the wire, about state, or about what the browser should do besides.
_NOT_PASSED_ON = frozenset(
    (
        *("content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "alt-svc"),
        *("content-disposition", "set-cookie", "strict-transport-security"),
        *("link", "nel", "report-to", "reporting-endpoints"),
    )
)
# The browser is told to keep these off the network, in words that have changed with its versions.
_WITHOUT = (
    "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete self[name]"
)
_FOR_NOW = frozenset({"wait", "late", "disk"})  # reasons for not asking that another time may not have
_LOOK_S = 0.05  # between two looks at whether a page is done


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderLimits:
    """How much a page may take. Times are on the wall."""

    total_s: float = 120.0  # from the first script to the last, turns at their hosts included
    quiet_s: float = 0.5  # nothing asked for so long, while the browser was seen to run: it is done
    hang_s: float = 10.0  # its scripts do not let go for so long: it is killed
    n_requests: int = 50
    body_bytes: int = 64 * 1024 * 1024
    memory_bytes: int = 1024 * 1024 * 1024  # of the whole browser
    n_browsers: int = 2  # at once, each with one page
    n_pages: int = 100  # after so many a browser is started anew


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A page as it was when it was done. `cut` says why it is not all of it."""

    document: Fetch  # the page that the browser ended at
    html: str
    cut: str = ""
    missing: tuple[str, ...] = ()  # what it asked for and, this time, could not have
    n_requests: int = 0


async def rendered(context: BrowserContext, first: Fetch, *, ask: Ask, limits: RenderLimits) -> Rendered:
    """Show `first` to a browser, bring it what its scripts ask for, and read the page that they make."""
    await context.add_init_script(_WITHOUT)
    page = await context.new_page()
    tab = _Tab(page, first, ask, limits)
    await context.route("**/*", tab.routed)
    await context.route_web_socket("**/*", lambda socket: socket.close())
    context.on("page", lambda other: _ignored(other.close()))
    try:
        cut = await tab.settled()
        html = await tab.answered(page.content())
        if page.url.startswith("chrome-error:"):
            raise BrowserError("the browser showed an error of its own in place of the page")
    finally:
        await tab.stop()
    return Rendered(
        document=tab.document,
        html=html,
        cut=cut,
        missing=tuple(tab.missing),
        n_requests=min(tab.n_asked, limits.n_requests),
    )


class _Tab:
    def __init__(self, page: Page, first: Fetch, ask: Ask, limits: RenderLimits) -> None:
        self._page = page
        self._ask = ask
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + limits.total_s
        self._flying: set[asyncio.Task[None]] = set()
        self._scripts: dict[str, asyncio.Task[Fetch | None]] = {}
        self._at_hand: Fetch | None = first  # what the next navigation is answered with
        self._elsewhere: Fetch | None = None  # a navigation of the page's own that was redirected
        self._stopped = False
        self.document = first
        self.missing: list[str] = []
        self.n_asked = 0
        self._n_asking = 0  # requests whose answer the page has not got
        self._n_moves = 0  # of requests, in and out

    async def settled(self) -> str:
        """Wait until the page is done; why it had to be stopped, if it had to be.

        Quiet is told by looks in a row, each of which the browser has answered: while a starved machine
        stands still the clock goes on, and a page that was about to ask would be taken for done.
        """
        await self._go(self.document)
        n_quiet, n_moves, n_enough = 0, -1, ceil(self._limits.quiet_s / _LOOK_S)
        while True:
            if self._elsewhere is not None:
                # A browser that was told to go elsewhere would go without asking us.
                self._at_hand, self._elsewhere = self._elsewhere, None
                await self._go(self._at_hand)
            complete = await self._complete()
            idle = complete and not self._n_asking and n_moves == self._n_moves
            n_quiet, n_moves = (n_quiet + 1 if idle else 0), self._n_moves
            if not self._n_asking and self.n_asked > self._limits.n_requests:
                return "requests"
            if n_quiet > n_enough:
                return ""
            if self._loop.time() >= self._deadline:
                return "time"
            await asyncio.sleep(_LOOK_S)

    async def answered(self, question: Awaitable[T]) -> T:
        """What the page answers, unless its scripts keep it from answering."""
        task = asyncio.ensure_future(question)
        done, _ = await asyncio.wait({task}, timeout=self._limits.hang_s)
        if not done:
            _ignored(task)
            raise BrowserError(f"its scripts did not let go within {self._limits.hang_s:g} s")
        return task.result()

    async def stop(self) -> None:
        """From now on the page gets nothing more."""
        self._stopped = True
        flying = [*self._flying, *self._scripts.values()]
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)

    def routed(self, route: Route, request: Request) -> None:
        """Every request of the browser's comes here and goes nowhere else."""
        if self._stopped:
            return
        task = asyncio.create_task(self._answer(route, request))
        self._flying.add(task)
        task.add_done_callback(self._flying.discard)

    async def _answer(self, route: Route, request: Request) -> None:
        from playwright.async_api import Error

        with suppress(Error):  # the page does not wait for it any more
            reply = await self._reply(request)
            if reply is None or reply.status is None:
                await route.abort("aborted")  # any other word would show an error in place of the page
            else:
                with self._moving():  # until the browser has it: on a busy machine that takes a while
                    await route.fulfill(
                        status=reply.status, headers=_passed_on(reply), body=bytes(reply.body)
                    )

    async def _reply(self, request: Request) -> Fetch | None:
        if request.method != "GET" or request.resource_type not in _LOADED:
            return None
        navigates = request.resource_type == "document"
        if navigates and request.frame != self._page.main_frame:
            return None
        if navigates and self._at_hand is not None:
            self.document, self._at_hand = self._at_hand, None
            return self.document
        fetch = await self._asked(request)
        if fetch is None:
            return None
        if navigates:
            return self._moved(fetch)
        return fetch if self._may_read(fetch, request) else None

    async def _asked(self, request: Request) -> Fetch | None:
        if request.resource_type != "script":
            return await self._asked_once(request)
        # A browser asks for the same script again: looking ahead and in earnest, or in two places.
        if request.url not in self._scripts:
            self._scripts[request.url] = asyncio.create_task(self._asked_once(request))
        return await asyncio.shield(self._scripts[request.url])

    async def _asked_once(self, request: Request) -> Fetch | None:
        self.n_asked += 1
        if self.n_asked > self._limits.n_requests:
            return None
        with self._moving():
            accept = request.headers.get("accept", "*/*")
            fetch = await self._ask(request.url, accept, self.document.url)
        if _might_come_later(fetch):
            self.missing.append(request.url)
        return fetch

    @contextmanager
    def _moving(self) -> Iterator[None]:
        self._n_asking += 1
        try:
            yield
        finally:
            self._n_asking -= 1
            self._n_moves += 1

    def _may_read(self, fetch: Fetch, request: Request) -> bool:
        """Whether a server lets scripts of another origin read its answer. The driver would let them all, and
        the browser knows nothing of the redirects that we followed for it."""
        if request.resource_type == "script" and "origin" not in request.headers:
            return True  # it is run, not read
        reader = _origin(self.document.url)
        return reader == _origin(fetch.url) or fetch.header("access-control-allow-origin") in ("*", reader)

    def _moved(self, fetch: Fetch) -> Fetch | None:
        if fetch.outcome is not Outcome.OK:
            return None  # the page stays where it is
        if fetch.hops:
            self._elsewhere = fetch
            return None
        self.document = fetch
        return fetch

    async def _go(self, to: Fetch) -> None:
        await self.answered(self._page.goto(to.url, wait_until="commit", timeout=0))

    async def _complete(self) -> bool:
        from playwright.async_api import Error

        try:
            return bool(await self.answered(self._page.evaluate("document.readyState")) == "complete")
        except Error:
            if self._page.is_closed() or self._page.context.browser is None:
                raise
            return False  # it is on its way to another page


def _passed_on(fetch: Fetch) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in fetch.headers:
        low = name.lower()
        if low not in _NOT_PASSED_ON:
            headers[low] = f"{headers[low]}, {value}" if low in headers else value
    return headers


def _origin(url: str) -> str:
    return str(URL(url).origin())


def _might_come_later(fetch: Fetch) -> bool:
    """Whether another look may well bring what this one did not: then the page is not what it could be."""
    if fetch.outcome is Outcome.HTTP_ERROR:
        return fetch.status is not None and (fetch.status >= 500 or fetch.status == 429)
    if fetch.outcome is Outcome.BLOCKED:
        return fetch.failure is not None and fetch.failure.reason in _FOR_NOW
    if fetch.outcome is Outcome.NET_ERROR:
        return fetch.failure is None or fetch.failure.reason != "dns"  # a name that is not, stays so
    return fetch.outcome in (Outcome.TRUNCATED, Outcome.UNREADABLE)


def _ignored(question: Awaitable[object]) -> None:
    """Let it end whenever it does, and however."""
    asyncio.ensure_future(question).add_done_callback(lambda task: task.cancelled() or task.exception())
