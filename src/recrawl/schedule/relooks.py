"""Looks at what was given up, so that nothing is given up for ever.

Under the goal `fresh` a resource that changes faster than the budget can follow is never worth the price: it
gets its largest gap. A look after so long finds a change whatever the pace is by now, and so cannot tell that
it has slowed down. Two looks in a short time can. A share of the budget goes to such pairs: a look, and
another after a gap that is common among those that are visited. As long as the second finds no change the
next is soon too, and the forecast comes down; once a visit is worth the price again, the price decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.model import DAY_S, Batch, Bools, Floats

SHARE = 0.02  # of the budget's visits
FAST = 3.0  # changes expected within the largest gap: a look after that cannot tell
NEARLY = 0.9  # of the largest gap: a jittered one may be shorter


@dataclass(frozen=True, slots=True)
class Relooks:
    soon_s: float  # from a look to the second one
    cycle_s: float  # from the second one to the next pair

    def applied(self, batch: Batch, forecasts: Forecasts, gap_s: Floats) -> Floats:
        """The gaps, shorter for those that were given up."""
        second = (batch.n_informative % 2 == 1) | ((batch.bits & np.uint64(1)) == 0)
        wanted = np.clip(np.where(second, self.soon_s, self.cycle_s), batch.min_gap_s, batch.max_gap_s)
        return np.where(given_up(batch, forecasts, gap_s), np.minimum(wanted, gap_s), gap_s)


def given_up(batch: Batch, forecasts: Forecasts, gap_s: Floats) -> Bools:
    fast = forecasts.n_expected(batch.max_gap_s) > FAST
    return np.asarray(fast & (gap_s >= NEARLY * batch.max_gap_s) & (batch.max_gap_s > batch.min_gap_s))


def relooks(batch: Batch, forecasts: Forecasts, gap_s: Floats, per_day: float) -> Relooks | None:
    """As many looks as the share of the budget has, evenly over all that were given up; None where nothing
    was, or everything."""
    lost = given_up(batch, forecasts, gap_s)
    n_lost = int(lost.sum())
    if not n_lost or n_lost == len(batch):
        return None
    soon_s = float(np.median(gap_s[~lost]))
    both_s = 2.0 * n_lost / (SHARE * per_day) * DAY_S
    return Relooks(soon_s, max(both_s - soon_s, soon_s))
