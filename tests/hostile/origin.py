"""The hostile origin: one server, many hosts by name, each misbehaving in its own way.

`python -m tests.hostile.origin` serves the whole table from a process of its own and prints its ports.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import sys
import warnings
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from recrawl.checks.fetcher import Asked, Script, said

Writer = asyncio.StreamWriter
Reply = bytes | Script
Replies = Mapping[str, Reply]  # by path, "*" for all others but robots.txt; 404 for what is not there

PAUSE_S = 0.2
DOMAIN = "hostile.localhost"
OTHER = "-b"  # a host and its neighbour: `x.hostile.localhost` and `x-b.hostile.localhost`
CERTIFICATES = Path(__file__).with_name("certificates")
HEALTHY = b"<html><title>Good</title><p>A page that means well. " + b"More of it. " * 300 + b"</html>"


@dataclass(slots=True)
class Origin:
    """Where it listens, by the name of the door, and what it was asked, by host."""

    ports: Mapping[str, int]
    asked: defaultdict[str, list[Asked]] = field(default_factory=lambda: defaultdict(list))

    def url(self, label: str, door: str = "plain") -> str:
        scheme = "http" if door in ("plain", "closed") else "https"
        return f"{scheme}://{label}.{DOMAIN}:{self.ports[door]}"


def labelled(host: str) -> str:
    return host.partition(":")[0].removesuffix(f".{DOMAIN}")


@asynccontextmanager
async def serving(hosts: Mapping[str, Replies]) -> AsyncIterator[Origin]:
    """Serve `hosts` by name: `h01n2-17` is a copy of `h01n2`, and `h01n2-17-b` of its neighbour `h01n2-b`."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: Writer) -> None:
        started_s, path, headers = loop.time(), "", {}
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = first.split(" ")[1]
            fields = (line.partition(":") for line in lines if line)
            headers = {name.lower(): value.strip() for name, _, value in fields}
            if length := int(headers.get("content-length", "0")):
                path += " " + (await reader.readexactly(length)).decode("latin-1")
            label = labelled(headers.get("host", ""))
            reply = _chosen(hosts, label, path)
            if isinstance(reply, bytes):
                other = f"{label}{OTHER}.{DOMAIN}:{ports['plain']}"
                writer.write(reply.replace(b"@OTHER@", other.encode()))
                await writer.drain()
            else:
                await reply(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other side has had enough
        finally:
            origin.asked[labelled(headers.get("host", ""))].append(
                Asked(path, headers, started_s, loop.time())
            )
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: Writer) -> None:
        task = loop.create_task(answer(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def blurt(_reader: asyncio.StreamReader, writer: Writer) -> None:
        writer.write(said("400 Bad Request", b"this port speaks no TLS"))
        writer.close()

    ports: dict[str, int] = {}
    origin = Origin(ports)
    async with AsyncExitStack() as doors:
        deaf = await asyncio.start_server(blurt, "127.0.0.1", 0)
        doors.push_async_callback(_closed, deaf)
        ports["no-tls"] = deaf.sockets[0].getsockname()[1]
        for name, context in _doors().items():
            server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context, backlog=1_000)
            doors.push_async_callback(_closed, server)
            ports[name] = server.sockets[0].getsockname()[1]
        with socket.socket() as unheard:  # bound and not listening: whoever connects is refused
            unheard.bind(("127.0.0.1", 0))
            ports["closed"] = unheard.getsockname()[1]
            yield origin
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


_NONE = said("404 Not Found")
_GOOD = said("200 OK", HEALTHY, Content_Type="text/html")


def _chosen(hosts: Mapping[str, Replies], label: str, path: str) -> Reply:
    name, *rest = label.split("-")
    replies: Replies = {"*": _GOOD} if name == "good" else hosts.get(name + OTHER * (len(rest) > 1), {})
    return replies.get(path, _NONE if path == "/robots.txt" else replies.get("*", _NONE))


async def _closed(server: asyncio.Server) -> None:
    server.close()


def _doors() -> dict[str, ssl.SSLContext | None]:
    doors: dict[str, ssl.SSLContext | None] = {"plain": None}
    for name in ("good", "expired", "elsewhere", "alone"):
        doors[name] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        doors[name].load_cert_chain(CERTIFICATES / f"{name}.pem")  # type: ignore[union-attr]
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old.load_cert_chain(CERTIFICATES / "good.pem")
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that it is old is the point
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
    return doors | {"old": old}


# -- what scripts are made of ----------------------------------------------------------------------------


def endless(head: bytes, piece: bytes, pause_s: float = 0.0, *, first_s: float = 0.0) -> Script:
    """`head`, then `piece` for ever; `first_s` in between lets the head be read by itself."""

    async def script(writer: Writer) -> None:
        writer.write(head)
        await asyncio.sleep(first_s)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return script


def broken_off(reply: bytes) -> Script:
    """`reply`, then a reset."""

    async def script(writer: Writer) -> None:
        writer.write(reply)
        await writer.drain()
        await asyncio.sleep(PAUSE_S)
        writer.transport.abort()

    return script


def halting(head: bytes, rest: bytes) -> Script:
    """`head`, and after it has been read, the rest."""

    async def script(writer: Writer) -> None:
        writer.write(head)
        await asyncio.sleep(PAUSE_S)
        writer.write(rest)

    return script


async def silence(_writer: Writer) -> None:
    await asyncio.sleep(3_600)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def moved(location: str, status: str = "302 Found") -> bytes:
    return said(status, Location=location)


async def _main() -> None:
    from tests.hostile.table import HOSTS

    async with serving(HOSTS) as origin:
        print(json.dumps(dict(origin.ports)), flush=True)
        await asyncio.to_thread(sys.stdin.read)  # until whoever started it is gone


if __name__ == "__main__":
    asyncio.run(_main())
