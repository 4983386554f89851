"""What is asked for at a price, beside the room that there is for it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recrawl.contracts import Quote
from recrawl.model import DAY_S, Floats
from recrawl.schedule.ahead import Ahead
from recrawl.schedule.hosts import HostLimits


@dataclass(frozen=True, slots=True)
class Room:
    """The most that visits may take; infinite where there is no limit."""

    n: float
    n_bytes: float

    def taken(self, n: Floats, n_bytes: Floats | None, limits: HostLimits) -> float:
        """Of the tighter limit, how much these visits take as far as their hosts can serve them."""
        if n_bytes is None:
            return limits.fitted(n) / self.n
        n = limits.cut(n)
        return max(float(n.sum()) / self.n, float(n @ n_bytes) / self.n_bytes)


@dataclass(frozen=True, slots=True)
class Side:
    """What is asked for at any price: by all, or by one in `times`."""

    quote: Quote
    ahead: Ahead
    soon: Ahead  # until the price is found anew
    limits: HostLimits  # for the time ahead
    n_bytes: Floats | None
    rooms: tuple[Room, Room, Room]  # of a day, of the time ahead, and until the price is found anew
    times: float = 1.0
    newest: dict[float, Floats] = field(default_factory=dict)  # the gaps of the price that was asked for last

    def gaps(self, price: float) -> Floats:
        if price not in self.newest:
            self.newest.clear()
            self.newest[price] = self.quote.gaps(price)
        return self.newest[price]

    def lasting(self, price: float) -> float:
        """Of the budget, what is taken in the long run."""
        limits = self.limits.within(DAY_S / self.ahead.horizon_s)
        n = np.where(np.isnan(self.ahead.since_at), 0.0, DAY_S / self.gaps(price))  # retries have no price
        return self.times * self.rooms[0].taken(n, self.n_bytes, limits)

    def pressing(self, price: float) -> float:
        """Of what there is, the part taken in the time ahead; or soon, where that is less. What is due by the
        end of the day alone could be put off for ever, an hour at a time."""
        gap_s = self.gaps(price)
        ahead = self.rooms[1].taken(self.ahead.counted(gap_s), self.n_bytes, self.limits)
        # a host may have one visit more in its line, so that it is never idle
        limits = self.limits.within(self.soon.horizon_s / self.ahead.horizon_s, 1.0 / self.times)
        return self.times * min(ahead, self.rooms[2].taken(self.soon.counted(gap_s), self.n_bytes, limits))
