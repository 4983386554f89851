"""What became of the columns of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from recrawl.detect import records
from recrawl.detect.records import Nouns, Table
from recrawl.detect.structured import clipped

_NOUNS = Nouns(record="row", records="rows", value="cell", values="cells", field="column", at="row")
_KINDS = {
    "numbers": re.compile(r"-?\d+(?:\.\d+)?"),
    "dates": re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?"),
    "TRUE or FALSE": re.compile(r"TRUE|FALSE"),
}


def renamed(before: Table, after: Table) -> dict[str, str]:
    """Columns that hold the same as before under another name, in all rows that are in both: the old name and
    the new one."""
    gone = [name for name in before.header if name not in after.header]
    come = [name for name in after.header if name not in before.header]
    if not gone or not come:
        return {}
    keys = records.keys(before, after)
    had = {name: _held(before, name, keys) for name in gone}
    has = {name: _held(after, name, keys) for name in come}
    rows = next(iter(had.values())).keys() & next(iter(has.values())).keys() if keys else None
    found: dict[str, str] = {}
    for name, old in had.items():
        same = [other for other, new in has.items() if _alike(old, new, rows)]
        if len(same) == 1 and same[0] not in found.values():  # of two that could be it, neither is named
            found[name] = same[0]
    return found


def _alike(old: Mapping[str, object], new: Mapping[str, object], rows: Collection[str] | None) -> bool:
    if rows is None:
        return old == new and any(old)
    return any(old[row] for row in rows) and all(old[row] == new[row] for row in rows)


def _held(table: Table, name: str, keys: Sequence[str]) -> Mapping[str, object]:
    """The cells of a column by the keys of their rows; without keys, how often each comes."""
    i = table.header.index(name)
    if not keys:
        return Counter(row[i] for row in table.rows)
    labels = records.labels(table, keys, _NOUNS)
    return {label: row[i] for label, row in zip(labels, table.rows, strict=True)}


def notes(before: Table, after: Table, names: Mapping[str, str]) -> list[str]:
    """Columns that were added, removed or renamed, and those that hold another kind of thing now."""
    where = f" in sheet {clipped(before.name)}" if before.name else ""
    if not after.header and before.header and before.name:
        return [f"sheet {clipped(before.name)} removed"]
    if not before.header and after.header and before.name:
        return [f"sheet {clipped(before.name)} added"]
    old, new = set(before.header), set(after.header)
    kept = [name for name in before.header if name in new]
    return [
        *(f"column {clipped(was)} is called {clipped(now)} now{where}" for was, now in names.items()),
        *(
            f"column {clipped(name)} added{where}"
            for name in after.header
            if name not in old and name not in names.values()
        ),
        *(
            f"column {clipped(name)} removed{where}"
            for name in before.header
            if name not in new and name not in names
        ),
        *(note for name in kept if (note := _other_kind(before, after, name, where))),
    ]


def _other_kind(before: Table, after: Table, name: str, where: str) -> str:
    was, now = _kind(before, name), _kind(after, name)
    if not was or not now or was == now:
        return ""
    return f"column {clipped(name)} held {was}, now {now}{where}"


def _kind(table: Table, name: str) -> str:
    """What all cells of a column are; text where none is anything else; nothing where it is mixed."""
    i = table.header.index(name)
    cells = [row[i] for row in table.rows if row[i]]
    if len(cells) < 2:  # a single cell makes no kind of column
        return ""
    found = {_kind_of(cell) for cell in cells}
    return found.pop() if len(found) == 1 else ""


def _kind_of(cell: str) -> str:
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(cell)), "text")
