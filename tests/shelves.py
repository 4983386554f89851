"""A house in small: a store, an archive, and a carrier between its folder and a shelf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.warcs import AT, archive_in, fetched, put

from recrawl.model import Version
from recrawl.remember.carrier import Carrier
from recrawl.remember.warc import WarcArchive


class Household:
    """Keeps what a store would have recorded."""

    def __init__(self, folder: Path, shelf: str) -> None:
        self.folder = folder
        self.shelf = shelf
        self.recorded: dict[str, int] = {}
        self.addresses: dict[str, str] = {}
        self.finished: Callable[[str, int], bool] = lambda *_: True
        self.go_on: Callable[[], None] = lambda: None

    def carried(self) -> Mapping[str, str]:
        return dict(self.addresses)

    def archive(self, **settings: Any) -> WarcArchive:
        return archive_in(self.folder, carried=self.carried, **settings)

    def kept(self, *bodies: bytes) -> list[Version]:
        """Versions in a new file, finished and recorded."""
        archive = self.archive()
        versions = [put(archive, fetched(body, started_at=AT + n)) for n, body in enumerate(bodies)]
        self.recorded.update(archive.sync())
        archive.close()
        return versions

    def carrier(self, **instead: Any) -> Carrier:
        given: dict[str, Any] = {
            "shelf": self.shelf,
            "committed": lambda: dict(self.recorded),
            "carried": self.carried,
            "carry": self.addresses.__setitem__,
            "finished": lambda name, length: self.finished(name, length),
            "go_on": lambda: self.go_on(),
        }
        return Carrier(self.folder, **{**given, **instead})

    def carry(self) -> list[str]:
        return list(self.carrier().round())
