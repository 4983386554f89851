"""The fetcher for http and https: polite, guarded, and never surprised."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from yarl import URL

from recrawl.contracts import Clock
from recrawl.errors import BadSettingError, BadUrlError
from recrawl.model import Failure, Fetch, Hop, Outcome, Request
from recrawl.observe.exchange import Exchange, Limits, Reply
from recrawl.observe.outcome import REDIRECTS, amounts_to, blocks, wants_body
from recrawl.observe.pacing import Pacer, retry_after_s
from recrawl.observe.robots import (
    MAX_ROBOTS_BYTES,
    MAX_ROBOTS_REDIRECTS,
    Rules,
    RulesCache,
    product,
    rules_from,
)
from recrawl.observe.shield import Lookup
from recrawl.parse.coding import Decoded, Ending, decoded
from recrawl.urls import host_key, joined, parsed

__all__ = ["HttpFetcher", "Limits"]

_THREAD_BYTES = 64 * 1024  # decoding more than this is not done in the event loop


@dataclass(slots=True)
class _Trip:
    """One fetch under way: what it has left to spend, and what it has seen."""

    request: Request
    started_at: float
    left_s: float  # of network time, on the wall
    patience_s: float  # of waiting for turns, on the clock
    url: URL = field(default_factory=URL)
    home: str = ""  # the host that the caller asked for, and will leave alone afterwards
    wait_s: float = 0.0  # for how long
    hops: list[Hop] = field(default_factory=list)


class HttpFetcher:
    """Fetches over HTTP. Use as `async with HttpFetcher(…) as fetcher`, or call `aclose()`.

    A fetch takes at most `limits.total_s` on the wall and `limits.wait_s` on the clock.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        user_agent: str,
        min_delay_s: float,
        limits: Limits | None = None,
        lookup: Lookup | None = None,
    ) -> None:
        if not user_agent.isascii() or not user_agent.isprintable() or not product(user_agent):
            raise BadSettingError(
                f"{user_agent!r} cannot be sent as a User-Agent; use a name and a contact in ASCII, such as"
                " 'recrawl/1.0 (+https://example.org/bot)'."
            )
        self._clock = clock
        self._limits = limits or Limits()
        self._agent = product(user_agent)
        self._headers = {
            "User-Agent": user_agent,
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate, br, zstd",
        }
        self._exchange = Exchange(self._limits, lookup=lookup)
        self._pacer = Pacer(clock=clock, min_delay_s=min_delay_s)
        self._rules = RulesCache()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._exchange.aclose()

    async def fetch(self, request: Request) -> Fetch:
        """One visit's network act. Whatever the other side does comes back as a value."""
        trip = _Trip(request, self._clock.now(), self._limits.total_s, self._limits.wait_s)
        try:
            trip.url = parsed(request.url)
            trip.home = host_key(trip.url)
            answer = await self._followed(trip)
            if isinstance(answer, Reply):
                return await self._judged(trip, answer)
        except BadUrlError as problem:
            answer = _bad_url(request.url, problem)
        except Exception as problem:  # one strange page must not end a run of millions
            answer = Failure(reason="unexpected", detail=f"{type(problem).__name__}: {problem}"[:300])
        return self._fetch(trip, Outcome.BLOCKED if blocks(answer) else Outcome.NET_ERROR, answer)

    # -- the way there ---------------------------------------------------------------------------------

    async def _followed(self, trip: _Trip) -> Reply | Failure:
        """The reply at the end of the redirects."""
        # Validators belong to the copy at the URL that was asked for; another resource might answer 304 to
        # them and be taken for ours.
        headers = self._headers | _validators(trip.request)
        seen: set[URL] = set()
        while True:
            seen.add(trip.url)
            reply = await self._visited(trip, headers)
            location = _location(reply)
            if isinstance(reply, Failure) or location is None:
                return reply
            if len(trip.hops) >= self._limits.n_redirects:
                return reply
            trip.hops.append(Hop(url=str(trip.url), status=reply.status, location=location))
            try:
                trip.url = parsed(joined(str(trip.url), location))
            except BadUrlError as problem:
                return _bad_url(location, problem)
            if trip.url in seen:
                return reply
            headers = self._headers

    async def _visited(self, trip: _Trip, headers: Mapping[str, str]) -> Reply | Failure:
        """One hop, if robots.txt allows it."""
        rules = await self._rules_for(trip)
        if isinstance(rules, Failure):
            return rules
        if host_key(trip.url) == trip.home:
            trip.wait_s = max(trip.wait_s, rules.delay_s)
        refusal = rules.refusal(str(trip.url))
        if refusal is not None:
            return refusal
        return await self._asked(
            trip,
            trip.url,
            headers,
            delay_s=rules.delay_s,
            wants_body=wants_body,
            wire_bytes=self._limits.wire_bytes,
        )

    async def _asked(
        self,
        trip: _Trip,
        url: URL,
        headers: Mapping[str, str],
        *,
        delay_s: float,
        wants_body: Callable[[int], bool],
        wire_bytes: int,
    ) -> Reply | Failure:
        """Every request of a fetch goes through here: in turn, guarded, within what is left."""
        loop = asyncio.get_running_loop()
        began, waited_s = loop.time(), 0.0
        host = host_key(url)
        pacing = {"delay_s": delay_s, "patience_s": trip.patience_s, "queue_s": trip.left_s}
        async with self._pacer.turn(host, **pacing) as turn:
            if turn.left_s > 0.0:
                if host == trip.home:
                    trip.wait_s = max(trip.wait_s, turn.left_s)
                return Failure(reason="wait", detail=f"{host} is to be left alone for {turn.left_s:.0f} s")
            waited_s = turn.waited_s
            trip.patience_s -= waited_s
            reply = await self._exchange.get(
                url,
                dict(headers),
                allow_private=trip.request.allow_private,
                within_s=max(0.0, trip.left_s - (loop.time() - began) + waited_s / self._clock.speed),
                wants_body=wants_body,
                wire_bytes=wire_bytes,
            )
            if isinstance(reply, Reply) and reply.status >= 300:
                turn.hold_s = retry_after_s(reply.header("retry-after"), self._clock.now())
                if host == trip.home:
                    trip.wait_s = max(trip.wait_s, turn.hold_s)
        trip.left_s -= loop.time() - began - waited_s / self._clock.speed
        return reply

    # -- robots.txt ------------------------------------------------------------------------------------

    async def _rules_for(self, trip: _Trip) -> Rules | Failure:
        origin = trip.url.origin()
        # What was learned with leave to visit private places is not told without it.
        key = f"{origin} {trip.request.allow_private}"
        if (known := self._rules.find(key, self._clock.now())) is not None:
            return known
        reply = await self._robots_reply(trip, origin.with_path("/robots.txt"))
        if isinstance(reply, Failure):
            if blocks(reply):
                return reply  # it tells of this request, not of the host
            failure = replace(reply, detail=f"robots.txt cannot be read: {reply.detail}")
            return self._rules.unreachable(key, failure, self._clock.now())
        opened = await _opened(reply, MAX_ROBOTS_BYTES + 1)
        enough = reply.cut == "length" or opened.ending in (Ending.WHOLE, Ending.LIMIT)
        if reply.cut in ("time", "disconnect") or not enough:
            why = reply.cut or opened.detail
            failure = Failure(reason="robots", detail=f"robots.txt cannot be read: {why}")
            return self._rules.unreachable(key, failure, self._clock.now())
        rules = await asyncio.to_thread(rules_from, reply.status, opened.body, self._agent)
        return self._rules.keep(key, rules, self._clock.now())

    async def _robots_reply(self, trip: _Trip, url: URL) -> Reply | Failure:
        for _ in range(1 + MAX_ROBOTS_REDIRECTS):
            reply = await self._asked(
                trip,
                url,
                self._headers,
                delay_s=0.0,
                wants_body=lambda status: 200 <= status < 300,
                wire_bytes=MAX_ROBOTS_BYTES + 1,
            )
            location = _location(reply)
            if isinstance(reply, Failure) or location is None:
                return reply
            try:
                url = parsed(joined(str(url), location))
            except BadUrlError as problem:
                return Failure(reason="protocol", detail=str(problem))
        return reply

    # -- what it amounts to ----------------------------------------------------------------------------

    async def _judged(self, trip: _Trip, reply: Reply) -> Fetch:
        opened = await _opened(reply, self._limits.body_bytes)
        conditional = not trip.hops and bool(_validators(trip.request))
        amount = amounts_to(reply, opened, conditional=conditional, n_hops=len(trip.hops))
        plain = self._fetch(trip, amount.outcome, amount.failure)
        return replace(
            plain,
            status=reply.status,
            http_reason=reply.reason,
            http_version=reply.version,
            headers=reply.headers,
            request_headers=reply.request_headers,
            ip=reply.ip,
            body=amount.body,
            wire=reply.wire,
        )

    def _fetch(self, trip: _Trip, outcome: Outcome, failure: Failure | None) -> Fetch:
        return Fetch(
            request=trip.request,
            outcome=outcome,
            url=str(trip.url) or trip.request.url,
            started_at=trip.started_at,
            ended_at=self._clock.now(),
            hops=tuple(trip.hops),
            failure=failure,
            wait_s=trip.wait_s,
        )


def _validators(request: Request) -> dict[str, str]:
    said = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in said.items() if value and value.isascii() and value.isprintable()}


def _location(reply: Reply | Failure) -> str | None:
    if isinstance(reply, Failure) or reply.status not in REDIRECTS:
        return None
    raw = reply.header("location")
    # Where it is not ASCII it is UTF-8, whatever the standard said when it was written.
    return None if raw is None else raw.encode("latin-1").decode("utf-8", errors="replace")


def _bad_url(text: str, problem: BadUrlError) -> Failure:
    scheme = re.match(r"\s*([a-z][a-z0-9+.-]*):", text, re.IGNORECASE)
    foreign = scheme is not None and scheme[1].lower() not in ("http", "https")
    return Failure(reason="scheme" if foreign else "url", detail=str(problem))


async def _opened(reply: Reply, limit: int) -> Decoded:
    codings = reply.all("content-encoding").split(",")
    if len(reply.wire) > _THREAD_BYTES:
        return await asyncio.to_thread(decoded, reply.wire, codings, limit)
    return decoded(reply.wire, codings, limit)
