"""What goes on beside a run: files are let go when somebody must have them, and old versions as the rules
for keeping say, once a day."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing, suppress
from typing import TYPE_CHECKING

from recrawl.app.beside import store_beside
from recrawl.app.patience import patient
from recrawl.app.pruning import LEAST_SHARE, Pruned, Pruner, rule_of
from recrawl.contracts import Store
from recrawl.errors import BusyArchiveError, RecrawlError
from recrawl.model import DAY_S

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.remember.warc import WarcArchive

LOOK_S = 0.5  # on the wall
PRUNED = "pruned_at"  # the note of when that was done last
REST_S = 60.0  # between two rounds, on the wall
LONGEST_REST_S = 3_600.0  # after trouble, twice as long each time: each try keeps visits waiting
_PATIENCE_S = 30.0
_JOIN_S = 2.0


class _Stopped(Exception):  # noqa: N818  # nothing went wrong
    """The run ends."""


@asynccontextmanager
async def keeping(house: House, tell: Callable[[str], object]) -> AsyncIterator[None]:
    from recrawl.remember.warc import WarcArchive

    archive = house.archive
    if not isinstance(archive, WarcArchive):
        yield
        return
    upkeep = _Upkeep(house, tell)
    upkeep.thread.start()
    watching = asyncio.create_task(_watching(house, archive))
    try:
        yield
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
        upkeep.stop.set()
        upkeep.thread.join(_JOIN_S)  # what it leaves half done, the next one clears away


async def _watching(house: House, archive: WarcArchive) -> None:
    while True:
        if archive.locks.wanted:
            await house.worker.call(_let_go, archive)
        await asyncio.sleep(LOOK_S)


def _let_go(archive: WarcArchive) -> None:
    with archive.recording():
        pass


class _Upkeep:
    """A thread with a connection to the store of its own: visiting never waits for it."""

    def __init__(self, house: House, tell: Callable[[str], object]) -> None:
        self._house = house
        self._tell = tell
        self._told = ""
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, name="recrawl-upkeep", daemon=True)

    def _run(self) -> None:
        from recrawl.app.build import STORE_FILE

        rest_s = REST_S
        while not self.stop.is_set():
            try:
                with closing(store_beside(self._house.home / STORE_FILE)) as store:
                    self._finish_erasures(store)
                    self._prune(store)
                self._told, rest_s = "", REST_S
            except _Stopped:
                return
            except BusyArchiveError:
                pass  # the next round will
            except RecrawlError as problem:
                self._warn(str(problem))
                rest_s = min(2 * rest_s, LONGEST_REST_S)
            except OSError as problem:
                self._warn(f"Old versions cannot be let go ({problem.strerror or problem}); see to the disk.")
                rest_s = min(2 * rest_s, LONGEST_REST_S)
            self.stop.wait(rest_s)

    def _warn(self, text: str) -> None:
        """Once, until it is over."""
        if text != self._told:
            self._told = text
            self._tell(text)

    def _finish_erasures(self, store: Store) -> None:
        from recrawl.app.build import open_house
        from recrawl.app.erasure import erase

        for erasure in store.erasures():
            if not erasure.done:
                with open_house(
                    self._house.home, config=self._house.config, clock=self._house.clock
                ) as beside:
                    erase(beside, erasure.url)
                self._tell(f"The erasure of {erasure.url}, which had been interrupted, is finished.")

    def _prune(self, store: Store) -> None:
        from recrawl.app.build import ARCHIVE_FOLDER

        rule, now = rule_of(self._house.config.archiving), self._house.clock.now()
        if not rule or now < float(store.note(PRUNED) or "-inf") + DAY_S:
            return
        done: Pruned = Pruner(
            store=store,
            folder=self._house.home / ARCHIVE_FOLDER,
            now=self._house.clock.now,
            least_share=LEAST_SHARE,
            waiting=patient(_PATIENCE_S, stop=self.stop),
            go_on=self._go_on,
        ).prune(rule)
        store.note(PRUNED, str(now))
        if done.freed.n_versions:
            self._tell(f"Let go of {done.freed.n_versions:,} old versions: {done.freed.n_bytes:,} bytes.")

    def _go_on(self) -> None:
        if self.stop.is_set():
            raise _Stopped
