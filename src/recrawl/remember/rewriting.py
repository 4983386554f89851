"""Archive files exchanged for others without certain records, so that a crash leaves the one or the other.

A new file is doomed until the transaction that puts it in the old one's place, and the old one from then
on: whoever comes after a crash deletes what is doomed, and nothing that was taken out comes back.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from recrawl.contracts import Store
from recrawl.errors import ArchiveError, BusyArchiveError, ShelfError
from recrawl.model import Moved, Replacement, Version
from recrawl.remember import cdx, heads, shelf
from recrawl.remember.copying import Copied, Orders, Spot, copied
from recrawl.remember.locks import Wait
from recrawl.remember.records import Record, Unreadable, read_from
from recrawl.remember.recovery import cut
from recrawl.remember.tail import claimed, file_name, sync_folder


@dataclass(slots=True)
class Order:
    """All that is to be done, file by file; `first` are the files to be written before another one."""

    files: dict[str, Orders] = field(default_factory=dict)
    first: dict[str, set[str]] = field(default_factory=dict)
    dropped: dict[Spot, list[Version]] = field(default_factory=dict)
    lengths: dict[Spot, int] = field(default_factory=dict)  # of payloads that are needed elsewhere
    erased: bool = False
    owner_id: int = 0  # the resource whose contents go; 0: none, or none that is watched

    def of(self, file: str) -> Orders:
        return self.files.setdefault(file, Orders(purge=self.erased))

    def goes_before(self, file: str, other: str | None) -> None:
        if other is not None and other != file:
            self.first.setdefault(other, set()).add(file)

    def batches(self) -> list[list[str]]:
        """One file at a time, those that need others' payloads before these; all at once where that is a
        circle."""
        graph = {name: sorted(self.first.get(name, set()) & self.files.keys()) for name in sorted(self.files)}
        try:
            return [[name] for name in TopologicalSorter(graph).static_order()]
        except CycleError:
            return [sorted(self.files)]


@dataclass(slots=True)
class Freed:
    n_files: int = 0
    n_records: int = 0
    n_versions: int = 0
    n_bytes: int = 0
    spared: list[str] = field(default_factory=list)  # files that others needed at that moment


class Rewriter:
    """Exchanges files of one archive. `exchanging` is held while one takes another's place; `wait` is for
    those who write a file still, and `go_on` may raise to end the work."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        *,
        now: Callable[[], float],
        exchanging: Callable[[], AbstractContextManager[None]] = nullcontext,
        wait: Wait = lambda: False,
        go_on: Callable[[], object] = lambda: None,
    ) -> None:
        self._folder = folder
        self._store = store
        self._now = now
        self._exchanging = exchanging
        self._wait = wait
        self._go_on = go_on
        self.files = shelf.Files(folder, carried=store.carried, now=now)
        self._token = secrets.token_hex(4)
        self._serial = 0

    def carried_out(self, order: Order, tell: Callable[[str], object] = lambda _: None) -> Iterator[Freed]:
        """One batch after the other; each yields what has come of it once nothing can undo it."""
        batches = order.batches()
        for n, batch in enumerate(batches, 1):
            tell(f"Writing anew … {n:,} of {len(batches):,}")
            yield self._exchanged(batch, order)

    def _exchanged(self, names: Sequence[str], order: Order) -> Freed:
        with ExitStack() as stack:
            for name in names:
                self._lock(name, stack)
            made = {name: self._copied(name, order, stack) for name in names}
            replacement, n_before = self._replacement(made, order), self._n_bytes(names)
            with self._while_others_wait(made):
                done = self._store.replace(replacement)
                for name in names if done else ():
                    remove(self._folder / name)
            if not done:
                bury(self._store, self._folder, [copy.path.name for copy in made.values()])
                return Freed(spared=list(names))
            # Others go on by now: a network may take its time. What cannot be deleted there stays doomed.
            with suppress(ShelfError):
                bury(self._store, self._folder, names)
        return Freed(
            n_files=len(names),
            n_records=sum(copy.n_dropped for copy in made.values()),
            n_versions=len(replacement.dropped),
            n_bytes=n_before - sum(replacement.new.values()),
        )

    @contextmanager
    def _while_others_wait(self, made: Mapping[str, Copied]) -> Iterator[None]:
        """Where others do not let us, the copies go at once: the next try makes new ones."""
        with ExitStack() as stack:
            try:
                stack.enter_context(self._exchanging())
            except BusyArchiveError:
                bury(self._store, self._folder, [copy.path.name for copy in made.values()])
                raise
            yield

    def _lock(self, name: str, stack: ExitStack) -> None:
        """No living process writes it, and none will."""
        with suppress(FileNotFoundError):  # it was carried away: nobody writes it there
            while (fd := claimed(self._folder / name)) is None:
                if not self._wait():
                    raise BusyArchiveError(f"Another process writes {name}; stop it, and try again.")
            stack.callback(os.close, fd)
            if os.fstat(fd).st_size != self._store.files().get(name):
                self._store.settle()
                cut(self._folder / name, fd, self._store.files().get(name, 0))

    def _copied(self, name: str, order: Order, stack: ExitStack) -> Copied:
        self._serial += 1
        path = self._folder / file_name(self._now(), self._token, self._serial)
        self._store.doom([path.name])
        try:
            with self.files.open(name) as source:
                load = partial(self._load, order)
                copy = copied(source, order.files[name], path, load, self._go_on)
        except OSError as problem:
            bury(self._store, self._folder, [path.name])
            raise ArchiveError(
                f"{name} cannot be written anew ({problem.strerror or problem}); make room on the disk, then "
                "try again: nothing is lost."
            ) from problem
        stack.callback(os.close, copy.fd)
        if not copy.n_kept:
            bury(self._store, self._folder, [path.name])
        return copy

    def _load(self, order: Order, spot: Spot) -> Record:
        file, offset = spot
        with self.files.open(file) as stream:
            try:
                return read_from(stream, offset, order.lengths[spot], self._folder)
            except Unreadable as problem:
                raise ArchiveError(
                    f"{file} is damaged at byte {offset} ({problem}), and others need what is there; put it "
                    "back from a copy."
                ) from None

    def _replacement(self, made: Mapping[str, Copied], order: Order) -> Replacement:
        moved: list[Moved] = []
        handed_on: list[Moved] = []  # what it came from is still there, and must be found again after a crash
        gone: list[Spot] = []
        for name, copy in made.items():
            to = copy.path.name
            moved += [(name, old, to, *spot) for old, spot in copy.spots.items()]
            for old, spot in copy.filled.items():
                (moved if old[0] in made else handed_on).append((*old, to, *spot))
            gone += [(name, offset) for offset in order.files[name].drop]
        return Replacement(
            old=list(made),
            new={copy.path.name: copy.length for copy in made.values() if copy.n_kept},
            moved=moved,
            handed_on=handed_on,
            owner_id=order.owner_id,
            dropped=[version for spot in dict.fromkeys(gone) for version in order.dropped.get(spot, ())],
            erased=order.erased,
        )

    def _n_bytes(self, names: Iterable[str]) -> int:
        lengths = self._store.files()
        return sum(lengths.get(name, 0) for name in names)


def bury(store: Store, folder: Path, names: Sequence[str]) -> None:
    """Delete doomed files for good, wherever they are, with all that stands beside them."""
    doomed = store.doomed()
    for name in names:
        remove(folder / name)
        if doomed.get(name):
            remove_elsewhere(doomed[name])
    if names:
        with suppress(FileNotFoundError):
            sync_folder(folder)
        store.bury(names)


def remove(path: Path) -> None:
    # The file goes last: while it is there, whoever comes finds it doomed.
    for beside in (cdx.index_path(path), heads.heads_path(path), path):
        beside.with_name(beside.name + ".tmp").unlink(missing_ok=True)
        beside.unlink(missing_ok=True)


def remove_elsewhere(address: str) -> None:
    place, _, name = address.rpartition("/")
    for beside in (cdx.index_path(Path(name)), heads.heads_path(Path(name)), Path(name)):
        for file in (f"{beside.name}.tmp", beside.name):  # a copy that was cut short has the first
            shelf.remove(f"{place}/{file}")


def bury_doomed(store: Store, folder: Path) -> None:
    """Delete what is doomed; what cannot be deleted now stays doomed. The caller alone writes files anew."""
    if store.doomed():
        store.settle()
    for name in store.doomed():
        with suppress(ShelfError, FileNotFoundError), ExitStack() as stack:
            if (folder / name).exists():
                fd = claimed(folder / name)
                if fd is None:
                    continue
                stack.callback(os.close, fd)
            bury(store, folder, [name])
