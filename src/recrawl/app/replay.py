"""What replay looks up: resources, the versions around a moment, their content. Any thread may ask."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from math import floor

from recrawl.app.build import House
from recrawl.errors import BadUrlError
from recrawl.model import Resource, Snapshot, Version
from recrawl.urls import host_key, is_file_url, resource_url

N_NEAR = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A version in the row of its resource's versions."""

    version: Version
    first_at: float
    last_at: float
    before_at: float | None
    after_at: float | None


class Replay:
    """A house's past. A version's moment is the second in which it was fetched; of several in one second the
    newest stands for it."""

    def __init__(self, house: House) -> None:
        self._store = house.store
        self._archive = house.archive
        self._turn = threading.Lock()  # the store is for one at a time

    def resource(self, url: str) -> Resource | None:
        with self._turn:
            return self._store.find(resource_url(url))

    def near(self, url: str) -> Sequence[str]:
        """Watched URLs that may be meant: the same under the other scheme, and some of the same host."""
        if is_file_url(url):
            return []
        try:
            plain = resource_url(url)
            host = host_key(plain)
        except BadUrlError:
            return []
        other = plain.replace("http://", "https://", 1) if plain[:5] == "http:" else f"http{plain[5:]}"
        with self._turn:
            twin = self._store.find(other)
            same_host = [item.url for item, _, _ in self._store.resources(host=host, limit=N_NEAR)]
        return list(dict.fromkeys([*([twin.url] if twin else []), *same_host]))

    def listed(
        self, *, after: int, text: str | None, limit: int
    ) -> Sequence[tuple[Resource, Version | None]]:
        """Resources in the order in which they were added, each with its newest version."""
        with self._turn:
            found = self._store.resources(after=after, text=text, limit=limit)
            return [(resource, standing.version) for resource, standing, _ in islice(found, limit)]

    def row(self, resource: Resource, at: float | None) -> Row | None:
        """The version that was in force at this moment, or the first where it is earlier than all; None: the
        newest. No version at all gives None."""
        history, known = self._store.history, resource.id
        with self._turn:
            first = next(iter(history(known, limit=1)), None)
            last = next(iter(history(known, newest_first=True, limit=1)), None)
            if first is None or last is None:
                return None
            end_at = last.at + 1.0 if at is None else floor(at) + 1.0
            found = next(iter(history(known, until_at=end_at, newest_first=True, limit=1)), first)
            second = float(floor(found.at))
            of_second = history(known, from_at=second, until_at=second + 1.0, newest_first=True, limit=1)
            before = next(iter(history(known, until_at=second, newest_first=True, limit=1)), None)
            after = next(iter(history(known, from_at=second + 1.0, limit=1)), None)
        return Row(
            version=of_second[0],
            first_at=first.at,
            last_at=last.at,
            before_at=before.at if before else None,
            after_at=after.at if after else None,
        )

    def page(self, resource: Resource, start_at: float | None, limit: int) -> Sequence[Version]:
        """Versions in order of time from this moment on, or from the first."""
        with self._turn:
            if start_at is None:
                return self._store.history(resource.id, limit=limit)
            return self._store.history(resource.id, from_at=start_at, limit=limit)

    def ends(self, resource: Resource) -> tuple[float, float] | None:
        row = self.row(resource, None)
        return None if row is None else (row.first_at, row.last_at)

    def snapshot(self, version: Version) -> Snapshot:
        return self._archive.snapshot(version)

    def erased_at(self, resource: Resource) -> float | None:
        """When its contents were taken out for good; None: they were not."""
        with self._turn:
            return next((erasure.at for erasure in self._store.erasures(resource.url)), None)
