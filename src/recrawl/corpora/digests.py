"""Digests of any length as 64 bits: equal texts, equal numbers, in every run and on every machine.

With n distinct digests, the chance that any two share a number is about n²/2⁶⁵: one in 3,700 for a hundred
million.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.model import Ints
from recrawl.model.columns import Bits

if TYPE_CHECKING:
    import pyarrow as pa

_ODD = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [0xFFFF_FFFF_FFFF_FFFF], dtype=np.uint64)


def bits_of(column: Any) -> Bits:
    """Of an Arrow column of text; 0 for null, which stands for not known, and for nothing else."""
    import pyarrow as pa

    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.uint64)
    if pa.types.is_dictionary(column.type):
        values = bits_of(column.dictionary)
        places = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
        bits = values[places] if len(values) else np.zeros(len(column), dtype=np.uint64)
    else:
        bits = _mixed(*_bytes(column))
    if column.null_count:
        bits[column.is_null().to_numpy(zero_copy_only=False)] = 0
    return bits


def bits_of_texts(texts: list[str | None]) -> Bits:
    """
    >>> [hex(n) for n in bits_of_texts(["", "a", None])]
    ['0x1', '0x8fcc9d57ed83f50d', '0x0']
    """
    import pyarrow as pa

    return bits_of(pa.array(texts, pa.large_string()))


def _bytes(column: pa.Array) -> tuple[np.ndarray[Any, np.dtype[np.uint8]], Ints, Ints]:
    """All bytes with eight to spare, and where each text begins and ends."""
    import pyarrow as pa

    column = column.cast(pa.large_string())
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[column.offset : column.offset + len(column) + 1]
    low, high = (int(ends[0]), int(ends[-1])) if len(ends) else (0, 0)
    held = np.frombuffer(data, dtype=np.uint8)[low:high] if data is not None else np.zeros(0, dtype=np.uint8)
    ends = ends - low
    return np.concatenate([held, np.zeros(8, dtype=np.uint8)]), ends[:-1], ends[1:]


def _mixed(data: np.ndarray[Any, np.dtype[np.uint8]], start: Ints, end: Ints) -> Bits:
    """Eight bytes of every text at a time; each is stirred into what came before it (SplitMix64's mixing)."""
    words = np.ndarray(len(data) - 7, dtype="<u8", buffer=data, strides=(1,))  # one begins at every byte
    length = end - start
    out = _stirred(length.astype(np.uint64) * _ODD)
    rows, done = np.flatnonzero(length > 0), 0
    while len(rows):
        here = start[rows] + done
        left = end[rows] - here
        out[rows] = _stirred((out[rows] ^ (words[here] & _MASKS[np.minimum(left, 8)])) + _ODD)
        rows, done = rows[left > 8], done + 8
    out[out == 0] = 1
    return out


def _stirred(x: Bits) -> Bits:
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    out: Bits = x ^ (x >> np.uint64(31))
    return out
