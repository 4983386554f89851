"""Rows and texts that wait in memory until there are enough of them for a table of a journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.corpora.writing.journal import Journal
from recrawl.errors import BadInputError

if TYPE_CHECKING:
    import pyarrow as pa

N_HELD = 65_536  # rows
HELD_BYTES = 16 << 20  # of texts
_OWN = ("resource", "at", "digest", "changed")


class HeldRows:
    """Single rows and tables, in the order in which they come."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._schema = journal.schema()
        self._columns: dict[str, list[Any]] = {}
        self._n_rows = 0
        self._tables: list[pa.Table] = []
        self._n_tables = 0

    def row(self, own: dict[str, Any], extra: dict[str, Any]) -> None:
        columns = self._columns
        if own.keys() | extra.keys() != columns.keys():
            for name in (*own, *checked(extra)):
                columns.setdefault(name, [None] * self._n_rows)
        for name, column in columns.items():
            column.append(own[name] if name in own else extra.get(name))
        self._n_rows += 1
        if self._n_rows >= N_HELD:
            self.flush()

    def table(self, table: pa.Table) -> None:
        self._settle()
        self._take(table)

    def flush(self) -> None:
        import pyarrow as pa

        self._settle()
        if self._tables:
            self._journal.append(pa.concat_tables(self._tables, promote_options="permissive"))
            self._tables, self._n_tables = [], 0

    def _settle(self) -> None:
        """The single rows become a table."""
        import pyarrow as pa

        if self._n_rows:
            fixed = {
                "resource": pa.int32(),
                "at": pa.int64(),
                "digest": pa.large_string(),
                "changed": pa.bool_(),
            }
            held = {name: arrow(column, name) for name, column in self._columns.items()}
            self._columns, self._n_rows = {}, 0
            self._take(pa.table({name: one.cast(fixed.get(name, one.type)) for name, one in held.items()}))

    def _take(self, table: pa.Table) -> None:
        import pyarrow as pa

        try:
            schemas = [table.schema] if self._schema is None else [self._schema, table.schema]
            self._schema = pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowTypeError as problem:
            raise BadInputError(
                f"A further column holds two types ({problem}); let it hold one."
            ) from problem
        self._tables.append(table)
        self._n_tables += len(table)
        if self._n_tables >= N_HELD:
            self.flush()


class HeldTexts:
    """Posts, or versions' texts: `who` is the user or the digest."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._rows: list[tuple[int, int, str | None, str]] = []
        self._n_bytes = 0

    def add(self, number: int, at: int, who: str | None, text: str) -> None:
        self._rows.append((number, at, who, text))
        self._n_bytes += len(text)
        if self._n_bytes >= HELD_BYTES or len(self._rows) >= N_HELD:
            self.flush()

    def flush(self) -> None:
        import pyarrow as pa

        if not self._rows:
            return
        number, at, who, text = zip(*self._rows, strict=True)
        self._journal.append(
            pa.table(
                {
                    "resource": pa.array(number, pa.int32()),
                    "at": pa.array(at, pa.int64()),
                    "who": texts(who, len(who), "who"),
                    "text": texts(text, len(text), "text"),
                    "size": pa.array([len(one) + 64 for one in text], pa.int64()),
                }
            )
        )
        self._rows, self._n_bytes = [], 0


def checked(extra: dict[str, Any]) -> dict[str, Any]:
    """Further columns, with names that are free."""
    taken = [name for name in extra if name in _OWN]
    if taken:
        raise BadInputError(f"A further column cannot be called {taken[0]!r}; name it otherwise.")
    return extra


def arrow(values: Any, name: str) -> Any:
    """An Arrow array; text that is no Unicode is mended."""
    import pyarrow as pa

    try:
        column = pa.array(values)
    except UnicodeEncodeError:
        column = pa.array([_mended(one) if isinstance(one, str) else one for one in values])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        raise BadInputError(f"Column {name!r} holds two types ({problem}); let it hold one.") from problem
    return column.cast(pa.large_string()) if pa.types.is_string(column.type) else column


def texts(values: Any, n: int, name: str) -> Any:
    """The same as text; None is no values at all."""
    import pyarrow as pa

    return pa.nulls(n, pa.large_string()) if values is None else arrow(values, name).cast(pa.large_string())


def _mended(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
