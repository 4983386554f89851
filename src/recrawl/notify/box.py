"""What waits for each notice, and what is sent when. Values in, values out: `now` is an argument, and whoever
keeps a box keeps all there is to know.

News waits until it may be told; then messages are made of it, which are sent in their order until each is
delivered. A message keeps its id through every try and every crash, so that whoever gets it twice can tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from math import nan
from typing import Any

from recrawl.model import DAY_S, HOUR_S
from recrawl.notify.hours import last_shown, within
from recrawl.notify.news import News, news_of
from recrawl.notify.notice import Notice

MOST_WAITING = 1_000  # news of one notice; of what comes on top it is told how many there were
FIRST_REST_S = 30.0  # after a failure, doubled each time
LONGEST_REST_S = HOUR_S
GIVE_UP_S = 3 * DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: str
    news: tuple[News, ...]
    n_more: int = 0  # of which nothing else is known
    made_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    waiting: tuple[News, ...] = ()
    n_more: int = 0
    heard_at: float = nan  # when the first of them came
    sending: tuple[Message, ...] = ()
    sent_at: tuple[float, ...] = ()  # within the last hour
    n_failures: int = 0  # in a row
    retry_at: float = 0.0
    trouble: str = ""  # why the last try failed
    added_at: float = 0.0  # of the notice that it is for: another one of its name begins with nothing


EMPTY = Box()


def box_for(notice: Notice, boxes: Mapping[str, Box]) -> Box:
    found = boxes.get(notice.name, EMPTY)
    return found if found.added_at == notice.added_at else Box(added_at=notice.added_at)


def taken_in(box: Box, news: Iterable[News], now: float) -> Box:
    known = {one.key for one in box.waiting} | {one.key for made in box.sending for one in made.news}
    new: dict[str, News] = {one.key: one for one in news if one.key not in known}
    if not new:
        return box
    waiting = (*box.waiting, *new.values())
    return replace(
        box,
        waiting=waiting[:MOST_WAITING],
        n_more=box.n_more + max(len(waiting) - MOST_WAITING, 0),
        heard_at=now if not box.waiting else box.heard_at,
    )


def made_up(notice: Notice, box: Box, now: float) -> Box:
    """With messages made of what waits, if now is the time for it."""
    sent_at = tuple(at for at in box.sent_at if now - HOUR_S < at <= now)
    box = box if sent_at == box.sent_at else replace(box, sent_at=sent_at)
    n_free = notice.per_hour - len(sent_at)
    if not box.waiting or box.sending or n_free <= 0 or not _open(notice, box.heard_at, now):
        return box
    together = notice.gathers or box.n_more > 0 or len(box.waiting) > n_free
    parts = [box.waiting] if together else [(one,) for one in box.waiting]
    made = tuple(
        Message(id=message_id(notice.name, part), news=part, n_more=box.n_more, made_at=now) for part in parts
    )
    return replace(box, waiting=(), n_more=0, heard_at=nan, sending=made)


def _open(notice: Notice, heard_at: float, now: float) -> bool:
    if _quiet(notice, now):
        return False
    if notice.daily is not None:
        return heard_at < last_shown(notice.daily, notice.zone, now)
    return now >= heard_at + notice.every_s


def _quiet(notice: Notice, now: float) -> bool:
    return notice.quiet is not None and within(notice.quiet, notice.zone, now)


def message_id(notice: str, news: Iterable[News]) -> str:
    return hashlib.sha256("\n".join([notice, *(one.key for one in news)]).encode()).hexdigest()[:32]


def next_up(notice: Notice, box: Box, now: float) -> Message | None:
    """The message to be sent now, if there is one. Quiet hours hold for one that has failed before, too."""
    if not box.sending or now < box.retry_at or _quiet(notice, now):
        return None
    return box.sending[0]


def delivered(box: Box, now: float) -> Box:
    """The first message was."""
    return replace(
        box, sending=box.sending[1:], sent_at=(*box.sent_at, now), n_failures=0, retry_at=0.0, trouble=""
    )


def failed(box: Box, why: str, now: float, rest_s: float = 0.0) -> tuple[Box, bool]:
    """The first message was not delivered; whether it is given up. `rest_s` is what the other side asked
    for."""
    wait_s = min(max(FIRST_REST_S * 2.0 ** min(box.n_failures, 20), rest_s), LONGEST_REST_S)
    given_up = now - box.sending[0].made_at >= GIVE_UP_S
    left = box.sending[1:] if given_up else box.sending
    box = replace(box, sending=left, n_failures=box.n_failures + 1, retry_at=now + wait_s, trouble=why)
    return box, given_up


def box_row(box: Box) -> dict[str, Any]:
    return asdict(box)


def box_of(row: dict[str, Any]) -> Box:
    sending = tuple(Message(**{**made, "news": _all(made["news"])}) for made in row["sending"])
    said = {**row, "waiting": _all(row["waiting"]), "sending": sending, "sent_at": tuple(row["sent_at"])}
    return Box(**said)


def _all(rows: Iterable[dict[str, Any]]) -> tuple[News, ...]:
    return tuple(map(news_of, rows))
