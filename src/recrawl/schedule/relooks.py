"""Looks at what was given up, so that nothing is given up for ever.

Under the goal `fresh` a resource that changes faster than the budget can follow is never worth the price: it
gets its largest gap. A look after so long finds a change whatever the pace is by now, and so cannot tell that
it has slowed down. Two looks in a short time can. A share of the budget goes to such pairs: a look, and
another after a gap that is common among those that are visited. As long as the second finds no change the
next is soon too, and the forecast comes down; once a visit is worth the price again, the price decides.

A host that is full has no room for that: there it is a share of what the host serves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from types import MappingProxyType

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.model import DAY_S, Batch, Bools, Floats
from recrawl.schedule.jitter import factors

SHARE = 0.02  # of the budget's visits, or of those of a host that is full
FAST = 3.0  # changes expected within the largest gap: a look after that cannot tell
NEARLY = 0.9  # of the largest gap: a jittered one may be shorter


@dataclass(frozen=True, slots=True)
class Relooks:
    soon_s: float  # from a look to the second one
    cycle_s: float  # from the second one to the next pair; infinite: there are none
    full: Mapping[int, float] = field(default_factory=dict)  # likewise at hosts that are full

    def applied(self, batch: Batch, forecasts: Forecasts, gap_s: Floats) -> Floats:
        """The gaps, shorter for those that were given up."""
        rows = np.flatnonzero(given_up(batch, forecasts, gap_s))
        lost, found = batch.pick(rows), gap_s.copy()
        cycle_s = np.full(len(lost), self.cycle_s)
        if self.full:
            hosts = np.array(sorted(self.full), dtype=np.int64)
            place = np.minimum(np.searchsorted(hosts, lost.group), len(hosts) - 1)
            theirs_s = np.array([self.full[host] for host in hosts.tolist()])
            cycle_s = np.where(hosts[place] == lost.group, theirs_s[place], cycle_s)
        # Where pairs are rarer than the largest gap allows, some looks have no second one, drawn by the
        # resource and the number of the visit.
        drawn = cycle_s * (factors(lost, 0.5) - 0.5) < lost.max_gap_s
        second = (drawn & (lost.n_informative % 2 == 1)) | ((lost.bits & np.uint64(1)) == 0)
        wanted = np.clip(np.where(second, self.soon_s, cycle_s), lost.min_gap_s, lost.max_gap_s)
        found[rows] = np.where(np.isfinite(cycle_s), np.minimum(wanted, found[rows]), found[rows])
        return found


def given_up(batch: Batch, forecasts: Forecasts, gap_s: Floats) -> Bools:
    fast = forecasts.n_expected(batch.max_gap_s) > FAST
    return np.asarray(fast & (gap_s >= NEARLY * batch.max_gap_s) & (batch.max_gap_s > batch.min_gap_s))


def relooks(
    batch: Batch,
    forecasts: Forecasts,
    gap_s: Floats,
    per_day: float,
    full: Mapping[int, float] = MappingProxyType({}),
) -> Relooks | None:
    """As many looks as the share of the budget has, evenly over all that were given up; None where nothing
    was, or everything. Hosts that are `full`, by their numbers, can serve so many visits a day themselves."""
    lost = given_up(batch, forecasts, gap_s)
    if not lost.any() or lost.all():
        return None
    soon_s = float(np.median(gap_s[~lost]))

    def cycle_s(n_lost: int, per_day: float) -> float:
        if not n_lost or per_day <= 0.0:
            return inf
        return max(2.0 * n_lost / (SHARE * per_day) * DAY_S - soon_s, soon_s)

    n_lost = np.bincount(batch.group[lost], minlength=max(full, default=0) + 1)
    at_full = {host: cycle_s(int(n_lost[host]), served) for host, served in full.items()}
    elsewhere = int(n_lost.sum() - n_lost[list(full)].sum())
    found = Relooks(soon_s, cycle_s(elsewhere, per_day - sum(full.values())), at_full)
    return found if min(found.cycle_s, *at_full.values(), inf) < inf else None
