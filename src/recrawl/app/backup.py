"""A copy of everything, made while a run goes on: the store at one moment, and the archive's files up to
exactly what that store knows of.

A folder is brought up to date: files that it has already are not copied again. What is new is written beside
what is there, and takes its place once the new list of contents (`manifest.next.json`) is whole: wherever
that is cut short, the folder holds the backup before or this one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

from recrawl import __version__
from recrawl.app.quantity import iso
from recrawl.errors import BadInputError, StoreError
from recrawl.remember.tail import sync_folder

if TYPE_CHECKING:
    from recrawl.app.build import House

FORMAT = 1
MANIFEST, NEXT_MANIFEST, NEXT = "manifest.json", "manifest.next.json", ".next"
_COPY = ".store"
_STEP_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Item:
    """A file of a backup, as its list of contents has it."""

    path: str
    n_bytes: int
    sha256: str


@dataclass(slots=True)
class BackedUp:
    n_files: int = 0
    n_bytes: int = 0
    n_copied: int = 0  # files that were not there already
    n_copied_bytes: int = 0
    items: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Source:
    """Something to copy: the first `n_bytes` of what `open` opens."""

    path: str
    n_bytes: int
    open: Callable[[], BinaryIO]
    grows: bool = False  # what has this name and length may still have another content


def backup(
    house: House,
    to: Path,
    *,
    with_secrets: bool = False,
    tell: Callable[[str], object] = lambda _: None,
) -> BackedUp:
    """To a folder, or to one file where the name ends in .tar."""
    if not house.kept:
        raise BadInputError(f"There is nothing in {house.home} to back up; choose another --home.")
    if to.resolve() == house.home.resolve() or house.home.resolve() in to.resolve().parents:
        raise BadInputError(f"{to} is in the home folder itself; choose a place elsewhere.")
    packed = to.suffix == ".tar"
    if packed and to.exists():
        raise BadInputError(f"{to} is there already; choose another name.")
    if to.is_file():
        raise BadInputError(f"{to} is a file; name a folder, or a new file ending in .tar.")
    folder = to.parent if packed else to
    try:
        folder.mkdir(parents=True, exist_ok=True)
        copy = folder / f".{to.name}{_COPY}"
        # Held all the while: the files that the store knows of must be there until they are copied.
        with house.archive.recording():
            try:
                _copy_store(house, copy)
                sources = list(_sources(house, copy, with_secrets))
                return _packed(house, to, sources, tell) if packed else _laid(house, to, sources, tell)
            finally:
                copy.unlink(missing_ok=True)
    except OSError as problem:
        raise BadInputError(
            f"{to} cannot be written ({problem.strerror or problem}); make room, or choose another place."
        ) from problem


def _copy_store(house: House, to: Path) -> None:
    from recrawl.app.build import STORE_FILE

    to.unlink(missing_ok=True)
    path = house.home / STORE_FILE
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(to)) as target,
        ):
            source.backup(target)  # in one go: one moment of the store, while others may write
            target.execute("PRAGMA journal_mode = DELETE")  # all of it in one file
    except sqlite3.Error as problem:
        raise StoreError(
            f"{path} cannot be copied ({problem}); make room, and run `recrawl doctor`."
        ) from problem


def _sources(house: House, store: Path, with_secrets: bool) -> Iterator[_Source]:
    from recrawl.app.access import FILE_NAME as SECRETS_FILE
    from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE
    from recrawl.app.config import FILE_NAME as SETTINGS_FILE
    from recrawl.app.notices import FILE_NAME as NOTICES_FILE

    yield _Source(STORE_FILE, store.stat().st_size, _opener(store), grows=True)
    for name in (SETTINGS_FILE, *([SECRETS_FILE, NOTICES_FILE] if with_secrets else [])):
        path = house.home / name
        if path.exists():
            yield _Source(name, path.stat().st_size, _opener(path), grows=True)
    with closing(sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        files = connection.execute("SELECT name, length FROM archive_file ORDER BY name").fetchall()
    for name, length in files:
        yield _Source(f"{ARCHIVE_FOLDER}/{name}", length, _archived(house, name))


def _opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _archived(house: House, name: str) -> Callable[[], BinaryIO]:
    return lambda: house.archive.opened(name)


def _pieces(source: _Source) -> Iterator[bytes]:
    left = source.n_bytes
    with source.open() as stream:
        while left and (piece := stream.read(min(left, _STEP_BYTES))):
            yield piece
            left -= len(piece)
    if left:
        raise OSError(None, f"{source.path} is {left:,} bytes shorter than recorded; run `recrawl verify`")


def _manifest(house: House, items: list[Item]) -> bytes:
    document = {
        "format": FORMAT,
        "recrawl": __version__,
        "made_at": iso(house.clock.now()),
        "files": [asdict(item) for item in items],
    }
    return json.dumps(document, indent=1).encode() + b"\n"


# -- a folder -----------------------------------------------------------------------------------------


def _laid(house: House, to: Path, sources: list[_Source], tell: Callable[[str], object]) -> BackedUp:
    from recrawl.app.restore import listed, settle

    done = BackedUp()
    present: dict[str, Item] = {}
    if (to / MANIFEST).exists() or (to / NEXT_MANIFEST).exists():
        settle(to)
        present = {item.path: item for item in listed(to)}
    elif any(path.name != f".{to.name}{_COPY}" for path in to.iterdir()):
        raise BadInputError(f"{to} has something in it that is no backup; choose a new folder.")
    for n, source in enumerate(sources, 1):
        tell(f"Copying … file {n:,} of {len(sources):,}")
        known = present.get(source.path)
        there = to / source.path
        if (
            known is not None
            and not source.grows
            and known.n_bytes == source.n_bytes
            and there.exists()
            and there.stat().st_size == source.n_bytes
        ):
            done.items.append(known)
        else:
            there.parent.mkdir(exist_ok=True)
            done.items.append(_written(source, there.with_name(there.name + NEXT)))
            done.n_copied += 1
            done.n_copied_bytes += source.n_bytes
    draft = to / (NEXT_MANIFEST + NEXT)
    _write(draft, [_manifest(house, done.items)])
    for folder in {to, *(path for path in to.iterdir() if path.is_dir())}:
        sync_folder(folder)
    draft.replace(to / NEXT_MANIFEST)
    sync_folder(to)
    settle(to)
    return _counted(done)


def _counted(done: BackedUp) -> BackedUp:
    done.n_files = len(done.items)
    done.n_bytes = sum(item.n_bytes for item in done.items)
    return done


def _written(source: _Source, path: Path) -> Item:
    whole = hashlib.sha256()

    def hashed() -> Iterator[bytes]:
        for piece in _pieces(source):
            whole.update(piece)
            yield piece

    _write(path, hashed())
    return Item(source.path, source.n_bytes, whole.hexdigest())


def _write(path: Path, pieces: Iterator[bytes] | list[bytes]) -> None:
    with suppress(FileNotFoundError):
        path.unlink()
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as stream:
        stream.writelines(pieces)
        stream.flush()
        os.fsync(stream.fileno())


# -- one file -----------------------------------------------------------------------------------------


class _Hashed:
    """A source as the library wants to read it; what it read is hashed."""

    def __init__(self, source: _Source) -> None:
        self.whole = hashlib.sha256()
        self._pieces = _pieces(source)
        self._rest = b""

    def read(self, n: int = -1) -> bytes:
        while n < 0 or len(self._rest) < n:
            piece = next(self._pieces, b"")
            if not piece:
                break
            self.whole.update(piece)
            self._rest += piece
        found, self._rest = (self._rest, b"") if n < 0 else (self._rest[:n], self._rest[n:])
        return found


def _packed(house: House, to: Path, sources: list[_Source], tell: Callable[[str], object]) -> BackedUp:
    done = BackedUp()
    draft = to.with_name(f".{to.name}.tmp")
    draft.unlink(missing_ok=True)
    fd = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
                for n, source in enumerate(sources, 1):
                    tell(f"Packing … file {n:,} of {len(sources):,}")
                    hashed = _Hashed(source)
                    _add(tar, source.path, source.n_bytes, hashed)
                    done.items.append(Item(source.path, source.n_bytes, hashed.whole.hexdigest()))
                manifest = _manifest(house, done.items)
                _add(tar, MANIFEST, len(manifest), BytesIO(manifest))
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(to)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(to.parent)
    done.n_copied, done.n_copied_bytes = len(done.items), sum(item.n_bytes for item in done.items)
    return _counted(done)


def _add(tar: tarfile.TarFile, path: str, n_bytes: int, data: _Hashed | BytesIO) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode = n_bytes, 0o600
    stream: IO[bytes] = data  # type: ignore[assignment]  # it is only read
    tar.addfile(member, stream)
