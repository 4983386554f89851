"""What revisits must say of the payloads they refer to, for files that were carried away.

`NAME.heads` stays here when `NAME.warc.gz` goes: a visit that finds an old payload again must not wait for
a network. It can always be made again from the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

from recrawl.remember.exchange import Origin
from recrawl.remember.records import places

_DIGITS = 16  # of an offset: lines are in order as text and as numbers
_ORIGINS = frozenset({"response", "resource"})


def heads_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".warc.gz") + ".heads")


def write(path: Path) -> None:
    """Write the heads of this archive file, all of them or nothing."""
    target = heads_path(path)
    draft = target.with_name(target.name + ".tmp")
    with path.open("rb") as stream, draft.open("w", encoding="ascii") as out:
        out.writelines(_lines(stream, path))
        out.flush()
        os.fsync(out.fileno())
    draft.replace(target)


def _lines(stream: BinaryIO, path: Path) -> Iterator[str]:
    for place in places(stream, path.stat().st_size, path.parent):
        if place.record is not None and place.record.kind in _ORIGINS:
            yield f"{place.offset:0{_DIGITS}d} {json.dumps(asdict(Origin.of(place.record)))}\n"


def found(path: Path, offset: int) -> Origin | None:
    """Of the record at this offset, by bisection; None where there is none, or nothing is known."""
    wanted = b"%0*d" % (_DIGITS, offset)
    try:
        with heads_path(path).open("rb") as stream:
            low, high = 0, stream.seek(0, 2)  # the line lies between: at `low` one begins
            while low < high:
                middle = (low + high) // 2
                begins_at, line = _line_from(stream, low, middle)
                if line[:_DIGITS] == wanted:
                    return Origin(**json.loads(line[_DIGITS:]))
                if line[:_DIGITS] < wanted and line:
                    low = begins_at + len(line)
                else:
                    high = middle
    except (OSError, ValueError, TypeError):  # it is not there, or no longer whole
        return None
    return None


def _line_from(stream: BinaryIO, low: int, middle: int) -> tuple[int, bytes]:
    """The first line that begins at `middle` or later, or at `low`; and where that is."""
    if middle == low:
        stream.seek(low)
        return low, stream.readline()
    stream.seek(middle - 1)
    stream.readline()
    return stream.tell(), stream.readline()
