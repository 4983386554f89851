"""WACZ 1.1.1: WARC files, their index and a list of pages in one ZIP file, written from end to end once.

WARC files and the index are stored as they are, so that a reader on the web can ask for any record by its
range of bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO

FORMAT = "1.1.1"
_N_LINES = 1024  # of the index in one block, which is what a reader asks for
_STEP_BYTES = 1 << 20
_LARGE_BYTES = 1 << 30  # from here on, room is left for lengths of 64 bits
_FIRST_YEAR = 1980  # of a ZIP file's own dates


@dataclass(frozen=True, slots=True)
class Packed:
    n_files: int
    n_records: int
    n_pages: int
    n_bytes: int


def write(
    path: Path,
    files: Iterable[tuple[str, Iterator[bytes]]],
    lines: Callable[[], Iterable[str]],
    *,
    n_bytes: int,
    now: float,
    software: str,
    title: str,
) -> Packed:
    """All of it or nothing. `lines` gives the index of the files, in order, once all of them were read;
    `n_bytes` is about how long they are together."""
    draft = path.with_name(f".{path.name}.tmp")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            packing = _Packing(archive, now, large=n_bytes >= _LARGE_BYTES)
            n_files = 0
            for n_files, (name, content) in enumerate(files, 1):  # noqa: B007  # the count is what is returned
                packing.add(f"archive/{name}", content)
            n_records, n_pages = packing.add_index(lines(), draft.parent)
            packing.describe(title=title, software=software)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
            length = written.seek(0, os.SEEK_END)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return Packed(n_files, n_records, n_pages, length)


class _Packing:
    def __init__(self, archive: zipfile.ZipFile, now: float, *, large: bool) -> None:
        self._archive = archive
        self._at = datetime.fromtimestamp(int(now), UTC)
        self._large = large
        self._resources: list[dict[str, object]] = []

    def add(self, path: str, content: Iterable[bytes], *, deflate: bool = False) -> str:
        """One file of the package; its digest."""
        whole, n_bytes = hashlib.sha256(), 0
        with self._archive.open(self._entry(path, deflate), "w", force_zip64=self._large) as out:
            for piece in content:
                whole.update(piece)
                n_bytes += len(piece)
                out.write(piece)
        said = f"sha256:{whole.hexdigest()}"
        name = path.rpartition("/")[2].lower()
        self._resources.append({"name": name, "path": path, "hash": said, "bytes": n_bytes})
        return said

    def add_index(self, lines: Iterable[str], spool: Path) -> tuple[int, int]:
        """The index in blocks that are packed each for itself, an index of the blocks, and the pages."""
        n_records = n_pages = 0
        with tempfile.TemporaryFile(dir=spool) as blocks, tempfile.TemporaryFile(dir=spool) as pages:
            blocks.write(_line('!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}'))
            pages.write(_line(json.dumps({"format": "json-pages-1.0", "id": "pages", "title": "All Pages"})))

            def packed() -> Iterator[bytes]:
                nonlocal n_records, n_pages
                source, offset = iter(lines), 0
                while block := list(islice(source, _N_LINES)):
                    data = gzip.compress(b"".join(map(_line, block)), 6, mtime=0)
                    digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
                    place = {
                        "offset": offset,
                        "length": len(data),
                        "digest": digest,
                        "filename": "index.cdx.gz",
                    }
                    key, stamp, _ = block[0].split(" ", 2)
                    blocks.write(_line(f"{key} {stamp} {json.dumps(place)}"))
                    for page in filter(None, map(_page, block)):
                        pages.write(_line(page))
                        n_pages += 1
                    n_records += len(block)
                    offset += len(data)
                    yield data

            self.add("indexes/index.cdx.gz", packed())
            self.add("indexes/index.idx", _read(blocks), deflate=True)
            self.add("pages/pages.jsonl", _read(pages), deflate=True)
        return n_records, n_pages

    def describe(self, *, title: str, software: str) -> None:
        document = {
            "profile": "data-package",
            "wacz_version": FORMAT,
            "title": title,
            "software": software,
            "created": f"{self._at:%Y-%m-%dT%H:%M:%SZ}",
            "resources": self._resources,
        }
        digest = self.add("datapackage.json", [json.dumps(document, indent=2).encode()], deflate=True)
        said = json.dumps({"path": "datapackage.json", "hash": digest}, indent=2)
        self.add("datapackage-digest.json", [said.encode()], deflate=True)

    def _entry(self, path: str, deflate: bool) -> zipfile.ZipInfo:
        moment = (max(self._at.year, _FIRST_YEAR), *self._at.timetuple()[1:6])
        entry = zipfile.ZipInfo(path, moment)
        entry.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
        entry.external_attr = 0o644 << 16
        return entry


def _page(line: str) -> str:
    """What was there when it was asked for is a page to begin with, of whatever type; empty: it was not."""
    _, stamp, text = line.split(" ", 2)
    said = json.loads(text)
    if said.get("status") != "200" or said.get("mime") == "warc/revisit":
        return ""
    moment = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    name = hashlib.sha256(f"{stamp} {said['url']}".encode()).hexdigest()[:22]
    return json.dumps({"id": name, "url": said["url"], "ts": f"{moment:%Y-%m-%dT%H:%M:%SZ}"})


def _line(text: str) -> bytes:
    return text.encode() + b"\n"


def _read(stream: IO[bytes]) -> Iterator[bytes]:
    stream.seek(0)
    while piece := stream.read(_STEP_BYTES):
        yield piece
