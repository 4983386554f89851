"""What visits found, as ragged columns for estimators: every visit with the row of its resource."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Bools, Floats, Ints, Seen

# A server that stamps every answer with its own moment says nothing of when the content changed.
STAMP_S = 2.0
_MIN_GAP_S = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Histories:
    """Visits of `n` resources, in any order; those of one resource are in the order of time."""

    n: int
    row: Ints  # which resource, from 0
    gap_s: Floats
    changed: Bools
    # from the last change to the visit, or of a moment the gap before it; NaN: no change, or its time is not
    # known
    after_s: Floats

    def __len__(self) -> int:
        return len(self.row)

    @property
    def timed(self) -> Bools:
        return np.isfinite(self.after_s)

    @property
    def untimed(self) -> Bools:
        """Visits that say no more than that there was a change."""
        return self.changed & ~self.timed

    @property
    def n_visits(self) -> Floats:
        return self.sums(np.ones(len(self)))

    @property
    def n_changed(self) -> Floats:
        return self.sums(self.changed.astype(np.float64))

    @property
    def watched_s(self) -> Floats:
        """How long no change is known for sure: gaps without one, and what came after a change whose time is
        known. With the number of such changes this is all that a Gamma distribution needs."""
        return self.sums(np.where(self.timed, self.after_s, np.where(self.changed, 0.0, self.gap_s)))

    def sums(self, value: Floats) -> Floats:
        return np.bincount(self.row, weights=value, minlength=self.n).astype(np.float64)

    def pick(self, rows: Ints) -> Histories:
        """The visits of some resources, numbered anew."""
        place = np.full(self.n, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        own = place[self.row]
        kept = own >= 0
        return Histories(
            n=len(rows),
            row=own[kept],
            gap_s=self.gap_s[kept],
            changed=self.changed[kept],
            after_s=self.after_s[kept],
        )


def histories(seen: Seen) -> tuple[Histories, Ints]:
    """The same visits, and the resources' ids by row."""
    ids, row = np.unique(seen.id, return_inverse=True)
    order = np.lexsort((seen.at, row))
    part = seen.pick(order)
    return (
        Histories(
            n=len(ids),
            row=row[order].astype(np.int64),
            gap_s=gaps_s(part),
            changed=part.changed == 1,
            after_s=quiet_s(part),
        ),
        ids.astype(np.int64),
    )


def gaps_s(seen: Seen) -> Floats:
    return np.maximum(seen.at - seen.since_at, _MIN_GAP_S)


def known_after_s(seen: Seen) -> Floats:
    """How long before each visit the last change was, where its time is known and can be true; else NaN. In
    the row of a moment it is 0."""
    after_s = seen.at - seen.event_at
    true = (seen.changed == 1) & (after_s >= STAMP_S) & (seen.event_at > seen.since_at)
    return np.where(true | seen.momentary, after_s, np.nan)


def quiet_s(seen: Seen) -> Floats:
    """Of each gap with a change of known time, how long nothing happened for sure: since that change, or, in
    the row of a moment, all the way up to it. Of others NaN."""
    return np.where(seen.momentary, gaps_s(seen), known_after_s(seen))


def after(told: Seen, ids: Ints, at: Floats) -> Seen:
    """Of these visits those that came after a moment of each one's own; of whom it is NaN, none. `ids` are in
    order."""
    if not len(ids):
        return told
    place = np.minimum(np.searchsorted(ids, told.id), len(ids) - 1)
    return told.pick((ids[place] == told.id) & (told.at > at[place]))
