"""The file: opening it, bringing it up to date, statements by name, and one way to write."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from recrawl.errors import NewerStoreError, StoreError, TooLongError, UnsoundStoreError
from recrawl.remember.sqlite import sums

APPLICATION_ID = 0x5243_524C  # "RCRL", in the file's header
OLDEST_SQLITE = (3, 38)  # strict tables, JSON always there
BUSY_S = 10.0
_N_STEPS = 10_000  # of a statement between two questions whether it is over: below a millisecond
PAGE = 1_000  # rows read at a time where a caller may take all of them
_SQL = files("recrawl.remember") / "sql" / "sqlite"

K = TypeVar("K")
T = TypeVar("T")
Values = Mapping[str, object] | Sequence[object]


class Database:
    """One connection. Nothing is read ahead and no statement stays open, so that a slow reader here keeps
    neither other processes from writing nor the write-ahead log from being folded in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._trouble = _Trouble(path)
        self._together = 0  # the thread whose writings are one transaction for now
        with self._trouble:
            self._connection = sqlite3.connect(
                path, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256
            )
        try:
            with self._trouble:
                self._open()
        except BaseException:
            self._connection.close()
            raise

    def rows(self, name: str, values: Values = ()) -> list[sqlite3.Row]:
        with self._trouble:
            found: list[sqlite3.Row] = self._connection.execute(queries()[name], values).fetchall()
            return found

    def row(self, name: str, values: Values = ()) -> sqlite3.Row | None:
        return next(iter(self.rows(name, values)), None)

    def mappings(self, name: str, values: Values = ()) -> list[dict[str, Any]]:
        """For rows of many columns, all asked for by name: a `sqlite3.Row` would look through the names every
        time."""
        with self._trouble:
            cursor = self._connection.cursor()
            cursor.row_factory = None
            cursor.execute(queries()[name], values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def tuples(self, name: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Without names: for many rows at once."""
        with self._trouble:
            cursor = self._connection.cursor()
            cursor.row_factory = None
            return cursor.execute(queries()[name], values).fetchall()

    def column(self, name: str, values: Values = ()) -> list[int]:
        return [row[0] for row in self.tuples(name, values)]

    def run(self, name: str, values: Values = ()) -> int:
        """How many rows it changed."""
        with self._trouble:
            return self._connection.execute(queries()[name], values).rowcount

    def run_many(self, name: str, values: Iterable[Values]) -> None:
        with self._trouble:
            self._connection.executemany(queries()[name], values)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction. It takes the write lock at once: one that reads first and writes later would fail
        as soon as another process had written in between."""
        if self._together == threading.get_ident():
            yield
            return
        with self._trouble:
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with self._trouble:
                self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                with self._trouble:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def together(self) -> Iterator[None]:
        """One transaction of all that this thread writes meanwhile."""
        with self.writing():
            before, self._together = self._together, threading.get_ident()
            try:
                yield
            finally:
                self._together = before  # the same where it is within another

    @contextmanager
    def until(self, over: Callable[[], bool]) -> Iterator[None]:
        """Statements outside of `writing` are broken off once `over()`."""
        connection = self._connection
        connection.set_progress_handler(lambda: not connection.in_transaction and over(), _N_STEPS)
        try:
            yield
        finally:
            connection.set_progress_handler(None, 0)

    def close(self) -> None:
        self._connection.close()

    def _open(self) -> None:
        self._connection.row_factory = sqlite3.Row
        sums.register(self._connection)
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(
                f"This Python carries SQLite {sqlite3.sqlite_version}; use one with "
                f"{'.'.join(map(str, OLDEST_SQLITE))} or newer."
            )
        # Before anything is written: a file that is not ours is left as it is. Asked in this order, a store
        # that another process is just creating is either empty or ours.
        if not self._empty() and self._pragma("application_id") != APPLICATION_ID:
            raise StoreError(f"{self.path} is a database, but not recrawl's; choose another --home.")
        self._refuse_newer()
        self._share()
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA foreign_keys = ON")
        self._connection.execute("PRAGMA temp_store = MEMORY")
        self._connection.execute("PRAGMA cache_size = -32768")
        self._migrate()
        if sums.outdated(self._connection):
            with self.writing():
                if sums.outdated(self._connection):  # asked again under the lock, as above
                    sums.add_up(self._connection)
        for name in ("incoming_table", "incoming_tag_table", "tag_layer_view"):
            self._connection.execute(queries()[name])

    def _share(self) -> None:
        """Write-ahead logging: readers and one writer at the same time."""
        for _ in range(100):
            try:
                if self._pragma("journal_mode = WAL") == "wal":
                    return
            except sqlite3.OperationalError:
                # The switch does not wait for others that open the file, as every other statement does. So
                # wait for them at the write lock.
                with self.writing():
                    pass
        raise StoreError(f"{self.path} cannot be shared between processes; put it on a local disk.")

    def _migrate(self) -> None:
        for version, script in migrations():
            if self._pragma("user_version") >= version:
                continue
            with self.writing():
                # Asked again under the lock: another process may have been quicker.
                if self._pragma("user_version") >= version:
                    continue
                for statement in statements(script):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._connection.execute(f"PRAGMA user_version = {version}")
        self._refuse_newer()

    def _refuse_newer(self) -> None:
        newest = migrations()[-1][0]
        present = self._pragma("user_version")
        if present > newest:
            raise NewerStoreError(
                f"{self.path} has format {present} and this recrawl knows formats up to {newest}; "
                "upgrade recrawl, or choose another --home."
            )

    def _empty(self) -> bool:
        return self._connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None

    def _pragma(self, name: str) -> Any:
        return self._connection.execute(f"PRAGMA {name}").fetchone()[0]


class _Trouble:
    """What SQLite raises, as errors of ours. A class, since every statement passes here and a generator would
    cost more than many of them.

    One statement at a time: while one adds up rows, it needs the interpreter, and another that had it and
    waited for the connection would wait for ever.
    """

    __slots__ = ("_path", "_turn")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.RLock()

    def __enter__(self) -> None:
        self._turn.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._turn.release()
        if isinstance(problem, sqlite3.OperationalError):
            # what the module itself finds wrong, such as text that is none, has no code
            if getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
                raise TooLongError from None
            raise StoreError(
                f"{self._path} cannot be used ({problem}); check that its folder exists, is writable and "
                "has room, and that no other program holds the file."
            ) from problem
        if isinstance(problem, sqlite3.DatabaseError):
            raise UnsoundStoreError(
                f"{self._path} is not a sound recrawl store ({problem}); choose another --home, or bring the "
                "file back from a backup."
            ) from problem


@cache
def migrations() -> list[tuple[int, str]]:
    """The packaged scripts `NNNN_name.sql` in order, each with the format it leads to."""
    found = sorted(item.name for item in _SQL.iterdir() if re.fullmatch(r"\d{4}_\w+\.sql", item.name))
    return [(int(name[:4]), (_SQL / name).read_text("utf-8")) for name in found]


@cache
def queries() -> Mapping[str, str]:
    """The statements of `queries.sql` and `stream.sql` by the name that stands above each."""
    found: dict[str, str] = {}
    for name in ("queries.sql", "stream.sql"):
        _, *parts = re.split(r"^-- name: (\w+)\n", (_SQL / name).read_text("utf-8"), flags=re.MULTILINE)
        found |= zip(parts[::2], parts[1::2], strict=True)
    return found


def statements(script: str) -> Iterator[str]:
    """A script's statements one by one: sqlite3's own way to run a script would commit first."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""


def paged(page: Callable[[K, int], list[tuple[K, T]]], start: K, limit: int | None) -> Iterator[T]:
    """All that `page(key, n)` gives, each page going on from the last key of the one before."""
    left = inf if limit is None else limit
    while left > 0:
        n = int(min(left, PAGE))
        found = page(start, n)
        yield from (item for _, item in found)
        if len(found) < n:
            return
        start = found[-1][0]
        left -= n
