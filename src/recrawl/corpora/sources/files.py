"""Where importers read from: files under any of the usual compressions, folders, and URLs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from recrawl.corpora.sources.zstd import ZstdReader
from recrawl.corpora.writing.unfinished import ENDING
from recrawl.errors import BadInputError

_ZSTD_WINDOW_BYTES = 2 << 30  # dumps are made with long windows; a stream says itself how much it needs
_DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError, zstandard.ZstdError)
_REFUSED = {
    b"7z\xbc\xaf\x27\x1c": "a 7z file, which is not read here; pack it otherwise, as with "
    "`7z x -so FILE | gzip > FILE.gz`",
    b"PK\x03\x04": "a ZIP file, which is not read here; unpack it first",
}


def is_url(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def is_file(path: Path) -> bool:
    """Also of what cannot be any: too long a name is an error to the system, and to `Path`."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112


def files(path: Path, *endings: str) -> list[Path]:
    """The file itself, or all files below a folder whose names end so (`.csv`, `.csv.gz`), in order."""
    if is_file(path):
        return [path]
    if not is_folder(path):
        raise BadInputError(f"{path} is not there; give a file, a folder or a URL that starts with http.")
    found = [one for one in within(path) if one.name.lower().endswith(endings)]
    if not found:
        raise BadInputError(
            f"No file in {path} ends in {' or '.join(endings)}; give another folder, or a file."
        )
    return found


def within(folder: Path) -> list[Path]:
    """All files below a folder, in order; but for those of a corpus that is being written there."""
    return sorted(
        one
        for one in folder.rglob("*")
        if one.is_file() and not any(part.endswith(ENDING) for part in one.relative_to(folder).parts)
    )


def seen(folder: Path) -> str:
    """Tells a folder from what it was before: the names, sizes and times of its files."""
    told = sha256()
    for path in within(folder):
        about = path.stat()
        told.update(os.fsencode(f"{path.relative_to(folder)}\0{about.st_size} {about.st_mtime_ns}\0"))
    return told.hexdigest()[:16]


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """Read a file, whatever it is compressed with: its first bytes say so, not its name.

    A stream that is cut off or damaged raises BadInputError where it is read.
    """
    with path.open("rb") as raw:
        inner = _opened(raw, path)
        try:
            yield inner
        except _DAMAGED as problem:
            if isinstance(problem, OSError) and problem.errno is not None:
                raise  # the disk's trouble, not the file's
            raise BadInputError(
                f"{path} is cut off or damaged ({problem}); bring it here again."
            ) from problem
        finally:
            inner.close()


def _opened(raw: BinaryIO, path: Path) -> BinaryIO:
    head = raw.read(6)
    raw.seek(0)
    for magic, what in _REFUSED.items():
        if head.startswith(magic):
            raise BadInputError(f"{path} is {what}.")
    if head.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if head.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(raw))
    if head.startswith(b"\xfd7zXZ\x00"):
        return cast(BinaryIO, lzma.LZMAFile(raw))  # the caller closes it
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return cast(BinaryIO, io.BufferedReader(ZstdReader(raw, max_window_bytes=_ZSTD_WINDOW_BYTES)))
    return raw
