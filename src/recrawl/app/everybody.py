"""All that are watched, as they are believed in at one moment: what questions about one of them need too."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from recrawl.app.beliefs import Beliefs
from recrawl.app.budgets import Otherwise, failing, gaps_at, long_run, retries_per_day
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
        where it is paused. Those never seen have their share of it too, by what is expected of them."""
        row = np.flatnonzero(self.batch.id == resource_id)
        if not len(row):
            return []
        sharing = ~failing(self.batch)
        if sharing[row[0]]:
            found, retries = self._budgets, self._retries
        else:  # it is none of those that budgets are reckoned for, and is put among them
            sharing[row[0]] = True
            found = long_run(self._house, self._beliefs, self.batch.pick(sharing))
            others = np.flatnonzero(self.batch.id != resource_id)
            retries = retries_per_day(self.batch.pick(others))
        return [] if found is None else gaps_at(self._beliefs, found, resource_id, times, retries)

    @cached_property
    def _budgets(self) -> Budgets | None:
        return long_run(self._house, self._beliefs, self.batch.pick(~failing(self.batch)))

    @cached_property
    def _retries(self) -> float:
        return retries_per_day(self.batch)
