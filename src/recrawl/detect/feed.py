"""Feeds and sitemaps: the entries count, not their order or when the file was built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import isnan, nan
from typing import Any

from recrawl.detect import records
from recrawl.detect.masks import Masks
from recrawl.detect.records import Nouns, Table, Twins
from recrawl.detect.selectors import Language, speaking
from recrawl.detect.structured import WHOLE, Differences, Form, Structured, Style, hashed, too_large
from recrawl.detect.table import lines
from recrawl.errors import BadUrlError
from recrawl.model import Changed, Lens, Part, Snapshot, Telling, Verdict
from recrawl.parse import feed
from recrawl.parse.feed import Document, Entry
from recrawl.parse.pool import ParseFailed
from recrawl.urls import canonical, joined

NOUNS = Nouns(
    record="entry", records="entries", value="field", values="fields", field="field", at="entry", bare=True
)
# What sitemaps and feeds call them, where that is not our name.
_ALSO = {
    "lastmod": "updated",
    "loc": "link",
    "pubdate": "published",
    "date": "published",
    "description": "content",
    "summary": "content",
    "guid": "id",
    "category": "categories",
    "enclosure": "files",
}
_ALL = tuple(item.name for item in fields(Entry))
_HINTS = frozenset({"changefreq", "priority"})  # advice for crawlers: nothing that a reader would see
_SAID = frozenset({"title", "content", "author", "categories"})
_NAMING = ("id", "link", "title")  # what may tell entries apart, the best first
MOST_TOLD = 50_000  # as many as a sitemap may have


@dataclass(frozen=True)
class Feedful:
    table: Table
    masks: Masks
    key: str
    document: Document
    asked_for: bool = True  # whether any field counts but the one that tells entries apart

    @cached_property
    def masked(self) -> Table:
        if not self.masks:
            return self.table
        return records.masked(self.table, self.masks, NOUNS, (self.key,) if self.key else ())


class Feed(Structured):
    """The detector `feed`."""

    def __init__(self) -> None:
        super().__init__("feed", Form(read, digest, differences, parts, empty, texts))

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        verdict = super().compare(before, after)
        if verdict.changed is not Changed.YES or too_large(before) or too_large(after):
            return verdict
        found = self._run(_said, before, after)
        return verdict if isinstance(found, ParseFailed) else replace(verdict, said_at=found)

    def past(self, snapshot: Snapshot) -> tuple[float, ...]:
        """When each of its entries was published; nothing where one does not say it."""
        found = () if too_large(snapshot) else self._run(_published, snapshot)
        return () if isinstance(found, ParseFailed) else found

    def told_of(self, before: Snapshot, after: Snapshot) -> tuple[Telling, ...]:
        """What the later one tells of other resources: of all that is new in it or differs, and of the page
        that it is the feed of."""
        if too_large(before) or too_large(after):
            return ()
        found = self._run(_told, before, after)
        return () if isinstance(found, ParseFailed) else found


def read(snapshot: Snapshot) -> Feedful:
    header = _counting(snapshot.lens)
    document = feed.document(bytes(snapshot.body))
    rows = [tuple(getattr(entry, name) for name in header) for entry in document.entries]
    key = next((name for name in _NAMING if name in header), "")
    included = {_name(selector.expression) for selector in speaking(snapshot.lens.include, Language.FIELD)}
    asked_for = not included or not included.isdisjoint(_ALL)
    return Feedful(Table("", header, rows), Masks(snapshot.lens.masks), key, document, asked_for)


def _counting(lens: Lens) -> tuple[str, ...]:
    include, ignore = (
        {_name(selector.expression) for selector in speaking(rules, Language.FIELD)}
        for rules in (lens.include, lens.ignore)
    )
    # An entry is told by its id from others, whatever else of it counts.
    include |= {"id"} if include else set()
    wanted = include or set(_ALL) - _HINTS
    return tuple(name for name in _ALL if name in wanted and name not in ignore)


def _name(field: str) -> str:
    name = field.strip().lower()
    return _ALSO.get(name, name)


def empty(read: Feedful) -> bool:
    return not read.asked_for


def texts(read: Feedful) -> Iterator[str]:
    table = read.masked
    places = [i for i, name in enumerate(table.header) if name in _SAID]
    return (row[i] for row in table.rows for i in places)


def digest(read: Feedful) -> str:
    return hashed(lines(read.masked))


def differences(before: Feedful, after: Feedful, style: Style) -> Differences:
    twins = _twins(before, after, before.masked, after.masked, links=style == WHOLE)
    return records.differences([twins], style)


def parts(before: Feedful, after: Feedful) -> tuple[Part, ...]:
    return records.differing([_twins(before, after, before.table, after.table)])


def _told(form: Form[Any], before: Snapshot, after: Snapshot) -> tuple[Telling, ...]:
    old, new = form.read(before), form.read(after)
    found: dict[str, float] = {}  # the newest time that is given for each
    for link, event_at in _news(old, new):
        try:
            whole = link[:8].lower().startswith(("http://", "https://"))
            url = canonical(link) if whole else joined(after.url, link)
        except BadUrlError:
            continue
        found[url] = max(found.get(url, nan), event_at, key=lambda at: -1.0 if isnan(at) else at)
        if len(found) == MOST_TOLD:
            break
    return tuple(Telling(url, event_at) for url, event_at in found.items())


def _published(form: Form[Any], snapshot: Snapshot) -> tuple[float, ...]:
    """When an entry was last updated tells nothing of how often it was before."""
    entries = form.read(snapshot).document.entries
    at = tuple(feed.instant(entry.published) for entry in entries)
    return () if any(isnan(one) for one in at) else at


def _said(form: Form[Any], before: Snapshot, after: Snapshot) -> tuple[float, ...]:
    """When each new entry was published. Nothing where somebody does not say it, where others differ now (who
    knows when they came to), or where no entry is left of those before: more may have come and gone."""
    old, new = form.read(before), form.read(after)
    known, now = (_by_key(one) for one in (old, new))
    stayed = known.keys() & now.keys()
    if not stayed or any(known[key] != now[key] for key in stayed):
        return ()
    # What has neither words nor a title is an address in a sitemap: its time is that of a page.
    fresh = [entry for entry, key in zip(new.document.entries, _keys(new), strict=True) if key not in known]
    at = tuple(
        feed.instant(entry.published or entry.updated) if entry.title or entry.content else nan
        for entry in fresh
    )
    return () if any(isnan(one) for one in at) else at


def _by_key(read: Feedful) -> dict[str, records.Row]:
    return dict(zip(_keys(read), read.masked.rows, strict=True))


def _keys(read: Feedful) -> list[str]:
    return [getattr(entry, read.key) if read.key else "" for entry in read.document.entries]


def _news(before: Feedful, after: Feedful) -> Iterator[tuple[str, float]]:
    """The links of what is new or differs, with the times that they give."""
    known = set(before.masked.rows)
    rows = after.masked.rows
    entries = after.document.entries
    news = [entry for entry, row in zip(entries, rows, strict=True) if row not in known]
    at = [feed.instant(entry.updated or entry.published) for entry in news]
    if after.document.home and known != set(rows):
        yield after.document.home, max((one for one in at if not isnan(one)), default=nan)
    for entry, event_at in zip(news, at, strict=True):
        if link := entry.link or entry.id:
            yield link, event_at


def _twins(before: Feedful, after: Feedful, old: Table, new: Table, *, links: bool = False) -> Twins:
    keys = [after.key] if after.key and after.key == before.key else []
    names: dict[str, str] = {}
    for table in (old, new) if keys else ():
        key = table.header.index(keys[0])
        names |= {row[key]: _shown(dict(zip(table.header, row, strict=True)), links) for row in table.rows}
    return Twins(old, new, keys, NOUNS, names)


def _shown(entry: dict[str, str], links: bool) -> str:
    """What people call an entry: by its title."""
    title, link = entry.get("title", ""), entry.get("link", "")
    return f"{title} ({link})" if links and title and link else title
