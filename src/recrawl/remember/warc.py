"""The archive: every payload in WARC files, one writer a file, nothing recorded before it is on the disk.

A version always points to the record that holds its payload. Where a visit finds that payload again, a
revisit record is written, and the version that comes back points to the earlier record still.

One thread writes (`put`, `sync`, `recover`, `close`); any thread or process may read.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version as installed_version
from pathlib import Path

from recrawl.errors import ArchiveError, DamagedError
from recrawl.model import Fetch, Outcome, Snapshot, Version, digest
from recrawl.parse.coding import decoded
from recrawl.remember.exchange import Origin, codings, exchange, stamp
from recrawl.remember.records import Record, Unreadable, lines, read, record
from recrawl.remember.recovery import damage, recovered
from recrawl.remember.tail import Tail, file_name, in_use

_STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class WarcArchive:
    """A folder of WARC 1.1 files."""

    def __init__(
        self,
        folder: Path,
        *,
        now: Callable[[], float],
        max_bytes: int = 1_000_000_000,
        software: str | None = None,
        operator: str = "",
        user_agent: str = "",
    ) -> None:
        self.folder = folder
        self._now = now
        self._max_bytes = max_bytes
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

    # -- writing ---------------------------------------------------------------------------------------

    def put(self, fetch: Fetch, version: Version, same_as: Version | None = None) -> Version:
        """Buffer the fetch's records; they are written by `sync`.

        With `same_as`, a revisit record takes the place of the payload, provided that the earlier one can
        still be read and that a reader would find the same there; otherwise the payload is kept again.
        """
        if fetch.status is None:
            raise ArchiveError(f"{fetch.url} gave no answer to archive; record the visit without a version.")
        try:
            origin = self._origin(fetch, version, same_as) if same_as else None
            tail = self._open_tail()
            spots = [tail.add(part) for part in exchange(fetch, origin)]
        except OSError as problem:  # a large one passes through the disk before `sync`
            raise self._full_disk(problem) from problem
        if origin is not None and same_as is not None:
            return replace(version, file=same_as.file, offset=same_as.offset, length=same_as.length)
        offset, length = spots[0]
        return replace(version, file=tail.path.name, offset=offset, length=length)

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
        try:
            for tail in growing:
                tail.sync()
        except OSError as problem:
            for tail, length in zip(growing, before, strict=True):
                tail.undo(length)
            self._full, self._tail = [], None
            raise self._full_disk(problem) from problem
        return {tail.path.name: tail.length for tail in growing}

    def recover(self, committed: Callable[[], Mapping[str, int]]) -> Sequence[str]:
        return list(recovered(self.folder, committed))

    def close(self) -> None:
        try:
            self.sync()
        finally:
            for tail in [*self._full, self._tail]:
                if tail is not None:
                    tail.finish()
            self._full, self._tail = [], None

    def _open_tail(self) -> Tail:
        if self._tail is not None and self._tail.end > self._max_bytes:
            self._full.append(self._tail)  # still locked: the store has not heard of its last records
            self._tail = None
        if self._tail is None:
            self._serial += 1
            now = self._now()
            name = file_name(now, self._token, self._serial)
            self._tail = Tail(self.folder / name)
            fields = [("WARC-Date", stamp(now)), ("WARC-Filename", name)]
            about = lines((key, value) for key, value in self._about.items() if value)
            self._tail.add(record("warcinfo", fields, block=about, block_type="application/warc-fields"))
        return self._tail

    def _origin(self, fetch: Fetch, version: Version, same_as: Version) -> Origin | None:
        try:
            origin = Origin.of(self._record(same_as))
        except Unreadable:
            return None
        if fetch.outcome is Outcome.NOT_MODIFIED:
            return origin
        # Replay puts this answer's headers before the earlier payload: they must fit it.
        fits = version.digest == same_as.digest and codings(fetch) == list(origin.codings)
        return origin if fits else None

    # -- reading ---------------------------------------------------------------------------------------

    def snapshot(self, version: Version) -> Snapshot:
        """The decoded body, checked against the version's digest."""
        try:
            kept = self._record(version)
        except Unreadable as problem:
            raise self._lost(version, str(problem)) from None
        body = decoded(kept.payload, kept.http().codings, version.n_bytes, spool=self.folder).body
        if digest(body) != version.digest:
            raise self._lost(version, "its content does not match the digest in the store")
        return Snapshot(
            body=body,
            media_type=version.media_type,
            charset=version.charset,
            url=kept.field("WARC-Target-URI"),
        )

    def verify(self, versions: Iterable[Version]) -> Iterator[tuple[Version, str]]:
        """Read all files from end to end, then every version; yield what is bad.

        Damage where no version's payload lies comes as a version of no resource (id and seq 0) that has
        only the place.
        """
        damaged = self._damaged()
        blamed: set[tuple[str, int]] = set()
        for version in versions:
            place = (version.file, version.offset)
            problem = damaged.get(place, "")
            try:
                self.snapshot(version)
            except DamagedError as trouble:
                problem = str(trouble)
            if problem:
                blamed.add(place)
                yield version, problem
        for file, offset in sorted(damaged.keys() - blamed):
            place_only = Version(resource_id=0, seq=0, at=0.0, digest="", file=file, offset=offset)
            yield place_only, damaged[file, offset]

    def _damaged(self) -> dict[tuple[str, int], str]:
        ours = {tail.path for tail in [*self._full, self._tail] if tail is not None}
        return {
            (path.name, offset): f"{path} is damaged at byte {offset}: {problem}. Put it back from a copy."
            for path in sorted(self.folder.glob("*.warc.gz"))
            for offset, problem in damage(path, growing=path not in ours and in_use(path))
        }

    def _full_disk(self, problem: OSError) -> ArchiveError:
        return ArchiveError(
            f"The archive in {self.folder} cannot be written ({problem.strerror or problem}); "
            "make room on that disk or see to it, then go on: what was recorded before is safe."
        )

    def _lost(self, version: Version, problem: str) -> DamagedError:
        return DamagedError(
            f"Version {version.seq} of resource {version.resource_id} cannot be read from "
            f"{self.folder / version.file} at byte {version.offset}: {problem}. Put it back from a copy; "
            "`recrawl verify` shows what else is damaged."
        )

    def _record(self, version: Version) -> Record:
        if not version.file or Path(version.file).name != version.file:
            raise Unreadable(f"{version.file!r} is not the name of an archive file")
        return read(self.folder / version.file, version.offset, version.length)
