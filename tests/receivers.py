"""A real server with pages that change when a test says so, and a receiver of what is told of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Page = tuple[int, bytes]


@dataclass(frozen=True)
class Got:
    path: str
    headers: dict[str, str]  # by names in small letters
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    port: int = 0
    pages: dict[str, Page] = field(default_factory=dict)
    got: list[Got] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)  # one for each message to come, then 200
    came: Event = field(default_factory=Event)
    hold: Event | None = None  # until this is set nobody is answered

    def page(self, path: str, text: str, status: int = 200) -> str:
        self.pages[path] = status, text.encode()
        return f"http://page.localhost:{self.port}{path}"

    def hook(self, path: str = "/hook") -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@contextmanager
def receiving() -> Iterator[Receiver]:
    here = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(*here.pages.get(self.path, (404, b"")))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            here.got.append(Got(self.path, headers, body))
            here.came.set()
            if here.hold is not None:
                here.hold.wait(60.0)
            self.answer(here.answers.pop(0) if here.answers else 200, b"ok")

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def handle(self) -> None:
            with suppress(ConnectionError):  # whoever asked was killed
                super().handle()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        here.port = server.server_port
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield here
        finally:
            if here.hold is not None:
                here.hold.set()
            server.shutdown()
