"""What became of the files: after a crash they are cut to what the store knows of, and damage is found."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from recrawl.errors import ArchiveError
from recrawl.remember import cdx
from recrawl.remember.records import GZIP_HEAD, TORN, places
from recrawl.remember.tail import claimed, is_ours, sync_folder

CUT_FOLDER = "cut"


def recovered(
    folder: Path,
    committed: Callable[[], Mapping[str, int]],
    carried: Callable[[], Container[str]] = lambda: (),
    doomed: Callable[[], Container[str]] = lambda: (),
) -> Iterator[str]:
    """Cut, move aside, index; yields a sentence for each thing that people should know. Those that were
    `carried` away are not missed; those that are `doomed` are left to whoever deletes them.

    `committed` is asked only after a file has been locked (and after `doomed`), so that it also knows of
    what a writer recorded just before it let go. Whole records are never destroyed, recorded or not: the
    store may be the one that is wrong, an old copy put back beside a newer archive.
    """
    found = {path.name: path for path in sorted(folder.glob("*.warc.gz"))}
    known = committed()
    for name, path in found.items():
        try:
            if path.stat().st_size == known.get(name) and cdx.index_path(path).exists():
                continue  # whole and finished, as nearly all of them are
            fd = claimed(path)
            if fd is None:
                continue
            try:
                if os.fstat(fd).st_nlink and name not in doomed():
                    yield from _mended(path, fd, committed().get(name, 0))
            finally:
                os.close(fd)
        except FileNotFoundError:  # another process has just carried it away, or written it anew
            continue
        except OSError as problem:
            raise ArchiveError(
                f"The archive file {path} cannot be recovered ({problem.strerror}); "
                "make it writable and start again."
            ) from problem
    missing = sorted(set(committed()) - {path.name for path in folder.glob("*.warc.gz")})
    elsewhere = carried() if missing else ()
    for name in missing:
        if name not in elsewhere and name in committed():  # else it was written anew under another name
            yield f"{name} is missing from {folder}; put it back from a copy."


def cut(path: Path, fd: int, n_committed: int) -> None:
    """As above, one file that the caller has locked."""
    if os.fstat(fd).st_nlink and n_committed:
        list(_mended(path, fd, n_committed))


def _mended(path: Path, fd: int, n_committed: int) -> Iterator[str]:
    n_bytes = os.fstat(fd).st_size
    if not n_committed and not is_ours(path.name):
        return
    if n_bytes < n_committed:
        yield (
            f"{path.name} is damaged: {n_bytes:,} bytes long instead of {n_committed:,}; "
            "put it back from a copy."
        )
        return
    if n_bytes > n_committed or not n_committed:
        kept = _kept(path, n_committed, n_bytes)
        cdx.index_path(path).unlink(missing_ok=True)
        if n_committed:
            os.ftruncate(fd, n_committed)
            os.fsync(fd)
        else:
            path.unlink()
            sync_folder(path.parent)
        what = "the last " if n_committed else "all its "
        yield (
            f"{path.name}: {what}{n_bytes - n_committed:,} bytes were cut, as they had not been recorded"
            f"{f'; they are kept in {kept}' if kept else ''}."
        )
    if n_committed and not cdx.index_path(path).exists():
        with suppress(OSError):  # a full disk: the next recovery makes it
            cdx.write(path, cdx.index(path))


def _kept(path: Path, start: int, end: int) -> Path | None:
    """A copy of what is about to be cut, if there is a whole record of an answer in it."""
    with path.open("rb") as stream:
        n_whole = sum(not place.problem for place in places(stream, end, path.parent, start))
        if n_whole < (1 if start else 2):  # the first record of a file only says who wrote it
            return None
        stream.seek(start)
        kept = path.parent / CUT_FOLDER / f"{path.name}-{start}.cut"
        kept.parent.mkdir(exist_ok=True)
        with kept.open("wb") as copy:
            shutil.copyfileobj(stream, copy)
            copy.flush()
            os.fsync(copy.fileno())
    sync_folder(kept.parent)
    return kept


def damage(path: Path, *, growing: bool) -> Iterator[tuple[int, str]]:
    """Every place of a file where a record is not whole and sound, up to the file's end.

    The last record of a file that is `growing` may be on its way still.
    """
    try:
        with path.open("rb") as stream:
            yield from damage_in(stream, path.name, growing=growing, spool=path.parent)
    except OSError as trouble:
        yield 0, trouble.strerror or str(trouble)


def damage_in(
    stream: BinaryIO, name: str, *, growing: bool, spool: Path | None = None
) -> Iterator[tuple[int, str]]:
    """As `damage`, of a file that is open, here or elsewhere."""
    end = stream.seek(0, os.SEEK_END)
    for place in places(stream, end, spool):
        problem = place.problem
        if problem == TORN and growing and place.offset + place.length == end:
            continue
        stream.seek(place.offset)
        if not problem and is_ours(name) and stream.read(len(GZIP_HEAD)) != GZIP_HEAD:
            problem = "its head is not the one that was written"
        if problem:
            yield place.offset, problem
