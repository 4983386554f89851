"""What a report card is worked out from: visits of a time as columns, each with its resource and its rate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recrawl.evaluate.card.rates import Rates, rates
from recrawl.evaluate.card.rivals import Spent
from recrawl.model import DAY_S, Bools, Hosts, Ints, Looked, Prospects
from recrawl.terms import Granted

FEW_VISITS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the store has to say: visits from one moment to another, in the order of time, and what is."""

    looked: Looked  # of resources whose numbers are divisible by `every`
    tally: Ints  # of all visits, by days back from the end
    prospects: Prospects  # of all resources
    hosts: Hosts
    from_at: float
    until_at: float
    rule: str
    per_day: float  # the budget now
    granted: Granted = field(default=Granted(()))  # those of the time; none: that of now
    every: int = 1

    def budget(self, from_at: float, until_at: float) -> float:
        """Visits that there were for this part of the time; NaN: there was no limit."""
        if self.granted.changes:
            return self.granted.visits(from_at, until_at)
        return self.per_day * (until_at - from_at) / DAY_S


@dataclass(frozen=True, slots=True)
class Judged:
    """Visits to resources that are there, and which of them could find a change."""

    past: Past
    prospects: Prospects  # of the resources whose visits were read
    looked: Looked
    rows: Ints  # of each visit, its resource's
    judged: Bools
    believed: Rates

    @property
    def member(self) -> Bools:
        """The resources that schedules are compared on: their rates are known."""
        return self.believed.known & ~self.prospects.paused & np.isfinite(self.prospects.since_at)

    def spent(self) -> Spent | None:
        """Those visits that were made to members; None where they are too few to compare."""
        member = self.member
        visits = np.flatnonzero(self.judged & member[self.rows])
        if len(visits) < FEW_VISITS:
            return None
        chosen, place = np.flatnonzero(member), np.cumsum(member) - 1
        return Spent(
            prospects=self.prospects.pick(chosen),
            rate_per_s=self.believed.per_s[chosen],
            looked=self.looked.pick(visits),
            rows=place[self.rows[visits]],
            from_at=self.past.from_at,
            until_at=self.past.until_at,
        )


def judged(past: Past) -> Judged:
    prospects = past.prospects
    if past.every > 1:
        prospects = prospects.pick(prospects.id % past.every == 0)
    rows, here = _places(past.looked, prospects)
    looked = past.looked if here.all() else past.looked.pick(here)
    could = looked.informative & (looked.changed >= 0) & np.isfinite(looked.since_at)
    could &= looked.at > looked.since_at
    return Judged(past, prospects, looked, rows, could, rates(prospects, looked, rows))


def _places(looked: Looked, prospects: Prospects) -> tuple[Ints, Bools]:
    """Where each visit's resource is, of those visits whose resource is there: it may just be removed."""
    rows = np.searchsorted(prospects.id, looked.id)
    if not len(prospects):
        return rows[:0], np.zeros(len(looked), dtype=np.bool_)
    here = prospects.id[np.minimum(rows, len(prospects) - 1)] == looked.id
    return rows[here], here
