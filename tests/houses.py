"""Homes with a known past, made of a real store and a real archive without visiting anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tests.warcs import fetched, version_of

from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE
from recrawl.checks.store.samples import completion, lease_of, new
from recrawl.model import Fetch, Header, Outcome, Request, Version
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.warc import WarcArchive

DAY_AT = 1_767_268_800.0  # 2026-01-01 12:00:00 UTC
HTML: Header = ("Content-Type", "text/html; charset=utf-8")


def seen(url: str, at: float, body: bytes, *headers: Header, **said: object) -> Fetch:
    """What a visit brought at this moment."""
    given = {"request": Request(url=url), "url": url, "started_at": at, "ended_at": at, **said}
    return replace(fetched(body), headers=headers or (HTML,), **given)  # type: ignore[arg-type]


class Past:
    """Writes visits into a home, each with its records, its version and its row."""

    def __init__(self, home: Path, now: float = DAY_AT) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.store = SqliteStore(home / STORE_FILE)
        self.archive = WarcArchive(home / ARCHIVE_FOLDER, now=lambda: now)
        self._newest: dict[str, Version] = {}

    def __enter__(self) -> Past:
        return self

    def __exit__(self, *_: object) -> None:
        self.archive.close()
        self.store.close()

    def visits(self, fetches: Iterable[Fetch], *tags: str) -> list[Version]:
        return [self.visit(fetch, *tags) for fetch in fetches]

    def visit(self, fetch: Fetch, *tags: str) -> Version:
        url, at = fetch.request.url, fetch.ended_at
        self.store.add([new(url, *tags)], at - 1.0)
        lease = lease_of(self.store, url, at)
        before = self._newest.get(url)
        same = fetch.outcome is Outcome.NOT_MODIFIED or (before and before.digest == version_of(fetch).digest)
        same_as = before if same else None
        version = replace(
            version_of(fetch),
            resource_id=lease.resource.id,
            media_type=fetch.media_type,
            gone=fetch.outcome is Outcome.GONE,
        )
        if fetch.outcome is Outcome.NOT_MODIFIED and before is not None:
            version = replace(before, at=at)
        placed = self.archive.put(fetch, version, same_as)
        done = completion(lease, at, gate_s=0.0, versions=() if same_as else (placed,))
        assert self.store.complete([done], self.archive.sync()) == [True]
        if same_as is None:
            self._newest[url] = placed
        return placed

    def share(self, fetch: Fetch, same_as: Version) -> Version:
        """A version whose payload another resource brought first."""
        lease = lease_of(self.store, fetch.request.url, fetch.ended_at)
        version = replace(version_of(fetch), resource_id=lease.resource.id, media_type=fetch.media_type)
        placed = self.archive.put(fetch, version, same_as)
        assert (placed.file, placed.offset) == (same_as.file, same_as.offset)
        done = completion(lease, fetch.ended_at, gate_s=0.0, versions=(placed,))
        assert self.store.complete([done], self.archive.sync()) == [True]
        return placed
