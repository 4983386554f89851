"""Lines as others wrote them: of plain or packed files, with any line end, none longer than a bound.

What cannot be read is a value with its place, a `Flaw`: whoever imports decides whether it ends the work.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from lzma import LZMAError
from pathlib import Path
from typing import BinaryIO

from zstandard import ZstdError

from recrawl.corpora.sources.files import open_bytes

MAX_LINE_BYTES = 1 << 20
STEP_BYTES = 1 << 18
TORN = "the file is cut off or damaged from here on"
_ENDS = re.compile(rb"[\r\n]")
_UNPACKING = (EOFError, OSError, zlib.error, LZMAError, ZstdError)


class Flaw(str):
    """Why a line, or the rest of a file, is not there."""

    __slots__ = ()


def pieces(stream: BinaryIO, n_bytes: int = STEP_BYTES) -> Iterator[bytes | Flaw]:
    """What a file holds, piece by piece; a flaw, and the end, where it cannot be unpacked any further."""
    # One step at a time: a read of several steps would lose those before the one that fails.
    step = getattr(stream, "read1", stream.read)
    while True:
        try:
            piece = step(n_bytes)
        except _UNPACKING as problem:
            if isinstance(problem, OSError) and problem.errno is not None:
                raise  # the disk's trouble, not the file's
            yield Flaw(TORN)
            return
        if not piece:
            return
        yield piece


def lines(path: Path, *, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes | Flaw]]:
    """Numbered from 1, without their ends (LF, CR LF or CR)."""
    with open_bytes(path) as stream:
        yield from split(pieces(stream), max_bytes=max_bytes)


def split(
    found: Iterator[bytes | Flaw], *, max_bytes: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, bytes | Flaw]]:
    number = 1
    begun: list[bytes] = []  # the beginning of a line
    overlong = False  # it is the middle of a line that was given up
    for piece in found:
        if isinstance(piece, Flaw):
            yield number, piece
            return
        if not _ENDS.search(piece) and not (begun and begun[-1].endswith(b"\r")):
            if not overlong:
                begun.append(piece)  # joined once, when the line ends
                if sum(map(len, begun)) > max_bytes:
                    begun, overlong = [], True
            continue
        whole = b"".join([*begun, piece])
        # A CR at the very end may be half of a CR LF.
        held = whole.endswith(b"\r")
        got = (whole[:-1] if held else whole).splitlines(keepends=True)
        last = got.pop() if got and not got[-1].endswith((b"\n", b"\r")) else b""
        for line in got:
            if overlong or len(line) > max_bytes:
                yield number, too_long(max_bytes)
                overlong = False
            else:
                yield number, line.rstrip(b"\r\n")
            number += 1
        rest = last + b"\r" if held else last
        if len(rest) > max_bytes:
            rest, overlong = b"\r" if held else b"", True
        begun = [rest] if rest else []
    if overlong:
        yield number, too_long(max_bytes)
    elif begun:
        yield number, b"".join(begun).rstrip(b"\r")


def too_long(max_bytes: int = MAX_LINE_BYTES) -> Flaw:
    return Flaw(f"the line is longer than {max_bytes >> 20} MiB")


def text(line: bytes) -> str | Flaw:
    """UTF-8, without the mark that some write at the beginning of a file."""
    try:
        said = line.decode()
    except UnicodeDecodeError:
        return Flaw("not UTF-8")
    return said[1:] if said.startswith("\ufeff") else said
