"""Feeds and sitemaps: the entries count, not their order or when the file was built."""

from __future__ import annotations

from collections import Counter

from recrawl.detect.structured import Differences, Structured, between, clipped, hashed
from recrawl.model import Snapshot
from recrawl.parse import feed
from recrawl.parse.feed import Entry


def Feed() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `feed`."""
    return Structured("feed", digest, differences)


def digest(snapshot: Snapshot) -> str:
    return hashed(sorted(f"{name}\x1f{said}" for name, said in _said(snapshot).items()))


def differences(before: Snapshot, after: Snapshot) -> Differences:
    titles = {entry.id: entry.title for entry in [*_entries(before), *_entries(after)]}

    def shown(name: str) -> str:
        return clipped(titles.get(name) or name)

    return between(_said(before), _said(after), noun="entry", plural="entries", shown=shown)


def _entries(snapshot: Snapshot) -> list[Entry]:
    return feed.entries(bytes(snapshot.body))


def _said(snapshot: Snapshot) -> dict[str, str]:
    """What each entry says, by its id; one that comes again is counted on."""
    seen: Counter[str] = Counter()
    said: dict[str, str] = {}
    for entry in _entries(snapshot):
        seen[entry.id] += 1
        name = entry.id if seen[entry.id] == 1 else f"{entry.id}#{seen[entry.id]}"
        said[name] = " · ".join(
            part for part in (entry.title, entry.link, entry.updated, entry.content) if part
        )
    return said
