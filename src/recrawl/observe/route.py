"""Sends every request to whoever knows how to look at such a resource."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from recrawl.contracts import Clock, Fetcher, Handler
from recrawl.errors import PluginError
from recrawl.model import Failure, Fetch, Kind, Outcome, Request
from recrawl.observe.negotiate import negotiated

_WEB = frozenset({"http", "https"})
_PAGES = frozenset({Kind.AUTO, Kind.PAGE})
Claim = tuple[str, str]  # "scheme", "kind" or "media type", and which


class Web(Fetcher, Protocol):
    async def aclose(self) -> None: ...


class Route:
    """A fetcher of everything. Use as `async with Route(…) as fetcher`, or call `aclose()`.

    What no handler claims is one plain request to the web, with an Accept header that fits its kind.
    """

    def __init__(
        self, web: Web, handlers: Mapping[str, Handler], *, clock: Clock, browser: Handler | None = None
    ) -> None:
        self._web = web
        self._browser = browser
        self._handlers = (*handlers.values(), *([browser] if browser else []))
        self._claims = claims(handlers)
        self._clock = clock

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        closing = [self._web.aclose(), *(handler.aclose() for handler in self._handlers)]
        done = await asyncio.gather(*closing, return_exceptions=True)
        for problem in done:
            if isinstance(problem, BaseException):
                raise problem

    async def fetch(self, request: Request) -> Fetch:
        request = negotiated(request)
        handler = self.handler(request)
        if handler is None:
            return await self._web.fetch(request)
        started_at = self._clock.now()
        try:
            return await handler.fetch(request, self._web)
        except Exception as problem:  # a broken plug-in must not end a run of millions
            return Fetch(
                request=request,
                outcome=Outcome.NET_ERROR,
                url=request.url,
                started_at=started_at,
                ended_at=self._clock.now(),
                failure=Failure(reason="unexpected", detail=f"{type(problem).__name__}: {problem}"[:300]),
            )

    def handler(self, request: Request) -> Handler | None:
        """Whoever claims the scheme, else the kind, else (where that is auto) what is held; pages go to the
        browser where their manner asks for it."""
        scheme = request.url.partition(":")[0].strip().lower()
        if scheme not in _WEB:
            return self._claims.get(("scheme", scheme))
        if self._browser is not None and request.manner.render and request.kind in _PAGES:
            return self._browser
        if request.kind is not Kind.AUTO:
            return self._claims.get(("kind", request.kind))
        return self._claims.get(("media type", request.media_type))


def claims(handlers: Mapping[str, Handler]) -> dict[Claim, Handler]:
    """Who claims what. Ours give way to a plug-in that claims the same; two plug-ins may not."""
    taken: dict[Claim, tuple[str, Handler]] = {}
    # Ours first, so that others overwrite them; sorted() keeps the rest in order.
    for name, handler in sorted(handlers.items(), key=lambda item: not _ours(item[1])):
        for claim in _claimed(name, handler):
            before = taken.get(claim)
            if before is not None and _ours(before[1]) is _ours(handler):
                raise PluginError(
                    f"The handlers {before[0]!r} and {name!r} both claim the {claim[0]} {claim[1]!r}; "
                    "uninstall the package of one of them."
                )
            taken[claim] = name, handler
    return {claim: handler for claim, (_, handler) in taken.items()}


def _claimed(name: str, handler: Handler) -> list[Claim]:
    if handler.schemes & _WEB or Kind.AUTO in handler.kinds:
        raise PluginError(
            f"The handler {name!r} claims the whole web; let it claim kinds or media types, or uninstall it."
        )
    return [
        *(("scheme", scheme) for scheme in sorted(handler.schemes)),
        *(("kind", kind.value) for kind in sorted(handler.kinds)),
        *(("media type", media_type) for media_type in sorted(handler.media_types)),
    ]


def _ours(handler: Handler) -> bool:
    return type(handler).__module__.startswith("recrawl.")
