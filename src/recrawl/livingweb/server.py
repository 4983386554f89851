"""The living web as a real server on loopback.

All its hosts share one port and are told apart by the Host header. Everything in it lives in the time of
its clock: content, delays and spells of trouble. What it says of times is in that of its visitors, where they
go by another clock.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from functools import partial
from math import inf
from threading import RLock, Thread
from typing import Self
from urllib.parse import parse_qsl

import numpy as np
from aiohttp import web

from recrawl.contracts import Clock
from recrawl.errors import BadInputError, BadSettingError, BadUrlError
from recrawl.live.clock import stopwatch
from recrawl.livingweb.answers import Answer, Answers
from recrawl.livingweb.kinds import LISTINGS
from recrawl.livingweb.script import ROBOTS_PATH, Entry, Place, Script, Trouble
from recrawl.livingweb.talk import Said, Talk
from recrawl.livingweb.world import Spell, Truth, World
from recrawl.model import Floats
from recrawl.urls import parsed

_ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request as the server saw it, in the site's time (`_at`) and on the stopwatch (`_s`)."""

    host: str  # without the port
    target: str  # path and query string
    method: str
    status: int
    started_at: float
    ended_at: float
    started_s: float
    ended_s: float
    user_agent: str
    conditional: bool
    retry_after_s: float = 0.0

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class LivingWeb:
    """`async with LivingWeb(script, clock=clock) as web:` serves until the block ends.

    Event times depend on the script and the seed alone. Versions are counted from `born_at`, which is
    the beginning of the clock's year where it is not given, so that a restart finds the same content.
    `port` 0 takes any free one. The log grows with every request, unless it is not kept. `told_at` gives the
    visitors' time for a moment of the site's, where their clocks are not the same.
    """

    def __init__(
        self,
        script: Script,
        *,
        clock: Clock,
        seed: int = 0,
        port: int = 0,
        born_at: float | None = None,
        keep_log: bool = True,
        told_at: Callable[[float], float] = lambda at: at,
    ) -> None:
        self.script = script
        self.port = port
        self.log: list[Served] = []
        self._keep_log = keep_log
        self._clock = clock
        self._seed = seed
        self._told_at = told_at
        self._world = World(script, seed=seed, born_at=_year_at(clock.now()) if born_at is None else born_at)
        self._runner: web.ServerRunner | None = None
        # Held while the time is read and used: nobody is told the past after a touch in the present.
        self._lock = RLock()

    async def __aenter__(self) -> Self:
        try:
            door = socket.create_server((_ADDRESS, self.port))
        except OSError as problem:
            raise BadSettingError(
                f"Port {self.port} cannot be used ({problem.strerror}); choose another one, or 0 for any."
            ) from None
        self.port = int(door.getsockname()[1])
        answers = Answers(self._world, seed=self._seed, port=self.port, told_at=self._told_at)
        server = web.Server(partial(self._serve, answers))
        self._runner = web.ServerRunner(server, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, door).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    @property
    def born_at(self) -> float:
        return self._world.born_at

    def url(self, entry: Entry) -> str:
        return f"http://{entry.host}:{self.port}{entry.target}"

    def urls(self) -> tuple[str, ...]:
        """All that can be watched, in the order of the script."""
        return tuple(self.url(entry) for entry in self.script.entries)

    def truth(self, start_at: float, end_at: float) -> Truth:
        """When the meaning of each URL changed; what is later than the clock is what will be."""
        with self._lock:
            changed_at = {}
            for entry in self.script.entries:
                times_at = self._world.life(entry.place, end_at).truth_at
                first, last = np.searchsorted(times_at, [start_at, end_at], side="right")
                changed_at[self.url(entry)] = times_at[first:last]
            return Truth(start_at, end_at, changed_at)

    def version_at(self, url: str, at: float) -> int:
        """How often the meaning changed up to `at`: equal numbers, equal meaning."""
        with self._lock:
            times_at = self._world.life(self._place(url), at).truth_at
            return int(np.searchsorted(times_at, at, side="right"))

    def posts_at(self, url: str, end_at: float) -> Floats:
        """When people spoke in a thread of forum software, up to `end_at`: all posts after the opening one,
        removed since or not."""
        at = self._talk(url, end_at).posts_at
        return at[at <= end_at]

    def posts(self, url: str, at: float) -> tuple[Said, ...]:
        """What stood in a thread of forum software at that moment, over all its pages, the oldest first."""
        return self._talk(url, at).standing(at)

    def touch(self, url: str) -> float:
        """Change this resource now; what a redirect leads to, where it is one. Returns the time."""
        entry = next(iter(self.script.places.get(self._place(url), ())), None)
        document = self.script.destination(entry) if entry else None
        if document is None or document.form in LISTINGS:
            raise BadInputError(f"{url} has no content of its own to change; touch something that it lists.")
        with self._lock:
            now = self._clock.now()
            self._world.touch(document.place, now)
            return now

    def misbehave(
        self, url: str, status: int, *, for_s: float = inf, retry_after_s: float | None = None
    ) -> None:
        """Answer with this status from now on; robots.txt can be made to misbehave too."""
        place = self._place(url)
        with self._lock:
            now = self._clock.now()
            trouble = Trouble(status=status, retry_after_s=retry_after_s)
            self._world.plant(place, Spell(trouble, now, now + for_s))

    def behave(self, url: str) -> None:
        """Stop misbehaving."""
        place = self._place(url)
        with self._lock:
            self._world.uproot(place, self._clock.now())

    def _talk(self, url: str, at: float) -> Talk:
        with self._lock:
            talk = self._world.life(self._place(url), at).talk
        if talk is None:
            raise BadInputError(f"{url} is no thread of forum software; give it a markup.")
        return talk

    def _place(self, url: str) -> Place:
        asked = parsed(url)
        place = (asked.raw_host or "", asked.raw_path)
        robots = place[0] in self.script.hosts and place[1] == ROBOTS_PATH
        if asked.port != self.port or not (robots or place in self.script.places):
            raise BadUrlError(f"{url} is not part of this living web; choose one of its urls().")
        return place

    async def _serve(self, answers: Answers, request: web.BaseRequest) -> web.Response:
        started_at, started_s = self._clock.now(), stopwatch()
        host = request.host.partition(":")[0].rstrip(".").lower()
        path = request.rel_url.raw_path
        slow_s = answers.slow_s(host, path)
        if slow_s:
            await self._clock.sleep(slow_s)
        params: Mapping[str, str] = request.query
        if asked := request.method == "POST" and answers.asked_by_post(host, path):
            params = dict(parse_qsl((await request.read()).decode("utf-8", "replace")))
        with self._lock:
            now = self._clock.now()
            if asked or request.method in ("GET", "HEAD"):
                answer = answers.answer(host, path, params, request.headers, now)
            else:
                answer = Answer(405, {"Allow": "GET, HEAD"})
        if self._keep_log:  # before the answer leaves, so that whoever has read it finds it there
            self.log.append(
                Served(
                    host=host,
                    target=request.rel_url.raw_path_qs,
                    method=request.method,
                    status=answer.status,
                    started_at=started_at,
                    ended_at=self._clock.now(),
                    started_s=started_s,
                    ended_s=stopwatch(),
                    user_agent=request.headers.get("User-Agent", ""),
                    conditional="If-None-Match" in request.headers or "If-Modified-Since" in request.headers,
                    retry_after_s=float(answer.headers.get("Retry-After", 0)),
                )
            )
        date = formatdate(self._told_at(now), usegmt=True)
        headers = {**answer.headers, "Date": date, "Server": "livingweb"}
        return web.Response(status=answer.status, headers=headers, body=answer.body)


@contextmanager
def serving(
    script: Script,
    *,
    clock: Clock,
    seed: int = 0,
    port: int = 0,
    born_at: float | None = None,
    told_at: Callable[[float], float] = lambda at: at,
) -> Iterator[LivingWeb]:
    """A living web in a thread of its own, for callers that are not asynchronous."""
    living = LivingWeb(script, clock=clock, seed=seed, port=port, born_at=born_at, told_at=told_at)
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def live() -> None:
        enough = asyncio.Event()
        try:
            async with living:
                started.set_result((asyncio.get_running_loop(), enough))
                await enough.wait()
        except Exception as problem:
            if started.done():
                raise
            started.set_exception(problem)

    thread = Thread(target=lambda: asyncio.run(live()), name="livingweb", daemon=True)
    thread.start()
    loop, enough = started.result()
    try:
        yield living
    finally:
        loop.call_soon_threadsafe(enough.set)
        thread.join()


async def serve_forever(
    script: Script,
    clock: Clock,
    port: int,
    *,
    seed: int = 0,
    told_at: Callable[[float], float] = lambda at: at,
    announce: Callable[[LivingWeb], None] = lambda _: None,
) -> None:
    """Serve until cancelled, as `asyncio.run` does on Ctrl-C; `announce` is called once it answers."""
    living = LivingWeb(script, clock=clock, seed=seed, port=port, keep_log=False, told_at=told_at)
    async with living:
        announce(living)
        await asyncio.Event().wait()


def _year_at(now: float) -> float:
    return datetime(datetime.fromtimestamp(now, UTC).year, 1, 1, tzinfo=UTC).timestamp()
