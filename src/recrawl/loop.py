"""The one loop: due, absorb, reprice.

Both shells drive it, the live one on the wall clock and the simulator on a virtual one. It reads no clock
and touches no network; what it knows is in the store and in the memories of predictor and policy.

    due      which resources may be visited now: planned, polite, and within the allowance
    absorb   visits in, learning done, next plans out; one transaction
    reprice  the price at which demand fits the budget, and every plan anew at that price
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isnan, nan

import numpy as np

from recrawl.contracts import Forecasts, Policy, Predictor, Store
from recrawl.errors import StoreError
from recrawl.finding import Chain, Finding, batch_of, gate_after, n_host_failures, retry, seen, stepped
from recrawl.memories import Memories
from recrawl.model import (
    DAY_S,
    Adoption,
    Batch,
    Completion,
    Floats,
    Lease,
    Plan,
    Plans,
    Standing,
    Visit,
)
from recrawl.schedule.budget import Allowance, demand_per_day, price_for
from recrawl.terms import Terms, noted_terms

STALE_S = 60.0  # settings that change often do not make the price be found at every turn


@dataclass(frozen=True, slots=True)
class Absorbed:
    """What became of a finding; `accepted` is False where another worker had taken the lease over."""

    visit: Visit
    plan: Plan
    accepted: bool


class Loop:
    """`per_day` is the budget in visits a day; None means no limit, and every visit at `free_price`: 0, where
    the smallest gaps alone keep visits apart, or what a simulation asks for."""

    def __init__(
        self,
        *,
        store: Store,
        predictor: Predictor,
        policy: Policy,
        rule: str,
        per_day: float | None,
        reprice_every_s: float = 3_600.0,
        lease_s: float = 300.0,
        by: str = "",
        free_price: float = 0.0,
    ) -> None:
        self.store = store
        self.predictor = predictor
        self.policy = policy
        self.rule = rule
        self.per_day = per_day
        self.reprice_every_s = reprice_every_s
        self.lease_s = lease_s
        self.by = by  # the process that this loop runs in
        self.price = nan
        self.free_price = free_price
        self._terms: Terms | None = None
        self._memories = Memories(predictor, policy)

    def start(self, now: float) -> None:
        """Take up the price of the last run, if it was found for the same rule and budget."""
        terms = noted_terms(self.store)
        if terms is not None and (terms.rule, terms.per_day) == (self.rule, self.per_day):
            # a clock that ran fast may have left a moment still to come
            self._terms = replace(terms, priced_at=min(terms.priced_at, now))
            self.price = terms.price

    def due(self, now: float, limit: int) -> list[Lease]:
        """Claim what may be visited now, the longest overdue first, at most one resource a host."""
        if limit <= 0 or self.store.ready_at(now) > now:
            return []
        n_granted = self._drawn(limit, now)
        if not n_granted:
            return []
        leases = self.store.claim(now=now, limit=n_granted, lease_s=self.lease_s, by=self.by)
        with suppress(StoreError):  # else nobody would hold the leases; the allowance loses a little
            self.charge(len(leases) - n_granted, now)
        return leases

    def claim(self, resource_id: int, now: float) -> Lease | None:
        """Claim this one although it is not due; None while its host must be left alone."""
        leases = self.store.claim(now=now, limit=1, lease_s=self.lease_s, only=resource_id, by=self.by)
        with suppress(StoreError):
            self.charge(len(leases), now)
        return leases[0] if leases else None

    def release(self, leases: Sequence[Lease], now: float, gate_at: float) -> None:
        """Give back what was claimed and will not be visited; the hosts are left alone until `gate_at`."""
        self.store.release(leases, gate_at)
        self.charge(-len(leases), now)

    def n_free(self, now: float) -> float:
        """How many visits the allowance has left at this moment."""
        return inf if self.per_day is None else self._allowance(now)[1].n_free

    @property
    def reprice_at(self) -> float:
        """When the price is to be found anew, if nothing is said before."""
        return -inf if self._terms is None else self._terms.priced_at + self.reprice_every_s

    def must_reprice(self, now: float) -> bool:
        """Whether the price is old, or what it was found for has changed since."""
        if self._terms is None or now >= self.reprice_at:
            return True
        rested = now >= self._terms.priced_at + min(STALE_S, self.reprice_every_s)
        return rested and self.store.note("said") != self._terms.said

    def wake_at(self, now: float) -> float:
        """When there may next be something to do: a visit or a repricing."""
        ready_at = self.store.ready_at(now)
        if self.per_day is not None and ready_at < self.reprice_at:
            ready_at = max(ready_at, self._allowance(now)[1].ready_at)
        return max(now, min(ready_at, self.reprice_at))

    def absorb(
        self, findings: Sequence[Finding], now: float, files: Mapping[str, int] | None = None
    ) -> list[Absorbed]:
        """Learn from visits and plan the next ones; recorded together, in one transaction."""
        if not findings:
            return []
        if isnan(self.price):
            self.reprice(now)
        self._memories.remember(findings)
        self._memories.learn(seen(findings))
        standings = [stepped(finding) for finding in findings]
        plans = self._plans(findings, standings, now)
        ids = np.array([finding.visit.resource_id for finding in findings], dtype=np.int64)
        memory = self._memories.rows(ids)
        done = [
            Completion(
                lease=finding.lease,
                visit=finding.visit,
                standing=replace(
                    standing,
                    # a retry is no gap of the policy's: the present gap stays what it was
                    gap_s=plan.gap_s if finding.visit.informative else standing.gap_s,
                    due_at=plan.due_at,
                    memory=memory[i],
                ),
                plan=plan,
                gate_at=gate_after(finding),
                n_host_failures=n_host_failures(finding),
                versions=finding.versions,
            )
            for i, (finding, standing, plan) in enumerate(zip(findings, standings, plans, strict=True))
        ]
        accepted = self.store.complete(done, files)
        return [
            Absorbed(finding.visit, plan, ok)
            for finding, plan, ok in zip(findings, plans, accepted, strict=True)
        ]

    def adopt(
        self,
        chains: Sequence[Chain],
        now: float,
        files: Mapping[str, int] | None = None,
        *,
        fresh: Callable[[], Predictor],
    ) -> list[Adoption | None]:
        """Learn from visits that were made elsewhere, as if they had been made here in their time; recorded
        together, in one transaction. None where the resource was visited meanwhile.

        A `fresh` predictor learns a whole past anew where visits are recorded that were made later.
        """
        if isnan(self.price):
            self.reprice(now)
        self._memories.adopt(chains, fresh)
        ids = np.array([chain.findings[0].visit.resource_id for chain in chains], dtype=np.int64)
        standings = [chain.adopted() for chain in chains]
        plans = self._plans([chain.findings[-1] for chain in chains], standings, now)
        past = [
            chain.adoption(replace(standing, memory=row), plan)
            for chain, standing, plan, row in zip(
                chains, standings, plans, self._memories.rows(ids), strict=True
            )
        ]
        accepted = self.store.adopt(past, now=now, files=files)
        return [adoption if ok else None for adoption, ok in zip(past, accepted, strict=True)]

    def reprice(self, now: float) -> Terms:
        """Find the price that the budget can pay, and plan every resource anew at it."""
        said = self.store.note("said")
        batch, memory = self.store.batch()
        self._memories.recall(batch.id, memory)
        demand = 0.0
        self.price = self.free_price if isnan(self.price) or not len(batch) else self.price
        if len(batch):
            forecasts = self.predictor.forecast(batch, now)
            quote = self.policy.quote(batch, forecasts)
            if self.per_day is None:
                self.price = self.free_price
            else:
                self.price = price_for(quote, self.per_day, guess=self.price)
            demand = demand_per_day(quote, self.price)
            # Only plans that a forecast made are made anew: a first look stays first, a retry backs off.
            rows = np.flatnonzero(np.isfinite(batch.since_at) & (batch.n_failures == 0))
            gap_s = quote.gaps(self.price)[rows]
            self.store.replan(self._planned(batch.pick(rows), forecasts.pick(rows), gap_s, now))
        self._terms = Terms(self.rule, self.per_day, self.price, demand, now, said)
        self.store.note("terms", self._terms.written())
        return self._terms

    def _allowance(self, now: float) -> tuple[str | None, Allowance]:
        """What all processes together have left of the budget, and the note that says so."""
        kept = self.store.note("allowance")
        allowance = Allowance(self.per_day or 0.0, 0.0, now)
        if kept is None:
            return None, replace(allowance, saved=allowance.most)
        saved, at = (float(part) for part in kept.split("|"))
        return kept, replace(allowance, saved=saved, at=min(at, now)).accrued(now)

    def _drawn(self, limit: int, now: float) -> int:
        """As many visits as the allowance has, up to `limit`; they are spent with this."""
        while self.per_day is not None:
            kept, allowance = self._allowance(now)
            n = min(limit, allowance.n_free)
            if not n or self._exchanged(kept, allowance.spent(n)):
                return n
        return limit

    def charge(self, n: int, now: float) -> None:
        """Spend visits that were made whether the allowance has them or not; give back where negative."""
        while n and self.per_day is not None:
            kept, allowance = self._allowance(now)
            if self._exchanged(kept, allowance.spent(n)):
                return

    def _exchanged(self, kept: str | None, allowance: Allowance) -> bool:
        return self.store.exchange("allowance", kept, f"{allowance.saved!r}|{allowance.at!r}")

    def _plans(self, findings: Sequence[Finding], standings: Sequence[Standing], now: float) -> list[Plan]:
        told = [i for i, standing in enumerate(standings) if not standing.n_failures]
        plans: dict[int, Plan] = {}
        if told:
            batch = batch_of([findings[i] for i in told], [standings[i] for i in told])
            forecasts = self.predictor.forecast(batch, now)
            gap_s = self.policy.quote(batch, forecasts).gaps(self.price)
            plans = dict(zip(told, self._planned(batch, forecasts, gap_s, now).rows(), strict=True))
        return [
            plans[i] if i in plans else retry(finding, standings[i], now)
            for i, finding in enumerate(findings)
        ]

    def _planned(self, batch: Batch, forecasts: Forecasts, gap_s: Floats, now: float) -> Plans:
        low, high = batch.min_gap_s * (1 + 1e-9), batch.max_gap_s * (1 - 1e-9)
        return Plans(
            id=batch.id,
            since_at=batch.since_at,
            due_at=batch.since_at + gap_s,
            gap_s=gap_s,
            p_changed=1.0 - forecasts.survival(gap_s),
            per_day=forecasts.n_expected(gap_s) / gap_s * DAY_S,
            bound=np.where(gap_s <= low, -1, np.where(gap_s >= high, 1, 0)).astype(np.int8),
            price=self.price,
            rule=self.rule,
            planned_at=now,
        )
