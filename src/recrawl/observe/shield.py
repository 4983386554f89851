"""Which addresses may be connected to, and the one connector that asks before every connection.

The check stands where the socket is made, after names were resolved and whatever spelling an address had:
what was checked is what is connected to, and a name that resolves differently the next time gains nothing.
"""

from __future__ import annotations

import asyncio
import errno
import re
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from recrawl.observe.intake import MeteredSocket

# `ipaddress.is_global` calls multicast and several IPv6 disguises of IPv4 global, so the registries of
# special-purpose addresses are written out, deprecated entries included.
_SPECIAL_V4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' shared space
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and where clouds keep their metadata
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_UNICAST_V6 = IPv6Network("2000::/3")  # outside it nothing is global but the disguises below
_SPECIAL_V6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, ORCHID, benchmarks, drones …
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: an IPv4 address in disguise
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
# These reach the IPv4 address in their last 32 bits. On a network that speaks only IPv6, the second is how
# the public IPv4 web looks; its neighbour 64:ff9b:1::/48 is for local use.
_EMBEDDING_V4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))

_MAX_PER_FAMILY = 5
_LOOKUP_THREADS = 16

_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+)){0,3}")

Lookup = Callable[[str, int], Awaitable[list[str]]]


def public(address: str | IPv4Address | IPv6Address) -> bool:
    """Whether an address belongs to the public internet. What is no address is not public.

    >>> public("192.0.2.1"), public("::ffff:127.0.0.1"), public("93.184.216.34")
    (False, False, True)
    """
    try:
        value = ip_address(address)
    except ValueError:
        return False
    if isinstance(value, IPv6Address):
        if any(value in network for network in _EMBEDDING_V4):
            return public(IPv4Address(int(value) & 0xFFFF_FFFF))
        return value in _UNICAST_V6 and not any(value in network for network in _SPECIAL_V6)
    return not any(value in network for network in _SPECIAL_V4)


def known_private(host: str) -> bool:
    """Whether a host is no public one, as far as its name alone tells: for those that others will resolve.

    >>> known_private("0x7f.1"), known_private("[::1]"), known_private("a.localhost."), known_private("a.org")
    (True, True, True, False)
    """
    name = host.strip("[]").rstrip(".").lower()
    if ":" in name or _NUMERIC.fullmatch(name):
        try:
            # Every spelling that a resolver takes for an address: 127.1, 0x7f000001, 017700000001 …
            return not public(name if ":" in name else socket.inet_ntoa(socket.inet_aton(name)))
        except OSError:
            return True
    return _is_local(name)


def _is_local(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost")


class PrivateAddressError(OSError):
    """A connection that was not made. Stays inside `observe`, where it becomes a value."""

    def __init__(self, address: str) -> None:
        super().__init__(
            errno.EACCES, f"{address} is not a public address; --allow-private lets it be visited"
        )


class Connector(TCPConnector):
    """Connects to public addresses; with `allow_private` to any. `insecure` takes any certificate.

    No connection is used twice. A host is asked at most every few seconds, when a pooled connection is
    mostly dead; and one that was opened under other rules can never be taken.
    """

    def __init__(
        self, *, allow_private: bool, dns_s: float, insecure: bool = False, lookup: Lookup | None = None
    ) -> None:
        self._allow_private = allow_private
        self._names = _Resolver(allow_private=allow_private, dns_s=dns_s, lookup=lookup)
        super().__init__(
            resolver=self._names,
            use_dns_cache=False,
            ssl=not insecure,
            socket_factory=self._socket,
            force_close=True,
            limit=0,
        )

    def _socket(self, info: tuple[int, int, int, str, tuple[str | int, ...]]) -> socket.socket:
        family, kind, protocol, _, address = info
        if not self._allow_private and not public(str(address[0])):
            raise PrivateAddressError(str(address[0]))
        return MeteredSocket(family, kind, protocol)

    async def aclose(self) -> None:
        await self.close()
        await self._names.close()


class _Resolver(AbstractResolver):
    """Names to addresses: within a time, a few of each family, private ones only where allowed."""

    def __init__(self, *, allow_private: bool, dns_s: float, lookup: Lookup | None) -> None:
        self._allow_private = allow_private
        self._dns_s = dns_s
        self._lookup = lookup or self._system_lookup
        # A server of names that never answers ties up a thread for long: let it be none that others need.
        self._threads = ThreadPoolExecutor(_LOOKUP_THREADS, "recrawl-dns")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        found = await self._addresses(host, port)
        chosen = [address for address in found if self._allow_private or public(address)]
        if not chosen:
            raise PrivateAddressError(f"{host} ({', '.join(found[:3])})")
        v4, v6 = ([a for a in chosen if (":" in a) is six][:_MAX_PER_FAMILY] for six in (False, True))
        wanted = {socket.AF_INET: v4, socket.AF_INET6: v6}.get(family, v6 + v4)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in wanted
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _addresses(self, host: str, port: int) -> list[str]:
        name = host.rstrip(".").lower()
        if _is_local(name):
            return ["127.0.0.1"]  # RFC 6761: never asked of a server of names
        try:
            async with asyncio.timeout(self._dns_s):
                found = await self._lookup(name, port)
        except TimeoutError:
            raise OSError(errno.ETIMEDOUT, f"{host} was not resolved within {self._dns_s:g} s") from None
        except UnicodeError as problem:
            raise OSError(errno.EINVAL, f"{host} is not a name ({problem})") from None
        if not found:
            raise OSError(errno.ENODATA, f"{host} has no address")
        return found

    async def _system_lookup(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        infos = await loop.run_in_executor(
            self._threads, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
        return [str(info[4][0]) for info in infos]
