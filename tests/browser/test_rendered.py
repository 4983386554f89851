"""Pages through a real browser, which has no way to the web but ours."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.checks.fetcher import Script, Site, said, site
from recrawl.live.clock import WallClock
from recrawl.model import Access, Fetch, Outcome, Request
from recrawl.observe.browser import RENDERED, Browser, RenderLimits
from recrawl.observe.chromium import browser_found
from recrawl.observe.http import HttpFetcher

pytestmark = pytest.mark.skipif(not browser_found()[0], reason=browser_found()[1])

AGENT = "recrawl-test/1"
LIMITS = RenderLimits(total_s=20.0, hang_s=2.0, n_requests=8, memory_bytes=600 << 20)
SLACK_S = 15.0  # this may be a slow machine

Replies = Mapping[str, bytes | Script]


def page(text: str) -> bytes:
    return said("200 OK", f"<!doctype html><title>t</title>{text}".encode(), Content_Type="text/html")


def script(text: str) -> bytes:
    return said("200 OK", text.encode(), Content_Type="text/javascript")


class Recording:
    """The web as ever, and what was asked of it; `open_door` lets all of loopback be visited."""

    def __init__(self, web: HttpFetcher, *, open_door: bool = False) -> None:
        self._web = web
        self._open_door = open_door
        self.asked: list[Request] = []

    async def fetch(self, request: Request) -> Fetch:
        self.asked.append(request)
        if self._open_door:
            request = Request(url=request.url, allow_private=True)
        return await self._web.fetch(request)


async def looked(
    urls: list[str],
    *,
    limits: RenderLimits = LIMITS,
    access: Access | None = None,
    open_door: bool = False,
    allow_private: bool = True,
) -> tuple[list[Fetch], list[Request]]:
    browser = Browser(clock=WallClock(), user_agent=AGENT, limits=limits)
    async with HttpFetcher(clock=WallClock(), user_agent=AGENT, min_delay_s=0.0) as http:
        web = Recording(http, open_door=open_door)
        try:
            fetches = [
                await browser.fetch(Request(url=url, allow_private=allow_private, access=access), web)
                for url in urls
            ]
        finally:
            await browser.aclose()
    return fetches, web.asked


def shown(replies: Replies, *paths: str, limits: RenderLimits = LIMITS) -> tuple[list[Fetch], Site]:
    """These pages one after another, through one browser, and what their server saw."""

    async def run() -> tuple[list[Fetch], Site]:
        async with site(replies) as here:
            fetches, _ = await looked([f"{here.url}{path}" for path in paths or ["/"]], limits=limits)
            return fetches, here

    return asyncio.run(run())


def text(fetch: Fetch) -> str:
    return bytes(fetch.body).decode()


def told(fetch: Fetch) -> tuple[Outcome, str]:
    return fetch.outcome, fetch.failure.reason if fetch.failure else ""


def test_a_page_is_what_its_scripts_make_of_it() -> None:
    replies = {
        "/": page("<p id=a>loading</p><script src=/s.js></script>"),
        "/s.js": script("fetch('/d.json').then(r => r.json()).then(d => a.textContent = d.said)"),
        "/d.json": said("200 OK", b'{"said": "hello"}', Content_Type="application/json"),
    }
    [fetch], here = shown(replies)
    assert told(fetch) == (Outcome.OK, "")
    assert '<p id="a">hello</p>' in text(fetch)
    assert (fetch.status, fetch.media_type, fetch.wire) == (200, "text/html", fetch.body)
    assert (fetch.header(RENDERED) or "").startswith("Chromium/")
    assert here.paths() == ["/robots.txt", "/", "/s.js", "/d.json"]
    assert {asked.headers["user-agent"] for asked in here.asked} == {AGENT}


def test_what_does_not_change_the_text_is_not_asked_for() -> None:
    furniture = (
        "<img src=/i.png><link rel=stylesheet href=/c.css><link rel=prefetch href=/p><iframe src=/f></iframe>"
        "<video src=/v.mp4></video><link rel=icon href=/favicon.ico><p style='background: url(/b.png)'>x</p>"
        "<script>fetch('/post', {method: 'POST', body: 'x'}); navigator.sendBeacon('/beacon', 'x')</script>"
    )
    [fetch], here = shown({"/": page(furniture)})
    assert fetch.outcome is Outcome.OK
    assert here.paths() == ["/robots.txt", "/"]


def test_a_script_that_robots_txt_disallows_is_not_asked_for() -> None:
    replies = {
        "/robots.txt": said("200 OK", b"User-agent: *\nDisallow: /no"),
        "/": page("<p id=a>before</p><script src=/no.js></script>"),
        "/no.js": script("a.textContent = 'after'"),
    }
    [fetch], here = shown(replies)
    assert told(fetch) == (Outcome.OK, "")
    assert "before" in text(fetch)
    assert here.paths() == ["/robots.txt", "/"]


def test_validators_are_neither_sent_nor_kept() -> None:
    """The scripts' part of a page changes while the page around it does not."""

    async def run() -> tuple[Fetch, Site]:
        reply = said("200 OK", b"<p>x", Content_Type="text/html", ETag='"1"', Last_Modified="x", X_Other="y")
        async with (
            site({"/": reply}) as here,
            HttpFetcher(clock=WallClock(), user_agent=AGENT, min_delay_s=0.0) as web,
        ):
            browser = Browser(clock=WallClock(), user_agent=AGENT)
            request = Request(url=f"{here.url}/", allow_private=True, etag='"1"', last_modified="x")
            try:
                return await browser.fetch(request, web), here
            finally:
                await browser.aclose()

    fetch, here = asyncio.run(run())
    assert fetch.outcome is Outcome.OK
    assert not any("if-none-match" in asked.headers for asked in here.asked)
    assert (fetch.header("etag"), fetch.header("last-modified"), fetch.header("x-other")) == (None, None, "y")


def test_what_is_no_page_comes_back_as_it_is() -> None:
    replies = {"/a": said("404 Not Found", b"<p>no"), "/b": said("200 OK", b"{}", Content_Type="text/plain")}
    fetches, _ = shown(replies, "/a", "/b")
    assert [told(fetch) for fetch in fetches] == [(Outcome.GONE, ""), (Outcome.OK, "")]
    assert [fetch.header(RENDERED) for fetch in fetches] == [None, None]


def test_nothing_of_one_page_is_left_for_the_next() -> None:
    keeping = page(
        "<p id=a></p><script>a.textContent = document.cookie + localStorage.length;"
        "document.cookie = 'known=1'; localStorage.known = 1</script>"
    )
    fetches, _ = shown({"/": keeping}, "/", "/")
    assert ['<p id="a">0</p>' in text(fetch) for fetch in fetches] == [True, True]


def test_a_page_that_goes_elsewhere_by_itself_is_followed_through_redirects() -> None:
    replies = {
        "/": page("<script>location = '/moved'</script>"),
        "/moved": said("302 Found", Location="/deep/there"),
        "/deep/there": page("<p id=a></p><script src=s.js></script>"),
        "/deep/s.js": script("a.textContent = 'arrived'"),
    }
    [fetch], here = shown(replies)
    assert told(fetch) == (Outcome.OK, "")
    assert "arrived" in text(fetch)
    assert fetch.url == f"{here.url}/deep/there"


def test_scripts_that_never_let_go_are_killed_and_the_next_page_is_shown() -> None:
    replies = {"/": page("<script>for (;;) {}</script>"), "/next": page("<p>fine")}
    began = time.monotonic()
    fetches, _ = shown(replies, "/", "/next")
    assert time.monotonic() - began < LIMITS.hang_s + SLACK_S
    assert [told(fetch) for fetch in fetches] == [(Outcome.UNREADABLE, "browser"), (Outcome.OK, "")]


def test_a_page_that_fills_the_memory_is_killed_and_the_next_is_shown() -> None:
    # All of it before the page is done, however slow the machine: it cannot be read before it is too large.
    greedy = "<script>const kept = []; for (let i = 0; i < 12; i++) "
    greedy += "kept.push(new Uint8Array(64 << 20).fill(1))</script>"
    limits = replace(LIMITS, hang_s=20.0)
    fetches, _ = shown({"/": page(greedy), "/next": page("<p>fine")}, "/", "/next", limits=limits)
    assert [told(fetch) for fetch in fetches] == [(Outcome.UNREADABLE, "browser"), (Outcome.OK, "")]
    assert "memory" in (fetches[0].failure.detail if fetches[0].failure else "")


def test_a_page_that_never_stops_asking_is_cut() -> None:
    [fetch], here = shown({"/": page("<script>setInterval(() => fetch('/more'), 20)</script>")})
    assert told(fetch) == (Outcome.TRUNCATED, "requests")
    assert here.paths().count("/more") == LIMITS.n_requests


def test_a_browser_that_stands_still_is_not_taken_for_quiet() -> None:
    """As on a starved machine: it gets the answer, and its turn to ask again only much later."""
    ask = "fetch('/more').then(r => r.text()).then(t => { a.textContent += t; if (t != 'c') ask() })"
    answers = iter("abc")

    async def more(writer: asyncio.StreamWriter) -> None:
        writer.write(said("200 OK", next(answers).encode()))
        await writer.drain()
        halted = browsers()
        for pid in halted:
            os.kill(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(1.0)
        finally:
            for pid in halted:
                os.kill(pid, signal.SIGCONT)

    home = page(f"<p id=a></p><script>const ask = () => {ask}; ask()</script>")
    replies: Replies = {"/": home, "/more": more}
    [fetch], here = shown(replies, limits=replace(LIMITS, hang_s=20.0, total_s=60.0))
    assert told(fetch) == (Outcome.OK, "")
    assert here.paths().count("/more") == 3
    assert "abc</p>" in text(fetch)


def browsers() -> list[int]:
    """The processes of a browser that we started."""
    parents, ours = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            before, _, after = (folder / "stat").read_text("latin-1").rpartition(")")
            parents[int(folder.name)] = (int(after.split()[1]), before.partition("(")[2])
    for pid, (parent, name) in parents.items():
        while parent in parents and parent != os.getpid():
            parent = parents[parent][0]
        if parent == os.getpid() and "chrom" in name:
            ours.append(pid)
    return ours


def test_a_page_that_is_not_done_in_time_is_cut() -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    limits = RenderLimits(total_s=1.5)
    [fetch], _ = shown({"/": page("<p>x<script src=/slow.js></script>"), "/slow.js": slow}, limits=limits)
    assert told(fetch) == (Outcome.TRUNCATED, "time")
    assert "<p>x" in text(fetch)


def test_a_page_whose_script_failed_this_time_is_no_version_of_it() -> None:
    replies = {"/": page("<script src=/s.js></script>"), "/s.js": said("503 Busy")}
    [fetch], here = shown(replies)
    assert told(fetch) == (Outcome.TRUNCATED, "parts")
    assert f"{here.url}/s.js" in (fetch.failure.detail if fetch.failure else "")


def test_a_script_that_is_not_there_is_part_of_the_page() -> None:
    [fetch], _ = shown({"/": page("<p>x<script src=/s.js></script>")})
    assert told(fetch) == (Outcome.OK, "")


def test_leave_and_secrets_are_for_the_resource_s_own_host() -> None:
    access = Access(bearer="secret")

    async def run() -> tuple[Fetch, list[Request], Site]:
        async with site({}) as other:
            home = page(f"<script src=/s.js></script><script src={other.url}/s.js></script>")
            async with site({"/": home, "/s.js": script("")}) as here:
                [fetch], asked = await looked([f"{here.url}/"], access=access)
                assert here.paths() == ["/robots.txt", "/", "/s.js"]
        return fetch, asked, other

    fetch, asked, other = asyncio.run(run())
    assert fetch.outcome is Outcome.OK
    assert [(request.access == access, request.allow_private) for request in asked] == [
        (True, True),
        (True, True),
        (False, False),
    ]
    assert other.asked == []


@pytest.mark.parametrize(("allowed", "seen"), [({}, "kept"), ({"Access_Control_Allow_Origin": "*"}, "read")])
def test_scripts_read_another_host_only_if_it_lets_them(allowed: dict[str, str], seen: str) -> None:
    async def run() -> list[Fetch]:
        async with site({"/d": said("200 OK", b"read", **allowed)}) as other:
            reading = ".then(r => r.text()).then(t => a.textContent = t)"
            direct = f"<p id=a>kept</p><script>fetch('{other.url}/d'){reading}</script>"
            around = f"<p id=a>kept</p><script>fetch('/go'){reading}</script>"
            go = said("302 Found", Location=f"{other.url}/d")
            async with site({"/direct": page(direct), "/around": page(around), "/go": go}) as here:
                urls = [f"{here.url}/direct", f"{here.url}/around"]
                fetches, _ = await looked(urls, open_door=True)
                assert "/d" in other.paths()
                return fetches

    assert [f'<p id="a">{seen}</p>' in text(fetch) for fetch in asyncio.run(run())] == [True, True]


def test_without_the_library_nothing_is_asked_and_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "playwright.async_api", None)
    [fetch], here = shown({"/": page("x")})
    assert told(fetch) == (Outcome.BLOCKED, "browser")
    assert "pip install 'recrawl[browser]'" in (fetch.failure.detail if fetch.failure else "")
    assert here.asked == []


def test_without_a_browser_nothing_is_asked_and_the_remedy_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert not browser_found()[0]
    [fetch], here = shown({"/": page("x")})
    assert told(fetch) == (Outcome.BLOCKED, "browser")
    assert "apt install chromium" in (fetch.failure.detail if fetch.failure else "")
    assert here.asked == []
