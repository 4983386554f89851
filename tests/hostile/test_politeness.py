"""What robots.txt says, and how long hosts are left alone, as the server sees it."""

from __future__ import annotations

import asyncio
import gzip
from itertools import pairwise

import pytest

from recrawl.checks.fetcher import Script, Site, said, site
from recrawl.contracts import Clock
from recrawl.live.clock import FastClock, WallClock
from recrawl.model import Fetch, Outcome, Request
from recrawl.observe.http import HttpFetcher, Limits

LIMITS = Limits(connect_s=1.0, first_byte_s=1.0, total_s=3.0, min_bytes_per_s=1_000.0, rate_window_s=0.5)
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

Writer = asyncio.StreamWriter


def fetcher(*, clock: Clock | None = None, min_delay_s: float = 0.0) -> HttpFetcher:
    return HttpFetcher(
        clock=clock or WallClock(), user_agent="recrawl-test/1", min_delay_s=min_delay_s, limits=LIMITS
    )


def told(fetch: Fetch) -> tuple[Outcome, str]:
    return fetch.outcome, fetch.failure.reason if fetch.failure else ""


async def endless(writer: Writer, head: bytes, piece: bytes, pause_s: float = 0.0) -> None:
    writer.write(head)
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause_s)


async def silence(_writer: Writer) -> None:
    await asyncio.sleep(60)


def moved(location: str) -> bytes:
    return said("302 Found", Location=location)


def followed(scripts: dict[str, Script | bytes]) -> tuple[Fetch, Site]:
    async def run() -> tuple[Fetch, Site]:
        async with site(scripts) as server, fetcher() as here:
            return await here.fetch(Request(url=f"{server.url}/", allow_private=True)), server

    return asyncio.run(run())


def gaps_s(server: Site) -> list[float]:
    order = sorted(server.asked, key=lambda asked: asked.started_s)
    return [later.started_s - earlier.ended_s for earlier, later in pairwise(order)]


@pytest.mark.parametrize(
    ("robots", "expected"),
    [
        (said("404 Not Found"), (Outcome.OK, "")),
        (said("403 Forbidden"), (Outcome.OK, "")),
        (said("200 OK", b"<html>whatever"), (Outcome.OK, "")),
        (
            said("200 OK", gzip.compress(b"User-agent: *\nDisallow: /"), Content_Encoding="gzip"),
            (Outcome.BLOCKED, "robots"),
        ),
        (said("500 Oh"), (Outcome.BLOCKED, "robots")),
        (said("429 Slow down"), (Outcome.BLOCKED, "robots")),
        (said("200 OK", b"User-agent: *\nCrawl-delay: 1e6"), (Outcome.BLOCKED, "crawl-delay")),
        (said("200 OK", b"half", Content_Length="9"), (Outcome.BLOCKED, "robots")),
        (said("301 Moved", Location="/robots.txt"), (Outcome.BLOCKED, "robots")),
        (b"garbage\r\n\r\n", (Outcome.NET_ERROR, "protocol")),
        (silence, (Outcome.NET_ERROR, "timeout")),
    ],
)
def test_no_page_is_asked_for_unless_robots_txt_allows_it(
    robots: Script | bytes, expected: tuple[Outcome, str]
) -> None:
    fetch, server = followed({"/robots.txt": robots, "/": said("200 OK", b"page")})
    assert told(fetch) == expected
    assert ("/" in server.paths()) == (expected[0] is Outcome.OK)


def test_robots_txt_is_asked_for_once_a_day_and_an_endless_one_is_read_for_a_while() -> None:
    async def run() -> tuple[list[Outcome], list[str]]:
        clock = FastClock(start_at=0.0, speed=1.0)
        scripts: dict[str, Script | bytes] = {
            "/": said("200 OK", b"page"),
            "/robots.txt": lambda writer: endless(
                writer, OK_HEAD + b"\r\nUser-agent: *\nDisallow: /x\n", b"Allow: /\n" * 5_000
            ),
        }
        outcomes = []
        async with site(scripts) as server, fetcher(clock=clock) as here:
            for path in ("", "x", ""):
                fetch = await here.fetch(Request(url=f"{server.url}/{path}", allow_private=True))
                outcomes.append(fetch.outcome)
            return outcomes, server.paths()

    outcomes, paths = asyncio.run(run())
    assert outcomes == [Outcome.OK, Outcome.BLOCKED, Outcome.OK]
    assert sorted(paths) == ["/", "/", "/robots.txt"]


def test_robots_txt_redirects_and_all_hops_keep_the_delay() -> None:
    scripts: dict[str, Script | bytes] = {
        "/robots.txt": moved("/r"),
        "/r": said("200 OK", b"User-agent: *\nDisallow: /x"),
        "/": moved("/b"),
        "/b": said("200 OK", b"there"),
    }

    async def run() -> tuple[list[Fetch], Site]:
        async with site(scripts) as server, fetcher(min_delay_s=0.3) as here:
            requests = [Request(url=f"{server.url}/", allow_private=True)] * 2
            return await asyncio.gather(*(here.fetch(request) for request in requests)), server

    fetches, server = asyncio.run(run())
    assert [fetch.body for fetch in fetches] == [b"there", b"there"]
    assert min(gaps_s(server)) >= 0.3 - 0.01


def test_the_crawl_delay_is_kept_on_the_clock_and_told() -> None:
    robots = said("200 OK", b"User-agent: *\nCrawl-delay: 20")

    async def run() -> tuple[Fetch, Site]:
        clock = FastClock(start_at=0.0, speed=50.0)
        scripts: dict[str, Script | bytes] = {"/robots.txt": robots, "/": said("200 OK", b"x")}
        async with site(scripts) as server, fetcher(clock=clock) as here:
            return await here.fetch(Request(url=f"{server.url}/", allow_private=True)), server

    fetch, server = asyncio.run(run())
    assert (fetch.outcome, fetch.wait_s) == (Outcome.OK, 20.0)
    assert fetch.ended_at - fetch.started_at >= 20.0
    assert min(gaps_s(server)) >= 20.0 / 50.0 - 0.01


def test_retry_after_is_told_and_kept_and_not_slept_through() -> None:
    busy = said("503 Busy", Retry_After="3600")

    async def run() -> tuple[Fetch, Fetch, int]:
        async with site({"/": busy}) as server, fetcher() as here:
            first = await here.fetch(Request(url=f"{server.url}/", allow_private=True))
            second = await here.fetch(Request(url=f"{server.url}/", allow_private=True))
            return first, second, server.paths().count("/")

    first, second, n_asked = asyncio.run(run())
    assert told(first) == (Outcome.HTTP_ERROR, "http-503")
    assert first.wait_s == 3600.0
    assert told(second) == (Outcome.BLOCKED, "wait")
    assert 3500.0 < second.wait_s <= 3600.0
    assert n_asked == 1


def test_a_host_whose_robots_txt_answers_503_is_left_alone_until_it_is_asked_again() -> None:
    fetch, _ = followed({"/robots.txt": said("503 Busy"), "/": said("200 OK")})
    assert (told(fetch), fetch.wait_s) == ((Outcome.BLOCKED, "robots"), 600.0)


def test_bad_servers_do_not_hold_up_a_good_one() -> None:
    bad: list[Script] = [
        silence,
        lambda writer: endless(writer, OK_HEAD + b"\r\n", b"x" * 65_536),
        lambda writer: endless(writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 10),
        lambda writer: endless(writer, OK_HEAD + b"\r\n", b"x", 0.05),
    ]

    async def one(here: HttpFetcher, script: Script | bytes, n: int) -> list[Fetch]:
        async with site({"/": script}) as server:
            return [await here.fetch(Request(url=f"{server.url}/", allow_private=True)) for _ in range(n)]

    async def run() -> list[list[Fetch]]:
        async with fetcher() as here:
            good = one(here, said("200 OK", b"good"), 20)
            return await asyncio.gather(good, *(one(here, script, 1) for script in bad))

    good, *others = asyncio.run(run())
    assert all(fetch.body == b"good" for fetch in good)
    assert all(fetch.outcome is not Outcome.OK for fetches in others for fetch in fetches)


def test_cancelling_a_fetch_frees_the_host() -> None:
    async def run() -> Outcome:
        async with site({"/": silence, "/b": said("200 OK")}) as server, fetcher() as here:
            task = asyncio.create_task(here.fetch(Request(url=f"{server.url}/", allow_private=True)))
            await asyncio.sleep(0.3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await here.fetch(Request(url=f"{server.url}/b", allow_private=True))).outcome

    assert asyncio.run(run()) is Outcome.OK
