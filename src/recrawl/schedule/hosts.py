"""Hosts that can serve only so many visits: a price of their own, and what they cannot take goes to others.

At the best plan every visit is worth the budget's price, and at a host that is full its own, higher one, the
lowest at which its visits fit. At a given price of the budget a full host makes as many visits as it can
serve, whatever its own price is; so the budget's price is found first, with each host's demand cut off at
its capacity, and then the prices of those that are full, all of them side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from recrawl.contracts import Quote
from recrawl.model import Batch, Bools, Floats, Ints
from recrawl.schedule.budget import STRIDE, TOLERANCE

N_TRIES = 80
# Straight lines find a price in so many turns where demand is smooth. Where it falls in jumps, as visits that
# are counted one by one do, they hardly get nearer, and the turns last until the last host is settled.
N_STRAIGHT = 8
CLOSE = 1e-4  # of a host's price and of its visits, as shares
FARTHEST = 250.0  # of a price's logarithm: beyond this it is 0 or infinite


@dataclass(frozen=True, slots=True)
class HostLimits:
    """For each resource the place of its host among those that have a limit, or -1; and the most visits of
    each of those hosts, in the time that demand is counted for."""

    place: Ints
    most: Floats

    def within(self, share: float, more: float = 0.0) -> HostLimits:
        """Of a share of that time; and some visits more."""
        return replace(self, most=self.most * share + more) if len(self.most) else self

    def cut(self, n: Floats) -> Floats:
        """Of these visits those that can be made, each host as many as it can serve."""
        if not len(self.most):
            return n
        summed = np.bincount(self.place + 1, n, minlength=len(self.most) + 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.minimum(self.most / summed[1:], 1.0)
        return np.asarray(n * np.concatenate([[1.0], np.where(summed[1:] > 0.0, share, 1.0)])[self.place + 1])

    def fitted(self, n: Floats) -> float:
        """How many of these visits can be made."""
        if not len(self.most):
            return float(n.sum())
        summed = np.bincount(self.place + 1, n, minlength=len(self.most) + 1)
        return float(summed[0] + np.minimum(summed[1:], self.most).sum())

    def prices(
        self,
        price: float,
        gap_s: Floats,
        taken: Taken,
        quoted: Callable[[Ints], Quote],
        *,
        guess: float = 1.0,
    ) -> Floats:
        """For each host its own price: the budget's, and a higher one where more is `taken` at that, with
        these gaps, than the host can serve. `quoted` speaks of some of the rows."""
        found = np.full(len(self.most), price)
        rows = np.flatnonzero(self.place >= 0)
        at_price = taken(rows, self.place[rows], gap_s[rows], np.arange(len(found)))
        full = np.flatnonzero(at_price > 1.0 + TOLERANCE)
        if len(full):
            among = np.full(len(self.most) + 1, -1)
            among[full] = np.arange(len(full))  # what has no limit is in the last place, and stays there
            place = among[self.place]
            asking = _Asking(np.flatnonzero(place >= 0), place, taken, quoted, full)
            found[full] = host_prices(
                asking, np.ones(len(full)), guess=price if 0.0 < price < np.inf else guess
            )
        return found


# Of what each of some hosts can serve, the part that rows ask for at these gaps: rows, their places among
# those hosts, gaps, and the hosts' places among all that have a limit.
Taken = Callable[[Ints, Ints, Floats, Ints], Floats]


class _Asking:
    """What is asked of some hosts, each at its price. Hosts that are settled drop out, with their rows."""

    def __init__(
        self,
        rows: Ints,
        place: Ints,
        taken: Taken,
        quoted: Callable[[Ints], Quote],
        hosts: Ints,
    ) -> None:
        self._rows, self._place = rows, place[rows]
        self._taken, self._quoted, self._hosts = taken, quoted, hosts
        self._quote = quoted(rows)

    def __call__(self, prices: Floats, open_: Bools) -> Floats:
        here = open_[self._place]
        if 2 * int(here.sum()) < len(self._rows):
            self._rows, self._place = self._rows[here], self._place[here]
            self._quote = self._quoted(self._rows)
        gap_s = self._quote.gaps(prices[self._place])
        return self._taken(self._rows, self._place, gap_s, self._hosts)


NO_LIMITS = HostLimits(np.empty(0, dtype=np.int64), np.empty(0))


def host_prices(asked: Callable[[Floats, Bools], Floats], most: Floats, *, guess: float = 1.0) -> Floats:
    """For each of many hosts the lowest price at which what is `asked` of it fits; infinite where none does.

    The same search as `budget.lowest_price`, for all of them at once. `asked` is told which are still open.
    """
    n = len(most)
    stride = np.log(STRIDE)
    # a guess beyond the farthest would be settled at once, and what is full would be given up
    x = np.full(n, np.log(guess) if np.exp(-FARTHEST) < guess < np.exp(FARTHEST) else 0.0)
    x0, y0 = np.full(n, -np.inf), np.full(n, np.nan)
    x1, y1 = np.full(n, np.inf), np.full(n, np.nan)
    kept, left = np.zeros(n, dtype=np.int8), np.full(n, np.inf)
    open_ = asked(np.full(n, np.inf), np.ones(n, dtype=np.bool_)) <= most
    for turn in range(N_TRIES):
        if not open_.any():
            break
        y = np.log(np.maximum(asked(np.exp(x), open_), 1e-9) / np.maximum(most, 1e-9))
        above, below = open_ & (y > 0.0), open_ & (y <= 0.0)
        y1 = np.where(above & (kept < 0), y1 / 2.0, y1)
        y0 = np.where(below & (kept > 0), y0 / 2.0, y0)
        x0, y0 = np.where(above, x, x0), np.where(above, y, y0)
        x1, y1 = np.where(below, x, x1), np.where(below, y, y1)
        kept = np.where(above, -1, np.where(below, 1, kept)).astype(np.int8)
        within = np.isfinite(x0) & np.isfinite(x1)
        with np.errstate(invalid="ignore", divide="ignore"):
            straight = turn < N_STRAIGHT and turn % 4 != 3
            share = np.where((y0 - y1 > 0.0) & straight, y0 / (y0 - y1), 0.5)
            inner = np.clip(x0 + (x1 - x0) * share, x0 + CLOSE / 4, x1 - CLOSE / 4)
        x = np.where(within, inner, np.where(np.isfinite(x0), x0 + stride, x1 - stride))
        left = np.where(below, -y, left)  # of the limit, at the higher price
        settled = (within & ((x1 - x0 <= CLOSE) | (left <= CLOSE))) | (np.abs(x) > FARTHEST)
        open_ = open_ & ~settled
    return np.asarray(np.exp(x1))


def capacities(batch: Batch, busy_s: Mapping[int, float], horizon_s: float) -> tuple[Ints, HostLimits]:
    """The numbers of the hosts that might be full, and what each can serve in the time ahead."""
    if not busy_s:
        return np.empty(0, dtype=np.int64), NO_LIMITS
    known = np.fromiter(busy_s, dtype=np.int64, count=len(busy_s))
    most = horizon_s / np.maximum(np.fromiter(busy_s.values(), dtype=np.float64, count=len(known)), 1e-3)
    possible = np.bincount(batch.group, horizon_s / batch.min_gap_s, minlength=int(known.max()) + 1)
    hosts, most = known[possible[known] > most], most[possible[known] > most]
    if not len(hosts):
        return hosts, NO_LIMITS
    places = np.full(len(possible), -1, dtype=np.int64)
    places[hosts] = np.arange(len(hosts))
    return hosts, HostLimits(places[batch.group], most)
