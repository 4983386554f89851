"""Letting go of versions that the rules for keeping no longer ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path

from recrawl.app.config import Archiving
from recrawl.app.spelling import stretches
from recrawl.contracts import Store
from recrawl.model import Replacement, Version
from recrawl.remember.locks import Locks, Wait
from recrawl.remember.orders import pruning
from recrawl.remember.retention import Retention, dispensable
from recrawl.remember.rewriting import Freed, Rewriter, bury_doomed
from recrawl.remember.survey import Survey
from recrawl.remember.tail import in_use

N_TOGETHER = 100_000  # versions
LEAST_SHARE = 0.1  # of a file: below that, writing it anew day by day costs more than it frees


@dataclass(slots=True)
class Pruned:
    n_resources: int = 0
    n_due: int = 0  # versions that the rules let go
    n_due_bytes: int = 0  # that their records take
    freed: Freed = field(default_factory=Freed)


def rule_of(archiving: Archiving) -> Retention:
    return Retention(
        n_most=archiving.keep_versions,
        keep_s=archiving.keep_for or inf,
        thin=stretches(archiving.thin_out),
    )


def due(store: Store, rule: Retention, now: float) -> Iterator[tuple[int, int, list[Version]]]:
    """Every resource that has versions to let go: its number, how many versions it has, and those."""
    for resource_id in store.crowded():
        versions = list(store.versions(resource_id))
        if goes := dispensable(versions, rule, now):
            yield resource_id, len(versions), [_slim(version) for version in goes]


def _slim(version: Version) -> Version:
    """Only what is needed to let it go: there may be very many of them."""
    return replace(version, digest="", fingerprint="", detector="", media_type="", charset=None, url="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruner:
    store: Store
    folder: Path  # of the archive
    now: Callable[[], float]
    least_share: float = 0.0
    waiting: Callable[[], Wait]
    go_on: Callable[[], object] = lambda: None
    tell: Callable[[str], object] = lambda _: None

    def prune(self, rule: Retention) -> Pruned:
        """Does what the rule says, but for files that are being written, and those in which less than
        `least_share` would go."""
        done = Pruned()
        locks = Locks(self.folder)
        with locks.rewriting(self.waiting()):
            bury_doomed(self.store, self.folder)  # what an earlier try left behind
            with locks.exchanging(self.waiting()):
                pass  # where a backup or a check goes on for hours, no file is copied in vain
            waiting: list[Version] = []
            for _, _, goes in due(self.store, rule, self.now()):
                self.go_on()
                done.n_resources += 1
                done.n_due += len(goes)
                done.n_due_bytes += sum(version.length for version in goes)
                waiting += goes
                self.tell(f"Pruning … {done.n_due:,} versions of {done.n_resources:,} resources so far")
                if len(waiting) >= N_TOGETHER:
                    self._let_go(waiting, locks, done.freed)
                    waiting = []
            self._let_go(waiting, locks, done.freed)
        return done

    def _let_go(self, versions: list[Version], locks: Locks, freed: Freed) -> None:
        if not versions:
            return
        exchanging: Callable[[], AbstractContextManager[None]] = lambda: locks.exchanging(self.waiting())  # noqa: E731
        rewriter = Rewriter(self.folder, self.store, now=self.now, exchanging=exchanging, go_on=self.go_on)
        lengths = self.store.files()
        order, rows = pruning(
            Survey(self.folder, lengths.keys(), rewriter.files),
            self.store,
            versions,
            busy=partial(_busy, self.folder),
            worth_it=lambda file, n_bytes: n_bytes >= self.least_share * lengths.get(file, inf),
        )
        if rows and self.store.replace(Replacement(old=(), new={}, dropped=rows)):
            freed.n_versions += len(rows)
        for one in rewriter.carried_out(order, self.tell):
            freed.n_files += one.n_files
            freed.n_records += one.n_records
            freed.n_versions += one.n_versions
            freed.n_bytes += one.n_bytes
            freed.spared += one.spared


def _busy(folder: Path, name: str) -> bool:
    return in_use(folder / name)
