"""Notices: who is told of which news, and when."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from enum import StrEnum

from recrawl.model import GLOBAL, HOUR_S, Scope, ScopeKind
from recrawl.notify.hours import Hours
from recrawl.notify.matching import Match
from recrawl.notify.news import News, What
from recrawl.urls import host_key

PER_HOUR = 20


class On(StrEnum):
    """What a notice may ask for."""

    CHANGE = "change"  # of any kind, as far as it counts for the resource
    SIGNIFICANT = "significant"  # without those that were tested and are slight
    POSTS = "posts"
    GONE = "gone"
    BACK = "back"
    SILENT = "silent"
    HOST = "host"
    TROUBLE = "trouble"


USUAL = frozenset({On.CHANGE, On.GONE, On.BACK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Where it is sent is kept apart: that is secret."""

    name: str
    scope: Scope = GLOBAL
    on: frozenset[On] = USUAL
    match: Match | None = None  # of changes only those whose text has this
    quiet: Hours | None = None
    daily: int | None = None  # one message a day, at this minute of it
    every_s: float = 0.0  # one message for all that comes within so long
    zone: str = "UTC"
    per_hour: int = PER_HOUR  # messages; what is more waits, and then is one
    link: str = ""  # the address to link to; {url} and {version} stand for the resource's
    added_at: float = 0.0

    @property
    def gathers(self) -> bool:
        return self.daily is not None or self.every_s > 0.0


def wants(notice: Notice, news: News, tags: Container[str] = ()) -> bool:
    """Whether this news is for this notice, as far as that can be told without a text. `tags` are the
    resource's; of a host those of all that is watched there."""
    new = news.at >= notice.added_at or news.what is What.SILENT  # which goes on
    return new and _asked(notice.on, news) and _within(notice.scope, news, tags)


def reads(notice: Notice, news: News) -> bool:
    """Whether the text decides too."""
    return notice.match is not None and news.what in (What.CHANGE, What.POSTS)


def _asked(on: frozenset[On], news: News) -> bool:
    if news.what not in (What.CHANGE, What.POSTS):
        return On(news.what.value) in on
    if On.CHANGE in on or (On.POSTS in on and news.what is What.POSTS):
        return True
    return On.SIGNIFICANT in on and news.significant is not False


def _within(scope: Scope, news: News, tags: Container[str]) -> bool:
    if scope == GLOBAL or news.what is What.TROUBLE:
        return True
    if scope.kind is ScopeKind.TAG:
        return scope.name in tags
    if scope.kind is ScopeKind.HOST:
        return scope.name == news.host
    return host_key(scope.name) == news.host if news.what is What.HOST else scope.name == news.url


def sentence(notice: Notice) -> str:
    """When it is sent, for people."""
    if notice.daily is not None:
        when = f"daily at {notice.daily // 60:02}:{notice.daily % 60:02}"
    elif notice.every_s:
        when = f"what comes within {notice.every_s / HOUR_S:g} h together"
    else:
        when = "at once"
    quiet = f", not {notice.quiet}" if notice.quiet else ""
    zone = f" ({notice.zone})" if notice.quiet or notice.daily is not None else ""
    return f"{when}{quiet}{zone}, at most {notice.per_hour} an hour"
