"""Finds the price: what is asked for in the time ahead just fits the budget and every host's capacity.

visits    as many as the budget accrues meanwhile, with what was saved up and less what first looks and
          retries take; so what reality leaves unspent, or spends too much, comes back into the price
bytes     likewise, where the budget has a limit in bytes: a visit then costs what it weighs
hosts     one that cannot serve all that is asked of it gets a higher price of its own, and the visits
          that it cannot take are made elsewhere
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf, log

import numpy as np

from recrawl.contracts import Divisible, Forecasts, Policy, Quote
from recrawl.model import DAY_S, Batch, Bools, Floats, Ints
from recrawl.schedule.ahead import QUEUE, Ahead, horizon_s
from recrawl.schedule.budget import lowest_price
from recrawl.schedule.demand import Room, Side
from recrawl.schedule.hosts import HostLimits, capacities
from recrawl.schedule.policies.index import Index
from recrawl.schedule.relooks import SHARE, Relooks, relooks
from recrawl.schedule.retry import n_retries

N_PILOT = 100_000  # of more resources than this, so many are asked until the price is nearly right
SEED = 19  # of their numbers: drawn, since what is alike may well have every third number
NEAR = 2e-3  # then, how far the number of visits may be off, as a share
N_MENDS = 2  # and how often the price is mended with all, at most
# The price of the time ahead is at most so many times that of the long run: a heap of visits that are all
# overdue must not make everything else wait for its largest gap. It is worked off late instead.
DEAREST = 4.0
# Where many would fall due at the same moment, the lowest price that fits puts them all off until just after
# the time that is counted, again and again. A hair below it they are due, and wait in line.
UNDER = 1.0 - 5e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Priced:
    price: float
    demand_per_day: float  # at this price, in the long run
    dear: Mapping[int, float]  # the prices of hosts that have a higher one, by their numbers
    mix: float  # how much of a visit's cost is its weight in bytes: 0 none, 1 all
    relooks: Relooks | None
    relooked: Bools | bool  # whose gap is a relook's
    quote: Quote
    gap_s: Floats
    prices: Floats | float  # of each resource, or of all


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """All that the price depends on."""

    policy: Policy
    batch: Batch
    forecasts: Forecasts
    now: float
    per_day: float | None
    bytes_per_day: float | None = None
    saved: tuple[float, float] = (0.0, 0.0)  # visits and bytes
    n_bytes: Floats | None = None  # of a visit, as far as is known
    busy_s: Mapping[int, float] = field(default_factory=dict)  # how long a visit keeps each host
    every_s: float = 3_600.0  # how long this price will hold
    guess: float = 1.0
    relooks: Relooks | None = None  # those in force: a share of the visits went to what was given up


def costed(batch: Batch, n_bytes: Floats | None, mix: float, mean: float) -> Batch:
    """With the cost of a visit beside the mean one's, by its bytes as far as they matter."""
    if n_bytes is None or mix == 0.0:
        return batch
    return replace(batch, cost=1.0 - mix + mix * n_bytes / mean)


def priced(asked: Asked) -> Priced:
    """The price for all, the prices of full hosts, and the gaps at them."""
    market = _Market(asked, mix=0.0 if asked.per_day is not None else 1.0)
    if asked.n_bytes is not None and asked.per_day is not None:
        market = _mixed(asked, market)
    price = market.cleared()
    gap_s = market.all.gaps(price).copy()
    limits = market.limits
    prices: Floats | float = price
    dear: dict[int, float] = {}
    if len(limits.most):
        own = limits.prices(price, gap_s, market.taken, market.quoted, guess=asked.guess)
        own = np.maximum(UNDER * own, price)
        higher = np.flatnonzero(own > price)
        dear = dict(zip(market.hosts[higher].tolist(), own[higher].tolist(), strict=True))
        prices = np.where(limits.place >= 0, own[limits.place], price)
        rows = np.flatnonzero(prices > price)
        gap_s[rows] = market.quoted(rows).gaps(prices[rows])
    found, asked_s = None, gap_s
    if isinstance(asked.policy, Index) and price < inf:
        full = {host: DAY_S / asked.busy_s[host] if own < inf else 0.0 for host, own in dear.items()}
        found = relooks(asked.batch, asked.forecasts, gap_s, market.per_day, full)
        if found is not None:
            gap_s = found.applied(asked.batch, asked.forecasts, gap_s)
    return Priced(
        price=price,
        demand_per_day=float((DAY_S / gap_s)[asked.batch.n_failures == 0].sum()) + market.retries_per_day,
        dear=dear,
        mix=market.mix,
        relooks=found,
        relooked=gap_s < asked_s,
        quote=market.all.quote,
        gap_s=gap_s,
        prices=prices,
    )


def _mixed(asked: Asked, by_visits: _Market) -> _Market:
    """Whichever limit binds sets the price of a visit: by the piece, by its bytes, or where both bind by a
    mixture under which both do."""
    if not by_visits.heavy(by_visits.cleared(near=True)):
        return by_visits
    by_bytes = _Market(asked, mix=1.0)
    if by_bytes.heavy(by_bytes.cleared(near=True)):
        return by_bytes
    low, high = 0.0, 1.0
    for _ in range(8):
        middle = _Market(asked, mix=(low + high) / 2.0)
        low, high = (middle.mix, high) if middle.heavy(middle.cleared(near=True)) else (low, middle.mix)
    return _Market(asked, mix=high)


class _Market:
    """Demand and room, with the costs of one mixture."""

    def __init__(self, asked: Asked, mix: float) -> None:
        self.asked, self.mix = asked, mix
        batch = asked.batch
        self.mean_bytes = 1.0 if asked.n_bytes is None else float(asked.n_bytes.mean())
        self.batch = costed(batch, asked.n_bytes, mix, self.mean_bytes)
        by_bytes = inf if asked.bytes_per_day is None else asked.bytes_per_day / self.mean_bytes
        self.per_day = min(inf if asked.per_day is None else asked.per_day, by_bytes)
        whole_s = horizon_s(asked.per_day)
        # what was never looked at will be, about now, and may be due again in time
        since_at = np.where(np.isnan(batch.since_at), asked.now, batch.since_at)
        self.ahead = Ahead(np.where(batch.n_failures == 0, since_at, np.nan), asked.now, whole_s)
        pairs = {} if asked.relooks is None else asked.relooks.full
        kept = {host: 1.0 - SHARE * (pairs.get(host, inf) < inf) for host in asked.busy_s}
        busy_s = {host: busy_s / kept[host] for host, busy_s in asked.busy_s.items()}
        self.hosts, self.limits = capacities(batch, busy_s, whole_s)
        first = (np.isnan(batch.since_at) & (batch.n_failures == 0)).astype(np.float64)
        retries = partial(n_retries, batch.n_failures, batch.gap_s, batch.max_gap_s)
        n_other = self.limits.fitted(first) + retries(whole_s)
        soon_s = min(asked.every_s, whole_s)
        self.soon = replace(self.ahead, horizon_s=soon_s)
        at_once = self.limits.within(soon_s / whole_s).fitted(first)
        self.retries_per_day = daily = retries(DAY_S)
        self.rooms = (
            Room(_left(asked.per_day, daily), _left(asked.bytes_per_day, daily * self.mean_bytes)),
            self._room(whole_s, n_other),
            self._room(soon_s, at_once),
        )
        # Where first looks and retries take more than half of what lies ahead, the rest says nothing: the
        # price is that of the long run.
        ahead = self.rooms[1]
        self.crowded = n_other > ahead.n or n_other * self.mean_bytes > ahead.n_bytes

    def _room(self, for_s: float, n_other: float) -> Room:
        """What accrues meanwhile and what was saved up, less what is taken anyway."""
        asked, queued = self.asked, QUEUE * self.ahead.horizon_s / DAY_S
        days = for_s / DAY_S * (1.0 - SHARE * (asked.relooks is not None and asked.relooks.cycle_s < inf))
        n = n_bytes = inf
        if asked.per_day is not None:
            n = asked.per_day * (days + queued) + asked.saved[0] - n_other
        if asked.bytes_per_day is not None:
            n_bytes = asked.bytes_per_day * (days + queued) + asked.saved[1] - n_other * self.mean_bytes
        return Room(max(n, 1e-9), max(n_bytes, 1e-9))

    @cached_property
    def all(self) -> Side:
        quote = self.asked.policy.quote(self.batch, self.asked.forecasts)
        return Side(quote, self.ahead, self.soon, self.limits, self.asked.n_bytes, self.rooms)

    def some(self, rows: Ints) -> Side:
        limits, n_bytes, times = self.limits, self.asked.n_bytes, len(self.batch) / len(rows)
        if len(limits.most):
            limits = HostLimits(limits.place[rows], limits.most / times)
        return Side(
            self.quoted_anew(rows),
            self.ahead.pick(rows),
            self.soon.pick(rows),
            limits,
            None if n_bytes is None else n_bytes[rows],
            self.rooms,
            times,
        )

    def quoted(self, rows: Ints) -> Quote:
        quote = self.all.quote
        return quote.pick(rows) if isinstance(quote, Divisible) else self.quoted_anew(rows)

    def quoted_anew(self, rows: Ints) -> Quote:
        """Without asking all, who may be very many."""
        return self.asked.policy.quote(self.batch.pick(rows), self.asked.forecasts.pick(rows))

    def taken(self, rows: Ints, place: Ints, gap_s: Floats, hosts: Ints) -> Floats:
        """Of what each host can serve in the time ahead, or soon, the lesser part; with one visit more, so
        that a host is never idle."""
        parts = []
        for ahead in (self.ahead, self.soon):
            most = self.limits.most[hosts] * ahead.horizon_s / self.ahead.horizon_s + 1.0
            n = np.bincount(place, ahead.pick(rows).counted(gap_s), minlength=len(hosts))
            parts.append(n / most)
        return np.minimum(*parts)

    def heavy(self, price: float) -> bool:
        """Whether the bytes are what limits, rather than the number of visits."""
        asked = self.asked
        if asked.n_bytes is None or asked.bytes_per_day is None or asked.per_day is None:
            return False
        n = self.limits.cut(np.asarray(DAY_S / self.all.gaps(price)))
        return float(n @ asked.n_bytes) / asked.bytes_per_day > float(n.sum()) / asked.per_day

    def cleared(self, *, near: bool = False) -> float:
        """The lowest price at which all that is asked for fits; nearly, where that will do."""
        n = len(self.batch)
        if n and np.isnan(self.ahead.since_at).all() and 0.0 < self.asked.guess < inf:
            return self.asked.guess  # everything fails, and nothing has told that the price should be another
        few = n > N_PILOT
        side = self.some(_drawn(n)) if few else self.all
        steady = lowest_price(side.lasting, 1.0, guess=self.asked.guess)
        if self.crowded or near or steady == inf:
            return steady
        price = min(UNDER * lowest_price(side.pressing, 1.0, guess=steady), DEAREST * steady)
        if not few or not 0.0 < price < inf:
            return price
        for _ in range(N_MENDS):
            off = self.all.pressing(price)
            if abs(off - 1.0) < NEAR or off <= 0.0:
                break
            fall = log(max(side.pressing(price / 1.05), 1e-9) / max(side.pressing(price * 1.05), 1e-9))
            price = min(float(price * off ** (2.0 * log(1.05) / max(fall, 0.01))), DEAREST * steady)
        return price


def _drawn(n: int) -> Ints:
    """The rows of a pilot, always the same ones."""
    return np.sort(np.random.default_rng(SEED).choice(n, N_PILOT, replace=False, shuffle=False))


def _left(per_day: float | None, retries: float) -> float:
    """Of a day's budget, beside retries; where those want more than half of it they wait in line."""
    return max(per_day - retries, per_day / 2.0) if per_day else inf
