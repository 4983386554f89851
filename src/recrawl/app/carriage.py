"""Finished archive files on their way to the shelf, while a run goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from recrawl.app.beside import store_beside
from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE
from recrawl.contracts import Store
from recrawl.errors import RecrawlError

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.remember.carrier import Carrier

EVERY_S = 60.0  # on the wall
LONGEST_REST_S = 3_600.0  # for a shelf that is in trouble: twice as long each time
_PATIENCE_S = 2.0  # at the end, for what is between two pieces
# The note of a folder on the shelf: a restored house has one of its own, as the house that it is a copy of
# may still live, and neither must delete what the other needs.
SHELF_PART = "shelf_part"


class Carriage:
    """A thread with a connection to the store of its own: visiting never waits for it. What it has not
    carried when it ends stays here for the next run."""

    def __init__(self, house: House, tell: Callable[[str], object]) -> None:
        self._house = house
        self._tell = tell
        self._told = ""
        self._wanted = threading.Event()  # do not wait for the next round
        self._last = threading.Event()
        self._stop = threading.Event()
        # A hung network must not keep the process: the thread is left behind then.
        self._thread = threading.Thread(target=self._run, name="recrawl-carriage", daemon=True)

    def start(self) -> None:
        self._thread.start()

    async def finish(self, stopped: Callable[[], bool]) -> None:
        """Carry what is finished by now, unless `stopped`."""
        self._last.set()
        self._wanted.set()
        while self._thread.is_alive() and not stopped():  # noqa: ASYNC110  # of a thread, or of a signal
            await asyncio.sleep(0.05)

    def stop(self) -> None:
        self._stop.set()
        self._wanted.set()
        if self._thread.ident is not None:
            self._thread.join(_PATIENCE_S)

    def _run(self) -> None:
        from recrawl.remember.carrier import Stopped

        rest_s = EVERY_S
        while not self._stop.is_set():
            try:
                with closing(store_beside(self._house.home / STORE_FILE)) as store:
                    for _ in self._carrier(store).round():
                        self._told = ""
                rest_s = EVERY_S
            except Stopped:
                return
            except RecrawlError as problem:
                self._warn(str(problem))
                rest_s = min(2 * rest_s, LONGEST_REST_S)
            except OSError as problem:
                self._warn(f"The archive's files cannot be carried away ({problem}); see to the disk.")
                rest_s = min(2 * rest_s, LONGEST_REST_S)
            if self._last.is_set():
                return
            self._wanted.wait(rest_s)

    def _carrier(self, store: Store) -> Carrier:
        from recrawl.remember.carrier import Carrier
        from recrawl.remember.tail import Bounds

        house, archiving = self._house, self._house.config.archiving
        bounds = Bounds(max_bytes=archiving.max_file_bytes, max_age_s=archiving.max_file_age)
        return Carrier(
            house.home / ARCHIVE_FOLDER,
            shelf=archiving.shelf,
            part=store.note(SHELF_PART) or "",
            committed=store.files,
            carried=store.carried,
            carry=store.carry,
            finished=lambda name, length: bounds.finished(name, length, house.clock.now()),
            go_on=self._go_on,
        )

    def _go_on(self) -> None:
        from recrawl.remember.carrier import Stopped

        if self._stop.is_set():
            raise Stopped

    def _warn(self, text: str) -> None:
        """Once, until something was carried again."""
        if text != self._told:
            self._told = text
            self._tell(text)


@contextmanager
def carrying(house: House, tell: Callable[[str], object]) -> Iterator[Carriage | None]:
    """While this is open, finished files go to the shelf, if there is one."""
    if not house.config.archiving.shelf:
        yield None
        return
    carriage = Carriage(house, tell)
    carriage.start()
    try:
        yield carriage
    finally:
        carriage.stop()
