"""Records (rows of a table, solutions of a query, entries of a feed): what differs between two sets of them.

Some fields, the keys, tell records apart. Where none do, a record is what it holds, and equal ones are
counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from recrawl.detect.masks import Masks
from recrawl.detect.places import Pair, parts
from recrawl.detect.structured import Differences, Style, counted
from recrawl.model import Part

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Nouns:
    """What people call them, and how their places are written: `column:price row:id=7`."""

    record: str
    records: str
    value: str
    values: str
    field: str
    at: str
    bare: bool = False  # the label of a record is its key alone, without the key's name


@dataclass(frozen=True)
class Table:
    """A header and rows; every row is as long as the header."""

    name: str  # of the sheet; empty where there is only one
    header: tuple[str, ...]
    rows: list[Row]

    @cached_property
    def columns(self) -> dict[str, int]:
        """Where each column stands; there may be thousands, which nobody should go through for one."""
        return {name: i for i, name in enumerate(self.header)}

    @property
    def n_values(self) -> int:
        return len(self.header) * len(self.rows)

    def place(self, column: str, nouns: Nouns) -> str:
        return f"{nouns.field}:{self.name}!{column}" if self.name else f"{nouns.field}:{column}"


@dataclass(frozen=True, slots=True)
class Twins:
    """Two tables of one name, told apart by keys, and what people call their records."""

    before: Table
    after: Table
    keys: Sequence[str]
    nouns: Nouns
    names: Mapping[str, str] = field(default_factory=dict)  # what to show in place of some labels

    def rows(self, table: Table) -> dict[str, Row]:
        """By their labels; one that comes again is counted on."""
        n_seen: Counter[str] = Counter()
        found: dict[str, Row] = {}
        for name, row in zip(labels(table, self.keys, self.nouns), table.rows, strict=True):
            n_seen[name] += 1
            found[f"{name} #{n_seen[name]}" if n_seen[name] > 1 else name] = row
        return found

    @property
    def common(self) -> list[tuple[str, int, int]]:
        """The columns of both, and where they stand."""
        places = self.after.columns
        return [(name, i, places[name]) for i, name in enumerate(self.before.header) if name in places]

    def shown(self, name: str, style: Style) -> str:
        sheet = f"{style.clipped(self.before.name)}!" if self.before.name else ""
        label = style.clipped(self.names.get(name) or name)
        return f"{sheet}[{label}]" if self.keys else f"{sheet}{label}"

    def record(self, name: str, header: Row, row: Row, style: Style) -> str:
        """One that was added or removed."""
        if self.nouns.bare:
            return style.clipped(self.names.get(name) or name)
        others = [
            f"{column}={value}"
            for column, value in zip(header, row, strict=True)
            if value and column not in self.keys
        ]
        said = f": {style.clipped(', '.join(others))}" if self.keys and others else ""
        return f"{self.shown(name, style)}{said}"


def labels(table: Table, keys: Sequence[str], nouns: Nouns) -> Iterator[str]:
    if not keys:
        return (" | ".join(row) for row in table.rows)
    places = [table.columns[key] for key in keys]
    if nouns.bare:
        return (row[places[0]] for row in table.rows)
    return (", ".join(f"{key}={row[i]}" for key, i in zip(keys, places, strict=True)) for row in table.rows)


def keys(before: Table, after: Table, wanted: Sequence[str] = ()) -> list[str]:
    """The columns that tell rows apart: those that are asked for, else the one, or else the first two, that
    can in both tables and lets most rows find their counterpart; none where there are none."""
    common = [name for name in before.header if name in after.columns]
    if wanted and all(name in before.columns and name in after.columns for name in wanted):
        return list(wanted)
    n_most = min(len(before.rows), len(after.rows))
    best: tuple[int, list[str]] = (0, [])
    for names in [*([name] for name in common), common[:2]]:
        if len(names) > 1 and best[0]:
            break
        old, new = _telling(before, names), _telling(after, names)
        n_both = len(old & new) if old and new else 0
        best = max(best, (n_both, names), key=lambda found: found[0])
        if n_both == n_most > 0:
            break
    return best[1]


def _telling(table: Table, names: Sequence[str]) -> set[Row]:
    """The values of these columns, if they tell all rows apart."""
    places = [table.columns[name] for name in names]
    values = [tuple(row[i] for i in places) for row in table.rows]
    told = set(values)
    return told if len(told) == len(values) and all(any(value) for value in told) else set()


def differences(twins: Sequence[Twins], style: Style, notes: Sequence[str] = ()) -> Differences:
    """Sheet by sheet."""
    changed: list[str] = []
    added: list[str] = []
    removed: list[str] = []
    n_single = 0  # values in records or columns that are in one of the two only
    for one in twins:
        old, new, common = one.rows(one.before), one.rows(one.after), one.common
        n_single += one.before.n_values + one.after.n_values - 2 * len(common) * len(old.keys() & new.keys())
        for label, row in old.items():
            if label not in new:
                removed.append(style.removed + one.record(label, one.before.header, row, style))
                continue
            for name, i, j in common:
                if row[i] != new[label][j]:
                    where = f"{one.shown(label, style)}.{style.clipped(name)}"
                    changed.append(style.change(where, row[i], new[label][j]))
        added += [
            style.added + one.record(label, one.after.header, row, style)
            for label, row in new.items()
            if label not in old
        ]
    lines = [*changed, *added, *removed]
    nouns = twins[0].nouns
    n_values = sum(one.before.n_values + one.after.n_values for one in twins)
    return Differences(
        counts=(
            *counted(len(changed), nouns.value, nouns.values, "changed"),
            *counted(len(added), nouns.record, nouns.records, "added"),
            *counted(len(removed), nouns.record, nouns.records, "removed"),
        ),
        magnitude=min(1.0, (n_single + 2 * len(changed)) / max(n_values, 1)),
        lines=tuple(lines[: style.n_lines]),
        n_lines=len(lines),
        notes=tuple(map(style.clipped, notes)),
        otherwise=f"the same {nouns.records} in another order",
    )


def differing(twins: Sequence[Twins]) -> tuple[Part, ...]:
    """Of all values that are in both. A record that comes or goes is news and never noise."""
    found: list[Part] = []
    for one in twins:
        alone = len(one.before.rows) == len(one.after.rows) == 1
        found += [part for part in parts(_pairs(one, alone), n_least=1 if alone else 2) if part.place]
    return tuple(found)


def _pairs(twins: Twins, alone: bool) -> Iterator[Pair]:
    if alone:
        both = [("", twins.before.rows[0], twins.after.rows[0])]
    elif twins.keys:
        new = twins.rows(twins.after)
        both = [(name, row, new[name]) for name, row in twins.rows(twins.before).items() if name in new]
    else:
        return
    for name, row, other in both:
        for column, i, j in twins.common:
            general = twins.before.place(column, twins.nouns)
            yield Pair(f"{general} {twins.nouns.at}:{name}", general, row[i], other[j])


def masked(table: Table, masks: Masks, nouns: Nouns, wanted: Sequence[str] = ()) -> Table:
    """With shapes in place of what is masked."""
    generals = [table.place(column, nouns) for column in table.header]
    masked_places = masks.places
    held = {i for i, general in enumerate(generals) if any(p.startswith(general) for p in masked_places)}
    if not held:
        return table
    spots = [place.partition(f" {nouns.at}:")[2] for place in masks.places]
    named = [list(labels(table, names, nouns)) for names in _named(table, spots, nouns, wanted)]

    def through(n: int, i: int, value: str) -> str:
        for names in named:
            if (shape := masks.seen(f"{generals[i]} {nouns.at}:{names[n]}", value)) != value:
                return shape
        return masks.seen(generals[i], value)

    rows = [
        tuple(through(n, i, value) if i in held else value for i, value in enumerate(row))
        for n, row in enumerate(table.rows)
    ]
    return Table(table.name, table.header, rows)


def _named(table: Table, spots: list[str], nouns: Nouns, wanted: Sequence[str]) -> list[Sequence[str]]:
    """The keys by which masks name single rows."""
    candidates: list[Sequence[str]] = [wanted, *([name] for name in table.header), table.header[:2]]
    there = [names for names in candidates if names and all(name in table.columns for name in names)]
    if nouns.bare:
        return there[:1] if any(spots) else []
    return [names for names in there if any(spot.startswith(f"{names[0]}=") for spot in spots)]
