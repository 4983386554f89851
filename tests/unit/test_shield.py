"""No address of ours, in whatever disguise, is ever connected to."""

from __future__ import annotations

import asyncio
import re
import socket
from ipaddress import ip_network

import pytest

from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Outcome, Request
from recrawl.observe.http import HttpFetcher, Limits
from recrawl.observe.shield import Connector, Lookup, public

ANY = "0.0.0.0"  # noqa: S104

# The IANA registries of special-purpose addresses, and multicast.
SPECIAL = re.findall(
    r"\S+",
    """
0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/32 192.0.0.171/32 192.0.2.0/24
192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
::/128 ::1/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128 2001:1::2/128
2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32
2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
""",
)


@pytest.mark.parametrize("network", SPECIAL)
def test_no_special_purpose_address_is_public(network: str) -> None:
    block = ip_network(network)
    middle = block[block.num_addresses // 2]
    assert not any(public(address) for address in (block[0], middle, block[-1]))


@pytest.mark.parametrize("inner", ["127.0.0.1", "10.1.2.3", "169.254.169.254", ANY, "224.0.0.1"])
@pytest.mark.parametrize(
    "disguise", ["::ffff:{}", "::{}", "64:ff9b::{}", "64:ff9b:1::{}", "2002:{:x}::1", "2001:0:{:x}::1"]
)
def test_a_private_ipv4_address_inside_an_ipv6_one_is_not_public(inner: str, disguise: str) -> None:
    high, low = (int.from_bytes(bytes(map(int, inner.split(".")))) >> shift & 0xFFFF for shift in (16, 0))
    address = disguise.replace("{:x}", f"{high:x}:{low:x}").format(inner)
    assert not public(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "1.0.0.1",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "223.255.255.255",
        "2606:2800:220:1::1",
        "2001:200::1",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
    ],
)
def test_the_public_internet_is_public(address: str) -> None:
    assert public(address)


@pytest.mark.parametrize(
    "address", ["", "localhost", "127.1", "2130706433", "0x7f.1", "fe80::1%eth0", "::1%lo"]
)
def test_what_is_no_plain_public_address_is_not_public(address: str) -> None:
    assert not public(address)


def fetcher(lookup: Lookup | None = None) -> HttpFetcher:
    limits = Limits(dns_s=2.0, connect_s=1.0, first_byte_s=1.0, total_s=4.0)
    return HttpFetcher(
        clock=WallClock(), user_agent="recrawl-test", min_delay_s=0.0, limits=limits, lookup=lookup
    )


def test_of_many_addresses_only_public_ones_are_tried_and_only_a_few() -> None:
    async def lookup(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1", "::1", *(f"8.8.8.{i}" for i in range(50)), *(f"2a00::{i}" for i in range(1, 50))]

    async def run() -> list[str]:
        connector = Connector(allow_private=False, dns_s=1.0, lookup=lookup)
        try:
            found = await connector._names.resolve("many.example", 80, family=socket.AF_UNSPEC)
            return [one["host"] for one in found]
        finally:
            await connector.aclose()

    found = asyncio.run(run())
    assert len(found) == 10
    assert all(public(address) for address in found)


def test_a_server_of_names_that_never_answers_is_not_waited_for() -> None:
    async def lookup(_host: str, _port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    async def run() -> Fetch:
        async with fetcher(lookup) as here:
            return await here.fetch(Request(url="http://slow.example/"))

    fetch = asyncio.run(run())
    assert fetch.outcome is Outcome.NET_ERROR
    assert fetch.failure is not None
    assert fetch.failure.reason == "dns"
    assert fetch.ended_at - fetch.started_at < 10.0
