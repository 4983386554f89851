"""The store of one machine: a SQLite file that several processes may use at once."""

from recrawl.remember.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
