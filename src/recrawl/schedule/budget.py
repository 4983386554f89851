"""The budget: the price at which demand fits it, and the allowance that is never overdrawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, inf, log, nextafter

from recrawl.contracts import Quote
from recrawl.model import DAY_S
from recrawl.schedule.policies.index import LEAST
from recrawl.schedule.reason import NOTHING

TOLERANCE = 1e-5  # of the price and of the demand, as shares
STRIDE = 4.0  # from one price to the next while the right one is not yet between two


def demand_per_day(quote: Quote, price: float) -> float:
    """How many visits a day the policy would make at this price, in the long run."""
    return float((DAY_S / quote.gaps(price)).sum())


def price_for(quote: Quote, per_day: float, *, guess: float = 1.0) -> float:
    """The lowest price at which the policy's demand fits `per_day` visits a day, in the long run."""
    return lowest_price(lambda price: demand_per_day(quote, price), per_day, guess=guess)


def lowest_price(asked: Callable[[float], float], limit: float, *, guess: float = 1.0) -> float:
    """The lowest price at which what is `asked` for, less when dearer, fits the limit.

    0 when it fits at any price. Infinity when it fits at none: then the gaps' upper bounds ask for more than
    the budget has, and the allowance alone decides how late visits are.
    """
    if asked(0.0) <= limit:
        return 0.0
    if asked(LEAST) <= limit:
        # what costs nothing waits for no better moment, so that more may be asked for at 0 alone
        return LEAST
    if asked(inf) > limit:
        return inf

    def excess(price: float) -> float:
        return log(max(asked(price), 1e-9) / max(limit, 1e-9))

    # From a price that was next to none, or its inverse, hundreds of strides would lead to any other.
    low = high = guess if NOTHING < guess < 1.0 / NOTHING else 1.0
    y0 = y1 = excess(low)
    while y1 > 0.0:
        low, y0, high = high, y1, high * STRIDE
        y1 = excess(high)
    while y0 <= 0.0:
        high, y1, low = low, y0, low / STRIDE
        y0 = excess(low)
    # Demand falls with the price nearly as a power of it, so a straight line in log-log (the Illinois
    # variant of false position, which never gets stuck on one side) finds it in a few steps; where it falls
    # in jumps, halving now and then does.
    x0, x1 = log(low), log(high)
    kept = n = 0
    left = -y1  # of the limit, at the higher price
    while x1 - x0 > TOLERANCE and left > TOLERANCE:
        n += 1
        x = x0 + (x1 - x0) * (y0 / (y0 - y1) if n % 4 and y0 - y1 > 0.0 else 0.5)
        x = min(max(x, x0 + TOLERANCE / 4), x1 - TOLERANCE / 4)
        y = excess(exp(x))
        if y > 0.0:
            x0, y0, y1, kept = x, y, (y1 / 2.0 if kept < 0 else y1), -1
        else:
            x1, y1, y0, kept, left = x, y, (y0 / 2.0 if kept > 0 else y0), 1, -y
    return exp(x1)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Visits that may be made now: they accrue evenly over the day, and only so many can be saved up.

    The price keeps demand at the budget on average; this keeps the visits below it at every moment, also
    when a thousand resources are added at once.
    """

    per_day: float
    saved: float
    at: float

    @property
    def most(self) -> float:
        """What can be saved up: a quarter of a day's worth, at least one visit."""
        return max(1.0, self.per_day / 4.0)

    def accrued(self, now: float) -> Allowance:
        earned = max(0.0, now - self.at) * self.per_day / DAY_S
        return replace(self, saved=min(self.most, self.saved + earned), at=max(self.at, now))

    def spent(self, n: int) -> Allowance:
        return replace(self, saved=self.saved - n)

    @property
    def n_free(self) -> int:
        # a visit's worth that is short by rounding alone counts as whole
        return max(0, int(self.saved + 1e-6))

    @property
    def ready_at(self) -> float:
        """When the next visit is free."""
        return self.at if self.n_free else self.after(1.0 - self.saved)

    def after(self, n: float) -> float:
        """When so much more has accrued. Never at this very moment, as rounding might have it: whoever waits
        for it would wait for ever."""
        if self.per_day <= 0.0:
            return inf
        return max(self.at + n * DAY_S / self.per_day, nextafter(self.at, inf))
