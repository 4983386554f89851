"""A replay server in a thread of its own, and a plain client that sends what it is told to."""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from recrawl.app.build import open_house
from recrawl.app.replay import Replay
from recrawl.web.replay import Server


@dataclass(frozen=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def __getitem__(self, name: str) -> str:
        [value] = [value for key, value in self.headers if key.lower() == name.lower()]
        return value

    def has(self, name: str) -> bool:
        return any(key.lower() == name.lower() for key, _ in self.headers)


@dataclass(frozen=True)
class Client:
    origin: str

    def __call__(self, path: str, *, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.origin).netloc, timeout=60)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path.removeprefix(self.origin), headers=named)
            answer = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()


@contextmanager
def replaying(home: Path, **settings: object) -> Iterator[Client]:
    started = threading.Event()
    ended = asyncio.Event()
    where: list[str] = []
    loop = asyncio.new_event_loop()

    async def serve(replay: Replay) -> None:
        server = Server(replay, **settings)  # type: ignore[arg-type]
        try:
            await server.start("127.0.0.1", 0)
            assert server.port
            where.append(f"http://127.0.0.1:{server.port}")
            started.set()
            await ended.wait()
        finally:
            await server.stop()

    def run() -> None:
        with open_house(home, reading=True) as house:
            loop.run_until_complete(serve(Replay(house)))
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(60)
        yield Client(where[0])
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(60)
