"""The plug point for what people ask of all resources together; none of it is found by reading all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recrawl.model import Changer, Due, Failures, HostStanding, Place, Sought, Sums, Visit


class Stream(Protocol):
    def stream(
        self, sought: Sought, *, before: Place | None = None, limit: int, reach: int
    ) -> tuple[Sequence[Visit], Place | None]:
        """Of those that are sought, the newest before this place; and the place to go on from, None once
        all are looked through. At most `reach` changes (or failures) are looked through: fewer than `limit`,
        or none, may come back with a place."""

    def sums(
        self, from_at: float, until_at: float
    ) -> Sums: ...  # of visits, `until_at` itself not among them
    def most_changed(self, from_at: float, until_at: float, limit: int) -> Sequence[Changer]:
        """Those with the most changes that count, the most first; of equal ones the last changed."""

    def failures(self, from_at: float, *, host: str | None = None, limit: int) -> Sequence[Failures]:
        """Visits since then that told nothing, by host and by how; the most first."""

    def coming(self, from_at: float, until_at: float, limit: int) -> Sequence[Due]: ...  # the soonest first
    def in_turn(self, now: float, limit: int) -> Sequence[Due]:
        """Of each host the first that is due by now; the longest due first."""

    def host_standings(
        self, *, text: str | None = None, after: str = "", limit: int
    ) -> Sequence[HostStanding]:
        """Of hosts with resources, by name: those after that one, with this text in it in whatever case."""

    def host_standing(self, name: str) -> HostStanding | None: ...  # None: nothing of it is watched
    def troubled(self, limit: int) -> tuple[Sequence[HostStanding], int]:
        """Of hosts with resources those in trouble now, the longest in trouble first; and how many."""
