"""What became of the columns of a table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from recrawl.detect import records
from recrawl.detect.records import Nouns, Row, Table
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
    gone = [name for name in before.header if name not in after.columns]
    come = [name for name in after.header if name not in before.columns]
    if not gone or not come:
        return {}
    keys = records.keys(before, after)
    olds, news = before.rows, after.rows
    if keys:
        had, has = _by_key(before, keys), _by_key(after, keys)
        both = [label for label in had if label in has]
        olds, news = [had[label] for label in both], [has[label] for label in both]
    by_cells: dict[Row, list[str]] = defaultdict(list)
    for name in come:
        by_cells[_cells(news, after.columns[name], in_order=bool(keys))].append(name)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in gone:
        cells = _cells(olds, before.columns[name], in_order=bool(keys))
        same = by_cells.get(cells, []) if any(cells) else []
        if len(same) == 1 and same[0] not in taken:  # of two that could be it, neither is named
            found[name] = same[0]
            taken.add(same[0])
    return found


def _by_key(table: Table, keys: Sequence[str]) -> dict[str, Row]:
    return dict(zip(records.labels(table, keys, _NOUNS), table.rows, strict=True))


def _cells(rows: Sequence[Row], i: int, *, in_order: bool) -> Row:
    """The cells of a column; where nothing tells rows apart, their order says nothing."""
    cells = tuple(row[i] for row in rows)
    return cells if in_order else tuple(sorted(cells))


def notes(before: Table, after: Table, names: Mapping[str, str]) -> list[str]:
    """Columns that were added, removed or renamed, and those that hold another kind of thing now."""
    where = f" in sheet {clipped(before.name)}" if before.name else ""
    if not after.header and before.header and before.name:
        return [f"sheet {clipped(before.name)} removed"]
    if not before.header and after.header and before.name:
        return [f"sheet {clipped(before.name)} added"]
    old, new, other = before.columns, after.columns, set(names.values())
    kept = [name for name in before.header if name in new]
    return [
        *(f"column {clipped(was)} is called {clipped(now)} now{where}" for was, now in names.items()),
        *(
            f"column {clipped(name)} added{where}"
            for name in after.header
            if name not in old and name not in other
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
    i = table.columns[name]
    cells = [row[i] for row in table.rows if row[i]]
    if len(cells) < 2:  # a single cell makes no kind of column
        return ""
    found = {_kind_of(cell) for cell in cells}
    return found.pop() if len(found) == 1 else ""


def _kind_of(cell: str) -> str:
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(cell)), "text")
