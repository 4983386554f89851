"""Taking everything along: rows as CSV or JSON lines, bodies as WARC files with one index."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from recrawl.app.rows import Row, resource_row, version_row, visit_row
from recrawl.contracts import Store
from recrawl.errors import BadInputError
from recrawl.model import Resource, Standing, Version, Visit

# A spreadsheet takes a cell that begins so for a formula, and formulas can do harm.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Copied:
    n_files: int
    n_bytes: int
    n_records: int


def resources(store: Store) -> Iterator[Row]:
    return (resource_row(*item) for item in store.resources())


def visits(store: Store) -> Iterator[Row]:
    """By resource, each one's newest first."""
    for resource, _, _ in store.resources():
        yield from (visit_row(visit, resource.url) for visit in store.visits(resource.id))


def versions(store: Store) -> Iterator[Row]:
    """By resource, each one's oldest first; with those kept as evidence only, which carry a flag."""
    for resource, _, _ in store.resources():
        yield from (version_row(version, resource.url) for version in store.versions(resource.id))


TABLES: dict[str, Callable[[Store], Iterator[Row]]] = {
    "resources": resources,
    "versions": versions,
    "visits": visits,
}


# Also where there is no row: a table without rows still has its columns.
COLUMNS: dict[str, list[str]] = {
    "resources": list(
        resource_row(Resource(id=0, url="", host_id=0, host="", added_at=0.0), Standing(), None)
    ),
    "versions": list(version_row(Version(resource_id=0, seq=0, at=0.0, digest=""), "")),
    "visits": list(visit_row(Visit(fetch_id="", resource_id=0, at=0.0), "")),
}


def write_jsonl(rows: Iterable[Row], out: IO[str]) -> int:
    n = 0
    for n, row in enumerate(rows, 1):  # noqa: B007  # the count is what is returned
        out.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    return n


def write_csv(rows: Iterable[Row], out: IO[str], columns: Sequence[str]) -> int:
    n = 0
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    for n, row in enumerate(rows, 1):  # noqa: B007
        writer.writerow({name: cell(value) for name, value in row.items()})
    return n


def cell(value: object) -> str:
    """A value as a cell that no spreadsheet will run.

    >>> cell("=1+1"), cell(-2.5), cell(None), cell(["a", "b"])
    ("'=1+1", '-2.5', '', 'a b')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def copy_warc(
    archive: Path,
    lengths: Mapping[str, int],
    to: Path,
    progress: Callable[[int], object] = lambda _: None,
) -> Copied:
    """Copy what has been recorded of the archive's WARC files, with one index over all of them.

    `lengths` are the recorded ones: a run may be writing beyond them at this moment.
    """
    from recrawl.remember.cdx import cdxj

    try:
        if to.exists() and any(to.iterdir()):
            raise BadInputError(f"{to} is not empty; choose a new folder.")
        to.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise BadInputError(
            f"{to} cannot be made a folder ({problem.strerror}); choose another one."
        ) from None
    for n_files, (name, length) in enumerate(sorted(lengths.items()), 1):
        progress(n_files)
        with (archive / name).open("rb") as recorded, (to / name).open("wb") as copy:
            _copy(recorded, copy, length)
    n_records = 0
    with (to / "index.cdxj").open("w", encoding="ascii") as index:
        for n_records, line in enumerate(cdxj(to), 1):  # noqa: B007
            index.write(f"{line}\n")
    return Copied(len(lengths), sum(lengths.values()), n_records)


def _copy(recorded: BinaryIO, copy: BinaryIO, length: int) -> None:
    while length > 0 and (piece := recorded.read(min(length, 1 << 20))):
        copy.write(piece)
        length -= len(piece)
