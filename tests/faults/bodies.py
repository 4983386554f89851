"""An origin that answers every request with other bytes, and remembers all that it sent."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

MIB = 2**20


class Bodies(ThreadingHTTPServer):
    """Hosts with an even number answer with 1 to 4 MiB, the others with less than 200 kB; no two answers are
    of one length. `slow_s` is how long each takes."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, slow_s: float = 0.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        dice = random.Random(7)
        self.slow_s = slow_s
        self.sent: dict[int, str] = {}  # digests by length
        self.asked: list[tuple[float, str]] = []  # pages: when, and which host
        self._dice = dice
        self._large = iter(dice.sample(range(MIB, 4 * MIB), 100_000))
        self._small = iter(dice.sample(range(300, 200_000), 100_000))

    def urls(self, start: int, end: int) -> list[str]:
        return [f"http://h{i}.localhost:{self.server_port}/" for i in range(start, end)]

    def body(self, host: str) -> bytes:
        self.asked.append((time.monotonic(), host))
        large = int(host.partition(".")[0][1:]) % 2 == 0
        body = self._dice.randbytes(next(self._large if large else self._small))
        self.sent[len(body)] = hashlib.sha256(body).hexdigest()
        return body


class _Handler(BaseHTTPRequestHandler):
    server: Bodies

    def do_GET(self) -> None:
        found = self.path != "/robots.txt"
        body = self.server.body(self.headers["Host"]) if found else b""
        if found:
            time.sleep(self.server.slow_s)
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # whoever asked was killed

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
        """Nothing is logged."""


@contextmanager
def answering(slow_s: float = 0.0) -> Iterator[Bodies]:
    with Bodies(slow_s) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
