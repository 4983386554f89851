"""What a folder holds, and what a file's name says about it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from datetime import UTC, datetime
from pathlib import PurePosixPath

_MAX_ENTRIES = 100_000

# Our own table: the system's differs from machine to machine, and a copy must not change by moving.
_MEDIA_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".geojson": "application/geo+json",
    ".jsonld": "application/ld+json",
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".nq": "application/n-quads",
    ".trig": "application/trig",
    ".rdf": "application/rdf+xml",
    ".owl": "application/rdf+xml",
    ".srj": "application/sparql-results+json",
    ".xml": "application/xml",
    ".rss": "application/rss+xml",
    ".atom": "application/atom+xml",
    ".svg": "image/svg+xml",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".pdf": "application/pdf",
    ".gz": "application/gzip",
    ".zip": "application/zip",
}


def media_type(url: str) -> str:
    """
    >>> media_type("file:///a/B.CSV"), media_type("file:///a/b")
    ('text/csv', 'application/octet-stream')
    """
    return _MEDIA_TYPES.get(PurePosixPath(url).suffix.lower(), "application/octet-stream")


def listed(url: str, descriptor: int) -> tuple[bytes, str]:
    """A folder's list of names, sizes and times, sorted by name, and its digest as a validator.

    Links are named and not followed.
    """
    entries: list[dict[str, str | int]] = []
    with os.scandir(descriptor) as found:
        for entry in found:
            if len(entries) == _MAX_ENTRIES:
                raise OSError(f"the folder holds more than {_MAX_ENTRIES:,} entries; watch smaller ones")
            try:
                about = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # it went while we looked
            entries.append(_row(entry.name, about))
    entries.sort(key=lambda row: str(row["name"]))
    rows = ",\n".join(json.dumps(row, sort_keys=True) for row in entries)
    body = f'{{"folder": {json.dumps(url)}, "entries": [\n{rows}\n]}}\n'.encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def _row(name: str, about: os.stat_result) -> dict[str, str | int]:
    shown = os.fsencode(name).decode("utf-8", "backslashreplace")
    row: dict[str, str | int] = {"name": shown, "type": _type(about.st_mode), "modified_at": _iso(about)}
    # The size of a folder says how its file system works, and nothing of what is in it.
    return {**row, "size": about.st_size} if stat.S_ISREG(about.st_mode) else row


def _type(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def _iso(about: os.stat_result) -> str:
    whole = datetime.fromtimestamp(about.st_mtime_ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{whole}.{about.st_mtime_ns % 10**9:09}Z"
