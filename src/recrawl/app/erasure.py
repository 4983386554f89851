"""Taking all contents of a resource out for good; that it was done, when and why stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from recrawl.app.build import ARCHIVE_FOLDER
from recrawl.app.carriage import SHELF_PART
from recrawl.app.patience import patient
from recrawl.errors import ArchiveError, NotWatchedError, ShelfError
from recrawl.model import Erasure, Scope, ScopeKind, Settings
from recrawl.remember.carrier import address_of
from recrawl.remember.cuttings import purge
from recrawl.remember.orders import Erasing, erasing
from recrawl.remember.rewriting import Rewriter, bury_doomed, remove_elsewhere
from recrawl.remember.survey import Sight, Survey
from recrawl.remember.warc import WarcArchive
from recrawl.urls import is_file_url, resource_url

if TYPE_CHECKING:
    from recrawl.app.build import House

PATIENCE_S = 60.0  # on the wall: by then every living run has let go of its file


def known_as(house: House, url: str) -> str:
    """The URL as it is recorded, watched or not."""
    known = resource_url(url)
    if house.store.find(known) is None and is_file_url(known) and house.store.find(f"{known}/") is not None:
        return f"{known}/"
    return known


def erase(
    house: House, url: str, *, why: str = "", tell: Callable[[str], object] = lambda _: None
) -> Erasure:
    """Out of the archive, its indexes, what was cut off, the shelf and the store. Doing it again does no
    harm, and goes on where a crash or trouble with a disk ended it.

    While it goes on, a run archives nothing: it lets go of its files, waits, and then goes on.
    """
    if not (house.kept or (house.home / ARCHIVE_FOLDER).exists()):
        raise _unknown(url)  # and nothing is made to look into
    archive = house.archive
    if not isinstance(archive, WarcArchive):
        raise ArchiveError("This kind of archive cannot take anything out; erase it there by its own means.")
    waiting = patient(PATIENCE_S, lambda: tell("Waiting for others that use the archive …"))
    locks = archive.locks
    archive.close()  # what this process writes itself is let go
    with locks.rewriting(waiting()), locks.wanting(waiting()), locks.exchanging(waiting()):
        return _Erasing(house, archive, url, why, tell).done(waiting)


def _unknown(url: str) -> NotWatchedError:
    return NotWatchedError(f"{url} is not being watched, and nothing of it is kept; see `recrawl list`.")


class _Erasing:
    """The caller holds all locks."""

    def __init__(
        self, house: House, archive: WarcArchive, url: str, why: str, tell: Callable[[str], object]
    ) -> None:
        self._store = house.store
        self._folder = archive.folder
        shelf = house.config.archiving.shelf
        self._shelf = address_of(shelf, house.store.note(SHELF_PART) or "") if shelf else ""
        self._now = house.clock.now
        self._url = url
        self._why = why
        self._tell = tell

    def done(self, waiting: Callable[[], Callable[[], bool]]) -> Erasure:
        store, url = self._store, self._url
        rewriter = Rewriter(self._folder, store, now=self._now, wait=waiting())
        self._tell(f"Looking for what is kept of {url} …")
        plan = self._planned(rewriter)
        begun = next(iter(store.erasures(url)), None)
        resource = store.find(url)
        if resource is None and begun is None and not plan.order.files:
            raise _unknown(url)
        if resource is not None:
            store.say(Scope(ScopeKind.RESOURCE, url), Settings(paused=True), self._now())
        store.begin_erasure(url, self._why or (begun.why if begun else ""), self._now())
        n_records = n_bytes = 0
        for freed in rewriter.carried_out(plan.order, self._tell):
            n_records += freed.n_records
            n_bytes += freed.n_bytes
            if freed.spared:
                raise ArchiveError(
                    f"{', '.join(freed.spared)} is needed by a version that was just recorded; erase again."
                )
        cut = purge(self._folder, lambda sight: self._gone(sight, plan))
        self._clear_shelf(plan)
        went = {"n_records": n_records + cut[0], "n_bytes": n_bytes + cut[1]}
        store.end_erasure(url, **went, shared=plan.shared, done=False)
        self._tell("Building the store anew …")
        store.scrub()  # before it counts as done: after a crash here it is gone through again
        store.end_erasure(url, n_records=0, n_bytes=0, shared=plan.shared)
        return store.erasures(url)[0]

    def _planned(self, rewriter: Rewriter) -> Erasing:
        resource = self._store.find(self._url)
        versions = [] if resource is None else self._store.versions(resource.id)
        survey = Survey(self._folder, self._store.files().keys(), rewriter.files)
        return erasing(survey, self._store, self._url, versions)

    def _gone(self, sight: Sight, plan: Erasing) -> bool:
        return self._url in (sight.owner, sight.line.url) or sight.line.digest in plan.digests

    def _clear_shelf(self, plan: Erasing) -> None:
        """A copy that was on its way to the shelf when a crash came is recorded nowhere."""
        if self._shelf:
            for name in plan.order.files:
                remove_elsewhere(f"{self._shelf}/{name}")
        bury_doomed(self._store, self._folder)
        if left := self._store.doomed():
            raise ShelfError(
                f"The contents are taken out here, but not yet where {', '.join(left)} was carried to; "
                "erase again when that place can be reached."
            )
