"""Telling, beside a run: news is gathered, messages are made and sent, in a thread with a connection to the
store of its own. Visits never wait for it, however slow a recipient is."""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from recrawl.app.letters import letter
from recrawl.app.newsroom import Newsroom
from recrawl.app.notices import FILE_NAME, Kept, Notices
from recrawl.app.outbox import State, keep, kept_state, logged
from recrawl.app.quantity import iso
from recrawl.app.rows import Row
from recrawl.errors import RecrawlError, StoreError
from recrawl.live.sending import Sender, Sent
from recrawl.notify.box import (
    Box,
    Message,
    box_for,
    delivered,
    failed,
    made_up,
    message_id,
    next_up,
    taken_in,
)
from recrawl.notify.news import News, What
from recrawl.notify.notice import Notice, On
from recrawl.notify.recipient import Recipient

if TYPE_CHECKING:
    from recrawl.app.build import House

LOOK_S = 2.0  # on the wall
N_AT_ONCE = 10  # messages to one recipient, before news is gathered again
LOCK_FILE = "notices.lock"
_LAST_S = 90.0  # how long the end of a run waits for the last messages
_STOP_S = 2.0  # … when it was told to stop
_PROBLEM_S = 20.0  # … when a problem ends it


class Dispatch:
    """While it is entered, people are told."""

    def __init__(self, house: House, tell: Callable[[str], object]) -> None:
        self._house = house
        self._tell = tell
        self._told = ""
        self._notices = Notices(house.home / FILE_NAME)
        self._troubles: list[str] = []
        self._guard = threading.Lock()
        self._wanted = threading.Event()
        self._last = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recrawl-dispatch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, _: object, problem: BaseException | None, __: object) -> None:
        """What is not sent by then, the next run sends; but of what ends this one people are told now."""
        self._stop.set()
        ends = isinstance(problem, RecrawlError)
        if ends:
            with self._guard:
                self._troubles.append(str(problem))
        self._end()
        self._thread.join(_PROBLEM_S if ends else _STOP_S)

    def trouble(self, text: str) -> None:
        """Trouble of our own, as the run tells of it. From any thread."""
        self._tell(text)
        with self._guard:
            self._troubles.append(text)

    async def finish(self, stopped: Callable[[], bool]) -> None:
        """Tell of the last visits too, unless `stopped`."""
        self._end()
        loop = asyncio.get_running_loop()
        until = loop.time() + _LAST_S
        while (  # noqa: ASYNC110  # of a thread, or of a signal
            self._thread.is_alive() and not stopped() and loop.time() < until
        ):
            await asyncio.sleep(0.02)

    def _end(self) -> None:
        self._last.set()
        self._wanted.set()

    def _run(self) -> None:
        asyncio.run(self._looking())

    async def _looking(self) -> None:
        while True:
            last = self._last.is_set()  # before it looks: what came until then is told
            try:
                if kept := self._notices.all():
                    await self._look(kept)
                self._told = ""
            except RecrawlError as problem:
                self._warn(str(problem))
            except Exception as problem:  # without its words: they may quote an address
                self._warn(f"News cannot be told ({type(problem).__name__}); run `recrawl doctor`.")
            if last:
                return
            await asyncio.to_thread(self._wanted.wait, LOOK_S)

    async def _look(self, kept: Kept) -> None:
        from recrawl.app.build import open_house

        with _alone(self._house.home / LOCK_FILE) as alone:
            if not alone:
                return  # another run tells
            with open_house(
                self._house.home, config=self._house.config, clock=self._house.clock, reading=True
            ) as beside:
                sender = Sender(user_agent=beside.config.fetching.user_agent, now=beside.clock.now)
                try:
                    await self._round(beside, kept, sender)
                finally:
                    await sender.aclose()

    async def _round(self, house: House, kept: Kept, sender: Sender) -> None:
        with self._guard:
            troubles, self._troubles = self._troubles, []
        try:
            sent = True
            while sent:  # what was sent made room for what waited behind it
                state, more = kept_state(house.store), True
                while more:
                    state, more = self._gathered(house, kept, state, troubles)
                    troubles = []
                sent = await Round(house, kept, sender).send(state) and not self._stop.is_set()
        except StoreError:
            await _told_anyway(house, kept, sender, troubles)
            raise

    def _gathered(
        self, house: House, kept: Kept, state: State, troubles: Sequence[str]
    ) -> tuple[State, bool]:
        now = house.clock.now()
        room = Newsroom(house, [notice for notice, _ in kept.values()], now)
        room.tell_trouble(troubles)
        after, more = room.gather(state)
        boxes = {
            notice.name: made_up(
                notice,
                taken_in(box_for(notice, state.boxes), room.heard.get(notice.name, ()), now),
                now,
            )
            for notice, _ in kept.values()
        }
        after = replace(after, boxes=boxes)
        if after != state:
            keep(house.store, after)
        return after, more

    def _warn(self, text: str) -> None:
        """Once, until it is over."""
        if text != self._told:
            self._told = text
            self._tell(text)


class Round:
    """Sends what is to be sent, to all recipients at once, and keeps what became of each message."""

    def __init__(self, house: House, kept: Kept, sender: Sender) -> None:
        self._house = house
        self._kept = kept
        self._sender = sender

    async def send(self, state: State) -> bool:
        """Whether anything was delivered."""
        boxes = dict(state.boxes)
        now = self._house.clock.now()
        turns = {name: next_up(self._kept[name][0], box, now) for name, box in boxes.items()}
        due = [name for name, message in turns.items() if message is not None]

        async def through(name: str) -> bool:
            n_delivered = 0
            for _ in range(N_AT_ONCE):
                box, row = await self._sent(*self._kept[name], boxes[name])
                if row is None:
                    break
                n_delivered += row["delivered"]
                boxes[name] = box
                keep(self._house.store, replace(state, boxes=boxes))
                logged(self._house.store, [row])
            return n_delivered > 0

        return any(await asyncio.gather(*(through(name) for name in due)))

    async def _sent(self, notice: Notice, recipient: Recipient, box: Box) -> tuple[Box, Row | None]:
        message = next_up(notice, box, self._house.clock.now())
        if message is None:
            return box, None
        sent = await self._sender.send(recipient, letter(self._house, notice, message))
        now = self._house.clock.now()
        if sent.delivered:
            return delivered(box, now), _row(notice, message, sent, now)
        box, given_up = failed(box, sent.why, now, sent.rest_s)
        return box, _row(notice, message, sent, now, given_up=given_up)


def _row(notice: Notice, message: Message, sent: Sent, now: float, *, given_up: bool = False) -> Row:
    return {
        "at": iso(now),
        "notice": notice.name,
        "id": message.id,
        "n_news": len(message.news) + message.n_more,
        "delivered": sent.delivered,
        "given_up": given_up,
        "why": sent.why,
    }


async def _told_anyway(house: House, kept: Kept, sender: Sender, troubles: Sequence[str]) -> None:
    """Where nothing can be kept, that very trouble is told all the same; of a crash just now, maybe never."""
    now = house.clock.now()
    for notice, recipient in kept.values():
        if On.TROUBLE in notice.on:
            for n, text in enumerate(troubles):
                news = (News(what=What.TROUBLE, key=f"trouble:{now}:{n}", at=now, words=text),)
                message = Message(id=message_id(notice.name, news), news=news, made_at=now)
                await sender.send(recipient, letter(house, notice, message))


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Whether no other process tells; a lock that lasts no longer than its process."""
    fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(fd)
