"""The one loop: due, absorb, reprice.

Both shells drive it, the live one on the wall clock and the simulator on a virtual one. It reads no clock
and touches no network; what it knows is in the store and in the predictor's memory.

    due      which resources may be visited now: planned, polite, and within the allowance
    absorb   visits in, learning done, next plans out; one transaction
    reprice  the price at which demand fits the budget, and every plan anew at that price
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan

import numpy as np

from recrawl.contracts import Forecasts, Policy, Predictor, Store
from recrawl.model import (
    Batch,
    Changed,
    Completion,
    Floats,
    Lease,
    Outcome,
    Plan,
    Plans,
    Seen,
    Standing,
    Version,
    Visit,
    recent_bits,
)
from recrawl.schedule.budget import Allowance, demand_per_day, price_for
from recrawl.schedule.retry import retry_gap_s

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A visit as the shell brings it in: judged, archived, not yet learned from."""

    lease: Lease
    visit: Visit
    gate_at: float  # the host is left alone until then
    versions: tuple[Version, ...] = ()
    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True)
class Absorbed:
    """What became of a finding; `accepted` is False where another worker had taken the lease over."""

    visit: Visit
    plan: Plan
    accepted: bool


@dataclass(frozen=True, slots=True)
class Priced:
    """What a repricing found."""

    price: float
    n_resources: int
    demand_per_day: float


class Loop:
    """`per_day` is the budget in visits a day; None means no limit but the smallest gaps."""

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
    ) -> None:
        self.store = store
        self.predictor = predictor
        self.policy = policy
        self.rule = rule
        self.per_day = per_day
        self.reprice_every_s = reprice_every_s
        self.lease_s = lease_s
        self.price = nan
        self.reprice_at = -inf
        self._allowance: Allowance | None = None

    def start(self, now: float) -> None:
        """Take up where the last run stopped: its price, if it was for the same rule and budget, and
        the part of its allowance that it left."""
        if self.per_day is not None:
            full = Allowance(self.per_day, 0.0, now)
            window_s = full.most * DAY_S / self.per_day if self.per_day > 0.0 else 0.0
            used = self.store.n_visits_since(now - window_s)
            self._allowance = replace(full, saved=max(0.0, full.most - used))
        kept = (self.store.note("price") or "").split("|")
        if len(kept) == 3 and kept[0] == self._terms():
            self.price, priced_at = float(kept[1]), float(kept[2])
            self.reprice_at = priced_at + self.reprice_every_s

    def due(self, now: float, limit: int) -> list[Lease]:
        """Claim what may be visited now, the longest overdue first, at most one resource a host."""
        if self._allowance is not None:
            self._allowance = self._allowance.accrued(now)
            limit = min(limit, self._allowance.n_free)
        if limit <= 0:
            return []
        leases = self.store.claim(now=now, limit=limit, lease_s=self.lease_s)
        self._charge(len(leases))
        return leases

    def claim(self, resource_id: int, now: float) -> Lease | None:
        """Claim this one although it is not due; None while its host must be left alone."""
        leases = self.store.claim(now=now, limit=1, lease_s=self.lease_s, only=resource_id)
        self._charge(len(leases))
        return leases[0] if leases else None

    def n_free(self, now: float) -> float:
        """How many visits the allowance has left at this moment."""
        return inf if self._allowance is None else self._allowance.accrued(now).n_free

    def release(self, leases: Sequence[Lease], now: float) -> None:
        """Give back what was claimed and will not be visited."""
        self.store.release(leases, now)
        self._charge(-len(leases))

    def wake_at(self, now: float) -> float:
        """When there may next be something to do: a visit or a repricing."""
        ready_at = self.store.ready_at(now)
        if self._allowance is not None:
            ready_at = max(ready_at, self._allowance.accrued(now).ready_at)
        return max(now, min(ready_at, self.reprice_at))

    def absorb(
        self, findings: Sequence[Finding], now: float, files: Mapping[str, int] | None = None
    ) -> list[Absorbed]:
        """Learn from visits and plan the next ones; recorded together, in one transaction."""
        if not findings:
            return []
        if isnan(self.price):
            self.reprice(now)
        self._remember(findings)
        self.predictor.learn(_seen(findings))
        standings = [_stepped(finding) for finding in findings]
        plans = self._plans(findings, standings, now)
        ids = np.array([finding.visit.resource_id for finding in findings], dtype=np.int64)
        memory = self.predictor.memory(ids)
        done = [
            Completion(
                lease=finding.lease,
                visit=finding.visit,
                standing=replace(
                    standing,
                    # a retry is no gap of the policy's: the present gap stays what it was
                    gap_s=plan.gap_s if finding.visit.informative else standing.gap_s,
                    due_at=plan.due_at,
                    memory=tuple(memory[i].tolist()),
                ),
                plan=plan,
                gate_at=finding.gate_at,
                versions=finding.versions,
            )
            for i, (finding, standing, plan) in enumerate(zip(findings, standings, plans, strict=True))
        ]
        accepted = self.store.complete(done, now, files)
        return [
            Absorbed(finding.visit, plan, ok)
            for finding, plan, ok in zip(findings, plans, accepted, strict=True)
        ]

    def reprice(self, now: float) -> Priced:
        """Find the price that the budget can pay, and plan every resource anew at it."""
        batch, memory = self.store.batch()
        self.predictor.recall(batch.id, memory)
        self.reprice_at = now + self.reprice_every_s
        if not len(batch):
            self.price = 0.0
            return Priced(self.price, 0, 0.0)
        forecasts = self.predictor.forecast(batch, now)
        quote = self.policy.quote(batch, forecasts)
        self.price = 0.0 if self.per_day is None else price_for(quote, self.per_day, guess=self.price)
        # Only plans that a forecast made are made anew: a first look stays first, a retry backs off.
        rows = np.flatnonzero(np.isfinite(batch.since_at) & (batch.n_failures == 0))
        if len(rows):
            gap_s = quote.gaps(self.price)[rows]
            self.store.replan(self._planned(batch.pick(rows), forecasts.pick(rows), gap_s, now))
        self.store.note("price", f"{self._terms()}|{self.price!r}|{now!r}")
        return Priced(self.price, len(batch), demand_per_day(quote, self.price))

    def _terms(self) -> str:
        return f"{self.rule}@{self.per_day!r}"

    def _charge(self, n: int) -> None:
        if self._allowance is not None:
            self._allowance = self._allowance.spent(n)

    def _remember(self, findings: Sequence[Finding]) -> None:
        """The store's memory of a resource is the truth: another worker may have learned since."""
        kept = [f for f in findings if len(f.lease.standing.memory) == self.predictor.width]
        if kept:
            ids = np.array([f.visit.resource_id for f in kept], dtype=np.int64)
            self.predictor.recall(ids, np.array([f.lease.standing.memory for f in kept]))

    def _plans(self, findings: Sequence[Finding], standings: Sequence[Standing], now: float) -> list[Plan]:
        told = [i for i, finding in enumerate(findings) if finding.visit.informative]
        plans: dict[int, Plan] = {}
        if told:
            batch = _batch([findings[i] for i in told], [standings[i] for i in told])
            forecasts = self.predictor.forecast(batch, now)
            gap_s = self.policy.quote(batch, forecasts).gaps(self.price)
            plans = dict(zip(told, self._planned(batch, forecasts, gap_s, now).rows(), strict=True))
        return [
            plans[i] if i in plans else _retry(finding, standings[i], now)
            for i, finding in enumerate(findings)
        ]

    def _planned(self, batch: Batch, forecasts: Forecasts, gap_s: Floats, now: float) -> Plans:
        low, high = batch.min_gap_s * (1 + 1e-9), batch.max_gap_s * (1 - 1e-9)
        return Plans(
            id=batch.id,
            due_at=batch.since_at + gap_s,
            gap_s=gap_s,
            p_changed=1.0 - forecasts.survival(gap_s),
            per_day=forecasts.n_expected(gap_s) / gap_s * DAY_S,
            bound=np.where(gap_s <= low, -1, np.where(gap_s >= high, 1, 0)).astype(np.int8),
            price=self.price,
            rule=self.rule,
            planned_at=now,
        )


def _seen(findings: Sequence[Finding]) -> Seen:
    """The visits that teach: informative, with a verdict, and with an earlier one to compare with."""
    visits = [
        f.visit
        for f in findings
        if f.visit.informative and f.visit.changed is not Changed.UNKNOWN and isfinite(f.visit.since_at)
    ]
    return Seen(
        id=np.array([v.resource_id for v in visits], dtype=np.int64),
        since_at=np.array([v.since_at for v in visits]),
        at=np.array([v.at for v in visits]),
        changed=np.array([int(v.changed) for v in visits], dtype=np.int8),
        event_at=np.array([v.event_at for v in visits]),
    )


def _stepped(finding: Finding) -> Standing:
    """Where the resource stands after the visit."""
    before, visit = finding.lease.standing, finding.visit
    if not visit.informative:
        return replace(before, last_at=visit.at, n_failures=before.n_failures + 1)
    known = visit.changed is not Changed.UNKNOWN
    changed = visit.changed is Changed.YES
    current = [version for version in finding.versions if not version.flag]
    return replace(
        before,
        since_at=visit.at,
        last_at=visit.at,
        n_informative=before.n_informative + 1,
        n_changes=before.n_changes + changed,
        n_failures=0,
        bits=recent_bits(before.bits, changed) if known else before.bits,
        etag=before.etag if visit.outcome is Outcome.NOT_MODIFIED else finding.etag,
        last_modified=before.last_modified
        if visit.outcome is Outcome.NOT_MODIFIED
        else finding.last_modified,
        version=current[-1] if current else before.version,
    )


def _batch(findings: Sequence[Finding], standings: Sequence[Standing]) -> Batch:
    settings = [finding.lease.resource.effective for finding in findings]
    return Batch(
        id=np.array([finding.visit.resource_id for finding in findings], dtype=np.int64),
        weight=np.array([said.weight for said in settings]),
        min_gap_s=np.array([said.min_gap_s for said in settings]),
        max_gap_s=np.array([said.max_gap_s for said in settings]),
        since_at=np.array([standing.since_at for standing in standings]),
        gap_s=np.array([standing.gap_s for standing in standings]),
        n_informative=np.array([standing.n_informative for standing in standings], dtype=np.int64),
        n_changes=np.array([standing.n_changes for standing in standings], dtype=np.int64),
        n_failures=np.array([standing.n_failures for standing in standings], dtype=np.int64),
        bits=np.array([standing.bits for standing in standings], dtype=np.uint64),
    )


def _retry(finding: Finding, standing: Standing, now: float) -> Plan:
    gap_s = retry_gap_s(standing.n_failures, finding.lease.resource.effective.max_gap_s)
    return Plan(
        resource_id=finding.visit.resource_id,
        due_at=finding.visit.at + gap_s,
        gap_s=gap_s,
        rule="retry",
        planned_at=now,
    )
