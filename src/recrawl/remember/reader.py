"""Reading the archive: versions out of their records, and every byte of every file.

Files are in the folder or were carried away; whoever reads need not know. Any thread or process may read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from recrawl.errors import ArchiveError, DamagedError, ShelfError
from recrawl.model import Snapshot, Version, digest
from recrawl.parse.coding import decoded
from recrawl.remember import cdx
from recrawl.remember.records import Record, Unreadable, read_from
from recrawl.remember.recovery import damage, damage_in
from recrawl.remember.shelf import Files, opened
from recrawl.remember.tail import in_use

Damage = dict[tuple[str, int], str]
_INDEX_STEP_BYTES = 256 << 10  # of each index that lies elsewhere: many are read side by side


class WarcReader:
    def __init__(
        self,
        folder: Path,
        *,
        now: Callable[[], float],
        carried: Callable[[], Mapping[str, str]] = dict,
        placed: Callable[[Version], Version | None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._placed = placed
        self._files = Files(folder, carried=carried, now=now)

    def snapshot(self, version: Version) -> Snapshot:
        """The decoded body, checked against the version's digest."""
        try:
            kept = self._record(version)
        except Unreadable as problem:
            # Its file may have been written anew since the caller heard of it.
            now = self._placed(version)
            if now is not None and (now.file, now.offset) != (version.file, version.offset):
                return self.snapshot(now)
            raise self._lost(version, str(problem)) from None
        http = kept.http()
        body = decoded(kept.payload, http.codings, version.n_bytes, spool=self.folder).body
        if digest(body) != version.digest:
            raise self._lost(version, "its content does not match the digest in the store")
        url = kept.field("WARC-Target-URI")
        return Snapshot(
            body=body,
            media_type=version.media_type,
            charset=version.charset,
            url=version.url or url,
            at=version.at,
            # Where another resource's record holds the payload, its headers say nothing of this one.
            headers=http.headers if version.url in ("", url) else (),
        )

    def opened(self, name: str) -> BinaryIO:
        """A whole file, to read, wherever it lies."""
        try:
            return self._files.open(name)
        except OSError as problem:
            told = problem.strerror or "it is not there"
            raise ArchiveError(
                f"The archive file {self.folder / name} cannot be read ({told}); put it back from a copy."
            ) from problem

    def cdxj(self) -> Iterator[str]:
        """The index of all files, in order, wherever they lie."""
        return cdx.cdxj(self.folder, (self._index(*item) for item in self._files.elsewhere()))

    def verify(self, versions: Iterable[Version]) -> Iterator[tuple[Version, str]]:
        """Read all files from end to end, then every version; yield what is bad.

        Damage where no version's payload lies comes as a version of no resource (id and seq 0) that has
        only the place.
        """
        damaged = {**self._damaged(), **self._damaged_elsewhere()}
        blamed: set[tuple[str, int]] = set()
        for version in versions:
            place = (version.file, version.offset)
            problem = damaged.get(place, "")
            try:
                self.snapshot(version)
            except ArchiveError as trouble:
                problem = str(trouble)
            if problem:
                blamed.add(place)
                yield version, problem
        for file, offset in sorted(damaged.keys() - blamed):
            place_only = Version(resource_id=0, seq=0, at=0.0, digest="", file=file, offset=offset)
            yield place_only, damaged[file, offset]

    def _writes(self, path: Path) -> bool:  # noqa: ARG002  # one who only reads writes none
        return False

    def _damaged(self) -> Damage:
        return {
            (path.name, offset): f"{path} is damaged at byte {offset}: {problem}. Put it back from a copy."
            for path in sorted(self.folder.glob("*.warc.gz"))
            for offset, problem in damage(path, growing=not self._writes(path) and in_use(path))
        }

    def _damaged_elsewhere(self) -> Damage:
        found: Damage = {}
        for name, address in self._files.elsewhere():
            remedy = f"Put {name} into {self.folder} from a copy."
            try:
                with self._files.open(name) as stream:
                    for offset, problem in damage_in(stream, name, growing=False, spool=self.folder):
                        found[name, offset] = f"{address} is damaged at byte {offset}: {problem}. {remedy}"
            except ShelfError as trouble:
                found[name, 0] = str(trouble)
            except OSError as trouble:
                found[name, 0] = f"{address}: {trouble.strerror or 'it is not there'}. {remedy}"
        return found

    def _index(self, name: str, address: str) -> Iterator[str]:
        beside = address.removesuffix(name) + cdx.index_path(Path(name)).name
        with opened(beside, step_bytes=_INDEX_STEP_BYTES) as stream:
            yield from (line.decode("ascii").rstrip("\n") for line in stream)

    def _lost(self, version: Version, problem: str) -> DamagedError:
        return DamagedError(
            f"Version {version.seq} of resource {version.resource_id} cannot be read from "
            f"{self.folder / version.file} at byte {version.offset}: {problem}. Put it back from a copy; "
            "`recrawl verify` shows what else is damaged."
        )

    def _record(self, version: Version) -> Record:
        if not version.file or Path(version.file).name != version.file:
            raise Unreadable(f"{version.file!r} is not the name of an archive file")
        end = version.offset + version.length
        try:
            with self._files.open(version.file, end) as stream:
                return read_from(stream, version.offset, version.length, self.folder)
        except OSError as problem:
            raise Unreadable(problem.strerror or str(problem)) from None
