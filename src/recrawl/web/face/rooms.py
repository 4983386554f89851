"""Houses to ask: one for each thread, since a store is used by one at a time; opened anew after the settings
file has changed, or another store lies in the place of the one that was there."""

from __future__ import annotations

import threading
from pathlib import Path

from recrawl.app import config as configuration
from recrawl.app.build import STORE_FILE, House
from recrawl.app.private import stamp
from recrawl.contracts import Clock
from recrawl.live.clock import WallClock


class Rooms:
    def __init__(self, home: Path, clock: Clock | None = None) -> None:
        self._home = home
        self._clock = clock or WallClock()
        self._local = threading.local()
        self._lock = threading.Lock()
        self._open: list[House] = []

    def house(self) -> House:
        """This thread's own."""
        said = (stamp(self._home / configuration.FILE_NAME), _place(self._home / STORE_FILE))
        known: tuple[object, House] | None = getattr(self._local, "known", None)
        if known is not None and known[0] == said:
            return known[1]
        if known is not None:
            with self._lock:
                self._open.remove(known[1])
            known[1].close()
            self._local.known = None
        # It reads; what is changed is changed by the store's own methods, which need no more.
        house = House(self._home, configuration.load(self._home), self._clock, reading=True)
        with self._lock:
            self._open.append(house)
        self._local.known = (said, house)
        return house

    def close(self) -> None:
        """Once no thread asks any more."""
        with self._lock:
            for house in self._open:
                house.close()
            self._open.clear()


def _place(path: Path) -> tuple[int, int] | None:
    """What stays while a file is written to, and differs once another has its name."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
