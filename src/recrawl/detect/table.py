"""Tables (CSV, TSV, XLSX): rows and columns are told apart by name, not by place.

The order of rows and of columns, quoting, white space around a cell and the spelling of numbers carry no
meaning. A changed cell, a row more or less, a column added, removed or renamed do.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from recrawl.detect.structured import N_SHOWN, Differences, Structured, between, clipped, hashed
from recrawl.model import Snapshot
from recrawl.parse import charset, sheets

_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")
_FIELD_LIMIT = 64 * 1024 * 1024  # larger than any body; the default of 128 KiB refuses honest cells


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows, cells in their plain spelling; every row is as long as the header."""

    name: str  # of the sheet; empty where there is only one
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def Tables() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `table`."""
    return Structured("table", digest, differences)


def digest(snapshot: Snapshot) -> str:
    return hashed(line for table in read(snapshot) for line in _lines(table))


def differences(before: Snapshot, after: Snapshot) -> Differences:
    old, new = {t.name: t for t in read(before)}, {t.name: t for t in read(after)}
    schema: list[str] = []
    cells_before: dict[str, str] = {}
    cells_after: dict[str, str] = {}
    for name in sorted(old.keys() | new.keys()):
        one, other = old.get(name) or Table(name, (), []), new.get(name) or Table(name, (), [])
        schema += _schema(one, other)
        keys = _keys(one, other)
        cells_before |= _cells(one, keys)
        cells_after |= _cells(other, keys)
    found = between(cells_before, cells_after, noun="cell", plural="cells")
    return Differences(
        noun="cell",
        plural="cells",
        n_before=found.n_before,
        n_after=found.n_after,
        n_added=found.n_added,
        n_removed=found.n_removed,
        n_changed=found.n_changed,
        shown=tuple([*schema, *found.shown][:N_SHOWN]),
    )


def read(snapshot: Snapshot) -> list[Table]:
    """All tables of the document, in order of their names."""
    if snapshot.body[:4] == b"PK\x03\x04":
        sheets_ = [_table(name, rows) for name, rows in sheets.rows(bytes(snapshot.body))]
        return sorted(sheets_, key=lambda table: table.name)
    text = charset.text(bytes(snapshot.body), snapshot.charset).removeprefix("\ufeff")
    csv.field_size_limit(_FIELD_LIMIT)
    delimiter = _delimiter(text, snapshot.media_type)
    return [_table("", csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))]


def _delimiter(text: str, media_type: str) -> str:
    if media_type == "text/tab-separated-values":
        return "\t"
    first = text[: text.find("\n")] if "\n" in text else text
    outside = re.sub(r'"[^"]*"', "", first)
    return max(_DELIMITERS, key=lambda mark: (outside.count(mark), -_DELIMITERS.index(mark)))


def _table(name: str, lines: Iterator[list[str]]) -> Table:
    """Empty lines say nothing; short rows are filled up, long ones widen the header."""
    rows = [tuple(plain(cell) for cell in line) for line in lines if any(cell.strip() for cell in line)]
    if not rows:
        return Table(name, (), [])
    width = max(len(row) for row in rows)
    filled = [row + ("",) * (width - len(row)) for row in rows]
    return Table(name, _unique(filled[0]), filled[1:])


def _unique(header: tuple[str, ...]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    names = []
    for cell in header:
        seen[cell] += 1
        names.append(cell if seen[cell] == 1 else f"{cell}#{seen[cell]}")
    return tuple(names)


def plain(cell: str) -> str:
    """A cell without the noise of its writing: 007 and +7.0 are 7, but not where digits are a name."""
    text = " ".join(cell.split())
    # A leading zero is part of a name (a postcode, a phone number) as often as not: such cells stay.
    if not _NUMBER.fullmatch(text) or re.match(r"[+-]?0\d", text):
        return text
    value = Decimal(text)
    return "0" if value == 0 else f"{value.normalize():f}"


def _lines(table: Table) -> Iterator[str]:
    order = sorted(range(len(table.header)), key=lambda i: table.header[i])
    yield "\x1d".join([table.name, *(table.header[i] for i in order)])
    yield from sorted("\x1f".join(row[i] for i in order) for row in table.rows)


def _schema(before: Table, after: Table) -> list[str]:
    where = f" in sheet {clipped(before.name)}" if before.name else ""
    old, new = set(before.header), set(after.header)
    return [
        *(f"column {clipped(name)} added{where}" for name in after.header if name not in old),
        *(f"column {clipped(name)} removed{where}" for name in before.header if name not in new),
    ]


def _keys(before: Table, after: Table) -> list[str]:
    """The columns that tell rows apart in both: the first that can alone, else the first two, else none."""
    common = [name for name in before.header if name in after.header]
    for names in [*([name] for name in common), common[:2]]:
        if names and all(_tell_apart(table, names) for table in (before, after)):
            return names
    return []


def _tell_apart(table: Table, names: list[str]) -> bool:
    places = [table.header.index(name) for name in names]
    values = [tuple(row[i] for i in places) for row in table.rows]
    return len(set(values)) == len(values) and all(any(value) for value in values)


def _cells(table: Table, keys: list[str]) -> dict[str, str]:
    """Cells by row and column; without keys a row is what it holds, and equal ones are counted."""
    prefix = f"{table.name}!" if table.name else ""
    places = [table.header.index(name) for name in keys]
    seen: Counter[str] = Counter()
    cells: dict[str, str] = {}
    for row in table.rows:
        label = " ".join(row[i] for i in places) if places else " | ".join(row)
        seen[label] += 1
        again = f"#{seen[label]}" if seen[label] > 1 else ""
        if places:
            cells |= {
                f"{prefix}{label}{again}.{name}": value for name, value in zip(table.header, row, strict=True)
            }
        else:
            cells[f"{prefix}{label}{again}"] = ""
    return cells
