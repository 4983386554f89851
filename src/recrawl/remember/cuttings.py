"""What recovery cut off and put aside, without what was erased."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from recrawl.remember.records import Place, places
from recrawl.remember.recovery import CUT_FOLDER
from recrawl.remember.survey import ANSWERS, Line, Sight, sight_of
from recrawl.remember.tail import sync_folder


def purge(folder: Path, goes: Callable[[Sight], bool]) -> tuple[int, int]:
    """Take these visits out of what was put aside, and what cannot be read; records and bytes that went."""
    n_records = n_bytes = 0
    for path in sorted((folder / CUT_FOLDER).glob("*")):
        draft = path.with_name(path.name + ".tmp")
        n_before, n_dropped = path.stat().st_size, 0
        with path.open("rb") as source, draft.open("wb") as copy:
            for group in _groups(source, n_before, folder):
                if _is_gone(group, path.name, goes):
                    n_dropped += len(group)
                    continue
                for place in group:
                    source.seek(place.offset)
                    copy.write(source.read(place.length))
            copy.flush()
            os.fsync(copy.fileno())
            n_after = copy.tell()
        if not n_dropped:
            draft.unlink()
            continue
        draft.replace(path)
        if not n_after:
            path.unlink()
        sync_folder(path.parent)
        n_records += n_dropped
        n_bytes += n_before - n_after
    return n_records, n_bytes


def _groups(source: BinaryIO, end: int, spool: Path) -> Iterator[list[Place]]:
    """An answer with what stands beside it; anything else by itself."""
    group: list[Place] = []
    for place in places(source, end, spool):
        follows = (
            place.record is not None and group and place.record.field("WARC-Concurrent-To") == _id(group)
        )
        if group and not follows:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def _id(group: list[Place]) -> str:
    return group[0].record.id if group[0].record is not None else ""


def _is_gone(group: list[Place], name: str, goes: Callable[[Sight], bool]) -> bool:
    first = group[0].record
    if first is None:
        return True
    if first.kind not in ANSWERS:
        return False
    url, payload = first.field("WARC-Target-URI"), first.field("WARC-Payload-Digest")
    line = Line(name, group[0].offset, group[0].length, url, payload, first.kind == "revisit")
    return goes(sight_of(line, first, [place.record for place in group[1:]]))
