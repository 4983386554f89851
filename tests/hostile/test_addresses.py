"""No address of ours, in whatever disguise and by whatever way, is ever connected to.

Each check is a function that counts what arrived; a shield with a hole in it shows that it can count.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from ipaddress import ip_network
from urllib.parse import urlsplit

import pytest

from recrawl.checks.fetcher import said, site
from recrawl.contracts import Fetcher
from recrawl.live.clock import WallClock
from recrawl.model import Failure, Fetch, Outcome, Request
from recrawl.observe import shield
from recrawl.observe.http import HttpFetcher, Limits
from recrawl.observe.shield import Connector, Lookup, public

ANY = "0.0.0.0"  # noqa: S104
PUBLIC = "127.0.0.2"  # plays the public internet; the shield is real for all others
N_REBINDINGS = 100

# The IANA registries of special-purpose addresses, and multicast.
SPECIAL = re.findall(
    r"\S+",
    """
0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24
192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
::/128 ::1/128 ::ffff:0:0/112 64:ff9b::/112 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32
2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28
2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10
ff00::/8
""",
)

SPELLINGS = [
    "127.0.0.1",
    "127.0.0.1.",
    "localhost",
    "LOCALHOST.",
    "anything.localhost",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "0",
    ANY,
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
]


def edges() -> Iterable[str]:
    """The first, a middle and the last address of every special range, as hosts of URLs."""
    for network in SPECIAL:
        block = ip_network(network)
        for address in {block[0], block[block.num_addresses // 2], block[-1]}:
            yield f"[{address}]" if address.version == 6 else str(address)


@asynccontextmanager
async def canary() -> AsyncIterator[tuple[int, list[object]]]:
    """A port that listens on every address of this machine but `PUBLIC`, and all who connected to it."""
    connected: list[object] = []

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if writer.get_extra_info("sockname")[0] != PUBLIC:
            connected.append(writer.get_extra_info("sockname"))
            writer.write(said("200 OK", b"secret"))
        else:
            writer.write(said("404 Not Found"))
        writer.close()

    server = await asyncio.start_server(answer, ANY, 0)
    port = server.sockets[0].getsockname()[1]
    six = await asyncio.start_server(answer, "::1", port)
    async with server, six:
        yield port, connected


def fetcher(lookup: Lookup | None = None) -> HttpFetcher:
    limits = Limits(dns_s=2.0, connect_s=1.0, first_byte_s=1.0, total_s=4.0)
    return HttpFetcher(
        clock=WallClock(), user_agent="recrawl-test", min_delay_s=0.0, limits=limits, lookup=lookup
    )


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every address that anything tries to connect to, whether or not somebody listens."""
    tried: list[str] = []
    connect = asyncio.selector_events.BaseSelectorEventLoop.sock_connect

    async def noted(loop: asyncio.SelectorEventLoop, sock: object, address: tuple[str, int]) -> None:
        tried.append(address[0])
        await connect(loop, sock, address)  # type: ignore[arg-type]

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", noted)
    return tried


@pytest.fixture
def some_public_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shield, "public", lambda address: str(address) == PUBLIC or public(address))


def only_names_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shield as others build it: a resolver that filters, and sockets for whoever asks."""
    guarded = Connector._socket

    def unguarded(self: Connector, info: tuple[int, int, int, str, tuple[str | int, ...]]) -> object:
        self._allow_private, before = True, self._allow_private
        try:
            return guarded(self, info)
        finally:
            self._allow_private = before

    monkeypatch.setattr(Connector, "_socket", unguarded)


# -- every spelling, every range ---------------------------------------------------------------------------


async def knocked(hosts: Iterable[str]) -> tuple[list[Fetch], int]:
    async with canary() as (port, connected), fetcher() as here:
        fetches = [await here.fetch(Request(url=f"http://{host}:{port}/")) for host in hosts]
        return fetches, len(connected)


def not_blocked(fetches: list[Fetch]) -> dict[str, Failure | None]:
    return {fetch.request.url: fetch.failure for fetch in fetches if fetch.outcome is not Outcome.BLOCKED}


def test_no_spelling_of_loopback_is_connected_to(attempts: list[str]) -> None:
    fetches, n_connected = asyncio.run(knocked(SPELLINGS))
    assert (n_connected, attempts, not_blocked(fetches)) == (0, [], {})


def test_no_address_of_a_special_range_is_connected_to(attempts: list[str]) -> None:
    fetches, n_connected = asyncio.run(knocked(edges()))
    assert len(fetches) > 100
    assert (n_connected, attempts, not_blocked(fetches)) == (0, [], {})


def test_a_filter_of_names_alone_is_found_out(monkeypatch: pytest.MonkeyPatch, attempts: list[str]) -> None:
    only_names_are_checked(monkeypatch)
    _, n_connected = asyncio.run(knocked(SPELLINGS))
    assert n_connected >= 3
    assert "127.0.0.1" in attempts


def test_the_canary_sees_what_is_allowed() -> None:
    async def run() -> int:
        async with canary() as (port, connected), fetcher() as here:
            for host in ("127.0.0.1", "any.localhost", "[::1]"):
                await here.fetch(Request(url=f"http://{host}:{port}/x", allow_private=True))
            return len(connected)

    assert asyncio.run(run()) >= 3


# -- redirects -----------------------------------------------------------------------------------------------


async def led_astray(targets: list[str]) -> tuple[list[Fetch], int]:
    """From a public place to each of these."""
    async with canary() as (port, connected), fetcher() as here:
        locations = [f"http://{host}:{port}/".encode().decode("latin-1") for host in targets]
        replies = {f"/{i}": said("302 Found", Location=place) for i, place in enumerate(locations)}
        async with site(replies, address=PUBLIC) as there:
            fetches = [await here.fetch(Request(url=f"{there.url}/{i}")) for i in range(len(targets))]
        return fetches, len(connected)


@pytest.mark.usefixtures("some_public_place")
def test_no_redirect_leads_to_a_private_place(attempts: list[str]) -> None:
    fetches, n_connected = asyncio.run(led_astray([*SPELLINGS, *edges()]))
    assert all(fetch.hops for fetch in fetches), "each of them was led on"
    assert (n_connected, set(attempts), not_blocked(fetches)) == (0, {PUBLIC}, {})


@pytest.mark.usefixtures("some_public_place")
def test_a_filter_of_names_alone_is_led_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    only_names_are_checked(monkeypatch)
    _, n_connected = asyncio.run(led_astray(SPELLINGS))
    assert n_connected >= 3


# -- names that change their mind ----------------------------------------------------------------------------


class Rebinding:
    """Every name is in a public place the first time it is looked up, and here ever after."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    async def __call__(self, host: str, _port: int) -> list[str]:
        first = host not in self.known
        self.known.add(host)
        return [PUBLIC if first else "127.0.0.1"]


class LooksBeforeItLeaps:
    """A guard as others build it: one look-up to check, and another one to connect."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.inner = fetcher(lookup)

    async def fetch(self, request: Request) -> Fetch:
        found = await self._lookup(str(urlsplit(request.url).hostname), 80)
        assert all(shield.public(address) for address in found)
        return await self.inner.fetch(Request(url=request.url, allow_private=True))


async def rebound(here: Fetcher, n_names: int) -> tuple[list[Fetch], int]:
    async with canary() as (port, connected):
        urls = [f"http://rebind{i}.example:{port}/" for i in range(n_names)]
        return [await here.fetch(Request(url=url)) for url in urls], len(connected)


@pytest.mark.usefixtures("some_public_place")
def test_a_name_that_changes_its_mind_gains_nothing() -> None:
    async def run() -> tuple[list[Fetch], int]:
        async with fetcher(Rebinding()) as here:
            return await rebound(here, N_REBINDINGS)

    fetches, n_connected = asyncio.run(run())
    reasons = {fetch.failure.reason for fetch in fetches if fetch.failure}
    assert (n_connected, reasons, not_blocked(fetches)) == (0, {"private-address"}, {})


@pytest.mark.usefixtures("some_public_place")
def test_a_guard_that_looks_up_twice_is_found_out() -> None:
    async def run() -> int:
        twin = LooksBeforeItLeaps(Rebinding())
        async with twin.inner:
            return (await rebound(twin, 5))[1]

    assert asyncio.run(run()) > 0


def test_leave_to_visit_private_places_does_not_outlast_its_request() -> None:
    async def run() -> tuple[Outcome, Outcome, int]:
        async with site({"/a": said("200 OK", b"x")}) as there, fetcher() as here:
            allowed = await here.fetch(Request(url=f"{there.url}/a", allow_private=True))
            n_asked = len(there.asked)
            refused = await here.fetch(Request(url=f"{there.url}/a"))
            return allowed.outcome, refused.outcome, len(there.asked) - n_asked

    assert asyncio.run(run()) == (Outcome.OK, Outcome.BLOCKED, 0)
