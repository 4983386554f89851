"""Whom a fetch asks for leave, and under which name: as the server sees it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

import aiohttp
import pytest
from yarl import URL

from recrawl.app.config import Fetching
from recrawl.checks.fetcher import Script, Site, said, site
from recrawl.live.clock import FastClock, WallClock
from recrawl.live.gates import StoreGates
from recrawl.live.worker import Worker
from recrawl.model import Fetch, NewResource, Outcome, Request
from recrawl.observe.http import HttpFetcher, Limits
from recrawl.observe.pacing import Pacer
from recrawl.remember.memory import MemoryStore
from recrawl.urls import canonical, host_key

DELAY_S = 0.2
LIMITS = Limits(connect_s=1.0, first_byte_s=1.0, total_s=3.0, wait_s=2.0)


def moved(location: str) -> bytes:
    return said("302 Found", Location=location)


@asynccontextmanager
async def gated(store: MemoryStore, *, lease_s: float = 60.0) -> AsyncIterator[HttpFetcher]:
    clock = WallClock()
    gates = StoreGates(store=store, worker=Worker(threads=False), clock=clock, lease_s=lease_s, tail_s=10.0)
    async with HttpFetcher(
        clock=clock, user_agent="recrawl-test/1", min_delay_s=DELAY_S, gates=gates, limits=LIMITS
    ) as fetcher:
        yield fetcher


def request(url: str, *, leased: bool = True, not_after_at: float = 2e10) -> Request:
    host = host_key(url) if leased else ""
    return Request(url=url, allow_private=True, leased_host=host, not_after_at=not_after_at)


def told(fetch: Fetch) -> tuple[Outcome, str]:
    return fetch.outcome, fetch.failure.reason if fetch.failure else ""


Ask = Callable[[HttpFetcher, Site, Site, MemoryStore], Awaitable[None]]


def with_two_sites(home: dict[str, Script | bytes], away: dict[str, Script | bytes], ask: Ask) -> None:
    async def run() -> None:
        store = MemoryStore()
        async with site(away) as there:
            sent_on = {
                path: moved(f"{there.url}{path}") if reply == b"" else reply for path, reply in home.items()
            }
            async with site(sent_on) as here, gated(store) as fetcher:
                await ask(fetcher, here, there, store)

    asyncio.run(run())


def test_a_host_at_the_end_of_a_redirect_is_held_and_then_left_alone() -> None:
    answered = asyncio.Event()

    async def robots(writer: asyncio.StreamWriter) -> None:
        writer.write(said("404 Not Found"))
        answered.set()

    async def ask(fetcher: HttpFetcher, here: Site, there: Site, store: MemoryStore) -> None:
        away = host_key(there.url)
        fetching = asyncio.create_task(fetcher.fetch(request(f"{here.url}/on")))
        await answered.wait()  # robots.txt; the page has not been asked for
        assert store.hold(away, now=WallClock().now(), lease_s=1.0) is None
        fetch = await fetching
        assert fetch.body == b"there"
        now = WallClock().now()
        assert store.gate_at(away) == pytest.approx(now + DELAY_S, abs=0.1)
        assert store.hold(away, now=now + DELAY_S + 0.1, lease_s=1.0) is not None
        assert store.gate_at(host_key(here.url)) < 0.0  # that one is its caller's

    with_two_sites({"/on": b""}, {"/robots.txt": robots, "/on": said("200 OK", b"there")}, ask)


def test_nobody_is_asked_for_a_page_while_another_holds_its_host() -> None:
    async def ask(fetcher: HttpFetcher, here: Site, there: Site, store: MemoryStore) -> None:
        store.hold(host_key(there.url), now=WallClock().now(), lease_s=60.0)
        assert told(await fetcher.fetch(request(f"{here.url}/on"))) == (Outcome.BLOCKED, "wait")
        assert there.asked == []
        assert told(await fetcher.fetch(request(f"{there.url}/on", leased=False)))[1] == "wait"
        assert there.asked == []

    # the free port of the second site may come before or after the first's: either way it gives up
    with_two_sites({"/on": b""}, {"/on": said("200 OK", b"there")}, _hurried(ask))


def _hurried(ask: Ask) -> Ask:
    async def asked(fetcher: HttpFetcher, here: Site, there: Site, store: MemoryStore) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("recrawl.live.gates.UPHILL_S", 0.5)
            patch.setattr("recrawl.live.gates.DOWNHILL_S", 0.5)
            await ask(fetcher, here, there, store)

    return asked


def test_robots_txt_that_is_kept_elsewhere_is_asked_for_with_leave() -> None:
    async def ask(fetcher: HttpFetcher, here: Site, there: Site, store: MemoryStore) -> None:
        hold = store.hold(host_key(there.url), now=WallClock().now(), lease_s=60.0)
        assert hold is not None
        store.let_go(hold, gate_at=WallClock().now() + 50.0, n_host_failures=0)
        fetch = await fetcher.fetch(request(f"{here.url}/page"))
        assert told(fetch) == (Outcome.BLOCKED, "wait")
        assert (here.paths(), there.paths()) == (["/robots.txt"], [])
        assert fetch.wait_s < 1.0  # the host in the way wants its rest, not this one

    home: dict[str, Script | bytes] = {"/robots.txt": b"", "/page": said("200 OK")}
    with_two_sites(home, {"/robots.txt": said("200 OK")}, ask)


def test_a_host_in_the_way_that_is_in_trouble_gets_its_rest_too() -> None:
    async def ask(fetcher: HttpFetcher, here: Site, there: Site, store: MemoryStore) -> None:
        assert told(await fetcher.fetch(request(f"{here.url}/on"))) == (Outcome.HTTP_ERROR, "http-503")
        assert store.gate_at(host_key(there.url)) > WallClock().now() + 55.0
        n_asked = len(there.asked)
        assert told(await fetcher.fetch(request(f"{here.url}/on")))[1] == "wait"
        assert len(there.asked) == n_asked

    with_two_sites({"/on": b""}, {"/on": said("503 Busy")}, ask)


def test_nothing_is_sent_once_the_lease_has_run_out() -> None:
    async def ask(fetcher: HttpFetcher, here: Site, there: Site, store: MemoryStore) -> None:
        late = await fetcher.fetch(request(f"{here.url}/", not_after_at=WallClock().now()))
        assert told(late) == (Outcome.BLOCKED, "late")
        assert here.asked == []
        # a delay later robots.txt is in time, and the page another delay later is not
        soon_at = WallClock().now() + 1.5 * DELAY_S
        late = await fetcher.fetch(request(f"{here.url}/", not_after_at=soon_at))
        assert told(late) == (Outcome.BLOCKED, "late")
        assert here.paths() == ["/robots.txt"]

    with_two_sites({"/": said("200 OK")}, {}, ask)


def test_nothing_is_sent_to_where_a_redirect_leads_once_the_hold_has_run_out() -> None:
    async def run() -> None:
        async with (
            site({"/": said("200 OK")}) as there,
            gated(MemoryStore(), lease_s=10.0 + DELAY_S / 2) as fetcher,
        ):
            late = await fetcher.fetch(request(f"{there.url}/", leased=False))
            assert told(late) == (Outcome.BLOCKED, "late")
            assert there.paths() == ["/robots.txt"]

    asyncio.run(run())


@pytest.mark.parametrize(("factor", "at_least_s"), [(Fetching().slow_factor, 10.0), (0.0, 2.0)])  # type: ignore[call-arg]
def test_a_slow_server_is_left_alone_for_longer(factor: float, at_least_s: float) -> None:
    clock = FastClock(start_at=0.0, speed=20.0)

    async def slowly(writer: asyncio.StreamWriter) -> None:
        await clock.sleep(5.0)
        writer.write(said("200 OK", b"at last"))

    async def run() -> tuple[Fetch, list[float]]:
        async with (
            site({"/": slowly}) as server,
            HttpFetcher(
                clock=clock, user_agent="recrawl-test/1", min_delay_s=2.0, slow_factor=factor
            ) as fetcher,
        ):
            asked = Request(url=f"{server.url}/", allow_private=True)
            fetch = await fetcher.fetch(asked)
            await fetcher.fetch(asked)
            pages = [one for one in server.asked if one.path == "/"]
            return fetch, [(b.started_s - a.ended_s) * 20.0 for a, b in pairwise(pages)]

    fetch, (gap_s,) = asyncio.run(run())
    assert at_least_s - 0.1 <= gap_s < 2 * at_least_s
    assert (fetch.wait_s >= 10.0) == (factor > 0.0)


# -- one host, many spellings ------------------------------------------------------------------------------

SPELLINGS = ("http://Bücher.localhost", "http://xn--bcher-kva.localhost.", "HTTP://XN--BCHER-KVA.LOCALHOST")


async def _by_recrawl(urls: list[str]) -> None:
    async with HttpFetcher(clock=WallClock(), user_agent="recrawl-test/1", min_delay_s=DELAY_S) as fetcher:
        asked = [fetcher.fetch(Request(url=url, allow_private=True)) for url in urls]
        assert {fetch.outcome for fetch in await asyncio.gather(*asked)} == {Outcome.OK}


async def _by_spelling(urls: list[str]) -> None:
    """A twin that takes hosts as they are spelt."""
    pacer = Pacer(clock=WallClock(), min_delay_s=DELAY_S)

    async def one(session: aiohttp.ClientSession, url: str) -> None:
        host = url.split("/")[2]
        async with pacer.turn(host, delay_s=0.0, patience_s=10.0, queue_s=10.0):
            local = URL(url).with_host("127.0.0.1")
            async with session.get(local) as reply:
                await reply.read()

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(one(session, url) for url in urls))


@pytest.mark.parametrize(("visit", "polite"), [(_by_recrawl, True), (_by_spelling, False)])
def test_a_host_is_one_however_it_is_spelt(
    visit: Callable[[list[str]], Awaitable[None]], polite: bool
) -> None:
    async def run() -> list[float]:
        async with site({"/": said("200 OK", b"page")}) as server:
            port = URL(server.url).port
            await visit([f"{spelling}:{port}/" for spelling in SPELLINGS])
            order = sorted(server.asked, key=lambda asked: asked.started_s)
            return [later.started_s - earlier.ended_s for earlier, later in pairwise(order)]

    gaps = asyncio.run(run())
    assert len(gaps) >= len(SPELLINGS) - 1
    assert (min(gaps) >= DELAY_S - 0.005) == polite


def test_http_https_and_default_ports_are_claimed_as_one_host() -> None:
    spelt = [
        "http://example.org/a",
        "https://EXAMPLE.org/b",
        "http://example.org:80/c",
        "https://example.org.:443/d",
        "http://example.org./e",
    ]
    store = MemoryStore()
    store.add([NewResource(url=canonical(url), host=host_key(url)) for url in spelt], 0.0)
    assert store.counts(0.0)["hosts"] == 1
    assert len(store.claim(now=0.0, limit=9, lease_s=1.0)) == 1
    assert store.hold("example.org", now=0.0, lease_s=1.0) is None
