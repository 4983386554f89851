"""Sources on the web: a server that fails, asks for patience, or ends in the middle."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from recrawl.corpora.sources.download import Web
from recrawl.errors import BadInputError

BODY = bytes(range(256)) * 2000
Answer = Callable[[BaseHTTPRequestHandler, int], None]  # the request, and how many there were before


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    n_asked = 0

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the library's name
            nonlocal n_asked
            n_asked += 1
            answer(self, n_asked - 1)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/dump.xml.gz"
        finally:
            server.shutdown()
            thread.join()


class Patience:
    """A clock that notes how long it was asked to wait, and does not."""

    speed = 1.0

    def __init__(self) -> None:
        self.waited: list[float] = []

    def now(self) -> float:
        return 784_111_767.0  # ten seconds before the date in the test

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


def say(request: BaseHTTPRequestHandler, status: int, body: bytes = b"", **headers: str) -> None:
    request.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)


def test_what_may_pass_is_waited_for_as_long_as_the_server_asks() -> None:
    seen: list[str] = []

    def answer(request: BaseHTTPRequestHandler, n: int) -> None:
        seen.append(request.headers["User-Agent"])
        match n:
            case 0:
                say(request, 503)
            case 1:
                say(request, 429, Retry_After="7")
            case 2:
                say(request, 503, Retry_After="Sun, 06 Nov 1994 08:49:37 GMT")
            case 3:
                say(request, 200, b"wait")
            case 4:
                say(request, 200, b"do", Content_Length="4")
                request.close_connection = True
            case _:
                say(request, 200, gzip.compress(b"done"), Content_Encoding="gzip")

    clock = Patience()
    with serving(answer) as url, Web(user_agent="recrawl/test", clock=clock) as web:
        assert web.ask(url, max_bytes=100, busy=lambda body: body == b"wait") == b"done"
    assert clock.waited == [1.0, 7.0, 10.0, 8.0, 16.0]
    assert seen == ["recrawl/test"] * 6


def test_what_will_not_pass_is_told_at_once_or_after_some_attempts() -> None:
    def answer(request: BaseHTTPRequestHandler, n: int) -> None:
        if request.path.startswith("/none"):
            say(request, 404)
        elif request.path.startswith("/later"):
            say(request, 503, Retry_After="100000")
        elif request.path.startswith("/large"):
            say(request, 200, gzip.compress(bytes(10**7)), Content_Encoding="gzip")
        else:
            say(request, 500)

    clock = Patience()
    with serving(answer) as url, Web(clock=clock) as web:
        base = url.rpartition("/")[0]
        for path, said in (
            ("none", "answered with status 404; check the address"),
            ("later", r"cannot be fetched \(status 503\); try again later"),
            ("large", "is larger than 1,000 bytes"),
        ):
            with pytest.raises(BadInputError, match=said):
                web.ask(f"{base}/{path}", max_bytes=1000)
        assert clock.waited == []
        with pytest.raises(BadInputError, match=r"cannot be fetched \(status 500\)"):
            web.ask(f"{base}/broken", max_bytes=1000)
        assert clock.waited == [1, 2, 4, 8, 16]
        with pytest.raises(BadInputError, match="is not an address that can be asked"):
            web.ask("http://", max_bytes=1000)


@pytest.mark.parametrize("same", [True, False], ids=["unchanged", "changed meanwhile"])
def test_a_download_that_breaks_off_goes_on_where_it_was_unless_the_file_changed(
    tmp_path: Path, same: bool
) -> None:
    asked: list[str | None] = []
    said: list[int] = []
    body = BODY if same else BODY[::-1]

    def answer(request: BaseHTTPRequestHandler, n: int) -> None:
        asked.append(request.headers["Range"])
        if n == 0:
            request.send_response(200)
            request.send_header("Content-Length", str(len(BODY)))
            request.send_header("ETag", '"v1"')
            request.end_headers()
            request.wfile.write(BODY[:300_000])
            request.close_connection = True
        elif same and request.headers["If-Range"] == '"v1"':
            low = int((request.headers["Range"] or "").removeprefix("bytes=").removesuffix("-"))
            said.append(206)
            say(request, 206, body[low:], Content_Range=f"bytes {low}-{len(body) - 1}/{len(body)}")
        else:
            said.append(200)
            say(request, 200, body, ETag='"v2"')

    told: list[tuple[float, float | None, str]] = []
    with serving(answer) as url, Web(clock=Patience()) as web:
        path = web.download(url, tmp_path, told=lambda *now: told.append(now))
        assert path.read_bytes() == body
        assert web.download(url, tmp_path, told=lambda *_: None) == path
    assert [str(one)[:6] for one in asked] == ["None", "bytes="]
    assert said == [206 if same else 200]
    assert path.name.endswith("-dump.xml.gz")
    assert [told[-1]] == [(len(BODY), len(BODY), "bytes")]
    assert list(tmp_path.iterdir()) == [path]


def test_a_download_that_is_too_large_ends(tmp_path: Path) -> None:
    with (
        serving(lambda request, _: say(request, 200, BODY)) as url,
        Web() as web,
        pytest.raises(BadInputError, match="larger than 1,000 bytes; fetch it yourself"),
    ):
        web.download(url, tmp_path, max_bytes=1000, told=lambda *_: None)
