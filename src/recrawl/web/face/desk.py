"""What the routes ask: the store and the archive in threads, slow questions in a back room, pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from recrawl.app.build import House
from recrawl.live.clock import FastClock, WallClock, stopwatch
from recrawl.web.face.backroom import BackRoom
from recrawl.web.face.gate import Guest, local_path
from recrawl.web.face.intake import Intakes
from recrawl.web.face.rooms import Rooms
from recrawl.web.face.shell import Shell

P = ParamSpec("P")
T = TypeVar("T")

SAID = "recrawl-said"  # the cookie that carries a message over a redirect
N_THREADS, N_SENDERS = 4, 2
ASK_S = 5.0
N_SAID = 300  # characters of a message that goes with a redirect
MOST_ROWS = 1_000  # of any list


class Desk:
    """`clock` is another than the wall's where a made-up web lives on one of its own."""

    def __init__(self, home: Path, clock: FastClock | None = None) -> None:
        self._clock = clock or WallClock()
        self._rooms = Rooms(home, self._clock)
        self._threads = ThreadPoolExecutor(N_THREADS, "recrawl-face")
        self._senders = ThreadPoolExecutor(N_SENDERS, "recrawl-send")
        self._quick, self._long = BackRoom(home, clock), BackRoom(home, clock)
        self.shell = Shell(self._clock.now)
        self.intakes = Intakes(home, self._clock)
        self.home = home

    def now(self) -> float:
        return self._clock.now()

    async def ask(self, question: Callable[Concatenate[House, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """In a thread with a house of its own: for what takes milliseconds. Where finding out takes much
        longer it is broken off, since there are few threads; what is changed is changed."""

        def asked() -> T:
            house, until_s = self._rooms.house(), stopwatch() + ASK_S
            with house.store.until(lambda: stopwatch() > until_s):
                return question(house, *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._threads, asked)

    async def send(
        self, question: Callable[Concatenate[House, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `ask`, for what waits for somebody else's server: it keeps no page waiting."""

        def asked() -> T:
            return question(self._rooms.house(), *args, **kwargs)

        return await asyncio.get_running_loop().run_in_executor(self._senders, asked)

    async def slow(
        self,
        question: Callable[..., T],
        *args: object,
        deadline_s: float = 5.0,
        keep_s: float = 30.0,
        late_s: float = 0.0,
        long: bool = False,
    ) -> T:
        """In another process, `question(house, *args)`: for what takes tenths of seconds and more; what takes
        minutes is `long`, and keeps nothing else waiting. An answer is kept for `keep_s`, and given out for
        `late_s` longer while it is worked out anew. Arguments and answer must be picklable."""
        room = self._long if long else self._quick
        return await room.ask(question, *args, deadline_s=deadline_s, keep_s=keep_s, late_s=late_s)

    def changed(self) -> None:
        """Something was changed here: what was worked out before may no longer hold."""
        self._quick.forget()

    def page(
        self, request: Request, name: str, *, status: int = 200, block: str = "", **values: object
    ) -> HTMLResponse:
        """The template with this name; where a script asks for a part of it, that block alone."""
        guest = guest_of(request)
        part = block if request.headers.get("x-part") and block else ""
        said = "" if part else self.shell.unpacked(request.cookies.get(SAID, ""))
        html = self.shell.rendered(name, part, path=request.url.path, guest=guest, said=said, **values)
        answer = HTMLResponse(html, status, {"Vary": "X-Part"} if block else None)
        if said:
            answer.delete_cookie(SAID)
        return answer

    def seen(self, path: str, message: str = "") -> RedirectResponse:
        """After a change, on to a page of ours, which shows the message once."""
        answer = RedirectResponse(local_path(path), 303)
        if message:
            packed = self.shell.packed(message[:N_SAID])
            answer.set_cookie(SAID, packed, max_age=30, httponly=True, samesite="lax")
        self.changed()
        return answer

    def quit(self) -> None:
        """Nothing that takes long is begun or waited for any more."""
        self.intakes.close()
        self._quick.close()
        self._long.close()

    def close(self) -> None:
        self.quit()
        self._threads.shutdown(cancel_futures=True)
        self._senders.shutdown(cancel_futures=True)
        self._rooms.close()


def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def guest_of(request: Request) -> Guest:
    guest: Guest = request.state.guest
    return guest
