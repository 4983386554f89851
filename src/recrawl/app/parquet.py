"""Rows to take along as Parquet: typed columns that other programs read without being told what they are.

Instants are timestamps in UTC, to the microsecond; what is not known is null. Rows are written group by
group, so that millions take no more memory than some thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import islice
from math import isfinite
from typing import IO, TYPE_CHECKING, Any

from recrawl.app.rows import Row
from recrawl.errors import BadInputError

if TYPE_CHECKING:
    import pyarrow as pa

N_GROUP = 10_000  # rows
_BOOLS = frozenset(
    {
        "allow_private", "changed", "counts", "gone", "insecure", "main", "mask", "paused", "render",
        "significant",
    }
)  # fmt: skip
_INTS = frozenset(
    {"depth", "length", "max_bytes", "offset", "page_rows", "second_look_bytes", "seq", "status"}
)
_FLOATS = frozenset({"hunch_per_day", "magnitude", "weight"})
_LISTS = frozenset({"ignore", "include", "keys", "tags"})


def moment(at: float) -> datetime | None:
    """An instant as Parquet keeps it."""
    return datetime.fromtimestamp(at, UTC) if isfinite(at) else None


def require() -> None:
    """Raises where the library is not there."""
    if find_spec("pyarrow") is None:
        raise BadInputError(
            "Parquet needs pyarrow, which is not installed; install it with "
            "`pip install 'recrawl[parquet]'`, or choose --format csv, json or jsonl."
        )


def write(rows: Iterable[Row], out: IO[bytes], columns: Sequence[str]) -> int:
    """Write all rows; how many there were. A table without rows still has its columns."""
    require()
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([pa.field(name, _type(name)) for name in columns])
    n = 0
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for group in _groups(iter(rows)):
            writer.write_table(pa.Table.from_pylist(group, schema), row_group_size=len(group))
            n += len(group)
    return n


def _groups(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while group := list(islice(rows, N_GROUP)):
        yield group


def _type(name: str) -> pa.DataType:
    import pyarrow as pa

    kinds: tuple[tuple[bool, Any], ...] = (
        (name == "at" or name.endswith("_at"), pa.timestamp("us", tz="UTC")),
        (name in _BOOLS, pa.bool_()),
        (name in _INTS or name.startswith("n_"), pa.int64()),
        (name in _FLOATS or name.endswith("_s"), pa.float64()),
        (name in _LISTS, pa.list_(pa.string())),
        (name == "moments", pa.list_(pa.timestamp("us", tz="UTC"))),
    )
    return next((kind for holds, kind in kinds if holds), pa.string())
