"""One request, one reply, within limits. Knows nothing of redirects, robots or politeness."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import aiohttp
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage

from recrawl.model import Body, Failure, Header
from recrawl.observe.intake import Intake, current
from recrawl.observe.limits import Limits
from recrawl.observe.question import Question
from recrawl.observe.shield import Connector, Lookup, PrivateAddressError, known_private
from recrawl.parse.spool import MEMORY_BYTES, Spool

N_INTERIM = 10  # 1xx replies before the real one


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server sent. `cut` says why the wire is not the whole payload: length, time or disconnect."""

    status: int
    reason: str
    version: str
    headers: tuple[Header, ...]
    request_headers: tuple[Header, ...]
    ip: str | None
    wire: Body = b""
    cut: str = ""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    def all(self, name: str) -> str:
        """All fields of that name, as the one list that they stand for."""
        return ",".join(value for key, value in self.headers if key.lower() == name)


SILENCE = Reply(status=0, reason="", version="HTTP/1.1", headers=(), request_headers=(), ip=None)


class Exchange:
    """Sends requests, each on a connection of its own; what is too large for memory goes to `spool`."""

    def __init__(self, limits: Limits, *, lookup: Lookup | None = None, spool: Path | None = None) -> None:
        self._limits = limits
        self._lookup = lookup
        self._spool = spool
        # A request that may reach private addresses, or that trusts anyone, shares nothing with one that does
        # not.
        self._sessions: dict[tuple[bool, bool], tuple[aiohttp.ClientSession, Connector]] = {}

    async def ask(
        self,
        question: Question,
        *,
        within_s: float,
        wants_body: Callable[[int], bool],
        wire_bytes: int,
    ) -> tuple[Reply | Failure, float]:
        """The reply, with its body where `wants_body(status)`, or why there is none; and for how many seconds
        the server was at it."""
        if question.proxy and not question.allow_private and known_private(question.url.host or ""):
            # The proxy would connect to it for us.
            detail = f"{question.url.host} is not a public address; --allow-private lets it be visited"
            return Failure(reason="private-address", detail=detail), 0.0
        loop = asyncio.get_running_loop()
        sent_s: float | None = None
        deadline = loop.time() + within_s
        patience = asyncio.timeout_at(
            min(deadline, loop.time() + self._limits.dns_s + self._limits.connect_s)
        )

        def sent() -> None:
            nonlocal sent_s
            sent_s = loop.time()
            patience.reschedule(min(deadline, sent_s + first_byte_s))

        def took_s() -> float:
            return 0.0 if sent_s is None else loop.time() - sent_s

        first_byte_s = question.first_byte_s or self._limits.first_byte_s
        intake = Intake(sent)
        current.set(intake)
        try:
            async with patience:
                answer = await self._send(question)
        except Exception as problem:  # nothing that a server does may get past here as an exception
            return _failure(problem), took_s()
        response = cast(_Response, answer)
        try:
            n_bytes = sum(len(key) + len(value) + 4 for key, value in response.raw_headers)
            if n_bytes > self._limits.headers_bytes:
                return Failure(reason="protocol", detail="the headers are too long"), took_s()
            wire: Body = b""
            cut = ""
            if wants_body(response.status):
                wire, cut = await self._body(response, wire_bytes, deadline, intake)
            reply = _reply(response, question, wire, cut)
        except OSError as problem:
            return no_room(problem), took_s()
        finally:
            response.close()
        return reply, took_s()

    async def aclose(self) -> None:
        while self._sessions:
            _, (session, connector) = self._sessions.popitem()
            await session.close()
            await connector.aclose()

    async def _send(self, question: Question) -> aiohttp.ClientResponse:
        session = self._session(question.allow_private, question.insecure)
        proxy = question.proxy
        return await session.request(
            "GET" if question.form is None else "POST",
            question.url,
            headers=question.headers,
            data=None if question.form is None else question.form.encode(),
            allow_redirects=False,
            proxy=proxy.url if proxy else None,
            proxy_headers=proxy.headers if proxy else None,
        )

    def _session(self, allow_private: bool, insecure: bool) -> aiohttp.ClientSession:
        key = allow_private, insecure
        if key not in self._sessions:
            connector = Connector(
                allow_private=allow_private, insecure=insecure, dns_s=self._limits.dns_s, lookup=self._lookup
            )
            session = aiohttp.ClientSession(
                connector=connector,
                connector_owner=False,
                response_class=_Response,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._limits.connect_s),
                trust_env=False,
                auto_decompress=False,
                max_line_size=self._limits.field_bytes,
                max_field_size=self._limits.field_bytes,
                middlewares=[_only_once],
            )
            self._sessions[key] = session, connector
        return self._sessions[key][0]

    async def _body(
        self, response: _Response, wire_bytes: int, deadline: float, intake: Intake
    ) -> tuple[Body, str]:
        content = response.content
        if (
            content.is_eof()
            and content.exception() is None
            and content.total_bytes <= min(wire_bytes, MEMORY_BYTES)
        ):
            return content.read_nowait(), ""  # it has come with the head, and nothing is to be waited for
        loop = asyncio.get_running_loop()
        window_s = self._limits.rate_window_s
        floor = self._limits.min_bytes_per_s * window_s
        wire = Spool(self._spool)
        n_before, window_ends = 0, loop.time() + window_s
        while True:
            chunk = None
            try:
                async with asyncio.timeout_at(min(deadline, window_ends)):
                    chunk = await content.readany()
            except TimeoutError:
                pass
            except Exception:  # reset, a chunk or two missing, broken framing: it stopped in the middle
                return wire.body(), "length" if intake.refused else "disconnect"
            if chunk == b"":
                return wire.body(), ""
            if chunk:
                intake.n_content += len(chunk)
                if wire.overflows(len(chunk)):
                    await asyncio.to_thread(wire.write, chunk)
                else:
                    wire.write(chunk)
            if len(wire) > wire_bytes:
                return wire.body(wire_bytes), "length"
            now = loop.time()
            if now >= deadline:
                return wire.body(), "time"
            if now >= window_ends:
                if len(wire) - n_before < floor:
                    return wire.body(), "time"
                n_before, window_ends = len(wire), now + window_s


def no_room(problem: OSError) -> Failure:
    """It is our disk that failed, not the server."""
    said = problem.strerror or str(problem)
    return Failure(
        reason="disk", detail=f"a large body cannot be kept for a while ({said}); make room on the disk"
    )


class _Response(aiohttp.ClientResponse):
    """Tells when the request was sent, and remembers whom the answer came from: a short one has let go of its
    connection before anyone can ask."""

    ip: str | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        current.get().sent()
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        self.ip = peer[0] if peer else None
        protocol = connection.protocol
        if protocol is None:
            return await super().start(connection)
        read, n_heads = protocol.read, 0

        async def counted() -> tuple[RawResponseMessage, aiohttp.StreamReader]:
            nonlocal n_heads
            n_heads += 1
            if n_heads > 1 + N_INTERIM:
                raise _TooManyInterim
            return await read()

        # Interim replies are skipped in there, however many they are.
        protocol.read = counted  # type: ignore[method-assign]
        try:
            return await super().start(connection)
        finally:
            del protocol.read


class _Dropped(aiohttp.ClientError):
    pass


class _TooManyInterim(aiohttp.ClientError):
    def __str__(self) -> str:
        return f"more than {N_INTERIM} interim replies"


async def _only_once(request: ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """The client would ask again at once after a dropped connection; politeness forbids it."""
    try:
        return await send(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as problem:
        raise _Dropped(str(problem) or "the server closed the connection") from problem


def _failure(problem: Exception) -> Failure:
    detail = f"{type(problem).__name__}: {problem}"[:300]
    match problem:
        case aiohttp.ClientConnectorError(os_error=PrivateAddressError() as refused):
            return Failure(reason="private-address", detail=str(refused.strerror))
        case aiohttp.InvalidURL():  # 127.1, 0x7f000001 … : addresses that hope to be taken for names
            return Failure(reason="private-address", detail=detail)
        case aiohttp.ClientConnectorDNSError():
            return Failure(reason="dns", detail=detail)
        case aiohttp.ClientSSLError():
            return Failure(reason="tls", detail=detail)
        case aiohttp.ClientProxyConnectionError() | aiohttp.ClientHttpProxyError():
            return Failure(reason="proxy", detail=detail)
        case aiohttp.ClientConnectorError():
            return Failure(reason="connect", detail=detail)
        case TimeoutError():
            return Failure(reason="timeout", detail=str(problem) or "no answer in time")
        case _TooManyInterim():
            return Failure(reason="protocol", detail=str(problem))
        case _Dropped():
            return Failure(reason="disconnect", detail=str(problem))
        case _:
            return Failure(reason="protocol", detail=detail)


def _reply(response: _Response, question: Question, wire: Body, cut: str) -> Reply:
    version = response.version
    return Reply(
        status=response.status,
        reason=_plain(response.reason or ""),
        version=f"HTTP/{version.major}.{version.minor}" if version else "HTTP/1.1",
        # Header bytes as Latin-1: every byte has a character, none is lost.
        headers=tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.raw_headers),
        request_headers=question.told(tuple(response.request_info.headers.items())),
        ip=None if question.proxy else response.ip,
        wire=wire,
        cut=cut,
    )


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
