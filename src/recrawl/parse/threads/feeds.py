"""Feeds of what was said: their entries are posts, or tell of threads."""

from __future__ import annotations

from xml.etree.ElementTree import ParseError

from recrawl.parse import feed, html
from recrawl.parse.feed import Document
from recrawl.parse.threads.boards import Row
from recrawl.parse.threads.drafts import MOST_POSTS, Draft
from recrawl.parse.threads.elements import led


def drafts(body: bytes) -> list[Draft]:
    """In the order in which they stand. A feed shows the last few posts, whatever page that is."""
    return [
        Draft(
            key=entry.id,
            author=entry.author,
            text=_visible(entry.content) or entry.title,
            written=entry.published or entry.updated,
            edited=entry.updated if entry.published and entry.updated != entry.published else "",
        )
        for entry in _document(body).entries[:MOST_POSTS]
    ]


def rows(body: bytes, url: str) -> list[Row]:
    found = _document(body).entries
    told = ((led(url, entry.link or entry.id), entry) for entry in found)
    return [
        Row(url=target, title=entry.title, written=entry.updated or entry.published)
        for target, entry in told
        if target
    ]


def _document(body: bytes) -> Document:
    try:
        return feed.document(body)
    except (ParseError, TypeError, AttributeError) as problem:
        raise ValueError(f"it is no feed: {problem}") from None


def _visible(content: str) -> str:
    if "<" not in content and "&" not in content:
        return content
    return html.visible(content.encode("utf-8", "replace"), "utf-8")
