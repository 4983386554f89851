"""Tables (CSV, TSV, XLSX): rows and columns are told apart by name, not by place.

The order of rows and of columns, quoting, white space around a cell, the spelling of numbers and of TRUE and
FALSE carry no meaning. A changed cell, a row more or less, a column added, removed or renamed do.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from recrawl.detect import records
from recrawl.detect.masks import Masks
from recrawl.detect.numbers import spelt
from recrawl.detect.records import Nouns, Table, Twins
from recrawl.detect.schema import notes, renamed
from recrawl.detect.selectors import Language, speaking
from recrawl.detect.structured import Differences, Form, Structured, Style, hashed
from recrawl.model import Lens, Part, Snapshot
from recrawl.parse import charset, sheets

NOUNS = Nouns(record="row", records="rows", value="cell", values="cells", field="column", at="row")
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}\.?\d{0,40}|\.\d{1,40})(?:[eE][+-]?\d{1,3})?")
_FIELD_LIMIT = 64 * 1024 * 1024  # larger than any body; the default of 128 KiB refuses honest cells


@dataclass(frozen=True, slots=True)
class Book:
    """All tables of a document in order of their names, what is masked in them, and what tells rows apart."""

    tables: list[Table]
    masks: Masks
    keys: tuple[str, ...] = ()

    def masked(self, nouns: Nouns = NOUNS) -> list[Table]:
        if not self.masks:
            return self.tables
        return [records.masked(table, self.masks, nouns, self.keys) for table in self.tables]


def Tables() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `table`."""
    return Structured("table", Form(read, digest, differences, parts, empty, texts))


def read(snapshot: Snapshot) -> Book:
    return through(snapshot.lens, _tables(snapshot), plain)


def through(lens: Lens, tables: Iterable[Table], spelt: Callable[[str], str]) -> Book:
    """The columns that count; names in selectors are spelt as names in headers are."""
    include, ignore = (
        {spelt(selector.expression) for selector in speaking(rules, Language.COLUMN)}
        for rules in (lens.include, lens.ignore)
    )
    found = [_columns(table, include, ignore) for table in tables] if include or ignore else tables
    return Book(list(found), Masks(lens.masks), tuple(spelt(key) for key in lens.keys))


def _columns(table: Table, include: set[str], ignore: set[str]) -> Table:
    def chosen(rules: set[str], name: str) -> bool:
        return name in rules or (bool(table.name) and f"{table.name}!{name}" in rules)

    left = [
        i
        for i, name in enumerate(table.header)
        if (not include or chosen(include, name)) and not chosen(ignore, name)
    ]
    # Without columns there are no rows either: how many there are is no part of what counts.
    rows = [tuple(row[i] for i in left) for row in table.rows] if left else []
    return Table(table.name, tuple(table.header[i] for i in left), rows)


def empty(book: Book) -> bool:
    return not any(table.header for table in book.tables)


def texts(book: Book) -> Iterator[str]:
    return (cell for table in book.masked() for row in table.rows for cell in row)


def digest(book: Book) -> str:
    return hashed(line for table in book.masked() for line in lines(table))


def lines(table: Table) -> Iterator[str]:
    """All that it says, whatever the order."""
    order = sorted(range(len(table.header)), key=lambda i: table.header[i])
    yield "\x1d".join([table.name, *(table.header[i] for i in order)])
    yield from sorted("\x1f".join(row[i] for i in order) for row in table.rows)


def differences(before: Book, after: Book, style: Style) -> Differences:
    said: list[str] = []
    twins: list[Twins] = []
    for old, new in _sheets(before.masked(), after.masked()):
        names = renamed(old, new)
        said += notes(old, new, names)
        header = tuple(names.get(name, name) for name in old.header)
        old_ = Table(old.name, header, old.rows)
        wanted = [names.get(key, key) for key in after.keys]
        twins.append(Twins(old_, new, records.keys(old_, new, wanted), NOUNS))
    said += _about_keys(before, after)
    return records.differences(twins, style, said)


def parts(before: Book, after: Book) -> tuple[Part, ...]:
    return records.differing(
        [
            Twins(old, new, records.keys(old, new, after.keys), NOUNS)
            for old, new in _sheets(before.tables, after.tables)
        ]
    )


def _sheets(before: Sequence[Table], after: Sequence[Table]) -> Iterator[tuple[Table, Table]]:
    old, new = {table.name: table for table in before}, {table.name: table for table in after}
    for name in sorted(old.keys() | new.keys()):
        yield old.get(name) or Table(name, (), []), new.get(name) or Table(name, (), [])


def _about_keys(before: Book, after: Book) -> list[str]:
    """What the owner should know of the key columns: one that is gone, rows that they do not tell apart."""
    said = []
    for key in after.keys:
        there = any(key in table.header for table in after.tables)
        if not there:
            had = any(key in table.header for table in before.tables)
            said.append(f"the key column {key} is {'no longer there' if had else 'in neither copy'}")
    for table in after.tables:
        if after.keys and all(key in table.header for key in after.keys):
            twice = Counter(records.labels(table, after.keys, NOUNS))
            again = [label for label, n in twice.items() if n > 1]
            if again:
                rows = f"{len(again):,} keys stand" if len(again) > 1 else "1 key stands"
                said.append(f"{rows} in more than one row: {', '.join(again[:3])}")
    return said


def _tables(snapshot: Snapshot) -> list[Table]:
    if snapshot.body[:4] == b"PK\x03\x04":
        found = [_table(name, rows) for name, rows in sheets.rows(bytes(snapshot.body))]
        return sorted(found, key=lambda table: table.name)
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
    """A cell without the noise of its writing: +7.0 is 7 and True is TRUE, but 007 is a name."""
    text = " ".join(cell.split())
    if len(text) in (4, 5) and text.upper() in ("TRUE", "FALSE"):
        return text.upper()
    # A leading zero is part of a name (a postcode, a phone number) as often as not: such cells stay.
    if not _NUMBER.fullmatch(text) or re.match(r"[+-]?0\d", text):
        return text
    return spelt(text)
