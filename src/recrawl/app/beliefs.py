"""What is believed of resources at this moment: read out of the store, where nothing is changed by it.

A run knows as much, and more of the groups: those are told of by their newest visits, of which so many are
read here as take no longer than a moment.
"""

from __future__ import annotations

import numpy as np

from recrawl.app.build import House
from recrawl.app.policies import policy_of
from recrawl.app.quantity import Budget
from recrawl.contracts import Policy, Predictor, Shared
from recrawl.costs import Costs
from recrawl.grounds import Grounds
from recrawl.kinship import Kinship
from recrawl.lore import Lore
from recrawl.memories import Memories
from recrawl.model import DAY_S, Batch, Floats, Ints, Resource, Standing
from recrawl.registry import made
from recrawl.terms import noted_terms

N_MEMBERS = 100  # of a group that are asked, those seen last
N_EACH = 16  # visits of each: as far back as a group's stirs go
N_HEARD = 600  # visits in all


class Beliefs:
    """The predictor and the policy of the last run, or those that the configuration has."""

    def __init__(self, house: House) -> None:
        self.store = house.store
        self.terms = noted_terms(self.store)
        schedule = house.config.schedule
        name, goal, self.budget = schedule.policy, schedule.goal, schedule.limits
        if self.terms is not None:
            name, _, goal = self.terms.rule.partition(":")
            self.budget = Budget(self.terms.per_day, self.terms.bytes_per_day)
        self.policy: Policy
        self.policy, self.rule = policy_of(name, goal, asked=False)
        self.predictor: Predictor = made("predictors", schedule.predictor)
        self.costs = None if self.budget.bytes_per_day is None else Costs()
        grounds = Grounds(self.store, self.predictor, DAY_S)
        grounds.take_up()
        self.heeds_hunches = grounds.heeds_hunches
        Kinship(self.store, self.predictor, DAY_S).take_up()
        Lore(self.store, self.predictor).take_up()
        self._memories = Memories(self.predictor, self.policy, self.costs)

    def all(self) -> Batch:
        """Of all that are not paused."""
        batch, memory = self.store.batch()
        self.recall(batch.id, memory)
        return batch

    def recall(self, ids: Ints, memory: Floats) -> None:
        """Of these, what the store kept of them."""
        self._memories.recall(ids, memory)

    def one(self, resource: Resource, standing: Standing) -> Batch:
        """Of this one, paused or not."""
        ids = np.array([resource.id], dtype=np.int64)
        if standing.memory:
            self._memories.recall(ids, np.array([standing.memory]))
        said = resource.effective

        def column(value: float) -> Floats:
            return np.array([value], dtype=np.float64)

        return Batch(
            id=ids,
            weight=column(said.weight),
            min_gap_s=column(said.min_gap_s),
            max_gap_s=column(said.max_gap_s),
            since_at=column(standing.since_at),
            gap_s=column(standing.gap_s),
            n_informative=np.array([standing.n_informative], dtype=np.int64),
            n_changes=np.array([standing.n_changes], dtype=np.int64),
            n_failures=np.array([standing.n_failures], dtype=np.int64),
            bits=np.array([standing.bits], dtype=np.uint64),
            group=np.array([resource.host_id], dtype=np.int64),
            told_at=column(standing.told_at),
            told_by=np.array([standing.told_by], dtype=np.int64),
            hunch_per_day=column(standing.hunch_per_day),
            hunch_gap_s=column(standing.hunch_gap_s),
        )

    def hear(self, batch: Batch, group: int) -> int:
        """Let the group's newest visits tell what they tell of it; how many those are."""
        if not isinstance(self.predictor, Shared):
            return 0
        rows = np.flatnonzero((batch.group == group) & np.isfinite(batch.since_at))
        rows = rows[np.argsort(batch.since_at[rows], kind="stable")[-N_MEMBERS:]]
        if len(rows) < 2:  # alone, it tells nobody else anything
            return 0
        seen = self.store.lately(batch.id[rows], N_EACH)
        seen = seen.pick(np.argsort(seen.visit_at, kind="stable")[-N_HEARD:])
        self.predictor.overhear(seen)
        return len(seen)
