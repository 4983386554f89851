"""What waits on although it was due: by what is known by now it need not be visited yet.

Plans are made at a visit and at every pricing. In between others of the same group are visited, and may be
found quiet: what was stirred an hour ago all falls due at once, and the first few visits tell that the rest
need not come. So what was claimed is planned once more before it is visited.

Only by who knows at least as much as whoever planned it: what other workers saw is overheard at the next
pricing, and their plans from then on rest on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import inf, nan

import numpy as np

from recrawl.contracts import Clocked, Predictor, Shared, Store
from recrawl.errors import StoreError
from recrawl.finding import batch_of
from recrawl.memories import Memories
from recrawl.model import ASKED, Lease, Plan
from recrawl.tariff import Tariff
from recrawl.terms import BACK_S

LATER = 0.02  # of the time since its last visit: who is due later by no more is visited all the same
MANY = 500  # so many are put off one by one, each a turn of its host; then all are planned anew at once


class Waiting:
    """Where forecasts know nothing of other resources, plans stand as they are."""

    def __init__(self, store: Store, predictor: Predictor, tariff: Tariff) -> None:
        self._store, self._predictor, self._tariff = store, predictor, tariff
        self._teaches = isinstance(predictor, Shared)
        self._known_at = -inf  # when this worker last overheard the others
        self._planned: dict[int, float] = {}  # which it planned itself since then, and when
        # Until when each waits on, after which visit. Who is claimed before that all the same is visited.
        self._until: dict[int, tuple[float, float]] = {}
        self._n_put_off = 0

    @property
    def many(self) -> bool:
        """Whether so many were put off since everything was planned that all may as well be asked at once."""
        return self._n_put_off >= MANY

    def plan_anew(self, now: float) -> None:
        """Everything was planned, and nobody waits for what was known before."""
        self._known_at = now
        self._planned.clear()
        self._until.clear()
        self._n_put_off = 0

    def plan(self, ids: Iterable[int], now: float) -> None:
        """These were planned here."""
        self._planned.update(dict.fromkeys(ids, now))

    def still_due(self, leases: list[Lease], memories: Memories, now: float) -> list[Lease]:
        """Without those that wait on: they are planned anew and given back. First looks and retries are made
        when they are due."""
        with suppress(StoreError):  # else they are visited all the same
            if late := self._put_off(
                [lease for lease in leases if self._foretold(lease, now)], memories, now
            ):
                self._store.release([lease for lease in leases if lease.resource.id in late], now)
                return [lease for lease in leases if lease.resource.id not in late]
        return leases

    def _put_off(self, leases: Sequence[Lease], memories: Memories, now: float) -> frozenset[int]:
        if not leases or not self._teaches:
            return frozenset()
        memories.remember(leases)
        batch = batch_of(leases, [lease.standing for lease in leases])
        forecasts = self._predictor.forecast(batch, now)
        if not isinstance(forecasts, Clocked):
            return frozenset()
        plans = self._tariff.plans(batch, forecasts, now)
        late = plans.due_at > now + LATER * (now - batch.since_at)
        late[late] = [self._knows_better(self._store.standing(id_)[1]) for id_ in batch.id[late].tolist()]
        if not late.any():
            return frozenset()
        plans = plans.pick(np.flatnonzero(late))
        self._store.replan(plans)
        self.plan(plans.id.tolist(), now)
        columns = (plans.id.tolist(), plans.since_at.tolist(), plans.due_at.tolist())
        self._until.update({id_: (since_at, due_at) for id_, since_at, due_at in zip(*columns, strict=True)})
        self._n_put_off += len(plans)
        return frozenset(columns[0])

    def _knows_better(self, plan: Plan | None) -> bool:
        """Than whoever made this plan; what a person asked for is nobody's to put off. By whose clock others
        planned is unknown: what they saw shortly before may not have been there to be overheard."""
        if plan is None or plan.rule == ASKED:
            return False
        own = plan.planned_at in (self._known_at, self._planned.get(plan.resource_id))
        return own or plan.planned_at <= self._known_at - BACK_S

    def _foretold(self, lease: Lease, now: float) -> bool:
        stands = lease.standing
        since_at, until_at = self._until.pop(lease.resource.id, (nan, nan))
        asked_for = since_at == stands.since_at and now < until_at
        return stands.n_informative > 0 and stands.n_failures == 0 and not asked_for
