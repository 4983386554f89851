"""Content of any size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Protocol

STEP_BYTES = 1 << 20


class Body(Protocol):
    """Bytes in memory or, where they are many, on the disk.

    A slice is always in memory, so that whoever reads slice by slice never holds it all; `bytes(body)` is the
    whole of it for those who have looked at its length first. Plain `bytes` are a body.
    """

    def __len__(self) -> int: ...
    def __getitem__(self, where: slice, /) -> bytes: ...
    def __bytes__(self) -> bytes: ...


def pieces(body: Body) -> Iterator[bytes]:
    """All of it, in order, in steps that fit into memory.

    >>> list(pieces(b"abc"))
    [b'abc']
    """
    for at in range(0, len(body), STEP_BYTES):
        yield body[at : at + STEP_BYTES]


def digest(body: Body) -> str:
    """
    >>> digest(b"")[:20]
    'sha256:e3b0c44298fc1'
    """
    whole = hashlib.sha256()
    for piece in pieces(body):
        whole.update(piece)
    return f"sha256:{whole.hexdigest()}"
