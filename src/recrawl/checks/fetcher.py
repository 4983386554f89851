"""What every fetcher of http URLs must do. For plug-in authors: await each of `CHECKS` on a function that
makes yours, as an asynchronous context, with no delay between requests and with a clock that really runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from recrawl.contracts import Fetcher
from recrawl.model import Fetch, Outcome, Request

MakeFetcher = Callable[[], AbstractAsyncContextManager[Fetcher]]
Script = Callable[[asyncio.StreamWriter], Awaitable[None]]  # what a server does once it was asked


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, as its server saw it; times are those of the event loop."""

    path: str
    headers: dict[str, str]
    started_s: float
    ended_s: float


@dataclass(slots=True)
class Site:
    """A server on loopback that does what it was told to do."""

    url: str
    asked: list[Asked] = field(default_factory=list)

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]


def said(status: str, body: bytes = b"", **headers: str) -> bytes:
    """A reply on the wire; underscores in header names stand for hyphens."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    fields = {"Content-Length": str(len(body)), "Connection": "close"} | given
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


@asynccontextmanager
async def site(replies: Mapping[str, bytes | Script], address: str = "127.0.0.1") -> AsyncIterator[Site]:
    """Answer by path, with bytes or with a script; 404 for all else, robots.txt included."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        started_s = loop.time()
        path, headers = "", {}
        try:
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = first.split(" ")[1]
            fields = (line.partition(":") for line in lines if line)
            headers = {name.lower(): value.strip() for name, _, value in fields}
            reply = replies.get(path, said("404 Not Found"))
            if isinstance(reply, bytes):
                writer.write(reply)
                await writer.drain()
            else:
                await reply(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other side has had enough
        finally:
            here.asked.append(Asked(path, headers, started_s, loop.time()))
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(loop.create_task(answer(reader, writer)))

    server = await asyncio.start_server(accept, address, 0)
    here = Site(f"http://{address}:{server.sockets[0].getsockname()[1]}")
    try:
        yield here
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def fetched(make: MakeFetcher, url: str, *, etag: str | None = None, private: bool = True) -> Fetch:
    async with make() as fetcher:
        return await fetcher.fetch(Request(url=url, etag=etag, allow_private=private))


async def check_a_page_comes_back_whole(make: MakeFetcher) -> None:
    async with site({"/a": said("200 OK", b"<p>hello", Content_Type="text/html; charset=utf-8")}) as here:
        fetch = await fetched(make, f"{here.url}/a")
    assert fetch.outcome is Outcome.OK
    assert (fetch.status, fetch.body, fetch.media_type) == (200, b"<p>hello", "text/html")
    assert fetch.started_at <= fetch.ended_at
    assert fetch.failure is None


async def check_statuses_have_their_outcomes(make: MakeFetcher) -> None:
    """404 and 410 are answers, other errors are failures with a reason."""
    expected = {"404 Not Found": Outcome.GONE, "410 Gone": Outcome.GONE} | dict.fromkeys(
        ["401 Unauthorized", "403 Forbidden", "429 Slow Down", "500 Oh", "503 Busy"], Outcome.HTTP_ERROR
    )
    for status, outcome in expected.items():
        async with site({"/a": said(status)}) as here:
            fetch = await fetched(make, f"{here.url}/a")
        assert fetch.outcome is outcome
        assert fetch.status == int(status[:3])
        assert outcome is Outcome.GONE or fetch.failure is not None


async def check_a_validator_is_sent_and_a_304_believed(make: MakeFetcher) -> None:
    async with site({"/a": said("304 Not Modified")}) as here:
        fetch = await fetched(make, f"{here.url}/a", etag='"v1"')
        assert [asked.headers.get("if-none-match") for asked in here.asked if asked.path == "/a"] == ['"v1"']
    assert fetch.outcome is Outcome.NOT_MODIFIED


async def check_a_304_that_nobody_asked_for_is_an_error(make: MakeFetcher) -> None:
    async with site({"/a": said("304 Not Modified")}) as here:
        fetch = await fetched(make, f"{here.url}/a")
    assert fetch.outcome is Outcome.HTTP_ERROR


async def check_half_a_body_is_not_a_page(make: MakeFetcher) -> None:
    async with site({"/a": said("200 OK", b"half", Content_Length="8")}) as here:
        fetch = await fetched(make, f"{here.url}/a")
    assert fetch.outcome is Outcome.TRUNCATED


async def check_redirects_are_followed_and_told(make: MakeFetcher) -> None:
    replies = {"/a": said("302 Found", Location="/b"), "/b": said("200 OK", b"there")}
    async with site(replies) as here:
        fetch = await fetched(make, f"{here.url}/a")
    assert (fetch.outcome, fetch.body, fetch.url) == (Outcome.OK, b"there", f"{here.url}/b")
    assert [hop.status for hop in fetch.hops] == [302]


async def check_robots_txt_is_obeyed(make: MakeFetcher) -> None:
    robots = said("200 OK", b"User-agent: *\nDisallow: /no")
    async with site({"/robots.txt": robots, "/no": said("200 OK")}) as here:
        fetch = await fetched(make, f"{here.url}/no")
        assert here.paths() == ["/robots.txt"]
    assert fetch.outcome is Outcome.BLOCKED


async def check_a_private_address_is_not_connected_to(make: MakeFetcher) -> None:
    async with site({"/a": said("200 OK")}) as here:
        fetch = await fetched(make, f"{here.url}/a", private=False)
        assert here.asked == []
    assert fetch.outcome is Outcome.BLOCKED


async def check_trouble_is_a_value(make: MakeFetcher) -> None:
    """Nobody listens, no such scheme, no URL at all, not even HTTP."""
    async with site({"/a": b"\x00\xff nonsense\r\n\r\n"}) as here:
        assert (await fetched(make, f"{here.url}/a")).outcome is Outcome.NET_ERROR
    assert (await fetched(make, f"{here.url}/a")).outcome is Outcome.NET_ERROR  # it is closed by now
    assert (await fetched(make, "ftp://127.0.0.1/a")).outcome is Outcome.BLOCKED
    assert (await fetched(make, "http://")).outcome is Outcome.BLOCKED


CHECKS = [
    check_a_page_comes_back_whole,
    check_statuses_have_their_outcomes,
    check_a_validator_is_sent_and_a_304_believed,
    check_a_304_that_nobody_asked_for_is_an_error,
    check_half_a_body_is_not_a_page,
    check_redirects_are_followed_and_told,
    check_robots_txt_is_obeyed,
    check_a_private_address_is_not_connected_to,
    check_trouble_is_a_value,
]
