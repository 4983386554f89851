"""Letters: what is said of news, read where it is kept at the moment of writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    """What came and went with a change, or with several."""

    lines: Sequence[str] = ()
    before: Version | None = None
    after: Version | None = None


def found(house: House, resource_id: int) -> tuple[Resource, Standing] | None:
    """None where it was removed meanwhile."""
    for resource, standing, _ in house.store.resources(after=resource_id - 1, limit=1):
        if resource.id == resource_id:
            return resource, standing
    return None


def came(
    house: House, resource: Resource, standing: Standing, at: float, first_at: float | None = None
) -> Came:
    """Between what was there before the change of this moment, or an earlier one, and what came with it; as
    `recrawl diff` has it, and nothing where that cannot be told."""
    from recrawl.detect.noise import lens

    after = _newest(house, resource, nextafter(at, inf))
    before = _newest(house, resource, at if first_at is None else first_at)
    if after is None or before is None or not (after.file and before.file):
        return Came((), None, after)
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
    listed = (difference.lines or ())[2:]  # without the titles
    return Came([line for line in listed if not line.startswith((" ", "@@"))], before, after)


def _newest(house: House, resource: Resource, until_at: float) -> Version | None:
    return next(iter(house.store.history(resource.id, until_at=until_at, newest_first=True, limit=1)), None)


def letter(house: House, notice: Notice, message: Message) -> Letter:
    """What was told of first comes first; of what was removed or erased since, nothing is said. Changes of
    one resource are one item."""
    together: dict[object, list[News]] = {}
    for one in message.news:
        changed = one.what in (What.CHANGE, What.POSTS)
        together.setdefault(one.resource_id if changed else one.key, []).append(one)
    groups = list(together.values())
    shown, rest = groups[:MOST_ITEMS], groups[MOST_ITEMS:]
    return Letter(
        id=message.id,
        notice=notice.name,
        made_at=message.made_at,
        items=tuple(_item(house, notice, group, shown=n < MOST_SHOWN) for n, group in enumerate(shown)),
        n_more=message.n_more + sum(map(len, rest)),
    )


def _item(house: House, notice: Notice, group: Sequence[News], *, shown: bool) -> Item:
    first, last = group[0], group[-1]
    tested = [one.significant for one in group if one.significant is not None]
    news = replace(last, since_at=first.since_at, significant=any(tested) if tested else None)
    known = found(house, news.resource_id) if news.resource_id and shown else None
    if known is None:
        return Item(news=news, n_news=len(group))
    resource, standing = known
    visits = list(house.store.visits(resource.id, _N_READ))
    if news.what is What.SILENT:
        _, words = behind(resource, standing, visits)
        link = _linked(notice, news.url, standing.version.seq if standing.version else None)
        return Item(news=news, words=words, link=link)
    came_then = came(house, resource, standing, last.at, first.at)
    words = next((visit.evidence for visit in visits if visit.at == news.at), "")
    after, before = came_then.after, came_then.before
    return Item(
        news=news,
        n_news=len(group),
        title=_title(house, after),
        words=words,
        lines=tuple(line[: 2 * MOST_CHARS] for line in came_then.lines[:MOST_LINES]),
        n_lines=len(came_then.lines),
        version=after.seq if after else None,
        before=before.seq if before else None,
        link=_linked(notice, news.url, after.seq if after else None),
    )


def _linked(notice: Notice, url: str, seq: int | None) -> str:
    return notice.link.replace("{url}", quote(url, safe="")).replace("{version}", f"{seq or ''}")


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
        link=_linked(notice, news.url, 2),
    )
    return Letter(id=f"test-{int(now * 1_000)}", notice=notice.name, made_at=now, items=(item,))
