"""What is not content is let in only so far."""

from __future__ import annotations

import asyncio

import pytest

from recrawl.checks.fetcher import said, site
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Outcome, Request
from recrawl.observe.http import HttpFetcher

CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"


def visit(head: bytes, piece: bytes, n_pieces: int | None = None) -> tuple[Fetch, int]:
    """The fetch, and how much its server could send."""
    n_sent = 0

    async def script(writer: asyncio.StreamWriter) -> None:
        nonlocal n_sent
        writer.write(head)
        n_left = n_pieces
        while n_left is None or n_left > 0:
            n_left = None if n_left is None else n_left - 1
            writer.write(piece)
            n_sent += len(piece)
            await writer.drain()

    async def run() -> Fetch:
        fetcher = HttpFetcher(clock=WallClock(), user_agent="t/1", min_delay_s=0.0)
        async with site({"/": script}) as server, fetcher:
            return await fetcher.fetch(Request(url=f"{server.url}/", allow_private=True))

    return asyncio.run(asyncio.wait_for(run(), 20.0)), n_sent


def test_ten_interim_replies_are_let_pass_and_the_eleventh_is_not() -> None:
    page = said("200 OK", b"here")
    fetch, _ = visit(INTERIM * 10, page, 1)
    assert (fetch.outcome, fetch.body) == (Outcome.OK, b"here")
    fetch, _ = visit(INTERIM * 11, page, 1)
    assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.NET_ERROR, "protocol")


def test_interim_replies_without_end_are_cut_at_once() -> None:
    fetch, n_sent = visit(b"", INTERIM * 100)
    assert fetch.failure is not None
    assert "interim" in fetch.failure.detail
    assert n_sent < 16 << 20, "what is more than the buffers of two sockets was read"


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (CHUNKED + b"5;", b"e" * 65_536),
        (CHUNKED, b"1;" + b"e" * 8_000 + b"\r\nx\r\n"),
        (CHUNKED + b"0", b"0" * 65_536),
    ],
    ids=["one extension", "many extensions", "a long number"],
)
def test_framing_without_end_is_cut_long_before_the_time_is_up(head: bytes, piece: bytes) -> None:
    fetch, n_sent = visit(head, piece)
    assert fetch.outcome in (Outcome.TRUNCATED, Outcome.NET_ERROR)
    assert n_sent < 24 << 20, "what is more than the buffers of two sockets was read"


def test_a_body_in_chunks_of_one_byte_is_whole_all_the_same() -> None:
    fetch, _ = visit(CHUNKED, b"1\r\nx\r\n" * 600_000 + b"0\r\n\r\n", 1)
    assert (fetch.outcome, len(fetch.body)) == (Outcome.OK, 600_000)
