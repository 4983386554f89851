"""The browser itself never reaches the network, whatever a page tries."""

from __future__ import annotations

import asyncio

import pytest

from recrawl.checks.fetcher import said, site
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Outcome, Request
from recrawl.observe.browser import Browser
from recrawl.observe.chromium import browser_found
from recrawl.observe.http import HttpFetcher

pytestmark = pytest.mark.skipif(not browser_found()[0], reason=browser_found()[1])

# Every way out of a page that we know of; CANARY and NAME are hosts that must never hear of it.
WAYS_OUT = """<!doctype html><title>t</title>
<link rel=preconnect href="http://CANARY"><link rel=dns-prefetch href="http://CANARY">
<link rel=prefetch href="http://CANARY/prefetch"><link rel=preload as=image href="http://CANARY/preload">
<link rel=modulepreload href="http://CANARY/module"><link rel=stylesheet href="http://CANARY/style">
<link rel=icon href="http://CANARY/icon"><link rel=manifest href="http://CANARY/manifest">
<script type=speculationrules>{"prerender": [{"source": "list", "urls": ["http://CANARY/speculation"]}],
  "prefetch": [{"source": "list", "urls": ["http://CANARY/speculation2"]}]}</script>
<img src="http://CANARY/image" loading=eager><iframe src="http://CANARY/frame"></iframe>
<video src="http://CANARY/video" autoplay muted></video><audio src="http://CANARY/audio" autoplay></audio>
<object data="http://CANARY/object"></object><embed src="http://CANARY/embed">
<form id=form target=_blank method=post action="http://CANARY/form"><input name=a></form>
<a id=ping href="http://CANARY/click" ping="http://CANARY/ping" target=_blank>x</a>
<a id=load href="http://CANARY/download" download>x</a>
<script src="http://CANARY/script"></script><script type=module src="http://CANARY/module2"></script>
<p id=done>no</p><script>
const attempts = [
  () => new Image().src = 'http://CANARY/image2',
  () => fetch('http://CANARY/fetch', {mode: 'no-cors'}).catch(() => 0),
  () => fetch('http://CANARY/post', {method: 'POST', mode: 'no-cors', keepalive: true}).catch(() => 0),
  () => { const x = new XMLHttpRequest(); x.open('PUT', 'http://CANARY/xhr'); x.send('a') },
  () => navigator.sendBeacon('http://CANARY/beacon', 'a'),
  () => new WebSocket('ws://CANARY/socket'),
  () => new EventSource('http://CANARY/events'),
  () => new WebTransport('https://CANARY/transport').ready.catch(() => 0),
  () => navigator.serviceWorker.register('/worker.js').catch(() => 0),
  () => new Worker('/worker.js'),
  () => new SharedWorker('/worker.js'),
  () => new Worker(URL.createObjectURL(new Blob([
    "new WebSocket('ws://CANARY/w'); fetch('http://CANARY/w2'); importScripts('http://CANARY/w3')"]))),
  () => window.open('http://CANARY/popup'),
  () => form.submit(),
  () => ping.click(),
  () => load.click(),
  () => {
    const peer = new RTCPeerConnection({iceServers: [{urls: ['stun:DATAGRAMS', 'stun:NAME:3478']},
      {urls: ['turn:DATAGRAMS', 'turn:CANARY?transport=tcp'], username: 'a', credential: 'b'}]});
    peer.createDataChannel('a'); peer.createOffer().then(offer => peer.setLocalDescription(offer));
  },
  () => new Image().src = 'http://NAME/name',
];
for (const attempt of attempts) { try { attempt() } catch (problem) { } }
setInterval(() => fetch('/wait'), 120);
done.textContent = 'tried';
</script>"""
WORKER = (
    "fetch('http://CANARY/sw', {mode: 'no-cors'}); try { new WebSocket('ws://CANARY/sws') } catch (e) { }"
)


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.n_heard = 0

    def datagram_received(self, _data: bytes, _sender: object) -> None:
        self.n_heard += 1


def test_no_connection_and_no_datagram_leaves_the_browser() -> None:
    async def run() -> tuple[Fetch, int, int, int]:
        n_connected = 0

        def connected(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal n_connected
            n_connected += 1
            writer.close()

        canary = await asyncio.start_server(connected, "127.0.0.1", 0)
        loop = asyncio.get_running_loop()
        transport, datagrams = await loop.create_datagram_endpoint(_Datagrams, ("127.0.0.1", 0))
        where = f"127.0.0.1:{canary.sockets[0].getsockname()[1]}"
        mail = f"127.0.0.1:{transport.get_extra_info('sockname')[1]}"

        def told(text: str) -> bytes:
            return (
                text.replace("CANARY", where)
                .replace("DATAGRAMS", mail)
                .replace("NAME", "canary.localhost")
                .encode()
            )

        replies = {
            "/": said("200 OK", told(WAYS_OUT), Content_Type="text/html"),
            "/worker.js": said("200 OK", told(WORKER), Content_Type="text/javascript"),
        }
        browser = Browser(clock=WallClock(), user_agent="recrawl-test/1")
        async with (
            canary,
            site(replies) as here,
            HttpFetcher(clock=WallClock(), user_agent="recrawl-test/1", min_delay_s=0.0) as web,
        ):
            fetch = await browser.fetch(Request(url=f"{here.url}/", allow_private=True), web)
            await browser.aclose()
            n_asked = len(here.asked)
        transport.close()
        return fetch, n_asked, n_connected, datagrams.n_heard

    fetch, n_asked, n_connected, n_heard = asyncio.run(run())
    assert b'<p id="done">tried</p>' in bytes(fetch.body), "the page did not get to try"
    assert fetch.outcome is Outcome.TRUNCATED, "the page was meant to stay until it was cut"
    assert n_asked > 10
    assert (n_connected, n_heard) == (0, 0)
