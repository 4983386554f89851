"""A backup in one .tar file, read by its plainest rules only: files with short names, one after the other.

No link, no folder, no hole, no extended header: a backup has none of them, and reading them is where
unpacking goes wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recrawl.app.backup import MANIFEST, Item
from recrawl.errors import BadBackupError

BLOCK_BYTES = 512
_STEP_BYTES = 1 << 20
_MAX_MEMBERS = 1_000_001
_MAX_MANIFEST_BYTES = 256 << 20
_MAGIC = (b"ustar\x0000", b"ustar  \x00")  # of the standard, and of GNU tar


@dataclass(frozen=True, slots=True)
class _Member:
    offset: int
    n_bytes: int


class Parcel:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._members: dict[str, _Member] = {}

    def __enter__(self) -> Parcel:
        with self._path.open("rb") as stream:
            end = stream.seek(0, os.SEEK_END)
            at = 0
            while True:
                stream.seek(at)
                block = stream.read(BLOCK_BYTES)
                if len(block) < BLOCK_BYTES:
                    raise refused("it is cut short")
                if not any(block):
                    break
                name, n_bytes = _head(block)
                if name in self._members or len(self._members) >= _MAX_MEMBERS:
                    raise refused(f"it has too many files, or one twice ({name!r})")
                at += BLOCK_BYTES
                if at + n_bytes > end:
                    raise refused(f"{name!r} is longer than the whole of it")
                self._members[name] = _Member(at, n_bytes)
                at += -(-n_bytes // BLOCK_BYTES) * BLOCK_BYTES
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open."""

    def manifest(self) -> bytes:
        member = self._members.pop(MANIFEST, None)
        if member is None or member.n_bytes > _MAX_MANIFEST_BYTES:
            raise refused(f"it has no {MANIFEST}, or one that is too large")
        return b"".join(self._read(member))

    def agrees(self, items: Sequence[Item]) -> None:
        """Refused where it holds something else than its list of contents says."""
        listed = {item.path: item.n_bytes for item in items}
        for name, member in self._members.items():
            if listed.pop(name, None) != member.n_bytes:
                raise refused(f"{name!r} is not in its {MANIFEST}, or with another length")
        if listed:
            raise refused(f"{next(iter(listed))} is not in it")

    def pieces(self, item: Item) -> Iterator[bytes]:
        yield from self._read(self._members[item.path])

    def _read(self, member: _Member) -> Iterator[bytes]:
        left = member.n_bytes
        with self._path.open("rb") as stream:
            stream.seek(member.offset)
            while left and (piece := stream.read(min(left, _STEP_BYTES))):
                yield piece
                left -= len(piece)


def _head(block: bytes) -> tuple[str, int]:
    """Name and length; refused unless it is the head of a plain file."""
    said, kind = block[148:156], block[156:157]
    total = sum(block[:148]) + 8 * ord(" ") + sum(block[156:])
    if block[257:265] not in _MAGIC or _number(said) != total:
        raise refused("it is no .tar file, or damaged")
    name = block[:100].rstrip(b"\0")
    if kind not in (b"0", b"\0") or any(block[345:500]) or b"\0" in name:
        raise refused(f"it holds something that is no plain file ({name[:60]!r})")
    return name.decode("ascii", "backslashreplace"), _number(block[124:136])


def _number(field: bytes) -> int:
    if field[0] == 0x80:  # more than eight digits hold
        return int.from_bytes(field[1:], "big")
    text = field.rstrip(b"\0 ").lstrip(b" ")
    if not text or text.strip(b"01234567"):
        raise refused("it is no .tar file, or damaged")
    return int(text, 8)


def refused(why: str) -> BadBackupError:
    return BadBackupError(f"This backup is not restored: {why}. Use another one, or make a new one.")
