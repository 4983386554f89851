"""Changes as Atom and RSS. What came from the web is text in them, never markup."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from xml.etree import ElementTree

from recrawl.app.quantity import iso
from recrawl.app.stream import Entry

_ATOM = "http://www.w3.org/2005/Atom"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BEGINNING = 0.0  # of time, where nothing has changed yet
TITLE = "Changes seen by recrawl"


def atom(entries: Sequence[Entry], origin: str, here: str) -> bytes:
    """`here` is the feed's own path, without whatever opens it."""
    ElementTree.register_namespace("", _ATOM)
    feed = ElementTree.Element(f"{{{_ATOM}}}feed")
    _said(feed, "title", TITLE)
    _said(feed, "id", f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, origin + here)}")
    _said(feed, "updated", _iso(entries[0].visit.at if entries else _BEGINNING))
    _said(_said(feed, "author"), "name", "recrawl")
    _said(feed, "link", rel="self", type="application/atom+xml", href=origin + here)
    _said(feed, "link", rel="alternate", type="text/html", href=f"{origin}/changes")
    for entry in entries:
        item = _said(feed, "entry")
        _said(item, "id", f"urn:uuid:{_number(entry)}")
        _said(item, "title", title(entry), type="text")
        _said(item, "updated", _iso(entry.visit.at))
        _said(item, "link", rel="alternate", href=_target(entry, origin))
        _said(item, "link", rel="related", href=f"{origin}/resources/{entry.resource.id}")
        for tag in entry.resource.tags:
            _said(item, "category", term=_clean(tag))
        _said(item, "summary", summary(entry), type="text")
    return _written(feed)


def rss(entries: Sequence[Entry], origin: str, here: str) -> bytes:
    """Readers take what stands in a description for HTML: text is escaped for that, and once more for XML."""
    feed = ElementTree.Element("rss", version="2.0")
    channel = ElementTree.SubElement(feed, "channel")
    for name, text in (("title", TITLE), ("link", f"{origin}/changes"), ("description", f"{origin}{here}")):
        ElementTree.SubElement(channel, name).text = text
    for entry in entries:
        item = ElementTree.SubElement(channel, "item")
        for name, text in (
            ("title", title(entry).replace("<", "‹").replace(">", "›")),
            ("link", _target(entry, origin)),
            ("description", escape(summary(entry))),
            ("pubDate", format_datetime(datetime.fromtimestamp(entry.visit.at, UTC))),
        ):
            ElementTree.SubElement(item, name).text = _clean(text)
        ElementTree.SubElement(item, "guid", isPermaLink="false").text = f"urn:uuid:{_number(entry)}"
        for tag in entry.resource.tags:
            ElementTree.SubElement(item, "category").text = _clean(tag)
    return _written(feed)


def title(entry: Entry) -> str:
    return _clean(f"{entry.resource.url} changed" + (" slightly" if entry.slight else ""))


def summary(entry: Entry) -> str:
    known = entry.visit.evidence or "It is not the same as before."
    before = iso(entry.visit.since_at)
    last = f"; the last look before was {before}" if before else ""
    return _clean(f"{known} (seen {_iso(entry.visit.at)}{last})")


def _target(entry: Entry, origin: str) -> str:
    """The resource itself where it is on the web; else what is kept of it."""
    url = entry.resource.url
    return url if url.startswith(("http://", "https://")) else f"{origin}/resources/{entry.resource.id}"


def _number(entry: Entry) -> uuid.UUID:
    """The same for ever, whoever asks from wherever."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{entry.resource.url} {entry.visit.fetch_id}")


def _said(
    parent: ElementTree.Element, name: str, text: str | None = None, **given: str
) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, f"{{{_ATOM}}}{name}", given)
    element.text = text
    return element


def _clean(text: str) -> str:
    """Without what no XML may hold."""
    return _NOT_XML.sub("\ufffd", text)


def _iso(at: float) -> str:
    return iso(at) or ""


def _written(feed: ElementTree.Element) -> bytes:
    body: bytes = ElementTree.tostring(feed, "utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + body
