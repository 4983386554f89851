"""A server whose every answer is other than the one before, and says on which host it was asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Pages(ThreadingHTTPServer):
    daemon_threads = True
    n = 0

    def url(self, host: str) -> str:
        return f"http://{host}.localhost:{self.server_port}/"


class _Page(BaseHTTPRequestHandler):
    server: Pages

    def do_GET(self) -> None:
        self.server.n += 1
        found = self.path != "/robots.txt"
        host = (self.headers["Host"] or "").partition(".")[0]
        words = hashlib.sha256(str(self.server.n).encode()).hexdigest()
        body = f"<p>of-{host} {self.server.n} {words * 40}".encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
        """Nothing is logged."""


@contextmanager
def serving() -> Iterator[Pages]:
    with Pages(("127.0.0.1", 0), _Page) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
