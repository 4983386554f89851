"""A backup made a home again. Nothing in it is believed: not a name, not a length, not a link.

All of it is written to a new folder beside the home that is to be, compared with the list of contents, and
takes the home's place in one step at the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from recrawl.app.backup import FORMAT, MANIFEST, NEXT, NEXT_MANIFEST, Item
from recrawl.app.parcel import Parcel, refused
from recrawl.errors import BadInputError, NewerStoreError
from recrawl.remember.tail import sync_folder

MAX_MANIFEST_BYTES = 256 << 20
MAX_FILES = 1_000_000
_STEP_BYTES = 1 << 20
_ARCHIVED = re.compile(r"archive/[0-9A-Za-z][0-9A-Za-z._-]{0,199}\.warc(\.gz)?", re.ASCII)
_PLAIN = frozenset({"recrawl.sqlite", "recrawl.toml", "secrets.json", "notices.json"})


@dataclass(frozen=True, slots=True)
class Restored:
    n_files: int
    n_bytes: int
    n_versions: int
    made_at: str


def allowed(path: str) -> bool:
    """Whether a backup may have a file of this name.

    >>> allowed("recrawl.sqlite"), allowed("archive/../recrawl.sqlite"), allowed("/etc/passwd")
    (True, False, False)
    """
    return path in _PLAIN or _ARCHIVED.fullmatch(path) is not None


def restore(source: Path, home: Path, tell: Callable[[str], object] = lambda _: None) -> Restored:
    """Into a new or empty folder only."""
    home = home.absolute()
    _check_there(source)
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise BadInputError(
            f"{home}, where it would go, is {'not empty' if home.is_dir() else 'no folder'}; name a new "
            f"folder, as in `recrawl restore {source} --home NEW`."
        )
    staging = home.parent / f".{home.name}.restoring-{secrets.token_hex(4)}"
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        staging.mkdir(mode=0o700)
        try:
            with _opened(source) as found:
                items, made_at = read_manifest(found.manifest())
                found.agrees(items)
                _check_room(items, staging)
                for n, item in enumerate(items, 1):
                    tell(f"Restoring … file {n:,} of {len(items):,}")
                    _bring(found, item, staging)
            n_versions = _check_store(staging, items)
            for folder in (staging, *(path for path in staging.iterdir() if path.is_dir())):
                sync_folder(folder)
            staging.rename(home)  # over an empty folder, too
            sync_folder(home.parent)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as problem:
        raise BadInputError(
            f"{source} cannot be restored to {home} ({problem.strerror or problem}); make room, or choose "
            "another --home."
        ) from problem
    return Restored(len(items), sum(item.n_bytes for item in items), n_versions, made_at)


# -- the list of contents ------------------------------------------------------------------------------


def read_manifest(data: bytes) -> tuple[list[Item], str]:
    try:
        document: Any = json.loads(data)
        form, made_at, files = document["format"], str(document["made_at"]), document["files"]
        items = [_item(one) for one in files]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise refused(f"its {MANIFEST} cannot be read") from None
    if form != FORMAT:
        raise NewerStoreError(
            f"This backup has the form {form} and this recrawl knows {FORMAT}; upgrade recrawl."
        )
    if len(items) > MAX_FILES or len({item.path for item in items}) != len(items):
        raise refused(f"its {MANIFEST} names too many files, or one twice")
    for item in items:
        if not allowed(item.path):
            raise refused(f"it names a file that no backup has ({item.path!r})")
    if "recrawl.sqlite" not in {item.path for item in items}:
        raise refused("it has no store")
    return items, made_at


def _item(one: Any) -> Item:
    path, n_bytes, sha256 = one["path"], one["n_bytes"], one["sha256"]
    if not isinstance(path, str) or type(n_bytes) is not int or n_bytes < 0 or not isinstance(sha256, str):
        raise TypeError
    return Item(path, n_bytes, sha256)


def listed(folder: Path) -> list[Item]:
    """What a folder's backup holds."""
    with _Folder(folder) as found:
        return read_manifest(found.manifest())[0]


def settle(folder: Path) -> None:
    """Bring to its end what a backup that was cut short had left to do: after its new list of contents was
    whole, that one holds; before, the old one does."""
    if (folder / NEXT_MANIFEST).exists():
        with _Folder(folder) as found:
            items = read_manifest(found.manifest())[0]
        for item in items:
            fresh = folder / (item.path + NEXT)
            if fresh.exists() and not fresh.is_symlink():
                fresh.replace(folder / item.path)
        for inner in (path for path in folder.iterdir() if path.is_dir()):
            sync_folder(inner)  # its names are durable before the list that they stand in
        (folder / NEXT_MANIFEST).replace(folder / MANIFEST)
    wanted = {item.path for item in listed(folder)} if (folder / MANIFEST).exists() else set()
    for path in [*folder.glob("archive/*"), *folder.iterdir()]:
        known = path.relative_to(folder).as_posix()
        ours = allowed(known.removesuffix(NEXT)) or known == NEXT_MANIFEST + NEXT
        if ours and known not in wanted:  # written anew meanwhile, or cut short
            path.unlink()
    sync_folder(folder)


# -- where the files come from -------------------------------------------------------------------------


class _Folder:
    """A backup in a folder. No link in it is followed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next = (folder / NEXT_MANIFEST).is_file()

    def __enter__(self) -> _Folder:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open."""

    def manifest(self) -> bytes:
        with self._file(NEXT_MANIFEST if self._next else MANIFEST) as stream:
            data = stream.read(MAX_MANIFEST_BYTES + 1)
        if len(data) > MAX_MANIFEST_BYTES:
            raise refused(f"its {MANIFEST} is too large")
        return data

    def agrees(self, items: Sequence[Item]) -> None:
        """Other files may lie beside it; they are not looked at."""

    def pieces(self, item: Item) -> Iterator[bytes]:
        fresh = item.path + NEXT
        path = fresh if self._next and os.path.lexists(self._folder / fresh) else item.path
        with self._file(path) as stream:
            n_bytes = os.fstat(stream.fileno()).st_size
            if n_bytes != item.n_bytes:
                raise refused(f"{item.path} is {n_bytes:,} bytes long, not {item.n_bytes:,}")
            while piece := stream.read(_STEP_BYTES):
                yield piece

    @contextmanager
    def _file(self, path: str) -> Iterator[BinaryIO]:
        *folders, name = path.split("/")
        at = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                way = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                inner = os.open(folder, way, dir_fd=at)
                os.close(at)
                at = inner
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        except OSError as problem:
            raise refused(f"{path} cannot be read ({problem.strerror})") from None
        finally:
            os.close(at)
        with os.fdopen(fd, "rb") as stream:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise refused(f"{path} is no file")
            yield stream


def _check_there(source: Path) -> None:
    """Before anything else: who misspelt it has no use for other remedies."""
    remedy = "name the folder or the .tar file that `recrawl backup` wrote."
    if not source.exists():
        raise BadInputError(f"{source} is not there; {remedy}")
    if source.is_dir() and not any((source / name).is_file() for name in (MANIFEST, NEXT_MANIFEST)):
        raise BadInputError(f"{source} holds no backup, since it has no {MANIFEST}; {remedy}")
    if not source.is_dir() and not source.is_file():
        raise BadInputError(f"{source} is neither a folder nor a file; {remedy}")


@contextmanager
def _opened(source: Path) -> Iterator[_Folder | Parcel]:
    if source.is_dir():
        yield _Folder(source)
        return
    with Parcel(source) as parcel:
        yield parcel


# -- bringing them in ----------------------------------------------------------------------------------


def _bring(found: _Folder | Parcel, item: Item, staging: Path) -> None:
    target = staging / item.path
    target.parent.mkdir(exist_ok=True)
    whole, n_bytes = hashlib.sha256(), 0
    fd = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as copy:
        for piece in found.pieces(item):
            n_bytes += len(piece)
            if n_bytes > item.n_bytes:
                break
            whole.update(piece)
            copy.write(piece)
        copy.flush()
        os.fsync(copy.fileno())
    if n_bytes != item.n_bytes:
        raise refused(f"{item.path} is not {item.n_bytes:,} bytes long")
    if whole.hexdigest() != item.sha256:
        raise refused(f"{item.path} is not what was backed up: its sha256 is another one")


def _check_room(items: Sequence[Item], staging: Path) -> None:
    n_bytes, free = sum(item.n_bytes for item in items), shutil.disk_usage(staging).free
    if n_bytes > free:
        raise BadInputError(
            f"The backup takes {n_bytes:,} bytes and {free:,} are free; make room, or choose another --home."
        )


def _check_store(staging: Path, items: Sequence[Item]) -> int:
    """That it is a sound store of ours, and that the archive's files are exactly those it knows of."""
    from recrawl.remember.sqlite.database import APPLICATION_ID

    lengths = {item.path.removeprefix("archive/"): item.n_bytes for item in items if "/" in item.path}
    try:
        path = (staging / "recrawl.sqlite").absolute().as_uri()
        with closing(sqlite3.connect(f"{path}?mode=ro", uri=True)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                raise refused("its store is not recrawl's")
            if (told := connection.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                raise refused(f"its store is not sound ({told})")
            if made := connection.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchone():
                raise refused(f"its store has something that no store has ({made[0]!r})")
            known = dict(connection.execute("SELECT name, length FROM archive_file").fetchall())
            stray = connection.execute(
                "SELECT file FROM version WHERE file <> '' AND file NOT IN (SELECT name FROM archive_file)"
            ).fetchone()
            n_versions: int = connection.execute("SELECT count(*) FROM version").fetchone()[0]
    except sqlite3.Error as problem:
        raise refused(f"its store cannot be read ({problem})") from None
    if known != lengths:
        raise refused("its archive files are not those that its store knows of")
    if stray is not None:  # whoever erases that version would delete what lies there
        raise refused(f"a version is said to lie in {stray[0]!r}, which is no file of its archive")
    _part_from_the_original(staging / "recrawl.sqlite")
    return n_versions


def _part_from_the_original(store: Path) -> None:
    """All files are here now. Where they had been carried to, the house that was backed up may still live."""
    from recrawl.app.carriage import SHELF_PART

    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("UPDATE archive_file SET address = ''")
        connection.execute("DELETE FROM doomed_file")
        connection.execute(
            "INSERT OR REPLACE INTO fact (key, value) VALUES (?, ?)",
            (SHELF_PART, f"restored-{secrets.token_hex(4)}"),
        )
