"""Carrying finished files to the shelf: copied, read back, recorded, and only then removed here.

Whatever happens on the way, the file is in one of the two places, whole, and the store knows in which.
Carrying again what was carried does no harm, so that a crash needs no other cure than the next round.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from recrawl.errors import ShelfError
from recrawl.remember import cdx, heads
from recrawl.remember.shelf import STEP_BYTES, copied_here, digest_of, opened, system, unreachable
from recrawl.remember.tail import claimed, sync_folder


class Stopped(Exception):  # noqa: N818  # nothing went wrong
    """Whoever asked for the work asked for its end."""


class Carrier:
    """`finished` says of a name and a length whether the file grows no more; `go_on` raises `Stopped`
    where the work is to end. `part` is a folder of the shelf that is this house's own."""

    def __init__(
        self,
        folder: Path,
        *,
        shelf: str,
        part: str = "",
        committed: Callable[[], Mapping[str, int]],
        carried: Callable[[], Mapping[str, str]],
        carry: Callable[[str, str], object],
        finished: Callable[[str, int], bool],
        go_on: Callable[[], None] = lambda: None,
    ) -> None:
        self.folder = folder
        self._shelf = address_of(shelf, part)
        self._own_folder = bool(part)
        self._committed = committed
        self._carried = carried
        self._carry = carry
        self._finished = finished
        self._go_on = go_on

    def round(self) -> Iterator[str]:
        """Carry all that is finished; the name of each file that went. ShelfError: the rest stays here."""
        known, away = self._committed(), self._carried()
        for path in sorted(self.folder.glob("*.warc.gz")):
            length = known.get(path.name)
            if length is None or not (path.name in away or self._finished(path.name, length)):
                continue
            if self._went(path, owned=path.name in away):
                yield path.name
        for name, address in away.items():
            self._complete_heads(self.folder / name, address)

    def _went(self, path: Path, *, owned: bool) -> bool:
        try:
            fd = claimed(path)
        except FileNotFoundError:  # another process has just carried it away
            return False
        if fd is None:
            return False
        try:
            present = os.fstat(fd)
            if not present.st_nlink or present.st_size != self._committed().get(path.name):
                return False  # recovery sees to it
            # Asked first: where it cannot be reached, nothing is worked out in vain.
            there = self._digest_there(f"{self._shelf}/{path.name}")
            if not cdx.index_path(path).exists():
                cdx.write(path, cdx.index(path))
            heads.write(path)
            self._copy(path, there, overwrite=owned)
            for beside in (cdx.index_path(path), heads.heads_path(path)):
                self._copy(beside, None, overwrite=True)
            self._go_on()
            self._carry(path.name, f"{self._shelf}/{path.name}")
            path.unlink()
            cdx.index_path(path).unlink(missing_ok=True)
            sync_folder(path.parent)
        finally:
            os.close(fd)
        return True

    def _copy(self, path: Path, there: tuple[str, int] | None, *, overwrite: bool) -> None:
        """`there` is what lies in its place already."""
        address = f"{self._shelf}/{path.name}"
        with path.open("rb") as near:
            wanted = digest_of(near, self._go_on)
        if there == wanted:  # a crash came between the copy and the record of it
            return
        if there is not None and not overwrite:
            raise ShelfError(
                f"{address} is there already with another content; it is left alone, and {path.name} stays "
                "here. Remove that one if it is a copy cut short, or choose another archiving.shelf."
            )
        files, place = system(address)
        with path.open("rb") as near:
            try:
                _write(files, place, near, self._go_on, self._own_folder)
            except Stopped:
                raise
            except Exception as problem:
                raise unreachable(address, problem) from problem
        if self._digest_there(address) != wanted:
            raise ShelfError(
                f"{address} was read back with another content than was written; {path.name} stays here. See "
                "to that place, and try again."
            )

    def _digest_there(self, address: str) -> tuple[str, int] | None:
        try:
            with opened(address) as far:
                return digest_of(far, self._go_on)
        except FileNotFoundError:
            return None

    def _complete_heads(self, path: Path, address: str) -> None:
        """Where a house was moved without them, visits would keep again what is kept already."""
        if path.exists() or heads.heads_path(path).exists():
            return
        try:
            copied_here(address.removesuffix(path.name) + heads.heads_path(path).name, heads.heads_path(path))
        except FileNotFoundError:
            return  # payloads are kept again, then


def address_of(shelf: str, part: str) -> str:
    return f"{shelf.rstrip('/')}/{part}".rstrip("/")


def _write(files: Any, place: str, near: BinaryIO, go_on: Callable[[], None], own_folder: bool) -> None:
    """All of it or nothing, as far as the place can do that."""
    if "file" in files.protocol:
        if own_folder:
            Path(place).parent.mkdir(exist_ok=True)
        _write_here(Path(place), near, go_on)
        return
    try:
        far = files.open(place, "wb", autocommit=False)
    except FileNotFoundError:  # where there are folders, they must be made
        files.makedirs(files._parent(place), exist_ok=True)
        far = files.open(place, "wb", autocommit=False)
    try:
        _pour(near, far, go_on)
        far.close()
    except BaseException:
        with suppress(Exception):
            far.discard()
        raise
    far.commit()
    files.invalidate_cache()


def _write_here(path: Path, near: BinaryIO, go_on: Callable[[], None]) -> None:
    """On a disk that is mounted here. The shelf is not made: where it is missing, the disk is as well."""
    draft = path.with_name(path.name + ".tmp")
    with draft.open("wb") as far:
        _pour(near, far, go_on)
        far.flush()
        os.fsync(far.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def _pour(near: BinaryIO, far: Any, go_on: Callable[[], None]) -> None:
    while piece := near.read(STEP_BYTES):
        go_on()
        far.write(piece)
