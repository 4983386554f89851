"""The best even gaps where every rate of change is known and changes are Poisson.

With rate D, gap t and x = D t, each goal's worth is a function of x alone, up to a factor. A visit is due
where weight * worth reaches the price, so one table of x against worth, made once for a goal, serves every
resource at every price:

    fresh            D U = 1 - (1 + x) e^-x     as much as price * D / weight
    fresh-harmonic   D U = x - 1 + e^-x         as much as price * D / weight
    prompt           D U = x^2 / 2              as much as price * D / weight
    capture            U = 1 - (1 + x) e^-x     as much as price / weight
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from recrawl.errors import BadSettingError
from recrawl.model import DAY_S, Floats, Ints
from recrawl.schedule.budget import lowest_price, price_for
from recrawl.schedule.hosts import HostLimits

GOALS = ("fresh", "fresh-harmonic", "prompt", "capture")
# Evenly in log x. Half the gaps read off between them are right to a millionth, all to a ten-thousandth
# (tests/unit/test_optimum.py compares with Lambert's function).
N_POINTS = 8_192
LEAST_X, MOST_X = 1e-7, 1e9
# So many resources at a time stay within the processor's cache.
N_TOGETHER = 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRates:
    """A quote: gaps at any price. Bounds may be numbers or columns."""

    goal: str
    rate_per_s: Floats
    weight: Floats
    min_gap_s: Floats | float
    max_gap_s: Floats | float

    def gaps(self, price: float | Floats) -> Floats:
        gap_s = np.empty(len(self.rate_per_s))
        columns = (price, self.rate_per_s, self.weight, self.min_gap_s, self.max_gap_s)
        each = [np.broadcast_to(column, gap_s.shape) for column in columns]
        for start in range(0, len(gap_s), N_TOGETHER):
            part = slice(start, start + N_TOGETHER)
            gap_s[part] = self._gaps(*(column[part] for column in each))
        return gap_s

    def _gaps(self, price: Floats, rate_per_s: Floats, weight: Floats, low: Floats, high: Floats) -> Floats:
        log_worth, log_x = _table(self.goal)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            wanted = price / weight * (1.0 if self.goal == "capture" else rate_per_s)
            x = np.exp(np.interp(np.log(wanted), log_worth, log_x, right=np.inf))
            gap_s = x / rate_per_s
        # What never changes, or has no weight, is never worth a visit: it gets its largest gap. So does what
        # changes too fast to be worth one, under goals whose worth is bounded.
        never = (rate_per_s <= 0.0) | (weight <= 0.0)
        return np.asarray(np.clip(np.where(never, np.inf, gap_s), low, high))

    def order(self, host: Ints | None) -> Ints:
        """The rows, host by host, in the order of what a visit must be worth: a table is read off several
        times as fast from each place to the next as here and there."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = np.argsort((1.0 if self.goal == "capture" else self.rate_per_s) / self.weight)
        return rows if host is None else rows[np.argsort(host[rows], kind="stable")]

    def pick(self, rows: Ints) -> KnownRates:
        def of(bound: Floats | float) -> Floats | float:
            return bound[rows] if isinstance(bound, np.ndarray) else bound

        return KnownRates(
            goal=self.goal,
            rate_per_s=self.rate_per_s[rows],
            weight=self.weight[rows],
            min_gap_s=of(self.min_gap_s),
            max_gap_s=of(self.max_gap_s),
        )


@cache
def _table(goal: str) -> tuple[Floats, Floats]:
    """The logarithms of a goal's worth, rising, and of x."""
    if goal not in GOALS:
        raise BadSettingError(f"There is no goal {goal!r} to optimise for; choose one of {', '.join(GOALS)}.")
    x = np.geomspace(LEAST_X, MOST_X, N_POINTS)
    small = x < 1e-3  # where the closed forms would lose their digits: the first terms of their series
    with np.errstate(under="ignore"):
        if goal in ("fresh", "capture"):
            worth = np.where(small, x**2 / 2 - x**3 / 3 + x**4 / 8, -np.expm1(-x) - x * np.exp(-x))
        elif goal == "fresh-harmonic":
            worth = np.where(small, x**2 / 2 - x**3 / 6 + x**4 / 24, x + np.expm1(-x))
        else:
            worth = x**2 / 2
    rising = np.concatenate([[True], np.diff(worth) > 0]).cumprod().astype(bool)
    return np.log(worth[rising]), np.log(x[rising])


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """Gaps that no other even gaps of as many visits beat, on the average over all such worlds. Averages are
    NaN where nothing has weight; those over changes also where nothing changes."""

    gap_s: Floats
    price: float
    freshness: float  # the share of time, averaged by weight
    harmonic: float  # the harmonic number of unseen changes, averaged by weight
    recall: float  # the share of changes that some visit tells apart
    wait_s: float  # from a change to the next visit, averaged over changes by weight


def optimum(
    rate_per_s: Floats,
    per_day: float,
    *,
    goal: str = "fresh",
    weight: Floats | None = None,
    min_gap_s: Floats | float = 0.0,
    max_gap_s: Floats | float = np.inf,
    host: Ints | None = None,
    host_per_day: Floats | None = None,
) -> Optimum:
    """The best gaps for a budget of `per_day` visits a day, and what they are worth.

    With `host`, the number of each resource's host from 0, no host gets more than its `host_per_day`.
    """
    weights = np.ones(len(rate_per_s)) if weight is None else weight
    quote = KnownRates(
        goal=goal, rate_per_s=rate_per_s, weight=weights, min_gap_s=min_gap_s, max_gap_s=max_gap_s
    )
    guess = float(np.median(rate_per_s[rate_per_s > 0])) if (rate_per_s > 0).any() else 1.0
    start = 1.0 if goal == "capture" else 0.5 / guess
    rows = quote.order(host)
    gap_s = np.empty(len(rows))
    if host is None or host_per_day is None:
        price = price_for(quote.pick(rows), per_day, guess=start)
        gap_s[rows] = quote.pick(rows).gaps(price)
    else:
        price, gap_s[rows] = _within(quote.pick(rows), per_day, HostLimits(host[rows], host_per_day), start)
    return expected(rate_per_s, weights, gap_s, price)


def _within(quote: KnownRates, per_day: float, limits: HostLimits, start: float) -> tuple[float, Floats]:
    """The budget's price and the gaps at it, longer where a host is full."""
    if not (limits.most > 0.0).all():
        raise BadSettingError(
            "A host that may not be visited has no optimum; leave its resources out, or let it have some."
        )
    price = lowest_price(lambda price: limits.fitted(DAY_S / quote.gaps(price)), per_day, guess=start)

    def taken(_: Ints, place: Ints, gap_s: Floats, hosts: Ints) -> Floats:
        return np.bincount(place, DAY_S / gap_s, minlength=len(hosts)) / limits.most[hosts]

    gap_s = quote.gaps(price)
    prices = limits.prices(price, gap_s, taken, quote.pick, guess=start)[limits.place]
    full = np.flatnonzero(prices > price)
    gap_s[full] = quote.pick(full).gaps(prices[full])
    return price, gap_s


def expected(rate_per_s: Floats, weight: Floats, gap_s: Floats, price: float = np.nan) -> Optimum:
    """What even gaps are worth where changes are Poisson with these rates."""
    x = np.where(rate_per_s > 0.0, rate_per_s * np.where(rate_per_s > 0.0, gap_s, 0.0), 0.0)
    share = np.where(x > 1e-9, -np.expm1(-np.maximum(x, 1e-9)) / np.maximum(x, 1e-9), 1.0 - x / 2)
    counts = weight > 0.0  # what has no weight may have no visits at all
    weighed, rates = float(weight.sum()), float(weight @ rate_per_s)

    def mean(of: Floats) -> float:
        return float(weight[counts] @ of[counts]) / weighed if weighed else np.nan

    return Optimum(
        gap_s=gap_s,
        price=price,
        freshness=mean(share),
        harmonic=mean(ein(x) - 1.0 + share),
        recall=mean(rate_per_s * share) * weighed / rates if rates else np.nan,
        wait_s=mean(x / 2) * weighed / rates if rates else np.nan,
    )


def ein(x: Floats) -> Floats:
    """The mean harmonic number of a Poisson count with mean x: the integral of (1 - e^-u) / u from 0 to x."""
    near = x <= 20.0
    low, high = x[near], x[~near]
    term, total = np.ones_like(low), np.zeros_like(low)
    for k in range(1, 90):  # x^k / (k k!), signs in turn: below 1e-9 of the sum after these
        term = term * low / k
        total += term / k if k % 2 else -term / k
    found = np.empty_like(x)
    found[near], found[~near] = total, np.euler_gamma + np.log(high) + np.exp(-high) / high
    return found
