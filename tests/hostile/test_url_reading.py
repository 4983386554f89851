"""One reading of every URL: the host that was checked is the host that is asked, or nobody is asked."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from tests.hostile.corpus import corpus

from recrawl.checks.fetcher import Site, said, site
from recrawl.errors import BadUrlError
from recrawl.live.clock import WallClock
from recrawl.model import Outcome, Request
from recrawl.observe.http import HttpFetcher, Limits
from recrawl.urls import host_key, parsed

Read = Callable[[str], str | None]  # the host that a check sees; None where it refuses
Disagreements = dict[str, tuple[str | None, set[str]]]  # checked, asked
Ask = Callable[[str], Awaitable[object]]


@dataclass(slots=True)
class Sockets:
    """What was looked up, and to whom connections were made."""

    names: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    async def lookup(self, name: str, _port: int) -> list[str]:
        self.names.append(name)
        return ["127.0.0.1"]

    def asked(self) -> set[str]:
        """Hosts in socket calls: by name where there was one, else by address."""
        return set(self.names or self.addresses)

    def clear(self) -> None:
        self.names.clear()
        self.addresses.clear()


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> Sockets:
    seen = Sockets()
    connect = asyncio.selector_events.BaseSelectorEventLoop.sock_connect

    async def noted(loop: asyncio.SelectorEventLoop, sock: object, address: tuple[str, int]) -> None:
        seen.addresses.append(address[0])
        await connect(loop, sock, address)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", noted)
    return seen


@asynccontextmanager
async def anyone() -> AsyncIterator[tuple[Site, int]]:
    """A server that all names lead to."""
    async with site({"/": said("200 OK", b"here")}) as here:
        yield here, int(here.url.rpartition(":")[2])


async def disagreements(sockets: Sockets, read: Read, ask: Ask, port: int) -> Disagreements:
    """URLs for which the host of the check is not the host of the socket call."""
    found: Disagreements = {}
    for url in corpus(port):
        sockets.clear()
        checked = read(url)
        await ask(url)
        if (asked := sockets.asked()) - {checked}:
            found[url] = checked, asked
    return found


def read_by_us(url: str) -> str | None:
    try:
        value = parsed(url)
    except BadUrlError:
        return None
    assert host_key(value) == host_key(str(value)), "the canonical form is read as what it was made from"
    return value.raw_host


def fetcher(sockets: Sockets) -> HttpFetcher:
    limits = Limits(dns_s=1.0, connect_s=1.0, first_byte_s=1.0, total_s=3.0)
    return HttpFetcher(
        clock=WallClock(), user_agent="recrawl-test", min_delay_s=0.0, limits=limits, lookup=sockets.lookup
    )


def test_the_host_that_is_checked_is_the_host_that_is_asked(sockets: Sockets) -> None:
    async def run() -> tuple[Disagreements, set[str], int]:
        async with anyone() as (here, port), fetcher(sockets) as inner:

            async def ask(url: str) -> None:
                await inner.fetch(Request(url=url, allow_private=True))

            found = await disagreements(sockets, read_by_us, ask, port)
            hosts = {asked.headers["host"].rpartition(":")[0] for asked in here.asked}
            return found, hosts, len(corpus(port))

    found, hosts, n_urls = asyncio.run(run())
    assert n_urls >= 200
    assert found == {}
    assert {"internal.example", "public.example", "xn--bcher-kva.example", "[::1]"} - hosts <= {"[::1]"}
    assert all(host.isascii() and not set(host) & set("\\@/?# ") for host in hosts)


def test_what_two_readers_could_disagree_about_is_refused() -> None:
    for url in corpus(8080):
        authority = re.split(r"[/?#]", url.partition("//")[2])[0]
        if re.search(r"[\\\x00-\x20\x7f]", authority) or authority.rpartition("@")[0].strip(":"):
            assert read_by_us(url) is None, url


def test_only_http_is_spoken() -> None:
    async def run() -> dict[str, Outcome]:
        async with fetcher(Sockets()) as here:
            urls = [url for url in corpus(8080) if not url.strip().lower().startswith(("http:", "https:"))]
            assert len(urls) > 10
            return {url: (await here.fetch(Request(url=url, allow_private=True))).outcome for url in urls}

    outcomes = asyncio.run(run())
    assert {url: outcome for url, outcome in outcomes.items() if outcome is not Outcome.BLOCKED} == {}


class _Names(AbstractResolver):
    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        (address,) = await self._sockets.lookup(host, port)
        return [ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        """Nothing is open."""


def test_a_check_with_a_reading_of_its_own_is_found_out(sockets: Sockets) -> None:
    """The check reads with one parser, the client with another: as in many a published hole."""

    def read(url: str) -> str | None:
        try:
            return urlsplit(url).hostname
        except ValueError:
            return None

    async def run() -> Disagreements:
        connector = aiohttp.TCPConnector(resolver=_Names(sockets), use_dns_cache=False, force_close=True)
        async with anyone() as (_, port), aiohttp.ClientSession(connector=connector) as session:

            async def ask(url: str) -> None:
                try:
                    async with session.get(url, allow_redirects=False):
                        pass
                except (aiohttp.ClientError, ValueError, UnicodeError, AssertionError):
                    pass

            return await disagreements(sockets, read, ask, port)

    assert len(asyncio.run(run())) > 5
