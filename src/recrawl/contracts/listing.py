"""The part of a store that lists all that is watched, and says the same of many at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Protocol

from recrawl.model import Ints, Looked, Plan, Resource, Roll, Settings, Standing


class Listing(Protocol):
    """Quick, however many there are: columns of all, and rows of a few."""

    def roll(self) -> Roll: ...
    def numbers(self, *, tag: str | None = None, host: str | None = None, text: str | None = None) -> Ints:
        """Of all that `resources` would give, in order."""

    def these(self, ids: Sequence[int]) -> Sequence[tuple[Resource, Standing, Plan | None]]:
        """In this order; those not watched are left out."""

    def known(self, urls: Sequence[str]) -> frozenset[str]: ...  # those of them that are watched
    def tags(self) -> Mapping[str, int]: ...  # by name, and how many have each
    def latest(self, ids: Ints, n_each: int, from_at: float = -inf) -> Looked:
        """Of each of these the newest visits of any outcome since that moment, at most so many; in the order
        of the numbers, each one's in that of time."""

    def say_each(
        self, ids: Sequence[int], settings: Settings, now: float, *, forget: Sequence[str] = ()
    ) -> int:
        """The same of each of these, all of them or none; how many of them are watched."""
