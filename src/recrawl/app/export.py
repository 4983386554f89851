"""Rows to take along, as CSV, JSON lines or one JSON document."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO

from recrawl.app.quantity import iso
from recrawl.app.rows import Instant, Row, resource_row, version_row, visit_row
from recrawl.contracts import Store
from recrawl.model import Resource, Standing, Version, Visit

# A spreadsheet takes a cell that begins so for a formula, and formulas can do harm.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def resources(store: Store, instant: Instant = iso) -> Iterator[Row]:
    erasures = {erasure.url: erasure for erasure in store.erasures()}
    for item in store.resources():
        yield resource_row(*item, erasures.get(item[0].url), instant=instant)


def visits(store: Store, instant: Instant = iso) -> Iterator[Row]:
    """By resource, each one's newest first."""
    for resource, _, _ in store.resources():
        for visit in store.visits(resource.id):
            yield visit_row(visit, resource.url, changes=resource.effective.changes, instant=instant)


def versions(store: Store, instant: Instant = iso) -> Iterator[Row]:
    """By resource, each one's oldest first; with those kept as evidence only, which carry a flag."""
    for resource, _, _ in store.resources():
        for version in store.versions(resource.id):
            yield version_row(version, resource.url, instant=instant)


TABLES: dict[str, Callable[[Store, Instant], Iterator[Row]]] = {
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


def write_json(rows: Iterable[Row], out: IO[str]) -> int:
    """One document: a list with a row a line."""
    n = 0
    for n, row in enumerate(rows, 1):
        out.write(("[\n" if n == 1 else ",\n") + json.dumps(row, ensure_ascii=False, allow_nan=False))
    out.write("\n]\n" if n else "[]\n")
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
