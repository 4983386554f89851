"""All that are watched, as they are believed in at one moment: what questions about one of them need too."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from recrawl.app.beliefs import Beliefs
from recrawl.app.budgets import Otherwise, gaps_at, long_run, seen_of_late
from recrawl.app.build import House
from recrawl.evaluate.budgets.curve import Budgets


class Everybody:
    """That takes long to read, so whoever answers several questions keeps it. Nothing that is asked changes
    it. Those that are paused are not among them."""

    def __init__(self, house: House) -> None:
        self.at = house.clock.now()
        self._house = house
        self._beliefs = Beliefs(house)
        self.batch, self._memory = house.store.batch()
        self._beliefs.recall(self.batch.id, self._memory)

    def of_group(self, group: int) -> Beliefs:
        """Beliefs of its members alone, which may then hear of each other."""
        found = Beliefs(self._house)
        rows = np.flatnonzero(self.batch.group == group)
        found.recall(self.batch.id[rows], self._memory[rows])
        return found

    def gaps(self, resource_id: int, times: tuple[float, ...]) -> list[Otherwise]:
        """One's gap at so many times the budget, in the long run; nothing where there is none to change, or
        where it is paused."""
        row = np.flatnonzero(self.batch.id == resource_id)
        if not len(row):
            return []
        late = seen_of_late(self.batch)
        if late[row[0]]:
            found = self._budgets
        else:  # it is none of those that budgets are reckoned for, and is put among them
            late[row[0]] = True
            found = long_run(self._house, self._beliefs, self.batch.pick(late))
        return [] if found is None else gaps_at(self._beliefs, found, resource_id, times)

    @cached_property
    def _budgets(self) -> Budgets | None:
        return long_run(self._house, self._beliefs, self.batch.pick(seen_of_late(self.batch)))
