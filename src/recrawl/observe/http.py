"""The fetcher for http and https: polite, guarded, and never surprised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from yarl import URL

from recrawl.contracts import Clock, Gates
from recrawl.errors import BadSettingError, BadUrlError, StoreError
from recrawl.model import Failure, Fetch, Hop, Outcome, Request
from recrawl.observe.exchange import SILENCE, Exchange, Reply, no_room
from recrawl.observe.limits import Limits
from recrawl.observe.outcome import Amount, amounts_to, answers, bad_url, blocks, location_of, wants_body
from recrawl.observe.pacing import Errand, Pacer, retry_after_s, slow_s
from recrawl.observe.question import Asking, Question, validators
from recrawl.observe.robots import (
    MAX_ROBOTS_BYTES,
    MAX_ROBOTS_REDIRECTS,
    UNREACHABLE_S,
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
_THREAD_ROBOTS_BYTES = 4 * 1024  # nor reading a robots.txt longer than this; for most a thread costs more


@dataclass(slots=True)
class _Trip:
    """One fetch under way: what it has left to spend, and what it has seen."""

    request: Request
    asking: Asking
    started_at: float
    left_s: float  # of network time, on the wall
    errand: Errand
    url: URL = field(default_factory=URL)
    home: str = ""  # the host that the caller asked for, and will leave alone afterwards
    wait_s: float = 0.0  # for how long
    hops: list[Hop] = field(default_factory=list)
    server_s: float = 0.0
    unverified: bool = False


class HttpFetcher:
    """Fetches over HTTP. Use as `async with HttpFetcher(…) as fetcher`, or call `aclose()`.

    A fetch takes at most `limits.total_s` on the wall and `limits.wait_s` on the clock. Bodies too large for
    memory lie in the folder `spool`, without a name, for as long as anyone holds them.

    The caller keeps others from the request's `leased_host`, and leaves it alone for `min_delay_s` or the
    fetch's `wait_s` afterwards. For all other hosts leave is asked of `gates`; without them, nobody else may
    be asking. A server that took a second over a request is left alone for `slow_factor` seconds.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        user_agent: str,
        min_delay_s: float,
        slow_factor: float = 0.0,
        gates: Gates | None = None,
        limits: Limits | None = None,
        lookup: Lookup | None = None,
        spool: Path | None = None,
    ) -> None:
        if not user_agent.isascii() or not user_agent.isprintable() or not product(user_agent):
            raise BadSettingError(
                f"{user_agent!r} cannot be sent as a User-Agent; use a name and a contact in ASCII, such as"
                " 'recrawl/1.0 (+https://example.org/bot)'."
            )
        self._clock = clock
        self._limits = limits or Limits()
        self._user_agent = user_agent
        self._spool = spool
        self._exchange = Exchange(self._limits, lookup=lookup, spool=spool)
        self._pacer = Pacer(clock=clock, min_delay_s=min_delay_s)
        self._slow_factor = slow_factor
        self._gates = gates
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
        asking = Asking(request, self._user_agent)
        errand = Errand(
            self._pacer,
            self._gates,
            leased_host=request.leased_host,
            patience_s=self._limits.wait_s,
            not_after_at=request.not_after_at,
        )
        trip = _Trip(request, asking, self._clock.now(), self._limits.total_s, errand)
        try:
            trip.url = parsed(request.url)
            trip.home = request.leased_host or host_key(trip.url)
            answer = await self._followed(trip)
            if isinstance(answer, Reply):
                return await self._judged(trip, answer)
        except BadUrlError as problem:
            answer = bad_url(request.url, problem)
        except StoreError:
            raise
        except Exception as problem:  # one strange page must not end a run of millions
            answer = Failure(reason="unexpected", detail=f"{type(problem).__name__}: {problem}"[:300])
        finally:
            await errand.end()
        return self._fetch(
            trip, Amount(Outcome.BLOCKED if blocks(answer) else Outcome.NET_ERROR, b"", answer)
        )

    # -- the way there ---------------------------------------------------------------------------------

    async def _followed(self, trip: _Trip) -> Reply | Failure:
        """The reply at the end of the redirects."""
        if trip.asking.trouble is not None:
            return trip.asking.trouble
        seen: set[URL] = set()
        while True:
            seen.add(trip.url)
            reply = await self._visited(trip)
            location = location_of(reply)
            if isinstance(reply, Failure) or location is None:
                return reply
            if len(trip.hops) >= self._limits.n_redirects:
                return reply
            trip.hops.append(Hop(url=str(trip.url), status=reply.status, location=location))
            try:
                trip.url = parsed(joined(str(trip.url), location))
            except BadUrlError as problem:
                return bad_url(location, problem)
            if trip.url in seen:
                return reply

    async def _visited(self, trip: _Trip) -> Reply | Failure:
        """One hop, if robots.txt allows it."""
        rules = await self._rules_for(trip)
        if isinstance(rules, Failure):
            return rules
        if host_key(trip.url) == trip.home:
            trip.wait_s = max(trip.wait_s, rules.delay_s, UNREACHABLE_S if rules.closed else 0.0)
        refusal = rules.refusal(str(trip.url))
        if refusal is not None:
            return refusal
        return await self._asked(
            trip,
            trip.asking.page(trip.url, trip.hops),
            delay_s=rules.delay_s,
            wants_body=wants_body,
            wire_bytes=self._limits.wire_bytes_for(trip.request.manner),
        )

    async def _asked(
        self,
        trip: _Trip,
        question: Question,
        *,
        delay_s: float | None,
        wants_body: Callable[[int], bool],
        wire_bytes: int,
    ) -> Reply | Failure:
        """Every request of a fetch goes through here: in turn, guarded, within what is left."""
        loop = asyncio.get_running_loop()
        began, waited_s = loop.time(), 0.0
        host = host_key(question.url)
        async with trip.errand.turn(host, delay_s=delay_s, queue_s=trip.left_s) as turn:
            if turn.left_s > 0.0:
                if host == trip.home:
                    trip.wait_s = max(trip.wait_s, turn.left_s)
                return Failure(
                    reason="wait", detail=f"{host} is busy, or to be left alone for {turn.left_s:.0f} s"
                )
            waited_s = turn.waited_s
            if self._clock.now() >= turn.not_after_at:
                return Failure(reason="late", detail=f"the right to ask {host} has run out; nothing was sent")
            trip.unverified |= question.insecure and question.url.scheme == "https"
            reply, trip.server_s = await self._exchange.ask(
                question,
                within_s=max(0.0, trip.left_s - (loop.time() - began) + waited_s / self._clock.speed),
                wants_body=wants_body,
                wire_bytes=wire_bytes,
            )
            turn.answered = answers(reply)
            turn.hold_s = slow_s(trip.server_s * self._clock.speed, self._slow_factor)
            if isinstance(reply, Reply) and reply.status >= 300:
                asked_s = retry_after_s(reply.header("retry-after"), self._clock.now())
                turn.hold_s = max(turn.hold_s, asked_s)
            if host == trip.home:
                trip.wait_s = max(trip.wait_s, turn.hold_s)
        trip.left_s -= loop.time() - began - waited_s / self._clock.speed
        return reply

    # -- robots.txt ------------------------------------------------------------------------------------

    async def _rules_for(self, trip: _Trip) -> Rules | Failure:
        origin = trip.url.origin()
        # What was learned with leave to visit private places, or from just anyone, is not told without it.
        key = f"{origin} {trip.asking.terms}"
        if (known := self._rules.find(key, self._clock.now())) is not None:
            return known
        reply = await self._robots_reply(trip, origin.with_path("/robots.txt"))
        if isinstance(reply, Failure):
            if blocks(reply):
                return reply  # it tells of this request, not of the host
            failure = replace(reply, detail=f"robots.txt cannot be read: {reply.detail}")
            return self._rules.unreachable(key, failure, self._clock.now())
        opened = await self._opened(reply, MAX_ROBOTS_BYTES + 1)
        enough = reply.cut == "length" or opened.ending in (Ending.WHOLE, Ending.LIMIT)
        if reply.cut in ("time", "disconnect") or not enough:
            why = reply.cut or opened.detail
            failure = Failure(reason="robots", detail=f"robots.txt cannot be read: {why}")
            return self._rules.unreachable(key, failure, self._clock.now())
        agent = product(trip.asking.user_agent)
        said = reply.status, bytes(opened.body), agent
        long = len(opened.body) > _THREAD_ROBOTS_BYTES
        rules = await asyncio.to_thread(rules_from, *said) if long else rules_from(*said)
        return self._rules.keep(key, rules, self._clock.now())

    async def _robots_reply(self, trip: _Trip, url: URL) -> Reply | Failure:
        for _ in range(1 + MAX_ROBOTS_REDIRECTS):
            reply = await self._asked(
                trip,
                trip.asking.robots(url),
                delay_s=None,
                wants_body=lambda status: 200 <= status < 300,
                wire_bytes=MAX_ROBOTS_BYTES + 1,
            )
            location = location_of(reply)
            if isinstance(reply, Failure) or location is None:
                return reply
            try:
                url = parsed(joined(str(url), location))
            except BadUrlError as problem:
                return Failure(reason="protocol", detail=str(problem))
        return reply

    # -- what it amounts to ----------------------------------------------------------------------------

    async def _judged(self, trip: _Trip, reply: Reply) -> Fetch:
        try:
            opened = await self._opened(reply, self._limits.body_bytes_for(trip.request.manner))
        except OSError as problem:
            return self._fetch(trip, Amount(Outcome.BLOCKED, b"", no_room(problem)))
        conditional = not trip.hops and bool(validators(trip.request))
        amount = amounts_to(reply, opened, conditional=conditional, n_hops=len(trip.hops))
        return self._fetch(trip, amount, reply)

    def _fetch(self, trip: _Trip, amount: Amount, reply: Reply = SILENCE) -> Fetch:
        return Fetch(
            request=trip.request,
            outcome=amount.outcome,
            url=str(trip.url) or trip.request.url,
            started_at=trip.started_at,
            ended_at=self._clock.now(),
            hops=tuple(trip.hops),
            failure=amount.failure,
            wait_s=trip.wait_s,
            server_s=trip.server_s,
            unverified=trip.unverified,
            status=reply.status or None,
            http_reason=reply.reason,
            http_version=reply.version,
            headers=reply.headers,
            request_headers=reply.request_headers,
            ip=reply.ip,
            body=amount.body,
            wire=reply.wire,
        )

    async def _opened(self, reply: Reply, limit: int) -> Decoded:
        codings = reply.all("content-encoding").split(",")
        if len(reply.wire) > _THREAD_BYTES:
            return await asyncio.to_thread(decoded, reply.wire, codings, limit, spool=self._spool)
        return decoded(reply.wire, codings, limit, spool=self._spool)
