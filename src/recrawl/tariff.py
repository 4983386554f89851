"""The terms in force, and the gaps on them: what the last pricing found, for a few visits or for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, nan

import numpy as np

from recrawl.contracts import Divisible, Forecasts, Policy, Quote
from recrawl.costs import UNKNOWN, Costs
from recrawl.errors import PluginError
from recrawl.finding import Finding, keep_busy
from recrawl.model import DAY_S, Batch, Bools, Floats, Ints, Plans
from recrawl.pricing import Asked, Priced, costed, priced
from recrawl.purse import Purse
from recrawl.schedule.policies.index import even
from recrawl.schedule.relooks import Relooks
from recrawl.terms import BACK_S, Terms

ROOM = 2.0  # times shorter or longer: enough to see which way a gap would go
NEAR = 1.6  # times the smallest gap, or below the largest: as far as scouting and jitter together carry one


class Tariff:
    """Without any limit the price is `free_price`."""

    def __init__(self, policy: Policy, rule: str, purse: Purse, *, free_price: float, every_s: float) -> None:
        self._policy, self._rule, self._purse, self._free_price = policy, rule, purse, free_price
        self.every_s = every_s  # how long a price holds
        self.costs = None if purse.bytes_per_day is None else Costs()
        self.terms: Terms | None = None
        self.price = nan
        self._busy_s: dict[int, float] = {}  # how long a visit keeps each host, by its number

    def rebudget(self, per_day: float | None, bytes_per_day: float | None) -> None:
        """What visits weigh is known as soon as the store's memory is read, at the next pricing."""
        self._purse.per_day, self._purse.bytes_per_day = per_day, bytes_per_day
        self.costs = None if bytes_per_day is None else self.costs or Costs()
        self.terms = None

    def take_up(self, terms: Terms, now: float) -> None:
        """Go by the terms of the last run, if they are for the same rule and budget."""
        self._busy_s = {int(host): busy_s for host, busy_s in terms.busy_s.items()}
        purse = self._purse
        if (terms.rule, terms.per_day, terms.bytes_per_day) == (
            self._rule,
            purse.per_day,
            purse.bytes_per_day,
        ):
            # a clock that was ahead and was set back left a moment still to come: who knows how old that is
            old = terms.priced_at > now + BACK_S
            self.terms = replace(terms, priced_at=-inf if old else min(terms.priced_at, now))
            self.price, purse.mean_bytes = terms.price, terms.mean_bytes

    def note(self, findings: Sequence[Finding], now: float) -> None:
        """What these visits weighed, and how long they kept their hosts."""
        n_bytes = sum(finding.visit.n_bytes for finding in findings)
        self._purse.weigh([finding.lease for finding in findings], n_bytes, now)
        keep_busy(self._busy_s, findings)

    def settle(self, batch: Batch, forecasts: Forecasts, now: float, said: str | None) -> Plans:
        """Find the price for all there is, and plan everything at it."""
        purse, price = self._purse, self._free_price
        if not len(batch) or (purse.per_day, purse.bytes_per_day) == (None, None):
            gap_s = self._policy.quote(batch, forecasts).gaps(price)
            demand = float((DAY_S / gap_s).sum())
            # what comes before the next pricing is not free
            purse.mean_bytes = 1.0 if self.costs is None else UNKNOWN
            self.terms = Terms(
                self._rule,
                purse.per_day,
                price,
                demand,
                now,
                said,
                purse.bytes_per_day,
                mean_bytes=purse.mean_bytes,
            )
            self.price = price
            return self.planned(batch, forecasts, gap_s, price, now)
        found = priced(self._asked(batch, forecasts, now))
        self.price = found.price
        self.terms = self._termed(found, now, said)
        return self.planned(batch, forecasts, found.gap_s, found.prices, now, found.relooked, found.quote)

    def plans(self, batch: Batch, forecasts: Forecasts, now: float) -> Plans:
        """For some, on the terms of the last pricing."""
        terms = self.terms
        if terms is None or (terms.per_day is None and terms.bytes_per_day is None):
            gap_s = self._policy.quote(batch, forecasts).gaps(self.price)
            return self.planned(batch, forecasts, gap_s, self.price, now)
        n_bytes = None if self.costs is None else self.costs.n_bytes(batch.id)
        quote = self._policy.quote(costed(batch, n_bytes, terms.mix, terms.mean_bytes), forecasts)
        prices: Floats | float = self.price
        if terms.dear:
            own = [terms.dear.get(str(host), self.price) for host in batch.group.tolist()]
            prices = np.maximum(self.price, np.array(own))
        asked_s = gap_s = quote.gaps(prices)
        if (found := _relooks(terms)) is not None:
            gap_s = found.applied(batch, forecasts, gap_s)
        return self.planned(batch, forecasts, gap_s, prices, now, gap_s < asked_s, quote)

    def planned(
        self,
        batch: Batch,
        forecasts: Forecasts,
        gap_s: Floats,
        prices: Floats | float,
        now: float,
        relooked: Bools | bool = False,
        quote: Quote | None = None,
    ) -> Plans:
        if np.isnan(gap_s).any():  # it would never be due again, and nobody would be told
            raise PluginError(
                f"Gaps by {self._rule} are no numbers for {int(np.isnan(gap_s).sum()):,} of {len(batch):,} "
                "resources: a predictor, a goal or a policy gives NaN. Choose others by schedule.predictor, "
                "schedule.goal, schedule.policy, or tell those who wrote it; `recrawl.checks` finds such."
            )
        each = np.broadcast_to(np.asarray(prices, dtype=np.float64), len(batch))
        low, high = batch.min_gap_s * (1 + 1e-9), batch.max_gap_s * (1 - 1e-9)
        quote = self._policy.quote(batch, forecasts) if quote is None else quote
        wanted_s, plain = gap_s, even(quote)
        if plain is not quote and isinstance(plain, Divisible):
            # a bound gap may have been made shorter, and a free one carried to its end: the even one tells
            near = np.flatnonzero((gap_s <= NEAR * low) | (gap_s >= high / NEAR))
            wanted_s = gap_s.copy()
            wanted_s[near] = plain.pick(near).gaps(each[near])
        bound = np.where(wanted_s <= low, -1, np.where(wanted_s >= high, 1, 0))
        if len(only := np.flatnonzero(high <= low)):
            bound[only] = self._leaning(batch.pick(only), forecasts.pick(only), each[only])
        return Plans(
            id=batch.id,
            since_at=batch.since_at,
            due_at=batch.since_at + gap_s,
            gap_s=gap_s,
            p_changed=1.0 - forecasts.survival(gap_s),
            per_day=forecasts.n_expected(gap_s) / gap_s * DAY_S,
            bound=np.where(relooked, 2, bound).astype(np.int8),
            price=prices,
            rule=self._rule,
            planned_at=now,
        )

    def _leaning(self, batch: Batch, forecasts: Forecasts, prices: Floats) -> Ints:
        """Of those with only one gap allowed: -1 where they would come sooner if they could, 1 if later."""
        terms, gap_s = self.terms, batch.max_gap_s
        if self.costs is not None and terms is not None:
            batch = costed(batch, self.costs.n_bytes(batch.id), terms.mix, terms.mean_bytes)
        free = replace(batch, min_gap_s=gap_s / ROOM, max_gap_s=gap_s * ROOM)
        wanted_s = even(self._policy.quote(free, forecasts)).gaps(prices)
        return np.where(wanted_s < gap_s * (1 - 1e-9), -1, np.where(wanted_s > gap_s * (1 + 1e-9), 1, 0))

    def _asked(self, batch: Batch, forecasts: Forecasts, now: float) -> Asked:
        purse = self._purse
        n_bytes = None if self.costs is None else self.costs.n_bytes(batch.id)
        purse.mean_bytes = 1.0 if n_bytes is None else float(n_bytes.mean())
        return Asked(
            policy=self._policy,
            batch=batch,
            forecasts=forecasts,
            now=now,
            per_day=purse.per_day,
            bytes_per_day=purse.bytes_per_day,
            saved=purse.saved(now),
            n_bytes=n_bytes,
            busy_s=self._busy_s,
            every_s=self.every_s,
            guess=self.price,
            relooks=None if self.terms is None else _relooks(self.terms),
        )

    def _termed(self, found: Priced, now: float, said: str | None) -> Terms:
        purse, pairs = self._purse, found.relooks
        return Terms(
            self._rule,
            purse.per_day,
            found.price,
            found.demand_per_day,
            now,
            said,
            purse.bytes_per_day,
            mix=found.mix,
            mean_bytes=purse.mean_bytes,
            relooks=None if pairs is None else (pairs.soon_s, pairs.cycle_s),
            relooks_at={} if pairs is None else {str(host): cycle_s for host, cycle_s in pairs.full.items()},
            dear={str(host): price for host, price in found.dear.items()},
            busy_s={str(host): self._busy_s[host] for host in found.dear},
        )


def _relooks(terms: Terms) -> Relooks | None:
    at = {int(host): cycle_s for host, cycle_s in terms.relooks_at.items()}
    return None if terms.relooks is None else Relooks(*terms.relooks, at)
