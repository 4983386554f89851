"""The archive: every payload in WARC files, one writer a file, nothing recorded before it is on the disk.

A version always points to the record that holds its payload. Where a visit finds that payload again, a
revisit record is written, and the version that comes back points to the earlier record still.

One thread writes (`put`, `sync`, `recover`, `close`); any thread or process may read.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.metadata import version as installed_version
from pathlib import Path

from recrawl.errors import ArchiveError
from recrawl.model import DAY_S, Fetch, Outcome, Version
from recrawl.remember import heads
from recrawl.remember.exchange import Origin, codings, exchange, stamp
from recrawl.remember.locks import Locks
from recrawl.remember.reader import WarcReader
from recrawl.remember.records import Unreadable, lines, read, record
from recrawl.remember.recovery import recovered
from recrawl.remember.tail import Bounds, Tail, file_name, taken_up

_STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class WarcArchive(WarcReader):
    """A folder of WARC 1.1 files."""

    def __init__(
        self,
        folder: Path,
        *,
        now: Callable[[], float],
        max_bytes: int = 1_000_000_000,
        max_age_s: float = DAY_S,
        carried: Callable[[], Mapping[str, str]] = dict,
        placed: Callable[[Version], Version | None] = lambda _: None,
        software: str | None = None,
        operator: str = "",
        user_agent: str = "",
    ) -> None:
        super().__init__(folder, carried=carried, placed=placed, now=now)
        self.locks = Locks(folder)
        self._now = now
        self._bounds = Bounds(max_bytes=max_bytes, max_age_s=max_age_s)
        self._about = {
            "software": software or f"recrawl/{installed_version('recrawl')}",
            "format": "WARC File Format 1.1",
            "conformsTo": _STANDARD,
            "operator": operator,
            "http-header-user-agent": user_agent,
        }
        self._token = secrets.token_hex(4)
        self._serial = 0
        self._tail: Tail | None = None
        self._full: list[Tail] = []
        self._committed: Callable[[], Mapping[str, int]] | None = None
        self._may_take_up = False
        self._waiting: dict[tuple[str, int], Origin] = {}  # payloads that no file holds before `sync`

    def put(self, fetch: Fetch, version: Version, same_as: Version | None = None) -> Version:
        """Buffer the fetch's records; they are written by `sync`.

        With `same_as`, a revisit record takes the place of the payload, provided that the earlier one can
        still be read and that a reader would find the same there; otherwise the payload is kept again.
        """
        if fetch.status is None:
            raise ArchiveError(f"{fetch.url} gave no answer to archive; record the visit without a version.")
        try:
            same_as = same_as and self._present(same_as)
            origin = self._origin(fetch, version, same_as) if same_as else None
            tail = self._open_tail()
            records = exchange(fetch, origin)
            spots = tail.add(records)
        except OSError as problem:  # a large one passes through the disk before `sync`
            raise self._full_disk(problem) from problem
        if origin is not None and same_as is not None:
            place = (same_as.file, same_as.offset, same_as.length)
        else:
            place = (tail.path.name, *spots[0])
            self._waiting[place[:2]] = Origin.of(records[0])
        return replace(version, url=fetch.url, file=place[0], offset=place[1], length=place[2])

    def sync(self) -> Mapping[str, int]:
        """Write and fsync all that was put: the new length of every file that grew.

        When it fails, nothing that was put since the last sync is kept, and the next `put` begins a new
        file. Whoever calls again has recorded what the last call returned: full files are let go then.
        """
        for tail in [tail for tail in self._full if not tail.waits]:
            tail.finish()
            self._full.remove(tail)
        growing = [tail for tail in [*self._full, self._tail] if tail is not None and tail.waits]
        before = [tail.length for tail in growing]
        self._waiting = {}
        try:
            for tail in growing:
                tail.sync()
        except OSError as problem:
            for tail, length in zip(growing, before, strict=True):
                tail.undo(length)
            self._full, self._tail, self._may_take_up = [], None, False
            raise self._full_disk(problem) from problem
        return {tail.path.name: tail.length for tail in growing}

    def recording(self) -> AbstractContextManager[None]:
        return self.locks.recording(let_go=self.close)

    def recover(
        self,
        committed: Callable[[], Mapping[str, int]],
        doomed: Callable[[], Container[str]] = tuple,
    ) -> Sequence[str]:
        """After that, the first `put` may go on with a file that another process left small and young."""
        self._committed, self._may_take_up = committed, True
        return list(recovered(self.folder, committed, self._files.addresses, doomed))

    def close(self) -> None:
        try:
            self.sync()
        finally:
            for tail in [*self._full, self._tail]:
                if tail is not None:
                    tail.finish()
                    self._may_take_up = True  # its own, if it goes on
            self._full, self._tail = [], None

    def _writes(self, path: Path) -> bool:
        return any(tail is not None and tail.path == path for tail in [*self._full, self._tail])

    def _open_tail(self) -> Tail:
        now = self._now()
        if self._tail is not None and self._bounds.finished(self._tail.path.name, self._tail.end, now):
            self._full.append(self._tail)  # still locked: the store has not heard of its last records
            self._tail = None
        if self._tail is None:
            self._tail = self._taken_up(now) or self._begun(now)
        return self._tail

    def _taken_up(self, now: float) -> Tail | None:
        """At the beginning: short runs, one after the other, do not leave a file each."""
        if self._committed is None or not self._may_take_up:
            return None
        self._may_take_up = False
        return taken_up(
            self.folder, self._committed, lambda name, length: not self._bounds.finished(name, length, now)
        )

    def _begun(self, now: float) -> Tail:
        self._serial += 1
        name = file_name(now, self._token, self._serial)
        tail = Tail(self.folder / name)
        fields = [("WARC-Date", stamp(now)), ("WARC-Filename", name)]
        about = lines((key, value) for key, value in self._about.items() if value)
        tail.add([record("warcinfo", fields, block=about, block_type="application/warc-fields")])
        return tail

    def _present(self, version: Version) -> Version:
        """Where it lies now: its file may have been written anew since the caller heard of it."""
        path = self.folder / version.file
        gone = not (path.exists() or heads.heads_path(path).exists())
        if gone and (version.file, version.offset) not in self._waiting:
            return self._placed(version) or version
        return version

    def _origin(self, fetch: Fetch, version: Version, same_as: Version) -> Origin | None:
        origin = self._waiting.get((same_as.file, same_as.offset)) or self._kept_origin(same_as)
        if origin is None:
            return None
        if fetch.outcome is Outcome.NOT_MODIFIED:
            return origin
        # Replay puts this answer's headers before the earlier payload: they must fit it.
        fits = version.digest == same_as.digest and codings(fetch) == list(origin.codings)
        return origin if fits else None

    def _kept_origin(self, same_as: Version) -> Origin | None:
        """Read here, or known of a file that was carried away: the network is never asked by a writer."""
        path = self.folder / same_as.file
        try:
            return Origin.of(read(path, same_as.offset, same_as.length))
        except Unreadable:
            return None if path.exists() else heads.found(path, same_as.offset)

    def _full_disk(self, problem: OSError) -> ArchiveError:
        return ArchiveError(
            f"The archive in {self.folder} cannot be written ({problem.strerror or problem}); "
            "make room on that disk or see to it, then go on: what was recorded before is safe."
        )
