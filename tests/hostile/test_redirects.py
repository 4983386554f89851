"""Redirects that lead astray."""

from __future__ import annotations

import asyncio

import pytest

from recrawl.checks.fetcher import Script, Site, said, site
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Outcome, Request
from recrawl.observe.http import HttpFetcher, Limits

LIMITS = Limits(connect_s=1.0, first_byte_s=1.0, total_s=3.0)


def fetcher() -> HttpFetcher:
    return HttpFetcher(clock=WallClock(), user_agent="recrawl-test/1", min_delay_s=0.0, limits=LIMITS)


def told(fetch: Fetch) -> tuple[Outcome, str]:
    return fetch.outcome, fetch.failure.reason if fetch.failure else ""


async def moved_with_endless_body(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


def moved(location: str) -> bytes:
    return said("302 Found", Location=location)


def followed(scripts: dict[str, Script | bytes]) -> tuple[Fetch, Site]:
    async def run() -> tuple[Fetch, Site]:
        async with site(scripts) as server, fetcher() as here:
            return await here.fetch(Request(url=f"{server.url}/", allow_private=True, etag='"v"')), server

    return asyncio.run(run())


def test_a_redirect_loop_ends() -> None:
    fetch, server = followed({"/": moved("/b"), "/b": moved("/")})
    assert told(fetch) == (Outcome.HTTP_ERROR, "redirects")
    assert server.paths() == ["/robots.txt", "/", "/b"]


def test_a_chain_without_end_is_followed_for_ten_hops() -> None:
    chain: dict[str, Script | bytes] = {f"/{i}": moved(f"/{i + 1}") for i in range(50)}
    fetch, server = followed({"/": moved("/0"), **chain})
    assert told(fetch) == (Outcome.HTTP_ERROR, "redirects")
    assert len(fetch.hops) == 10
    assert len(server.asked) == 12


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "scheme"),
        ("ftp://127.0.0.1/", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,x", "scheme"),
        ("http://user:secret@127.0.0.1/", "url"),
        ("http://[::1", "url"),
        ("/" + "x" * 5_000, "url"),
    ],
)
def test_a_redirect_to_what_we_do_not_visit_is_blocked(location: str, reason: str) -> None:
    fetch, _ = followed({"/": moved(location)})
    assert told(fetch) == (Outcome.BLOCKED, reason)
    assert [hop.location for hop in fetch.hops] == [location]


def test_the_body_of_a_redirect_is_not_read() -> None:
    fetch, _ = followed({"/": moved_with_endless_body, "/b": said("200 OK", b"there")})
    assert (fetch.outcome, fetch.body) == (Outcome.OK, b"there")
    assert fetch.ended_at - fetch.started_at < LIMITS.total_s


def test_a_redirect_leads_only_where_robots_txt_allows() -> None:
    robots = said("200 OK", b"User-agent: *\nDisallow: /no")
    fetch, server = followed({"/robots.txt": robots, "/": moved("/no"), "/no": said("200 OK")})
    assert told(fetch) == (Outcome.BLOCKED, "robots")
    assert "/no" not in server.paths()


def test_validators_are_not_sent_on_to_where_a_redirect_leads() -> None:
    fetch, server = followed({"/": moved("/b"), "/b": said("304 Not Modified")})
    assert told(fetch) == (Outcome.HTTP_ERROR, "unasked-304")
    assert ["if-none-match" in asked.headers for asked in server.asked] == [False, True, False]
