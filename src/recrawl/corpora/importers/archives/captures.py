"""Captures as the index beside WARC files lists them (CDXJ), so that the files need not be read."""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from recrawl.corpora.importers.archives.indexes import Index
from recrawl.corpora.sources.lines import TORN, Flaw, lines, pieces, split
from recrawl.corpora.sources.moments import stamp
from recrawl.errors import BadUrlError
from recrawl.remember.foreign import N_ZIP_ENTRIES
from recrawl.urls import resource_url

_SCHEMES = ("http:", "https:", "file:")
_REVISIT = "warc/revisit"
_COMMON = "index.cdxj"
_FILE = re.compile(rb'"filename"\s*:\s*"([^"]{1,1000})"')
_FORM = re.compile(rb'"method"\s*:\s*"(?!GET")')
_ENDINGS = (".cdxj", ".cdx", ".cdxj.gz", ".cdx.gz")


@dataclass(frozen=True, slots=True)
class Look:
    """One capture of a URL. Without a digest nothing is known of the content."""

    url: str
    at: float
    status: int | None
    media_type: str
    digest: str
    revisit: bool = False
    file: str = ""  # the WARC file that an index says it is in


@dataclass(frozen=True, slots=True)
class Listing:
    """Where captures are listed."""

    path: Path
    entries: tuple[str, ...] = ()  # of a WACZ; empty: the file itself
    is_common: bool = False  # to several WARC files, maybe not to all that there are


def listing(path: Path) -> Listing | None:
    """The index of a WARC file (NAME.cdxj beside NAME.warc.gz, where it is no older) or within a WACZ."""
    if path.name.lower().endswith(".wacz"):
        return _within(path)
    for ending in (".warc.gz", ".warc.zst", ".warc"):
        if path.name.lower().endswith(ending):
            found = path.with_name(path.name[: -len(ending)] + ".cdxj")
            if _speaks_of(found, path):
                return Listing(found)
    return None


def common(path: Path) -> Listing | None:
    """The index over a whole folder of WARC files: in it, or in `indexes` beside it."""
    for found in (path.parent / _COMMON, path.parent.parent / "indexes" / _COMMON):
        if _speaks_of(found, path):
            return Listing(found, is_common=True)
    return None


def _speaks_of(index: Path, path: Path) -> bool:
    """Whether it was written after the last record was."""
    return index.is_file() and index.stat().st_mtime >= path.stat().st_mtime


def _within(path: Path) -> Listing | None:
    with zipfile.ZipFile(path) as packed:
        names = [entry.filename for entry in packed.infolist()[:N_ZIP_ENTRIES]]
    found = [name for name in names if name.startswith("indexes/") and name.lower().endswith(_ENDINGS)]
    return Listing(path, tuple(sorted(found))) if found else None


def looks(found: Listing) -> Iterator[tuple[str, Look | Flaw]]:
    """All of them, each with the place of its line; a flaw where there is none to be had."""
    if not found.entries:
        yield from _read(lines(found.path), str(found.path))
    for name in found.entries:
        where = f"{found.path}:{name}"
        try:
            with zipfile.ZipFile(found.path) as packed, packed.open(name) as stream:
                inner = gzip.GzipFile(fileobj=stream) if name.lower().endswith(".gz") else stream
                yield from _read(split(pieces(cast(BinaryIO, inner))), where)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError):  # its sum is wrong; a password
            yield where, Flaw(TORN)


def _read(numbered: Iterator[tuple[int, bytes | Flaw]], where: str) -> Iterator[tuple[str, Look | Flaw]]:
    index = Index()
    for number, line in numbered:
        found = line if isinstance(line, Flaw) else _look(index, line)
        if found is not None:
            yield f"{where}:{number}", found


def _look(index: Index, line: bytes) -> Look | Flaw | None:
    """One line; None for what is no look: a legend, an answer to a form, a name server's."""
    said = index.capture(line)
    if said is None or isinstance(said, Flaw):
        return said
    if _FORM.search(line) or (":" in said.url and not said.url.lower().startswith(_SCHEMES)):
        return None
    try:
        at = stamp(said.stamp)
        url = resource_url(said.url)
    except BadUrlError:
        return Flaw("the URL cannot be used")
    except ValueError as problem:
        return Flaw(problem)
    digest = said.digest
    if digest and ":" not in digest:
        digest = f"sha1:{digest}"  # older indexes leave it out
    file = _FILE.search(line)
    media_type = said.media_type.partition(";")[0].strip().lower()
    return Look(
        url=url,
        at=at,
        status=int(said.status) if re.fullmatch(r"[1-5][0-9]{2}", said.status) else None,
        media_type="" if media_type == _REVISIT else media_type,
        digest=digest,
        revisit=media_type == _REVISIT,
        file=file[1].decode("utf-8", "replace").rpartition("/")[2] if file else "",
    )
