"""One request, one reply, within limits. Knows nothing of redirects, robots or politeness."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import cast

import aiohttp
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from yarl import URL

from recrawl.model import Failure, Header
from recrawl.observe.shield import Connector, Lookup, PrivateAddressError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much time and room a fetch may take. Times are on the wall, but for `wait_s`."""

    dns_s: float = 5.0
    connect_s: float = 10.0  # TCP and TLS
    first_byte_s: float = 30.0  # from the request to the end of the headers
    total_s: float = 120.0  # of the network, all hops and robots.txt together
    min_bytes_per_s: float = 1024.0  # of body, over every `rate_window_s`
    rate_window_s: float = 30.0
    wire_bytes: int = 16 * MIB
    body_bytes: int = 64 * MIB  # after decoding
    field_bytes: int = 8190  # of one header
    headers_bytes: int = 64 * 1024  # of all headers together
    n_redirects: int = 10
    wait_s: float = 300.0  # on the clock: how long a fetch may wait for its turn, all hops together


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a server sent. `cut` says why the wire is not the whole payload: length, time or disconnect."""

    status: int
    reason: str
    version: str
    headers: tuple[Header, ...]
    request_headers: tuple[Header, ...]
    ip: str | None
    wire: bytes = b""
    cut: str = ""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    def all(self, name: str) -> str:
        """All fields of that name, as the one list that they stand for."""
        return ",".join(value for key, value in self.headers if key.lower() == name)


class Exchange:
    """Sends requests, each on a connection of its own."""

    def __init__(self, limits: Limits, *, lookup: Lookup | None = None) -> None:
        self._limits = limits
        self._lookup = lookup
        # A request that may reach private addresses shares nothing with one that may not.
        self._sessions: dict[bool, tuple[aiohttp.ClientSession, Connector]] = {}

    async def get(
        self,
        url: URL,
        headers: dict[str, str],
        *,
        allow_private: bool,
        within_s: float,
        wants_body: Callable[[int], bool],
        wire_bytes: int,
    ) -> Reply | Failure:
        """The reply, with its body where `wants_body(status)`; or why there is none."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        connected_by = loop.time() + self._limits.dns_s + self._limits.connect_s
        patience = asyncio.timeout_at(min(deadline, connected_by))

        def asked() -> None:
            patience.reschedule(min(deadline, loop.time() + self._limits.first_byte_s))

        try:
            async with patience:
                session = self._session(allow_private)
                answer = await session.get(
                    url, headers=headers, allow_redirects=False, trace_request_ctx=asked
                )
        except Exception as problem:  # nothing that a server does may get past here as an exception
            return _failure(problem)
        response = cast(_Response, answer)
        try:
            reply = _reply(response)
            if sum(len(key) + len(value) + 4 for key, value in reply.headers) > self._limits.headers_bytes:
                return Failure(reason="protocol", detail="the headers are too long")
            if not wants_body(reply.status):
                return reply
            wire, cut = await self._body(response, wire_bytes, deadline)
        finally:
            response.close()
        return replace(reply, wire=wire, cut=cut)

    async def aclose(self) -> None:
        while self._sessions:
            _, (session, connector) = self._sessions.popitem()
            await session.close()
            await connector.aclose()

    def _session(self, allow_private: bool) -> aiohttp.ClientSession:
        if allow_private not in self._sessions:
            traces = aiohttp.TraceConfig()
            traces.on_request_headers_sent.append(_sent)
            connector = Connector(allow_private=allow_private, dns_s=self._limits.dns_s, lookup=self._lookup)
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
                trace_configs=[traces],
            )
            self._sessions[allow_private] = session, connector
        return self._sessions[allow_private][0]

    async def _body(self, response: _Response, wire_bytes: int, deadline: float) -> tuple[bytes, str]:
        loop = asyncio.get_running_loop()
        window_s = self._limits.rate_window_s
        floor = self._limits.min_bytes_per_s * window_s
        wire = bytearray()
        n_before, window_ends = 0, loop.time() + window_s
        while True:
            try:
                async with asyncio.timeout_at(min(deadline, window_ends)):
                    chunk = await response.content.readany()
                if not chunk:
                    return bytes(wire), ""
                wire += chunk
            except TimeoutError:
                pass
            except Exception:  # reset, a chunk or two missing, broken framing: it stopped in the middle
                return bytes(wire), "disconnect"
            if len(wire) > wire_bytes:
                return bytes(memoryview(wire)[:wire_bytes]), "length"
            now = loop.time()
            if now >= deadline:
                return bytes(wire), "time"
            if now >= window_ends:
                if len(wire) - n_before < floor:
                    return bytes(wire), "time"
                n_before, window_ends = len(wire), now + window_s


class _Response(aiohttp.ClientResponse):
    """Remembers whom it came from: a short answer has let go of its connection before anyone can ask."""

    ip: str | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        peer = connection.transport.get_extra_info("peername") if connection.transport else None
        self.ip = peer[0] if peer else None
        return await super().start(connection)


async def _sent(
    _session: aiohttp.ClientSession, context: SimpleNamespace, _what: aiohttp.TraceRequestHeadersSentParams
) -> None:
    context.trace_request_ctx()


class _Dropped(aiohttp.ClientError):
    pass


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
        case aiohttp.ClientConnectorError():
            return Failure(reason="connect", detail=detail)
        case TimeoutError():
            return Failure(reason="timeout", detail=str(problem) or "no answer in time")
        case _Dropped():
            return Failure(reason="disconnect", detail=str(problem))
        case _:
            return Failure(reason="protocol", detail=detail)


def _reply(response: _Response) -> Reply:
    version = response.version
    return Reply(
        status=response.status,
        reason=_plain(response.reason or ""),
        version=f"HTTP/{version.major}.{version.minor}" if version else "HTTP/1.1",
        # Header bytes as Latin-1: every byte has a character, none is lost.
        headers=tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.raw_headers),
        request_headers=tuple(response.request_info.headers.items()),
        ip=response.ip,
    )


def _plain(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")
