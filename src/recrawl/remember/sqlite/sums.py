"""A bit that flips in the store is found: rows are added up as they come and go, and again to verify.

SQLite itself finds what damages its pages' structure, and nothing that changes a number or a letter. Plans,
hunches, kin, leases and settings in force are left out: they are made anew all the time, from what is added
up here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from hashlib import blake2b

_MASK = (1 << 48) - 1  # sums of two stay within SQLite's integers
_ALL: tuple[str, ...] = ()
ADDED_UP = {
    "visit": _ALL,
    "version": _ALL,
    "layer": _ALL,
    "resource_tag": _ALL,
    "signal": _ALL,
    "sight": _ALL,
    "link": _ALL,
    "bag": _ALL,
    "resource": (
        *("id", "url", "host_id", "added_at", "since_at", "last_at", "n_informative", "n_changes"),
        *("n_failures", "bits", "etag", "last_modified", "memory", "moved_to", "moved_since_at"),
        *("last_seq", "version_seq", "noise", "depth", "changefreq", "lastmod_at"),
    ),
}
# Columns that came when there were rows by the million, each a hash of its own and none where it is NULL: so
# what the others add up to still stands, and a store is brought up to date in no time.
LATER = {"visit": ("moments", "second_bytes")}


def _row_hash(*values: object) -> int:
    text = repr(values).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=6).digest(), "big")


class _RowSum:
    """The sum of all rows of a query."""

    def __init__(self) -> None:
        self.value = 0

    def step(self, *values: object) -> None:
        self.value = (self.value + _row_hash(*values)) & _MASK

    def finalize(self) -> int:
        return self.value


def register(connection: sqlite3.Connection) -> None:
    """Whoever writes to a store needs these functions, and whoever verifies one."""
    connection.create_function("row_hash", -1, _row_hash, deterministic=True)
    connection.create_aggregate("row_sum", -1, _RowSum)


def outdated(connection: sqlite3.Connection) -> bool:
    """Whether the store has had another format since its rows were added up."""
    (format_,) = connection.execute("PRAGMA user_version").fetchone()
    (n_present,) = connection.execute("SELECT count(*) FROM row_sum WHERE format = ?", (format_,)).fetchone()
    return bool(n_present != len(ADDED_UP))


def add_up(connection: sqlite3.Connection) -> None:
    """Begin to, or begin anew for other columns; in a transaction of the caller's."""
    for table in ADDED_UP:
        columns, later = _columns(connection, table)
        old, new = (_hashed(columns, later, when) for when in ("old.", "new."))
        known = _known(connection, table, _hashed(columns, [], "new."))
        for event, name, change in (
            ("INSERT", "added", f"+ {new}"),
            ("DELETE", "taken", f"- ({old})"),
            (f"UPDATE OF {', '.join(columns + later)}", "exchanged", f"- ({old}) + {new}"),
        ):
            connection.execute(f"DROP TRIGGER IF EXISTS {table}_{name}")
            what = f"UPDATE row_sum SET value = (value {change}) & {_MASK} WHERE name = '{table}'"  # noqa: S608
            connection.execute(f"CREATE TRIGGER {table}_{name} AFTER {event} ON {table} BEGIN {what}; END")
        value = _sum(connection, table) if known is None else known
        connection.execute(
            "INSERT OR REPLACE INTO row_sum (name, format, value) SELECT ?, p.user_version, (?) "
            "FROM pragma_user_version AS p",
            (table, value),
        )


def disagreements(connection: sqlite3.Connection) -> Iterator[str]:
    """The tables whose rows do not add up to what they did, of a store as it is at one moment."""
    connection.execute("BEGIN")
    try:
        if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'row_sum'").fetchone() is None:
            return  # older than this
        for name, value in connection.execute("SELECT name, value FROM row_sum").fetchall():
            if name not in ADDED_UP or _sum(connection, name) != value:
                yield f"what is in the table {name} is not what was put there"
    finally:
        connection.execute("ROLLBACK")


def _sum(connection: sqlite3.Connection, table: str) -> int:
    columns, later = _columns(connection, table)
    asked = [f"SELECT row_sum({', '.join(columns)}) FROM {table}"]  # noqa: S608
    asked += [f"SELECT row_sum(id, {name}) FROM {table} WHERE {name} IS NOT NULL" for name in later]  # noqa: S608
    found = (connection.execute(query).fetchone()[0] for query in asked)
    return sum(int(value or 0) for value in found) & _MASK  # of no rows there is no sum


def _hashed(columns: list[str], later: list[str], when: str) -> str:
    """What a row adds, in SQL; `when` is before its columns' names."""
    parts = [f"row_hash({', '.join(when + name for name in columns)})"]
    parts += [f"iif({when}{name} IS NULL, 0, row_hash({when}id, {when}{name}))" for name in later]
    return " + ".join(parts)


def _known(connection: sqlite3.Connection, table: str, hashed: str) -> int | None:
    """What the table was last known to add up to, if every row has added this since."""
    asked = (
        "SELECT s.value, t.sql FROM row_sum AS s JOIN sqlite_schema AS t "
        "ON t.type = 'trigger' AND t.name = s.name || '_added' WHERE s.name = ?"
    )
    found = connection.execute(asked, (table,)).fetchone()
    return int(found[0]) if found is not None and hashed in found[1] else None


def _columns(connection: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    """Those that are hashed together, and those by themselves."""
    chosen, apart = ADDED_UP[table], LATER.get(table, ())
    names = [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))]
    names = [name for name in names if not chosen or name in chosen]
    return [name for name in names if name not in apart], [name for name in names if name in apart]
