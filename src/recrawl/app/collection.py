"""Collections to take along: all that is recorded, or what was asked for, as WARC files or as one WACZ.

A run may go on meanwhile: what is taken is what was recorded at the beginning, and no more.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recrawl import __version__
from recrawl.app.watchlist import watched
from recrawl.contracts import Archive, Store
from recrawl.errors import ArchiveError, BadInputError
from recrawl.model import Resource
from recrawl.remember import wacz
from recrawl.remember.selection import Selection, recorded

_STEP_BYTES = 1 << 20
_MAX_FILE_BYTES = 1_000_000_000
_EARLIEST, _LATEST = "0" * 14, "9" * 14

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be taken; nothing said means all of it."""

    urls: tuple[str, ...] = ()
    tag: str | None = None
    since: str = _EARLIEST  # 14 digits
    until: str = _LATEST  # itself not included

    @property
    def everything(self) -> bool:
        return not self.by_resource and (self.since, self.until) == (_EARLIEST, _LATEST)

    @property
    def by_resource(self) -> bool:
        return bool(self.urls) or self.tag is not None

    def resources(self, store: Store) -> Iterator[Resource]:
        yield from (watched(store, url) for url in self.urls)
        if self.tag is not None:
            yield from (resource for resource, _, _ in store.resources(tag=self.tag))


@dataclass(frozen=True, slots=True)
class Contents:
    """WARC files by name, each to be read to its end before the next; then, with `lines`, their index."""

    files: Iterable[tuple[str, Iterator[bytes]]]
    lines: Callable[[], Iterator[str]]
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Copied:
    n_files: int
    n_bytes: int
    n_records: int


@contextmanager
def contents(store: Store, archive: Archive, wanted: Wanted, spool: Path, tell: Tell) -> Iterator[Contents]:
    lengths = store.files()
    if wanted.everything:
        files = ((name, _read(archive, name, lengths)) for name in sorted(lengths))
        yield Contents(files, lambda: recorded(archive.cdxj(), lengths), sum(lengths.values()))
        return
    with (
        tempfile.TemporaryDirectory(prefix=".recrawl-", dir=spool) as folder,
        Selection(Path(folder) / "chosen", archive.opened, lengths) as selection,
    ):
        if wanted.by_resource:
            selection.want((), ())  # not all of it, even where there is no such resource
            for resource in wanted.resources(store):
                payloads = (
                    (version.file, version.offset, version.url)
                    for version in store.versions(resource.id)
                    if version.file
                )
                selection.want([resource.url], payloads)
        selection.take(archive.cdxj())
        n_chosen, n_bytes = selection.choose(
            since=wanted.since,
            until=wanted.until,
            progress=lambda n: tell(f"Choosing … {n:,} records so far"),
        )
        if not n_chosen:
            raise BadInputError("Nothing is kept of what was asked for; see `recrawl export versions`.")
        yield Contents(selection.files(_MAX_FILE_BYTES), selection.lines, n_bytes)


def write_wacz(
    store: Store, archive: Archive, wanted: Wanted, to: Path, *, now: float, tell: Tell = lambda _: None
) -> wacz.Packed:
    """One file, written anew if it is there."""
    folder = _writable(to.parent)
    if to.is_dir():
        raise BadInputError(f"{to} is a folder; name a file, such as {to / 'all.wacz'}.")
    with contents(store, archive, wanted, folder, tell) as found:
        return wacz.write(
            to,
            _told(found, tell),
            found.lines,
            n_bytes=found.n_bytes,
            now=now,
            software=f"recrawl/{__version__}",
            title=to.name.removesuffix(".wacz"),
        )


def write_warc(
    store: Store, archive: Archive, wanted: Wanted, to: Path, *, tell: Tell = lambda _: None
) -> Copied:
    """A new folder of WARC files with one index over all of them."""
    try:
        if to.exists() and any(to.iterdir()):
            raise BadInputError(f"{to} is not empty; choose a new folder.")
        to.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadInputError(
            f"{to} cannot be made a folder ({problem.strerror}); choose another one."
        ) from None
    n_files = n_bytes = n_records = 0
    with contents(store, archive, wanted, to, tell) as found:
        for n_files, (name, pieces) in enumerate(_told(found, tell), 1):  # noqa: B007
            with (to / name).open("wb") as copy:
                for piece in pieces:
                    n_bytes += copy.write(piece)
        with (to / "index.cdxj").open("w", encoding="ascii") as index:
            for n_records, line in enumerate(found.lines(), 1):  # noqa: B007
                index.write(f"{line}\n")
    return Copied(n_files, n_bytes, n_records)


def _told(found: Contents, tell: Tell) -> Iterator[tuple[str, Iterator[bytes]]]:
    n_read = 0

    def counted(pieces: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal n_read
        for piece in pieces:
            n_read += len(piece)
            tell(f"Exporting … {n_read:,} of {found.n_bytes:,} bytes")
            yield piece

    for name, pieces in found.files:
        yield name, counted(pieces)


def _read(archive: Archive, name: str, lengths: Mapping[str, int]) -> Iterator[bytes]:
    left = lengths[name]
    with archive.opened(name) as stream:
        while left > 0 and (piece := stream.read(min(left, _STEP_BYTES))):
            left -= len(piece)
            yield piece
    if left:
        raise ArchiveError(f"The archive file {name} lacks {left:,} bytes; see `recrawl verify`.")


def _writable(folder: Path) -> Path:
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise BadInputError(f"{folder} is no folder that can be written to; choose another place.")
    return folder
