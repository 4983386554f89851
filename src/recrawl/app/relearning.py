"""Learn all visits of a store anew: after another predictor was chosen, or where its memory was lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan

import numpy as np

from recrawl.app.build import House
from recrawl.contracts import Store
from recrawl.costs import Costs
from recrawl.lore import Lore
from recrawl.memories import Memories
from recrawl.model import Bits, Floats, Ints, Seen

_CHUNK = 10_000


@dataclass(frozen=True, slots=True)
class Relearned:
    n_visits: int  # that taught something
    n_resources: int  # whose memory is new
    n_passed: int  # visited meanwhile: they keep what they had


def relearn(house: House, tell: Callable[[str], object] = lambda _: None) -> Relearned:
    """Every visit that taught something, in the order of time, through a predictor (and a policy that learns)
    that know nothing yet; what they know then takes the place of what the store kept."""
    if not house.kept:
        return Relearned(0, 0, 0)
    loop = house.loop(as_last=True)
    loop.start(house.clock.now())  # on the ground that is noted
    lore = Lore(house.store, loop.predictor)
    lore.begin_anew()
    costs = loop.tariff.costs
    memories = Memories(loop.predictor, loop.policy, costs)
    # Looked up before: whoever is visited from now on is told from the others by it. What visits weigh is not
    # learned anew, so it is taken over.
    ids, since_at = _visited(house.store, None if costs is None else _Weights(house, costs))
    n_visits = 0
    tally = _Tally(ids)
    for seen in house.store.told():
        memories.learn(seen)
        tally.count(seen.folded())
        n_visits += seen.n_visits
        tell(f"{n_visits:,} visits learned")
    lore.put_anew()
    n_new = 0
    for start in range(0, len(ids), _CHUNK):
        some = slice(start, start + _CHUNK)
        for places, rows in memories.blocks(ids[some]):
            n_new += house.store.remind(ids[some][places], since_at[some][places], rows)
        house.store.recount(ids[some], since_at[some], tally.n_changes[some], tally.bits[some])
        tell(f"{n_visits:,} visits learned, {n_new:,} resources written")
    return Relearned(n_visits, n_new, len(ids) - n_new)


class _Tally:
    """Of each resource the changes that count, and the newest bits: what counts may have been said anew."""

    def __init__(self, ids: Ints) -> None:
        self._ids = ids  # rising
        self.n_changes: Ints = np.zeros(len(ids), dtype=np.int64)
        self.bits: Bits = np.zeros(len(ids), dtype=np.uint64)

    def count(self, seen: Seen) -> None:
        order = np.argsort(seen.id, kind="stable")  # in the order of time, resource by resource
        row = np.searchsorted(self._ids, seen.id[order])
        here = np.append(self._ids, -1)[row] == seen.id[order]
        row, changed = row[here], (seen.changed[order] == 1)[here]
        np.add.at(self.n_changes, row, changed)
        first = np.flatnonzero(np.diff(row, prepend=-1))
        turn = np.arange(len(row)) - np.repeat(first, np.diff(np.append(first, len(row))))
        for one in range(int(turn.max(initial=-1)) + 1):
            now = turn == one
            self.bits[row[now]] = (self.bits[row[now]] << np.uint64(1)) | changed[now].astype(np.uint64)


class _Weights:
    """Takes what visits weigh out of old memory rows, and nothing else."""

    def __init__(self, house: House, costs: Costs) -> None:
        apart = house.loop(as_last=True)
        self._memories = Memories(apart.predictor, apart.policy, costs)

    def take(self, resource_id: int, row: tuple[float, ...]) -> None:
        self._memories.recall(np.array([resource_id]), np.array([row]))


def _visited(store: Store, weights: _Weights | None) -> tuple[Ints, Floats]:
    """All that were ever visited, with their last informative visits."""
    ids: list[int] = []
    since_at: list[float] = []
    for resource, standing, _ in store.resources():
        if not isnan(standing.last_at):
            ids.append(resource.id)
            since_at.append(standing.since_at)
            if weights is not None and standing.memory:
                weights.take(resource.id, standing.memory)
    return np.array(ids, dtype=np.int64), np.array(since_at)
