"""Our own trouble: a disk that is full, a store that cannot be written. It costs visits, and not the run."""

from __future__ import annotations

from collections.abc import Callable

from recrawl.contracts import Clock
from recrawl.errors import ArchiveError, NewerStoreError, StoreError, UnsoundStoreError

FIRST_REST_S = 1.0  # on the wall, doubled each time
LONGEST_REST_S = 30.0
ROOM = "room"


def passes(problem: Exception) -> bool:
    """Whether it may be over in a while."""
    lasting = isinstance(problem, NewerStoreError | UnsoundStoreError)
    return isinstance(problem, ArchiveError | StoreError) and not lasting


class Trouble:
    """Says how many visits may be begun.

    While the disk lacks room, none. After a visit that could not be recorded, none for a while, longer each
    time; then a single one, until one is recorded: servers are not asked for what cannot be kept. People are
    told of each kind of trouble when it begins, and when all of it is over.
    """

    def __init__(self, *, clock: Clock, tell: Callable[[str], object]) -> None:
        self._clock = clock
        self._tell = tell
        self._told: set[str] = set()
        self._n_met = 0  # in a row
        self._rest_until_at = 0.0

    def n_allowed(self, lack: str, n_flying: int, n_most: int) -> int:
        """`lack` says what room there should be on the disk; empty where there is enough."""
        if lack:
            self._say(ROOM, f"Nothing new is visited for now: {lack}; then it goes on by itself.")
            return 0
        if not self._n_met:
            if self._told:  # there was no room; there is now
                self._over()
            return n_most - n_flying
        resting = self._clock.now() < self._rest_until_at
        return 0 if resting or n_flying else 1

    def met(self, problem: Exception) -> None:
        """A visit could not be recorded, or none could be claimed."""
        now = self._clock.now()
        if now >= self._rest_until_at:  # several that fall together count once
            rest_s = min(FIRST_REST_S * 2.0 ** min(self._n_met, 20), LONGEST_REST_S)
            self._rest_until_at = now + rest_s * self._clock.speed
            self._n_met += 1
        self._say(type(problem).__name__, f"{problem} It is tried again, less and less often.")

    def recorded(self) -> None:
        """A visit was, as it should be."""
        if self._n_met:
            self._n_met = 0
            self._rest_until_at = 0.0
            self._over()

    def _say(self, kind: str, text: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self._tell(text)

    def _over(self) -> None:
        self._told.clear()
        self._tell("What was recorded before is safe, and visits go on.")
