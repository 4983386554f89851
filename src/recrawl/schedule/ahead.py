"""How many visits fall due within the time ahead, at each resource's gap.

What a price asks for in the long run says little of the next day: resources that were added together are due
together, and when gaps grow longer nothing is due for a while. Counting what does fall due, given when each
was last looked at, makes the day's visits come out right whatever happened before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import DAY_S, Floats, Ints

N_LEAST = 50.0  # so many visits lie ahead at least: fewer are too coarse to find a price by
# This share of the visits ahead is asked for beyond what the budget has. There is always a short line of
# what is due then, and no moment goes unused; everything is late by this share of a day, half an hour.
QUEUE = 0.02


def horizon_s(per_day: float | None) -> float:
    """A day, or as long as it takes to make enough visits."""
    return DAY_S * max(1.0, N_LEAST / per_day) if per_day else DAY_S


@dataclass(frozen=True, slots=True)
class Ahead:
    since_at: Floats  # NaN: waiting out a failure, and not counted
    now: float
    horizon_s: float

    def counted(self, gap_s: Floats) -> Floats:
        """The visits of each that are overdue or fall due in time; what is overdue counts once."""
        left_s = self.horizon_s - np.maximum(self.since_at + gap_s - self.now, 0.0)
        return np.where(left_s >= 0.0, 1.0 + np.floor(left_s / gap_s), 0.0)

    def pick(self, rows: Ints) -> Ahead:
        return Ahead(self.since_at[rows], self.now, self.horizon_s)
