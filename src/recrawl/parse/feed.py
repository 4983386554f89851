"""Feeds (RSS, Atom, JSON Feed) and sitemaps as entries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from recrawl.parse.xml import children, local, text_of, tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that a feed tells of, or one address of a sitemap. Times are as they are written."""

    id: str
    title: str = ""
    link: str = ""
    content: str = ""
    published: str = ""
    updated: str = ""
    author: str = ""


def entries(body: bytes) -> list[Entry]:
    """All entries in the order in which they stand."""
    if body.lstrip()[:1] == b"{":
        return list(_json_entries(json.loads(body)))
    root = tree(body)
    match local(root):
        case "rss":
            return [_rss(item) for channel in children(root, "channel") for item in children(channel, "item")]
        case "rdf":  # RSS 1.0
            return [_rss(item) for item in children(root, "item")]
        case "feed":
            return [_atom(entry) for entry in children(root, "entry")]
        case "urlset":
            return [_address(url) for url in children(root, "url")]
        case "sitemapindex":
            return [_address(sitemap) for sitemap in children(root, "sitemap")]
        case other:
            raise ValueError(f"<{other}> is neither a feed nor a sitemap")


def _rss(item: Element) -> Entry:
    link = text_of(item, "link")
    title = text_of(item, "title")
    return Entry(
        id=text_of(item, "guid") or link or title,
        title=title,
        link=link,
        content=text_of(item, "encoded", "description"),
        published=text_of(item, "pubdate", "date"),
        author=text_of(item, "author", "creator"),
    )


def _atom(entry: Element) -> Entry:
    links = [link for link in children(entry, "link") if link.get("rel", "alternate") == "alternate"]
    href = (links[0].get("href") or "") if links else ""
    return Entry(
        id=text_of(entry, "id") or href,
        title=text_of(entry, "title"),
        link=href,
        content=text_of(entry, "content", "summary"),
        published=text_of(entry, "published"),
        updated=text_of(entry, "updated"),
        author=next((text_of(author, "name") for author in children(entry, "author")), ""),
    )


def _address(url: Element) -> Entry:
    place = text_of(url, "loc")
    return Entry(id=place, link=place, updated=text_of(url, "lastmod"))


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
            content=" ".join(str(item.get("content_text") or item.get("content_html") or "").split()),
            published=str(item.get("date_published") or ""),
            updated=str(item.get("date_modified") or ""),
        )
