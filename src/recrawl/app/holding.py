"""What holds back the news that waits for a notice, and until when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recrawl.model import HOUR_S
from recrawl.notify.box import Box, made_up, next_up
from recrawl.notify.hours import last_shown
from recrawl.notify.notice import Notice

_MOMENT_S = 1.0  # so that an hour is over when it is looked for
_SOON_H = 27  # clocks show every minute within so many hours, whatever summer time does


@dataclass(frozen=True, slots=True)
class Held:
    """Nothing holds it where `by` is empty: it is sent at once, by whoever runs."""

    by: str  # "failure", "quiet", "daily", "every" or "limit"
    words: str  # for people; the moment belongs behind them
    until_at: float


def held(notice: Notice, box: Box, now: float) -> Held | None:
    """None where nothing waits. The box itself is asked when something could be sent, so that this cannot
    differ from what will happen."""
    if not box.waiting and not box.sending:
        return None

    def goes(at: float) -> bool:
        return next_up(notice, made_up(notice, box, at), at) is not None

    if goes(now):
        return Held("", "", now)
    moments = sorted((at, by) for at, by in _moments(notice, box, now) if at > now)
    return next((Held(by, _words(by, notice), at) for at, by in moments if goes(at)), None)


def _moments(notice: Notice, box: Box, now: float) -> Iterator[tuple[float, str]]:
    """When something ends that may hold it."""
    yield box.retry_at, "failure"
    if notice.quiet is not None:
        yield _next_shown(notice.quiet.until_minute, notice.zone, now), "quiet"
    if notice.daily is not None:
        yield _next_shown(notice.daily, notice.zone, now), "daily"
    if notice.every_s:
        yield box.heard_at + notice.every_s, "every"
    for at in box.sent_at:
        yield at + HOUR_S + _MOMENT_S, "limit"


def _next_shown(minute: int, zone: str, now: float) -> float:
    """When clocks there come to show this again."""
    later = (last_shown(minute, zone, now + n * HOUR_S) for n in range(1, _SOON_H))
    return next((at for at in later if at > now), now)


def _words(by: str, notice: Notice) -> str:
    return {
        "failure": "the last try failed; the next is",
        "quiet": "held by quiet hours; sent",
        "daily": "kept for the daily message; sent",
        "every": "gathered into one message; sent",
        "limit": f"held by the limit of {notice.per_hour} messages an hour; sent",
    }[by]
