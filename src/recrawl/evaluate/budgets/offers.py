"""The gaps that a policy offers at a price, and the price of a budget, in the long run.

The live loop prices the days ahead, with what happens to be overdue; here everything goes on as it mostly
does, so that budgets can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import cast

import numpy as np

from recrawl.contracts import Clocked, Divisible, Forecasts, Policy, Quote, UsualForecasts
from recrawl.evaluate.budgets.lateness import late_s
from recrawl.evaluate.budgets.outlook import Gaps
from recrawl.model import DAY_S, Batch, Bools, Floats, Ints
from recrawl.schedule.budget import lowest_price
from recrawl.schedule.hosts import NO_LIMITS, HostLimits
from recrawl.schedule.policies.index import Index
from recrawl.schedule.relooks import SHARE, given_up

OVER = 1.02  # of a limit: looks in pairs may ask for a little more than there is


@dataclass(frozen=True)
class Offers:
    """Of these resources; `limits` says how many visits a day the hosts can serve that may be full."""

    batch: Batch
    forecasts: Forecasts
    policy: Policy
    limits: HostLimits = NO_LIMITS
    times: float = 1.0  # how many resources each one stands for
    n_bytes: Floats | None = None  # of a visit, where there is a limit for them too

    @cached_property
    def quote(self) -> Quote:
        return self.policy.quote(self.batch, self.forecasts)

    def asked_per_day(self, price: float) -> float:
        """Visits a day that can be made at this price, the hosts' limits kept."""
        return self.times * self.limits.fitted(DAY_S / self.quote.gaps(price))

    def price_for(self, per_day: float, guess: float = 1.0, bytes_per_day: float = inf) -> float:
        """Where what is asked for just fits the tighter of both limits."""

        def taken(price: float) -> float:
            return max(self.asked_per_day(price) / per_day, self._bytes_per_day(price) / bytes_per_day)

        return lowest_price(taken, 1.0, guess=guess)

    def _bytes_per_day(self, price: float) -> float:
        if self.n_bytes is None:
            return 0.0
        return self.times * float(self.limits.cut(DAY_S / self.quote.gaps(price)) @ self.n_bytes)

    def gaps(self, price: float) -> Floats:
        """With the higher prices of hosts that are full; where too many visits remain even at the largest
        gaps, those of a host come late, all by as much."""
        gap_s = self.quote.gaps(price).copy()
        if len(self.limits.most):
            own = self.limits.prices(price, gap_s, self._taken, self._quoted)
            prices = np.where(self.limits.place >= 0, own[self.limits.place], price)
            rows = np.flatnonzero(prices > price)
            if len(rows):
                gap_s[rows] = self._quoted(rows).gaps(prices[rows])
            gap_s = gap_s + self._late_at_hosts_s(gap_s)
        return gap_s

    def _late_at_hosts_s(self, gap_s: Floats) -> Floats:
        """How late visits in these gaps come where their host cannot make as many."""
        rows = np.flatnonzero(self.limits.place >= 0)
        place, most = self.limits.place[rows], self.limits.most

        def taken(late: Floats) -> Floats:
            return np.bincount(place, DAY_S / (gap_s[rows] + late[place]), minlength=len(most)) / most

        late = np.zeros(len(gap_s))
        late[rows] = late_s(taken, len(most))[place]
        return late

    def at(self, per_day: float, guess: float = 1.0, bytes_per_day: float = inf) -> tuple[float, Gaps]:
        """The price of this budget, and the gaps at it."""
        price = self.price_for(per_day, guess, bytes_per_day)
        gap_s = self.gaps(price)
        lost = given_up(self.batch, self.forecasts, gap_s)
        long_s = gap_s
        n_per_day = min(per_day, inf if self.n_bytes is None else bytes_per_day / float(self.n_bytes.mean()))
        paired = isinstance(self.policy, Index) and 0.0 < price < inf and n_per_day < inf
        if paired and lost.any() and not lost.all():
            # a share of the visits goes to those that were given up, in pairs, evenly over all of them
            both_s = self._pairs_s(lost, gap_s, n_per_day)
            price = self.price_for((1.0 - SHARE) * per_day, price, (1.0 - SHARE) * bytes_per_day)
            long_s = self.gaps(price)
            one_s = np.minimum(long_s, both_s)  # where pairs are rarer than that, some looks are alone
            gap_s = np.where(lost, 1.0 / (1.0 / both_s + 1.0 / one_s), long_s)
            long_s = np.where(lost, one_s, long_s)
            late = gap_s * self.limits.cut(DAY_S / gap_s) / DAY_S  # a host that is full is full for pairs too
            gap_s, long_s = gap_s / late, long_s / late
        if self._share(gap_s, per_day, bytes_per_day) > OVER:
            # the largest gaps alone ask for more than there is: visits wait for the budget, and those that
            # wait for their host for both at once
            waited_s = np.maximum(gap_s - self.quote.gaps(inf), 0.0)

            def taken(late: Floats) -> Floats:
                more_s = np.maximum(late - waited_s, 0.0)
                return np.array([self._share(gap_s + more_s, per_day, bytes_per_day)])

            more_s = np.maximum(late_s(taken, 1) - waited_s, 0.0)
            gap_s, long_s = gap_s + more_s, long_s + more_s
        return price, Gaps(np.asarray(gap_s), np.asarray(long_s), lost)

    def _share(self, gap_s: Floats, per_day: float, bytes_per_day: float) -> float:
        """Of the tighter limit, what visits in these gaps take."""
        n = DAY_S / gap_s
        n_bytes = 0.0 if self.n_bytes is None else self.times * float(n @ self.n_bytes)
        return max(self.times * float(n.sum()) / per_day, n_bytes / bytes_per_day)

    def _pairs_s(self, lost: Bools, gap_s: Floats, per_day: float) -> Floats:
        """From one pair of looks to the next: full hosts spend a share of what they serve, the others of the
        rest."""
        full = self._full(gap_s)
        room = np.concatenate([[per_day / self.times - self.limits.most[full].sum()], self.limits.most])
        of = np.zeros(len(lost), dtype=np.int64)
        if len(full):
            of = np.where(np.append(full, False)[self.limits.place], self.limits.place + 1, 0)
        n_lost = np.maximum(np.bincount(of, lost, minlength=len(room)), 1.0)
        return np.asarray((2.0 / SHARE * n_lost / np.maximum(room, 1e-9))[of] * DAY_S)

    def n_full(self, gap_s: Floats) -> int:
        """Hosts that cannot serve more than these visits."""
        return int(self._full(gap_s).sum())

    def is_full(self, row: int, gap_s: Floats) -> bool:
        """Whether this one's host cannot."""
        place = int(self.limits.place[row]) if len(self.limits.most) else -1
        return place >= 0 and bool(self._full(gap_s)[place])

    def _full(self, gap_s: Floats) -> Bools:
        if not len(self.limits.most):
            return np.zeros(0, dtype=np.bool_)
        n = np.bincount(self.limits.place + 1, DAY_S / gap_s, minlength=len(self.limits.most) + 1)[1:]
        return np.asarray(n > 0.99 * self.limits.most)

    def pick(self, rows: Ints) -> Offers:
        """Some of them, standing for all."""
        times = len(self.batch) / max(len(rows), 1)
        limits = self.limits
        if len(limits.most):
            limits = HostLimits(limits.place[rows], limits.most / times)
        return Offers(
            self.batch.pick(rows),
            self.forecasts.pick(rows),
            self.policy,
            limits,
            self.times * times,
            None if self.n_bytes is None else self.n_bytes[rows],
        )

    def _quoted(self, rows: Ints) -> Quote:
        if isinstance(self.quote, Divisible):
            return self.quote.pick(rows)
        return self.policy.quote(self.batch.pick(rows), self.forecasts.pick(rows))

    def _taken(self, rows: Ints, place: Ints, gap_s: Floats, hosts: Ints) -> Floats:  # noqa: ARG002
        return np.asarray(np.bincount(place, DAY_S / gap_s, minlength=len(hosts)) / self.limits.most[hosts])


@dataclass(frozen=True)
class Lasting:
    """What is to be expected of the weeks to come, not of today: the usual curve, and nothing else."""

    usual: UsualForecasts

    def survival(self, t_s: Floats) -> Floats:
        return self.usual.survival(t_s)

    def survival_integral(self, t_s: Floats) -> Floats:
        return self.usual.survival_integral(t_s)

    def survival_slope(self, t_s: Floats) -> Floats:
        return self.usual.survival_slope(t_s)

    def n_expected(self, t_s: Floats) -> Floats:
        return self.usual.n_expected(t_s)

    def n_expected_integral(self, t_s: Floats) -> Floats:
        return self.usual.n_expected_integral(t_s)

    def pick(self, rows: Ints) -> Lasting:
        return Lasting(cast(UsualForecasts, self.usual.pick(rows)))


def lasting(forecasts: Forecasts) -> Forecasts:
    """Without what is only known of the days ahead: stirs, hours, and what somebody has told of."""
    return Lasting(forecasts.usual) if isinstance(forecasts, Clocked) else forecasts


def served(batch: Batch, busy_s: Mapping[int, float], least_s: float) -> HostLimits:
    """Each host serves one visit after the other: a visit keeps it as long as is known, or `least_s`."""
    n_hosts = int(batch.group.max(initial=0)) + 1
    busy = np.full(n_hosts, max(least_s, 1e-3))
    for host, known_s in busy_s.items():
        if host < n_hosts:
            busy[host] = max(known_s, 1e-3)
    most = DAY_S / busy
    possible = np.bincount(batch.group, DAY_S / batch.min_gap_s, minlength=n_hosts)
    most[0] = inf  # those of no host that is known
    full = np.flatnonzero(possible > most)
    if not len(full):
        return NO_LIMITS
    places = np.full(n_hosts, -1, dtype=np.int64)
    places[full] = np.arange(len(full))
    return HostLimits(places[batch.group], most[full])
