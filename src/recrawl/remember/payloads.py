"""Where payloads are, in memory: which version holds one already, and which files were carried away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from recrawl.errors import ArchiveError
from recrawl.model import Version


class Payloads:
    def __init__(self) -> None:
        self.addresses: dict[str, str] = {}  # of files that were carried away
        self._held: dict[str, dict[int, Version]] = {}  # by digest and order, oldest first

    def keep(self, order: int, version: Version) -> None:
        if version.worth_sharing and version.file:
            self._held.setdefault(version.digest, {})[order] = version

    def forget(self, versions: Iterable[tuple[int, Version]]) -> None:
        for order, version in versions:
            if (held := self._held.get(version.digest)) is not None:
                held.pop(order, None)
                if not held:
                    del self._held[version.digest]

    def holding(self, digests: Sequence[str]) -> Mapping[str, Version]:
        return {
            digest: next(reversed(self._held[digest].values())) for digest in digests if digest in self._held
        }


def unknown_file(name: str) -> ArchiveError:
    return ArchiveError(f"No archive file {name} is recorded; `recrawl doctor` shows what is.")
