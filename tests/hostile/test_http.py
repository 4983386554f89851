"""What the table cannot say in one row: how much was taken in, whom we trust, and for how long."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.case import LIMITS, OK_HEAD
from tests.hostile.origin import CERTIFICATES, Writer

from recrawl.checks.fetcher import CHECKS, MakeFetcher, said, site
from recrawl.errors import BadSettingError
from recrawl.live.clock import WallClock
from recrawl.model import Request
from recrawl.observe.http import HttpFetcher

ROOT = Path(__file__).parents[2]


def fetcher() -> HttpFetcher:
    return HttpFetcher(clock=WallClock(), user_agent="recrawl-test/1", min_delay_s=0.0, limits=LIMITS)


@pytest.mark.parametrize("check", CHECKS)
def test_it_is_a_fetcher(check: Callable[[MakeFetcher], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(check(fetcher))


@pytest.mark.parametrize("head", [OK_HEAD, b"HTTP/1.1 302 Found\r\nLocation: /b\r\n"])
def test_an_endless_body_is_not_taken_in_beyond_the_limit(head: bytes) -> None:
    n_sent = 0

    async def script(writer: Writer) -> None:
        nonlocal n_sent
        writer.write(head + b"\r\n")
        while True:
            writer.write(b"x" * 65_536)
            n_sent += 65_536
            await writer.drain()

    async def run() -> None:
        async with site({"/": script, "/b": said("200 OK")}) as server, fetcher() as here:
            await here.fetch(Request(url=f"{server.url}/", allow_private=True))

    asyncio.run(run())
    assert n_sent < 16 << 20, "what is more than the buffers of two sockets was read and kept"


class Days:
    """A clock that stands still until it is put on."""

    speed = 1.0

    def __init__(self) -> None:
        self.at = 1e9

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def test_robots_txt_is_asked_for_once_a_day() -> None:
    async def run() -> list[str]:
        clock = Days()
        web = HttpFetcher(clock=clock, user_agent="recrawl-test/1", min_delay_s=0.0, limits=LIMITS)
        async with site({"/": said("200 OK", b"x")}) as server, web:
            for hours in (0, 23, 2):
                clock.at += hours * 3_600
                await web.fetch(Request(url=f"{server.url}/", allow_private=True))
            return server.paths()

    assert asyncio.run(run()) == ["/robots.txt", "/", "/", "/robots.txt", "/"]


WHOM_WE_TRUST = """
import asyncio, json
from recrawl.model import Request
from tests.hostile.case import hostile_fetcher
from tests.hostile.origin import serving

async def main():
    told = {}
    async with serving({}) as origin, hostile_fetcher() as fetcher:
        for door in ("good", "expired", "elsewhere", "alone"):
            fetch = await fetcher.fetch(Request(url=origin.url("good-1", door) + "/", allow_private=True))
            told[door] = [fetch.outcome, fetch.failure.detail if fetch.failure else ""]
    print(json.dumps(told))

asyncio.run(main())
"""


def test_a_certificate_must_be_in_date_and_for_this_name_even_from_whom_we_trust() -> None:
    """The authority is trusted here: that it is unknown cannot be what is refused."""
    environment = os.environ | {"SSL_CERT_FILE": str(CERTIFICATES / "authority.pem")}
    done = subprocess.run(
        [sys.executable, "-c", WHOM_WE_TRUST],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    told = json.loads(done.stdout)
    assert {door: outcome for door, (outcome, _) in told.items()} == {
        "good": "ok",
        "expired": "net-error",
        "elsewhere": "net-error",
        "alone": "net-error",
    }
    assert "expired" in told["expired"][1]
    assert "mismatch" in told["elsewhere"][1]


def test_a_user_agent_that_cannot_be_sent_is_refused_at_once() -> None:
    for agent in ("", "  ", "bot\r\nX: y", "böt"):
        with pytest.raises(BadSettingError):
            HttpFetcher(clock=WallClock(), user_agent=agent, min_delay_s=1.0)
