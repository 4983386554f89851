"""Through a proxy: everything goes there, nothing private is asked of it, its password stays here."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.hostile.origin import serving

from recrawl.checks.fetcher import said
from recrawl.live.clock import WallClock
from recrawl.model import Access, Fetch, Manner, Outcome, Request
from recrawl.observe.http import HttpFetcher
from recrawl.observe.shield import known_private

CANARY = "canary-7f3a"
PAGE = said("200 OK", b"<p>here", Content_Type="text/html")


def fetcher() -> HttpFetcher:
    return HttpFetcher(clock=WallClock(), user_agent="recrawl-test/1", min_delay_s=0.0)


@dataclass
class Proxied:
    port: int = 0
    lines: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)


@asynccontextmanager
async def proxy(password: str = CANARY) -> AsyncIterator[Proxied]:
    """Tunnels and forwards to loopback, whatever the name, for those who know the password."""
    here = Proxied()
    wanted = f"proxy-authorization: basic {b64encode(f'u:{password}'.encode()).decode()}".lower()
    tasks: set[asyncio.Task[None]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass  # one of the two has had enough
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        here.lines.append(first)
        here.headers.append(head.lower())
        method, target, _ = first.split(" ")
        if wanted not in head.lower():
            writer.write(said("407 Who are you"))
            writer.close()
            return
        place = target if method == "CONNECT" else target.split("/")[2]
        inner_reader, inner = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Go\r\n\r\n")
        else:
            path = "/" + target.split("/", 3)[3]
            kept = [line for line in lines if not line.lower().startswith("proxy-")]
            inner.write("\r\n".join([f"{method} {path} HTTP/1.1", *kept]).encode("latin-1"))
        await asyncio.gather(pump(reader, inner), pump(inner_reader, writer))

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    here.port = server.sockets[0].getsockname()[1]
    try:
        yield here
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def through_proxy(
    url: str | None, door: str = "plain", password: str = CANARY, **request: Any
) -> tuple[Fetch, Proxied]:
    async def run() -> tuple[Fetch, Proxied]:
        async with proxy() as between, serving({"a": {"*": PAGE}}) as origin, fetcher() as here:
            access = Access(proxy=f"http://u:{password}@127.0.0.1:{between.port}", headers=(("X-Key", "k"),))
            where = url or origin.url("a-1", door) + "/"
            wanted = {"url": where, "allow_private": True, "access": access, **request}
            return await here.fetch(Request(**wanted)), between

    return asyncio.run(run())


@pytest.mark.parametrize("door", ["plain", "alone"])
def test_a_proxy_is_used_for_every_request_and_its_password_is_not_told(door: str) -> None:
    fetch, between = through_proxy(None, door, manner=Manner(insecure=True))
    assert (fetch.outcome, fetch.body) == (Outcome.OK, b"<p>here")
    assert len(between.lines) == 2, "robots.txt and the page"
    assert fetch.ip is None, "it is the proxy's, not the server's"
    assert CANARY not in repr(fetch)
    assert b64encode(f"u:{CANARY}".encode()).decode() not in repr(fetch)


def test_what_is_secret_to_the_page_is_not_told_to_a_proxy_that_only_tunnels() -> None:
    fetch, between = through_proxy(None, "alone", manner=Manner(insecure=True))
    assert fetch.outcome is Outcome.OK
    assert not any("x-key" in head for head in between.headers)


def test_a_proxy_that_refuses_is_trouble_and_its_password_is_not_told() -> None:
    fetch, _ = through_proxy(None, "alone", password=f"{CANARY}x", manner=Manner(insecure=True))
    assert (fetch.outcome, fetch.status) == (Outcome.NET_ERROR, None)
    assert fetch.failure is not None
    assert "407" in fetch.failure.detail
    assert CANARY not in repr(fetch)


def test_a_private_proxy_is_not_connected_to() -> None:
    fetch, between = through_proxy("http://a.example/", allow_private=False)
    assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.BLOCKED, "private-address")
    assert not between.lines


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "[::1]", "localhost", "a.localhost", "169.254.169.254", "[::ffff:10.0.0.1]"],
)
def test_a_proxy_is_not_asked_for_what_is_known_to_be_private(host: str) -> None:
    async def run() -> Fetch:
        async with fetcher() as here:
            access = Access(proxy="http://192.0.2.1:3128")
            return await here.fetch(Request(url=f"http://{host}/", access=access))

    fetch = asyncio.run(run())
    assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.BLOCKED, "private-address")
    assert fetch.failure is not None
    assert host.strip("[]").split(".")[0].split(":")[0] in fetch.failure.detail, "the target, not the proxy"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "017700000001",
        "0x7f.0.0.1",
        "127.0.0.1.",
        "999.1.1.1",
        "::1",
        "fe80::1%eth0",
        "LOCALHOST",
        "x.localhost.",
    ],
)
def test_every_spelling_of_a_private_address_is_known(host: str) -> None:
    assert known_private(host)


@pytest.mark.parametrize(
    "host", ["93.184.216.34", "a.example", "127.0.0.1.example", "2606:4700::1111", "0xdead.example"]
)
def test_other_hosts_are_not_known_to_be_private(host: str) -> None:
    assert not known_private(host)
