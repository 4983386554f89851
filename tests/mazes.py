"""Webs that are made up as they are asked for: a page for every address, for whoever follows links."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from recrawl.app.build import open_house
from recrawl.app.collecting import Collecting, Wish, collect, sites_named
from recrawl.app.config import Config, Fetching
from recrawl.app.rounds import Tally

ROBOTS = "/robots.txt"


@dataclass(frozen=True, slots=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})
    takes_s: float = 0.0


MISSING = Answer(b"nothing is here", 404, {"Content-Type": "text/plain"})
Asked = tuple[str, str, float, float]  # host, path, when it began and ended
Answers = Callable[[str, str], Answer | None]  # of a host without its port, and a path


@dataclass(slots=True)
class Maze:
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    news: threading.Event = field(default_factory=threading.Event)  # something was asked

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def paths(self, host: str) -> list[str]:
        """What was asked for, in order, without robots.txt."""
        return [path for name, path, _, _ in self.asked if name == host and path != ROBOTS]

    def rests_s(self, host: str) -> list[float]:
        """From the end of each answer to the next request; below 0: two at once."""
        times = sorted((began, ended) for name, _, began, ended in self.asked if name == host)
        return [after[0] - before[1] for before, after in pairwise(times)]


def page(links: Iterable[str], words: str = "Some words for people.", head: str = "") -> Answer:
    rows = "".join(f'<li><a href="{escape(link)}">to {escape(link)}</a></li>' for link in links)
    return Answer(f"<html><head>{head}</head><body><p>{words}</p><ul>{rows}</ul></body></html>".encode())


def robots(text: str) -> Answer:
    return Answer(text.encode(), headers={"Content-Type": "text/plain"})


@contextmanager
def serving(answers: Answers) -> Iterator[Maze]:
    """On loopback, under every name below localhost; what it has no answer for is not there."""
    maze = Maze()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            began = monotonic()
            host = self.headers.get("Host", "").partition(":")[0]
            answer = answers(host, self.path) or MISSING
            sleep(answer.takes_s)
            self.send_response(answer.status)
            for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            maze.asked.append((host, self.path, began, monotonic()))
            maze.news.set()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        maze.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield maze
        finally:
            server.shutdown()
            thread.join()


def collected(
    home: Path, words: Iterable[str], wish: Wish, *, host_only: bool = False, **options: Any
) -> tuple[Collecting, Tally]:
    """Collect sites in this very process, over a real store and archive."""
    fetching = Fetching(min_delay=0.02, slow_factor=0.0)  # type: ignore[call-arg]  # the others have defaults
    with open_house(home, config=Config(fetching=fetching)) as house:
        return asyncio.run(collect(house, sites_named(list(words), host_only=host_only), wish, **options))
