"""Servers that misbehave: each gives exactly one fetch, with the right outcome, within the limits."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from collections.abc import Callable, Coroutine
from typing import Any

import brotli
import pytest
import zstandard

from recrawl.checks.fetcher import CHECKS, MakeFetcher, Script, said, site
from recrawl.errors import BadSettingError
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Outcome, Request
from recrawl.observe.http import HttpFetcher, Limits

LIMITS = Limits(
    dns_s=1.0,
    connect_s=1.0,
    first_byte_s=1.0,
    total_s=3.0,
    min_bytes_per_s=1_000.0,
    rate_window_s=0.5,
    wire_bytes=200_000,
    body_bytes=300_000,
)
SLACK_S = 5.0  # this may be a slow machine
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

Writer = asyncio.StreamWriter


def fetcher() -> HttpFetcher:
    return HttpFetcher(clock=WallClock(), user_agent="recrawl-test/1", min_delay_s=0.0, limits=LIMITS)


def visit(script: Script | bytes, **request: Any) -> Fetch:
    """One fetch from a server that does this, within the time that the limits give."""

    async def run() -> Fetch:
        async with site({"/": script}) as server, fetcher() as here:
            return await here.fetch(Request(url=f"{server.url}/", allow_private=True, **request))

    began = time.monotonic()
    fetch = asyncio.run(run())
    assert time.monotonic() - began < LIMITS.total_s + SLACK_S
    return fetch


def told(fetch: Fetch) -> tuple[Outcome, str]:
    return fetch.outcome, fetch.failure.reason if fetch.failure else ""


async def endless(writer: Writer, head: bytes, piece: bytes, pause_s: float = 0.0) -> None:
    writer.write(head)
    while True:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(pause_s)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


@pytest.mark.parametrize("check", CHECKS)
def test_it_is_a_fetcher(check: Callable[[MakeFetcher], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(check(fetcher))


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (OK_HEAD + b"\r\n", b"x" * 65_536),
        (OK_HEAD + b"Content-Length: 99999999999\r\n\r\n", b"x" * 65_536),
        (OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk(b"x" * 65_536)),
    ],
)
def test_an_endless_body_is_cut_at_the_limit(head: bytes, piece: bytes) -> None:
    fetch = visit(lambda writer: endless(writer, head, piece))
    assert told(fetch) == (Outcome.TRUNCATED, "length")
    assert len(fetch.wire) == len(fetch.body) == LIMITS.wire_bytes


def test_an_endless_body_is_not_taken_in_beyond_the_limit() -> None:
    n_sent = 0

    async def script(writer: Writer) -> None:
        nonlocal n_sent
        writer.write(OK_HEAD + b"\r\n")
        while True:
            writer.write(b"x" * 65_536)
            n_sent += 65_536
            await writer.drain()

    visit(script)
    assert n_sent < 16 << 20, "what is more than the buffers of two sockets was read and kept"


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (OK_HEAD + b"\r\n", b"x"),
        (OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", chunk(b"x")),
        (OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;", b"extension"),
    ],
)
def test_a_body_slower_than_the_least_rate_is_cut(head: bytes, piece: bytes) -> None:
    fetch = visit(lambda writer: endless(writer, head, piece, 0.05))
    assert told(fetch) == (Outcome.TRUNCATED, "time")
    assert fetch.ended_at - fetch.started_at < LIMITS.rate_window_s + SLACK_S / 2


def test_a_body_that_is_fast_enough_but_never_ends_is_cut_at_the_deadline() -> None:
    fetch = visit(lambda writer: endless(writer, OK_HEAD + b"\r\n", b"x" * 200, 0.05))
    assert told(fetch) == (Outcome.TRUNCATED, "time")
    assert fetch.ended_at - fetch.started_at >= LIMITS.total_s - 0.5


async def silence(_writer: Writer) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize(
    "script",
    [
        silence,
        lambda writer: endless(writer, b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.05),
        lambda writer: endless(writer, b"", b"H", 0.2),
        lambda writer: endless(writer, b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 10),
        lambda writer: endless(writer, b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.05),
    ],
    ids=["never answers", "slow headers", "slow status line", "1xx flood", "1xx drip"],
)
def test_headers_that_do_not_end_are_not_waited_for(script: Script) -> None:
    fetch = visit(script)
    assert fetch.outcome is Outcome.NET_ERROR
    assert fetch.failure is not None
    assert fetch.failure.reason in ("timeout", "protocol")


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X%d: y\r\n" % i for i in range(100_000)) + b"\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X%d: %s\r\n" % (i, b"y" * 7_000) for i in range(20)) + b"\r\n",
        b"HTTP/1.1 200 " + b"O" * 1_000_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"<html>HTTP/0.9</html>",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        bytes(range(256)) * 100,
        b"",
    ],
)
def test_what_is_not_http_is_a_network_error(reply: bytes) -> None:
    fetch = visit(reply)
    assert fetch.outcome is Outcome.NET_ERROR
    assert fetch.failure is not None
    assert fetch.failure.reason in ("protocol", "disconnect")
    assert fetch.body == b""


async def reset(writer: Writer) -> None:
    writer.write(OK_HEAD + b"Content-Length: 100\r\n\r\nhalf")
    await writer.drain()
    await asyncio.sleep(0.1)
    writer.transport.abort()


@pytest.mark.parametrize(
    "script",
    [
        OK_HEAD + b"Content-Length: 100\r\n\r\nhalf",
        OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"half"),
        OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(b"half") + b"8\r\nhal",
        reset,
    ],
    ids=["too long a Content-Length", "no last chunk", "half a chunk", "reset"],
)
def test_a_body_that_breaks_off_is_truncated_and_its_beginning_kept(script: Script | bytes) -> None:
    fetch = visit(script)
    assert told(fetch) == (Outcome.TRUNCATED, "disconnect")
    assert fetch.body.startswith(b"hal")


def test_a_body_longer_than_it_says_is_no_more_than_it_says() -> None:
    fetch = visit(OK_HEAD + b"Content-Length: 3\r\nConnection: close\r\n\r\nabcdef")
    assert fetch.outcome is Outcome.NET_ERROR or fetch.body == b"abc"


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data)),
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}
each_coding = pytest.mark.parametrize("coding", ENCODERS)


@each_coding
def test_what_is_compressed_is_opened_and_kept_as_it_was_sent(coding: str) -> None:
    wire = ENCODERS[coding](b"hello " * 100)
    fetch = visit(said("200 OK", wire, Content_Encoding=coding))
    assert (fetch.outcome, fetch.body, fetch.wire) == (Outcome.OK, b"hello " * 100, wire)


@each_coding
def test_a_bomb_costs_its_limit_and_no_more(coding: str) -> None:
    fetch = visit(said("200 OK", ENCODERS[coding](bytes(50 << 20)), Content_Encoding=coding))
    assert told(fetch) == (Outcome.TRUNCATED, "length")
    assert len(fetch.body) <= LIMITS.body_bytes


@each_coding
def test_half_a_stream_with_the_right_length_is_unreadable_and_not_an_empty_page(coding: str) -> None:
    wire = ENCODERS[coding](bytes(range(256)) * 50)
    fetch = visit(said("200 OK", wire[: len(wire) // 2], Content_Encoding=coding))
    assert told(fetch) == (Outcome.UNREADABLE, "decode")


@each_coding
def test_what_is_not_in_its_coding_is_unreadable(coding: str) -> None:
    assert told(visit(said("200 OK", b"<p>plain", Content_Encoding=coding))) == (Outcome.UNREADABLE, "decode")


def test_two_layers_are_opened_and_a_bomb_in_two_layers_is_cut() -> None:
    twice = gzip.compress(gzip.compress(b"hello"))
    assert visit(said("200 OK", twice, Content_Encoding="gzip, gzip")).body == b"hello"
    bomb = gzip.compress(gzip.compress(bytes(50 << 20)))
    assert told(visit(said("200 OK", bomb, Content_Encoding="gzip, gzip"))) == (Outcome.TRUNCATED, "length")


def test_a_dropped_connection_is_not_tried_again_at_once() -> None:
    async def run() -> tuple[tuple[Outcome, str], list[str]]:
        async with site({"/": b""}) as server, fetcher() as here:
            fetch = await here.fetch(Request(url=f"{server.url}/", allow_private=True))
            return told(fetch), server.paths()

    assert asyncio.run(run()) == ((Outcome.NET_ERROR, "disconnect"), ["/robots.txt", "/"])


def test_validators_that_are_no_header_values_are_left_out() -> None:
    fetch = visit(said("200 OK", b"x"), etag='"a"\r\nX-Evil: 1', last_modified="\udcff")
    assert fetch.outcome is Outcome.OK
    assert not any(
        name in ("If-None-Match", "X-Evil", "If-Modified-Since") for name, _ in fetch.request_headers
    )


def test_headers_of_any_bytes_come_back_as_text_that_can_be_written() -> None:
    fetch = visit(b"HTTP/1.1 200 \xff\r\nETag: \xfe\xff\r\nContent-Length: 1\r\n\r\nx")
    assert fetch.outcome is Outcome.OK
    assert fetch.header("etag") == "\xfe\xff"
    str(fetch).encode("utf-8")


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
def test_gone_is_gone_even_when_its_page_never_ends(status: str) -> None:
    head = f"HTTP/1.1 {status}\r\n\r\n".encode()
    fetch = visit(lambda writer: endless(writer, head, b"x" * 65_536))
    assert told(fetch) == (Outcome.GONE, "length")


def test_a_part_that_was_not_asked_for_is_not_a_page() -> None:
    reply = said("206 Partial Content", b"part", Content_Range="bytes 0-3/100")
    assert told(visit(reply)) == (Outcome.HTTP_ERROR, "unasked-206")


def test_tls_with_a_server_that_does_not_speak_it_is_a_tls_error() -> None:
    async def plain(_reader: asyncio.StreamReader, writer: Writer) -> None:
        writer.write(said("200 OK"))
        writer.close()

    async def run() -> Fetch:
        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, fetcher() as here:
            return await here.fetch(Request(url=f"https://127.0.0.1:{port}/", allow_private=True))

    assert told(asyncio.run(run())) == (Outcome.NET_ERROR, "tls")


def test_a_user_agent_that_cannot_be_sent_is_refused_at_once() -> None:
    for agent in ("", "  ", "bot\r\nX: y", "böt"):
        with pytest.raises(BadSettingError):
            HttpFetcher(clock=WallClock(), user_agent=agent, min_delay_s=1.0)
