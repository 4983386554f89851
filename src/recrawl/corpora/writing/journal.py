"""Tables one after the other in a file that only grows, and their way back in order of resource and time.

Sorting takes two passes: the rows are dealt out to buckets, each some resources in a row, then each bucket is
sorted in memory. So the memory needed depends on a bucket's size and on nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.model import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

_LENGTH_BYTES = 8


class Journal:
    """Every table has the columns `resource` and `at`; the others may differ from table to table."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def n_bytes(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    def append(self, table: pa.Table) -> None:
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as out:
            out.write_table(table.combine_chunks())
        held = sink.getvalue()
        with self._path.open("ab") as file:
            file.write(held.size.to_bytes(_LENGTH_BYTES, "little"))
            file.write(held)

    def sync(self) -> None:
        if self._path.exists():
            with self._path.open("rb") as file:
                os.fsync(file.fileno())

    def cut(self, n_bytes: int) -> None:
        if self._path.exists():
            os.truncate(self._path, n_bytes)

    def tables(self, columns: Sequence[str] = ()) -> Iterator[pa.Table]:
        """All of them, as they were appended; only these columns where any are named."""
        import pyarrow as pa

        if not self._path.exists():
            return
        with pa.OSFile(str(self._path)) as file:
            while head := file.read(_LENGTH_BYTES):
                held = file.read_buffer(int.from_bytes(head, "little"))
                names = pa.ipc.open_stream(held).schema.names
                chosen = [names.index(name) for name in columns] if columns else None
                with pa.ipc.open_stream(
                    held, options=pa.ipc.IpcReadOptions(included_fields=chosen)
                ) as stream:
                    yield stream.read_all()

    def schema(self) -> pa.Schema | None:
        """What holds for all tables together; None where there are none."""
        import pyarrow as pa

        found: list[pa.Schema] = []
        if self._path.exists():
            with pa.OSFile(str(self._path)) as file:
                while head := file.read(_LENGTH_BYTES):
                    following = file.tell() + int.from_bytes(head, "little")
                    schema = pa.ipc.open_stream(file).schema
                    if schema not in found:
                        found.append(schema)
                    file.seek(following)
        return pa.unify_schemas(found, promote_options="permissive") if found else None

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)

    def in_order(self, n_resources: int, most: int, size: str | None = None) -> Iterator[pa.Table]:
        """All rows by resource and time, some resources at a time, each resource whole. Rows of one moment
        stay in the order in which they came.

        A table holds about `most` rows, or `most` of what the column `size` adds up to; a resource that has
        more than that comes alone.
        """
        schema = self.schema()
        if schema is None:
            return
        bucket, sorted_already = self._buckets(n_resources, most, size)
        if sorted_already or not len(bucket) or bucket[-1] == 0:
            yield from (_sorted(table) for table in self._runs(schema, bucket))
            return
        dealt = [Journal(self._path.with_suffix(f".{n}")) for n in range(int(bucket[-1]) + 1)]
        for journal in dealt:
            journal.remove()  # of an attempt that was cut off
        for table in self._portions(schema, most, size):
            of = bucket[table["resource"].to_numpy()]
            table = table.take(np.argsort(of, kind="stable"))
            edges = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=len(dealt)))])
            for n in np.flatnonzero(np.diff(edges)):
                dealt[n].append(table.slice(edges[n], edges[n + 1] - edges[n]))
        for journal in dealt:
            if journal.n_bytes:
                yield _sorted(_joined(list(journal.tables()), schema))
            journal.remove()

    def _buckets(self, n_resources: int, most: int, size: str | None) -> tuple[Ints, bool]:
        """Each resource's bucket, and whether the rows come bucket by bucket as it is."""
        weight: Floats = np.zeros(n_resources)
        latest, sorted_already = -1, True
        for table in self.tables(["resource", size] if size else ["resource"]):
            number = table["resource"].to_numpy()
            sizes = table[size].to_numpy() if size else None
            weight += np.bincount(number, sizes, minlength=n_resources)
            if len(number):
                sorted_already = sorted_already and not (np.diff(number, prepend=latest) < 0).any()
                latest = int(number[-1])
        before = np.cumsum(weight) - weight
        return np.unique((before // most).astype(np.int64), return_inverse=True)[1], sorted_already

    def _portions(self, schema: pa.Schema, most: int, size: str | None) -> Iterator[pa.Table]:
        """The tables joined, since many short ones would make many shorter ones."""
        held: list[pa.Table] = []
        n_held = 0
        for table in self.tables():
            held.append(table)
            n_held += int(table[size].to_numpy().sum()) if size else len(table)
            if n_held >= most:
                yield _joined(held, schema)
                held, n_held = [], 0
        if held:
            yield _joined(held, schema)

    def _runs(self, schema: pa.Schema, bucket: Ints) -> Iterator[pa.Table]:
        """Bucket by bucket, where the rows come so."""
        held: list[pa.Table] = []
        present = -1
        for table in self.tables():
            of = bucket[table["resource"].to_numpy()]
            for low, high in pairwise([0, *(np.flatnonzero(np.diff(of)) + 1), len(of)]):
                if held and of[low] != present:
                    yield _joined(held, schema)
                    held = []
                held.append(table.slice(low, high - low))
                present = of[low]
        if held:
            yield _joined(held, schema)


def _joined(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    import pyarrow as pa

    if not tables:
        return schema.empty_table()
    joined = pa.concat_tables(tables, promote_options="permissive")
    missing: list[Any] = [field for field in schema if field.name not in joined.column_names]
    for field in missing:
        joined = joined.append_column(field, pa.nulls(len(joined), field.type))
    return joined.select(schema.names).cast(schema).combine_chunks()


def _sorted(table: pa.Table) -> pa.Table:
    number, at = table["resource"].to_numpy(), table["at"].to_numpy()
    step = np.diff(number)
    if ((step > 0) | ((step == 0) & (np.diff(at) >= 0))).all():
        return table
    return table.take(np.lexsort((at, number)))
