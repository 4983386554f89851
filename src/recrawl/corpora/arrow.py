"""Parquet files, opened with errors that say what to do. The library is loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import BadInputError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

N_BATCH = 262_144  # rows read at a time


def require() -> None:
    """Raises where the library is not there."""
    if find_spec("pyarrow") is None:
        raise BadInputError(
            "Corpora are Parquet files and need pyarrow, which is not installed; install it with "
            "`pip install 'recrawl[simulate]'`."
        )


@contextmanager
def open_parquet(path: Path) -> Iterator[parquet.ParquetFile]:
    """Trouble while reading within this `with` names the file, too."""
    require()
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, buffer_size=1 << 20) as opened:
            yield opened
    except FileNotFoundError:
        raise BadInputError(f"{path} is missing; a corpus needs it.") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as problem:  # the last: damaged names of columns
        if isinstance(problem, OSError) and problem.errno is not None:
            raise  # the disk's trouble, not the file's
        said = str(problem).splitlines()[0]
        raise BadInputError(f"{path} cannot be read ({said}); bring it back from where it came.") from problem


def batches(opened: parquet.ParquetFile, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Row group by row group: a reader over all of them keeps more and more memory the further it gets."""
    for group in range(opened.num_row_groups):
        yield from opened.iter_batches(batch_size=N_BATCH, row_groups=[group], columns=columns)


def checked_columns(
    path: Path, schema: pa.Schema, wanted: dict[str, str], optional: Sequence[str] = ()
) -> None:
    """`wanted` says of each column what it must hold: whole numbers, numbers, text or flags."""
    for name, what in wanted.items():
        n_there = len(schema.get_all_field_indices(name))
        if n_there == 0 and name in optional:
            continue
        if n_there == 0:
            there = ", ".join(schema.names) or "none"
            raise BadInputError(f"{path} has no column {name!r} (its columns: {there}); add it.")
        if n_there > 1:
            raise BadInputError(f"{path} has {n_there} columns called {name!r}; leave one.")
        if not holds(schema, name, what):
            held = schema.field(name).type
            raise BadInputError(f"{path}: column {name!r} is {held}; it must hold {what}. Convert it.")


def holds(schema: pa.Schema, name: str, what: str) -> bool:
    """Whether there is one column of this name, and it holds that."""
    import pyarrow.types as of

    if len(schema.get_all_field_indices(name)) != 1:
        return False
    held = schema.field(name).type
    kind = held.value_type if of.is_dictionary(held) else held
    text = of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind)
    fits: bool = {
        "whole numbers": of.is_integer(held),
        "numbers": of.is_integer(held) or of.is_floating(held),
        "text": text or of.is_null(kind),
        "flags": of.is_boolean(held),
    }[what]
    return fits


def ints(column: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """An Arrow column without nulls as whole numbers; a float that is none of them becomes -1."""
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "f":
        values = np.where(np.isfinite(values) & (np.abs(values) < 2**62), np.floor(values), -1)
    elif values.dtype == np.uint64:
        values = np.where(values < 2**62, values, 2**62)
    out: np.ndarray[Any, np.dtype[np.int64]] = values.astype(np.int64)
    return out
