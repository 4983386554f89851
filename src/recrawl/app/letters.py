"""Letters: what is said of news, read where it is kept at the moment of writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import TYPE_CHECKING
from urllib.parse import quote

from recrawl.app import versions
from recrawl.app.silence import behind
from recrawl.errors import RecrawlError
from recrawl.model import Resource, Standing, Version
from recrawl.notify.box import Message
from recrawl.notify.letter import MOST_CHARS, MOST_ITEMS, MOST_LINES, MOST_SHOWN, Item, Letter
from recrawl.notify.news import News, What
from recrawl.notify.notice import Notice
from recrawl.parse.pool import ParseFailed, shared

if TYPE_CHECKING:
    from recrawl.app.build import House

_HEAD_BYTES = 1 << 18  # of a page: its title is in there
_N_READ = 100  # visits, back to that of the news
_HTML = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class Came:
    """What came and went with a change: lines with + or - before them."""

    lines: Sequence[str] = ()
    before: Version | None = None
    after: Version | None = None

    @property
    def added(self) -> list[str]:
        return [line[1:] for line in self.lines if line.startswith("+")]

    @property
    def removed(self) -> list[str]:
        return [line[1:] for line in self.lines if line.startswith("-")]


def found(house: House, resource_id: int) -> tuple[Resource, Standing] | None:
    """None where it was removed meanwhile."""
    for resource, standing, _ in house.store.resources(after=resource_id - 1, limit=1):
        if resource.id == resource_id:
            return resource, standing
    return None


def came(house: House, resource: Resource, standing: Standing, at: float) -> Came:
    """With the version of this moment, as `recrawl diff` has it; nothing where that cannot be told."""
    from recrawl.detect.noise import lens

    newest = house.store.history(resource.id, until_at=nextafter(at, inf), newest_first=True, limit=2)
    if len(newest) < 2 or not all(version.file for version in newest):
        return Came(after=newest[0] if newest else None)
    after, before = newest
    try:
        difference = versions.difference(
            house.archive,
            before,
            after,
            lens=lens(resource.effective.manner, standing.noise),
            detectors=house.detectors,
        )
    except RecrawlError:  # the archive's own trouble is told elsewhere; the news is told all the same
        return Came((), before, after)
    lines = [
        line
        for line in difference.lines or ()
        if line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- "))
    ]
    return Came(lines, before, after)


def letter(house: House, notice: Notice, message: Message) -> Letter:
    """What was told of first comes first; of what was removed or erased since, nothing is said."""
    news = message.news[:MOST_ITEMS]
    return Letter(
        id=message.id,
        notice=notice.name,
        made_at=message.made_at,
        items=tuple(_item(house, notice, one, shown=n < MOST_SHOWN) for n, one in enumerate(news)),
        n_more=message.n_more + len(message.news) - len(news),
    )


def _item(house: House, notice: Notice, news: News, *, shown: bool) -> Item:
    known = found(house, news.resource_id) if news.resource_id and shown else None
    if known is None:
        return Item(news=news)
    resource, standing = known
    visits = list(house.store.visits(resource.id, _N_READ))
    if news.what is What.SILENT:
        _, words = behind(resource, standing, visits)
        return Item(news=news, words=words, link=_linked(notice, news.url, standing.version))
    came_then = came(house, resource, standing, news.at)
    words = next((visit.evidence for visit in visits if visit.at == news.at), "")
    after, before = came_then.after, came_then.before
    return Item(
        news=news,
        title=_title(house, after),
        words=words,
        lines=tuple(line[: 2 * MOST_CHARS] for line in came_then.lines[:MOST_LINES]),
        n_lines=len(came_then.lines),
        version=after.seq if after else None,
        before=before.seq if before else None,
        link=_linked(notice, news.url, after),
    )


def _linked(notice: Notice, url: str, version: Version | None) -> str:
    return notice.link.format(url=quote(url, safe=""), version=version.seq if version else "")


def _title(house: House, version: Version | None) -> str:
    if version is None or not version.file or version.media_type not in _HTML:
        return ""
    try:
        snapshot = house.archive.snapshot(version)
    except RecrawlError:
        return ""
    title = shared().run(_titled, bytes(snapshot.body[:_HEAD_BYTES]), snapshot.charset)
    return "" if isinstance(title, ParseFailed) else title


def _titled(body: bytes, charset: str | None) -> str:
    from selectolax.lexbor import LexborHTMLParser

    from recrawl.parse import charset as charsets
    from recrawl.parse import html

    node = html.title(LexborHTMLParser(charsets.text(body, charset)))
    return "" if node is None else " ".join(node.text().split())[:MOST_CHARS]


def sample(notice: Notice, now: float) -> Letter:
    """What `recrawl notify test` sends."""
    news = News(
        what=What.CHANGE,
        key=f"test:{now}",
        at=now,
        url="https://example.org/",
        host="example.org",
        since_at=now - 3_600.0,
        significant=True,
    )
    item = Item(
        news=news,
        title="A test of the notice",
        words="1 line came, 1 line went",
        lines=("-what was there before", "+what is there now"),
        n_lines=2,
        version=2,
        before=1,
        link=notice.link.format(url=quote(news.url, safe=""), version=2),
    )
    return Letter(id=f"test-{int(now * 1_000)}", notice=notice.name, made_at=now, items=(item,))
