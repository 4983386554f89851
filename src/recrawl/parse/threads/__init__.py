"""Discussions, in whatever markup: the posts of a thread, and the threads of a board.

Run it where it can be killed: pages are made by strangers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser

from recrawl.model import Leaf, Topic
from recrawl.parse import charset as charsets
from recrawl.parse.threads import blocks, boards, feeds, forums, mails, schema, services
from recrawl.parse.threads.bundles import Page, bundled, pages
from recrawl.parse.threads.drafts import MOST_POSTS, Draft, posts
from recrawl.parse.threads.elements import base, deep, lines, title
from recrawl.parse.threads.paging import paging
from recrawl.parse.threads.zones import zone_s

__all__ = ["MOST_POSTS", "Page", "bundled", "leaf", "leaves", "listed", "pages", "topics"]

_START_BYTES = 4_096
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)[\s>]")
_PAGE = re.compile(rb"<(?:!doctype html|html|body)[\s>]", re.IGNORECASE)
_JSON_FEED = re.compile(rb"\"version\"\s{0,4}:\s{0,4}\"https?:\\?/\\?/jsonfeed")


def leaf(body: bytes, media_type: str, charset: str | None, url: str, at: float) -> Leaf:
    """One page of a thread, fetched from `url` at `at`; without posts where none are found."""
    match _sort(body, media_type):
        case "feed":
            return Leaf(url=url, posts=posts(feeds.drafts(body), at=at))
        case "mbox":
            return Leaf(url=url, posts=posts(mails.drafts(body), at=at), number=1)
        case "json":
            told = services.told(charsets.text(body, charset or "utf-8"), url)
            way = told.paging
            return Leaf(
                url=url,
                posts=posts(told.drafts, at=at),
                title=told.title,
                number=way.number,
                next_url=way.next_url,
                last_url=way.last_url,
            )
        case _:
            return _page(charsets.text(body, charset), url, at)


def leaves(pages: Sequence[Page], at: float) -> tuple[Leaf, ...]:
    """Pages of a thread that follow on each other."""
    found: list[Leaf] = []
    for i, page in enumerate(pages):
        one = leaf(page.body, page.media_type, page.charset, page.url, at)
        alone = i > 0 and not one.posts and found[-1].posts
        found.append(_following(page, pages[i - 1], at) if alone else one)
    return tuple(found)


def _following(page: Page, before: Page, at: float) -> Leaf:
    """A page on which nothing repeats, such as one with a single post: posts are what is made as those of the
    page before it are."""
    if {_sort(one.body, one.media_type) for one in (page, before)} != {"html"}:
        return leaf(page.body, page.media_type, page.charset, page.url, at)
    text, earlier = (charsets.text(one.body, one.charset) for one in (page, before))
    return _page(text, page.url, at, earlier)


def topics(body: bytes, media_type: str, charset: str | None, url: str, at: float) -> tuple[Topic, ...]:
    """The threads that a board's page lists."""
    return tuple(topic for topic, _ in listed(body, media_type, charset, url, at))


def listed(
    body: bytes, media_type: str, charset: str | None, url: str, at: float
) -> list[tuple[Topic, float]]:
    """The same, each with how coarse its time is: 3,600 for "2 hours ago", 0 for a real time."""
    match _sort(body, media_type):
        case "feed":
            return boards.topics(feeds.rows(body, url), at=at)
        case "mbox":
            return []
        case "json":
            return boards.topics(services.rows(charsets.text(body, charset or "utf-8"), url), at=at)
    tree = LexborHTMLParser(charsets.text(body, charset))
    root = tree.root
    if root is None:
        return []
    where = base(tree, url)
    known = [] if deep(root) else boards.rows(tree, where) or mails.months(tree, where)
    rows = known or blocks.rows(root, where)
    return boards.topics(rows, at=at, zone_s=zone_s("\n".join(lines(root)), at))


def _sort(body: bytes, media_type: str) -> str:
    start = body[:_START_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start[:1] in (b"{", b"["):
        return "feed" if _JSON_FEED.search(start) else "json"
    if media_type.endswith("json"):
        return "json"
    if mails.is_mbox(start) or media_type == "application/mbox":
        return "mbox"
    return "feed" if _FEED.search(start) and not _PAGE.search(start) else "html"


def _page(text: str, url: str, at: float, before: str = "") -> Leaf:
    tree = LexborHTMLParser(text)
    root = tree.root
    if root is None:
        return Leaf(url=url, posts=())
    way = paging(tree, url, base(tree, url))
    found = _drafts(tree, text, url)
    if before and not found:
        found = blocks.following(before, text, url)
    return Leaf(
        url=url,
        posts=posts(found, at=at, zone_s=zone_s("\n".join(lines(root)), at)),
        title=title(tree),
        number=way.number,
        next_url=way.next_url,
        last_url=way.last_url,
        ended="</html" in text[-_START_BYTES:].lower(),
    )


def _drafts(tree: LexborHTMLParser, text: str, url: str) -> list[Draft]:
    """By what the page is known for or says of itself; else by what repeats on it. One post that it tells of
    may be all there is, or all that it tells of."""
    root = tree.root
    if root is None:
        return []
    known = [] if deep(root) else forums.drafts(tree) or mails.archived(tree, text, url)
    if known:
        return known
    told = schema.drafts(tree)
    if len(told) > 1:
        return told
    return blocks.drafts(root, url) or told
