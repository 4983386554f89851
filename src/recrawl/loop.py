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
from math import inf, isnan

import numpy as np

from recrawl.contracts import Policy, Predictor, Store
from recrawl.errors import StoreError
from recrawl.finding import Chain, Finding, batch_of, retry, seen, stepped
from recrawl.grounds import Grounds
from recrawl.kinship import Kinship
from recrawl.lore import Lore
from recrawl.memories import Memories
from recrawl.model import Adoption, Batch, Lease, Plan, Plans, Standing, Visit
from recrawl.observe.pacing import MAX_CRAWL_DELAY_S
from recrawl.purse import Purse
from recrawl.sighted import Sighted, Study, at_once
from recrawl.tariff import Tariff
from recrawl.terms import BACK_S, Terms, note_budget, noted_terms
from recrawl.waiting import Waiting

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
        bytes_per_day: float | None = None,
        reprice_every_s: float = 3_600.0,
        lease_s: float = 300.0,
        by: str = "",
        free_price: float = 0.0,
        fit_priors_every_s: float = inf,
        train_every_s: float = inf,
        study: Study = at_once,
    ) -> None:
        self.store, self.predictor, self.policy, self.rule = store, predictor, policy, rule
        self._every_s, self._rest_s = reprice_every_s, 0.0
        self.lease_s, self.by = lease_s, by  # for how long, and for which process, hosts are leased
        self.purse = Purse(store, per_day, bytes_per_day)
        self.tariff = Tariff(policy, rule, self.purse, free_price=free_price, every_s=reprice_every_s)
        self._memories = Memories(predictor, policy, self.tariff.costs)
        self._sighted = Sighted(store, train_every_s, study)
        self._grounds = Grounds(store, predictor, fit_priors_every_s)
        self._kinship = Kinship(store, predictor, train_every_s)
        self._lore = Lore(store, predictor)
        self._waiting = Waiting(store, predictor, self.tariff)
        self._latest_at = self._insist_at = -inf  # that it was asked about; when limits are noted anew

    @property
    def per_day(self) -> float | None:
        return self.purse.per_day

    def rebudget(self, per_day: float | None, bytes_per_day: float | None) -> None:
        """Keep to other limits from now on: the price is found anew before anything is claimed."""
        if (per_day, bytes_per_day) != (self.purse.per_day, self.purse.bytes_per_day):
            self.tariff.rebudget(per_day, bytes_per_day)
            self._memories = Memories(self.predictor, self.policy, self.tariff.costs)

    def rest(self, least_s: float) -> None:
        """Leave at least so long between two pricings: the shell knows what one takes."""
        self._rest_s = least_s
        self.tariff.every_s = self.reprice_every_s

    @property
    def reprice_every_s(self) -> float:
        return max(self._every_s, self._rest_s)

    @property
    def price(self) -> float:
        """NaN while none was found."""
        return self.tariff.price

    def start(self, now: float) -> None:
        """Take up the model, the priors, the kin and the lore of the last run, and its price if it was found
        for the same rule and budget."""
        self._sighted.take_up()
        self._grounds.take_up()
        self._kinship.take_up()
        self._lore.take_up()
        if (terms := noted_terms(self.store)) is not None:
            self.tariff.take_up(terms, now)
            self._latest_at = max(self._latest_at, terms.priced_at)  # whoever found that price

    def finish(self, *, wait: bool = False) -> None:
        """Nothing more comes for now: what was counted since the last pricing is noted for those to come, and
        what was learned; what is still being learned is waited for, or forgotten."""
        with suppress(StoreError):  # the visits are recorded all the same
            self._lore.put()
        with suppress(StoreError):
            self._sighted.finish(wait=wait)

    def due(self, now: float, limit: int) -> list[Lease]:
        """Claim what may be visited now, the longest overdue first, at most one resource a host; but for what
        need not be visited yet, by what is known by now."""
        if limit <= 0 or self.store.ready_at(now) > now or not self.n_free(now):
            return []
        with self.store.together():
            n_granted = self.purse.drawn(limit, now)
            leases = self._claimed(n_granted, now) if n_granted else []
            leases = self._waiting.still_due(leases, self._memories, now)
            with suppress(StoreError):  # else nobody would hold the leases; the allowance loses a little
                self.purse.settle_draw(leases, n_granted, now)
        return leases

    def claim(self, resource_id: int, now: float) -> Lease | None:
        """Claim this one although it is not due; None while its host must be left alone."""
        with self.store.together():
            leases = self._claimed(1, now, resource_id)
            with suppress(StoreError):
                self.purse.take(leases, now)
        return leases[0] if leases else None

    def _claimed(self, limit: int, now: float, only: int | None = None) -> list[Lease]:
        return self.store.claim(now=now, limit=limit, lease_s=self.lease_s, only=only, by=self.by)

    def release(self, leases: Sequence[Lease], now: float, gate_at: float) -> None:
        """Give back what was claimed and will not be visited; the hosts are left alone until `gate_at`."""
        with self.store.together():
            self.store.release(leases, gate_at)
            self.purse.give_back(leases, now)

    def lose(self, leases: Sequence[Lease], gate_at: float) -> None:
        """Visits that were made, and cannot be recorded."""
        self.store.release(leases, gate_at)
        self.purse.lose(leases)

    def n_free(self, now: float) -> float:
        """How many visits the allowance has left at this moment."""
        if not (n_free := self.purse.n_free(now)) and now >= self._insist_at:
            # whoever has other limits may have noted theirs; not at every turn, or two would go on for ever
            self.purse.begin(now)
            self._insist_at = now + STALE_S
        return n_free

    def charge(self, n: int, n_bytes: int, now: float) -> None:
        """Spend visits, and bytes, that were made whether the allowance has them or not."""
        with self.store.together():
            self.purse.charge(n, now)
            self.purse.charge_bytes(n_bytes, now)

    @property
    def reprice_at(self) -> float:
        """When the price is to be found anew, if nothing is said before."""
        terms = self.tariff.terms
        return -inf if terms is None else terms.priced_at + self.reprice_every_s

    def must_reprice(self, now: float) -> bool:
        """Whether the price is old, what it was found for has changed since, or the clock was set back; or
        whether this worker does not know yet what visits told of each other's resources, or has just learned;
        or whether much need not be visited that is due.
        """
        terms, self._latest_at = self.tariff.terms, max(self._latest_at, now)
        if terms is None or self._lore.behind or self._sighted.ready or now >= self.reprice_at:
            return True
        if now < max(self._latest_at, terms.priced_at) - BACK_S:
            return True
        rested = now >= terms.priced_at + max(self._rest_s, min(STALE_S, self._every_s))
        return rested and (self._waiting.many or self.store.note("said") != terms.said)

    def wake_at(self, now: float) -> float:
        """When there may next be something to do: a visit or a repricing."""
        ready_at = self.store.ready_at(now)
        if ready_at < self.reprice_at:
            ready_at = max(ready_at, self.purse.ready_at(now))
        return max(now, min(ready_at, self.reprice_at))

    def absorb(
        self, findings: Sequence[Finding], now: float, files: Mapping[str, int] | None = None
    ) -> list[Absorbed]:
        """Learn from visits and plan the next ones; recorded together, in one transaction."""
        if not findings:
            return []
        if isnan(self.price):
            self.reprice(now)
        findings = self._sighted.expected(findings)
        self._memories.remember([finding.lease for finding in findings])
        told = seen(findings)
        self._memories.learn(told)
        self._memories.weigh(findings)
        standings = [stepped(finding) for finding in findings]
        plans = self._plans(findings, standings, now)
        ids = np.array([finding.visit.resource_id for finding in findings], dtype=np.int64)
        memory = self._memories.rows(ids)
        done = [
            finding.completion(replace(standing, memory=row), plan)
            for finding, standing, plan, row in zip(findings, standings, plans, memory, strict=True)
        ]
        accepted = self.store.complete(done, files)
        self._waiting.plan(ids.tolist(), now)
        self._lore.learned(told)
        self.tariff.note(findings, now)
        self._heed([finding.visit for finding in findings if finding.tells], now)
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
        self._lore.learned(
            self._memories.adopt(chains, lambda: self._lore.share_with(self._grounds.grounded(fresh())))
        )
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
        if back := now < self._latest_at - BACK_S:
            # else nothing would be visited until the time comes round that this clock showed
            self.store.set_back(now, lease_s=self.lease_s, rest_s=MAX_CRAWL_DELAY_S)
        self._latest_at = now
        self.purse.begin(now, back=back)
        said = self.store.note("said")
        batch, memory = self.store.batch()
        self._memories.recall(batch.id, memory)
        if len(batch):
            if told := self._sighted.renew(batch, now):
                batch, _ = self.store.batch()
            self._grounds.renew(batch, now, self._sighted.ratio, anew=told)
        self._kinship.renew(batch, now)
        self._lore.catch_up()
        plans = self.tariff.settle(batch, self.predictor.forecast(batch, now), now, said)
        self._replan(batch, plans)
        self._waiting.plan_anew(now)
        terms = self.tariff.terms
        assert terms is not None  # noqa: S101 - they were just settled
        with self.store.together():
            note_budget(self.store, terms, noted_terms(self.store))
            self.store.note("terms", terms.written())
        return terms

    def _heed(self, visits: Sequence[Visit], now: float) -> None:
        """Whom these visits told of is planned anew at once: else it would wait for the next pricing."""
        if not visits:
            return
        with suppress(StoreError):  # the visits are recorded all the same
            batch, memory = self.store.told_of(visits)
            if len(batch):
                self._memories.recall(batch.id, memory)
                self._replan(batch, self.tariff.plans(batch, self.predictor.forecast(batch, now), now))
                self._waiting.plan(batch.id.tolist(), now)

    def _replan(self, batch: Batch, plans: Plans) -> None:
        """Only plans that a forecast made are made anew: a first look stays first, a retry backs off."""
        self.store.replan(plans.pick(np.isfinite(batch.since_at) & (batch.n_failures == 0)))

    def _plans(self, findings: Sequence[Finding], standings: Sequence[Standing], now: float) -> list[Plan]:
        batch = batch_of([finding.lease for finding in findings], standings)
        plans = self.tariff.plans(batch, self.predictor.forecast(batch, now), now).rows()
        return [
            retry(finding, standing, plan.gap_s, now) if standing.n_failures else plan
            for finding, standing, plan in zip(findings, standings, plans, strict=True)
        ]
