"""Feeds (RSS, Atom, JSON Feed) and sitemaps as entries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import nan
from typing import Any
from xml.etree.ElementTree import Element

from recrawl.parse.xml import children, local, text_of, tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that a feed tells of, or one address of a sitemap. Times are in UTC where their zone is
    known, else as they are written."""

    id: str
    title: str = ""
    link: str = ""
    content: str = ""
    published: str = ""
    updated: str = ""
    author: str = ""
    categories: str = ""
    files: str = ""  # addresses of what is attached
    changefreq: str = ""
    priority: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """All entries in the order in which they stand, and the page that they are the feed of."""

    entries: list[Entry]
    home: str = ""  # as it is written; empty: it has none


def entries(body: bytes) -> list[Entry]:
    """All entries in the order in which they stand."""
    return document(body).entries


def document(body: bytes) -> Document:
    if body.lstrip()[:1] == b"{":
        found = json.loads(body)
        return Document(list(_json_entries(found)), str(found.get("home_page_url") or ""))
    root = tree(body)
    match local(root):
        case "rss":
            channels = list(children(root, "channel"))
            items = [_rss(item) for channel in channels for item in children(channel, "item")]
            return Document(items, _home(channels))
        case "rdf":  # RSS 1.0
            return Document([_rss(item) for item in children(root, "item")], _home(children(root, "channel")))
        case "feed":
            return Document([_atom(entry) for entry in children(root, "entry")], _alternate(root))
        case "urlset":
            return Document([_address(url) for url in children(root, "url")])
        case "sitemapindex":
            return Document([_address(sitemap) for sitemap in children(root, "sitemap")])
        case other:
            raise ValueError(f"<{other}> is neither a feed nor a sitemap")


def moment(written: str) -> str:
    """A time as one text for one instant, whatever the spelling.

    >>> moment("Sat, 31 Jan 2026 13:00:00 +0100"), moment("2026-01-31T12:00:00Z"), moment("2026-01-31")
    ('2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z', '2026-01-31')
    """
    text = " ".join(written.split())
    if len(text) <= len("2026-01-31") or len(text) > 64:
        return text
    for reader in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = reader(text)
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
        if at.tzinfo is None:
            return text
        try:
            return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        except OverflowError:
            return text
    return text


def instant(moment: str) -> float:
    """A moment as seconds since 1970; NaN where it is none: a day has many, and so has an hour of no zone.

    >>> instant("2026-01-31T12:00:00Z"), instant("2026-01-31")
    (1769860800.0, nan)
    """
    if not moment.endswith("Z"):
        return nan
    try:
        return datetime.fromisoformat(moment).timestamp()
    except (ValueError, OverflowError):
        return nan


def _home(channels: Iterable[Element]) -> str:
    """RSS links have a text; one without, in another namespace, says where the feed itself is."""
    links = (link for channel in channels for link in children(channel, "link"))
    return next((text for link in links if (text := "".join(link.itertext()).strip())), "")


def _alternate(element: Element) -> str:
    """Where an Atom element says that people can read it."""
    links = [link for link in children(element, "link") if link.get("rel", "alternate") == "alternate"]
    return (links[0].get("href") or "") if links else ""


def _rss(item: Element) -> Entry:
    link = text_of(item, "link")
    title = text_of(item, "title")
    return Entry(
        id=text_of(item, "guid") or link or title,
        title=title,
        link=link,
        content=text_of(item, "encoded", "description"),
        published=moment(text_of(item, "pubdate", "date")),
        author=text_of(item, "author", "creator"),
        categories=_joined("".join(category.itertext()) for category in children(item, "category")),
        files=_joined(enclosure.get("url") for enclosure in children(item, "enclosure")),
    )


def _atom(entry: Element) -> Entry:
    href = _alternate(entry)
    return Entry(
        id=text_of(entry, "id") or href,
        title=text_of(entry, "title"),
        link=href,
        content=text_of(entry, "content", "summary"),
        published=moment(text_of(entry, "published")),
        updated=moment(text_of(entry, "updated")),
        author=next((text_of(author, "name") for author in children(entry, "author")), ""),
        categories=_joined(category.get("term") for category in children(entry, "category")),
        files=_joined(link.get("href") for link in children(entry, "link") if link.get("rel") == "enclosure"),
    )


def _address(url: Element) -> Entry:
    place = text_of(url, "loc")
    known = ("loc", "lastmod", "changefreq", "priority")
    more = [child for child in url if local(child) not in known]
    return Entry(
        id=place,
        link=place,
        updated=moment(text_of(url, "lastmod")),
        changefreq=text_of(url, "changefreq"),
        priority=text_of(url, "priority"),
        # Pictures, news and other languages: what they are called, and where they are.
        content=_joined(text for child in more for text in ["".join(child.itertext()), child.get("href")]),
    )


def _json_entries(document: Any) -> Iterator[Entry]:
    if not isinstance(document, dict) or not isinstance(document.get("items"), list):
        raise TypeError("a JSON feed has a list of items")
    for item in document["items"]:
        if not isinstance(item, dict):
            raise TypeError("an item of a JSON feed is an object")
        link = str(item.get("url") or item.get("external_url") or "")
        yield Entry(
            id=str(item.get("id") or link),
            title=str(item.get("title") or ""),
            link=link,
            content=_joined([str(item.get("content_text") or item.get("content_html") or "")]),
            published=moment(str(item.get("date_published") or "")),
            updated=moment(str(item.get("date_modified") or "")),
            author=_joined(str(author.get("name") or "") for author in _objects(item.get("authors"))),
            categories=_joined(map(str, item["tags"])) if isinstance(item.get("tags"), list) else "",
            files=_joined(str(file.get("url") or "") for file in _objects(item.get("attachments"))),
        )


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _joined(texts: Iterable[str | None]) -> str:
    return ", ".join(" ".join(text.split()) for text in texts if text and text.strip())
