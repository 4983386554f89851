"""A past of visits: every change is known to lie in an interval, between two of them.

What changed and changed again between two visits shows as one change: there were at least as many.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import inf, isfinite

import numpy as np

from recrawl.errors import ConflictError
from recrawl.learn.histories import STAMP_S
from recrawl.model import DAY_S, Bools, Floats, Ints, Seen
from recrawl.simulate.traces import Traces, Visits

FEWEST_VISITS = 100
FEWEST_CHANGES = 10
FEWEST_DAYS = 2.0
_JUST_S = 1e-3  # after a visit: the earliest that a change can have come
_LONG = 3.0  # times the longest gap of a resource: after so long without a visit it is watched no more


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Row by row the same resources. Row `i` owns `[bounds[i] : bounds[i + 1]]` of its changes, each of which
    came in `(since_at, until_at]`, and likewise of its visits after the first, at which it entered."""

    ids: Ints
    group: Ints
    entered_at: Floats
    bounds: Ints
    since_at: Floats
    until_at: Floats  # the visit that saw it; or its own time, and then `since_at` is just before
    visits: Visits
    start_at: float
    end_at: float
    n_left: int  # resources left out, since nobody watches them any more
    n_timed: int  # changes whose own time is known

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_changes(self) -> int:
        return len(self.since_at)

    @property
    def days(self) -> float:
        return (self.end_at - self.start_at) / DAY_S

    def traces(self, share: float | Floats) -> Traces:
        """As if every change had come this share of the way from the first moment possible to the last."""
        return Traces(
            born_at=self.entered_at,
            bounds=self.bounds,
            at=self.since_at + share * (self.until_at - self.since_at),
            digest=np.zeros(self.n_changes, dtype=np.uint64),
            first_digest=np.zeros(len(self), dtype=np.uint64),
            host=self.group,
            weight=np.ones(len(self)),
        )

    def pick(self, rows: Ints) -> Past:
        of_change = np.isin(np.repeat(np.arange(len(self)), np.diff(self.bounds)), rows)
        of_visit = np.isin(np.repeat(np.arange(len(self)), np.diff(self.visits.bounds)), rows)
        return Past(
            ids=self.ids[rows],
            group=self.group[rows],
            entered_at=self.entered_at[rows],
            bounds=_ends(np.diff(self.bounds)[rows]),
            since_at=self.since_at[of_change],
            until_at=self.until_at[of_change],
            visits=Visits(
                bounds=_ends(np.diff(self.visits.bounds)[rows]),
                at=self.visits.at[of_visit].astype(np.float64),
            ),
            start_at=self.start_at,
            end_at=self.end_at,
            n_left=self.n_left,
            n_timed=self.n_timed,
        )


def past_of(pages: Iterable[Seen], *, days: float = inf) -> Past:
    """From all visits that tell something, or those of the last `days`; refused where there are too few."""
    parts = list(pages)
    if not parts:
        raise _too_little(0, 0, 0.0, days)
    seen = Seen(**{f.name: np.concatenate([getattr(one, f.name) for one in parts]) for f in fields(Seen)})
    end_at = float(seen.visit_at.max(initial=-inf))
    # What a first visit tells of the time before it was nobody's to see.
    seen = seen.pick(np.isfinite(seen.before_at) & (seen.before_at >= end_at - days * DAY_S))
    seen = seen.pick(np.lexsort((seen.at, seen.id)))
    visits = seen.folded()
    visits, n_left = _still_watched(visits.pick(np.lexsort((visits.at, visits.id))), end_at)
    seen = seen.pick(np.isin(seen.id, visits.id))
    n_changes = int((seen.changed == 1).sum())
    long_days = (end_at - float(visits.since_at.min(initial=end_at))) / DAY_S
    if len(visits) < FEWEST_VISITS or n_changes < FEWEST_CHANGES or long_days < FEWEST_DAYS:
        raise _too_little(len(visits), n_changes, long_days, days)
    ids, first, n_visits = np.unique(visits.id, return_index=True, return_counts=True)
    row = np.searchsorted(ids, seen.id)
    changed = seen.changed == 1
    timed = _timed(seen) & changed
    until_at = np.where(timed, seen.event_at, seen.at)
    since_at = np.where(timed, until_at, np.minimum(seen.since_at + _JUST_S, until_at))
    return Past(
        ids=ids,
        group=visits.group[first],
        entered_at=visits.since_at[first],
        bounds=_ends(np.bincount(row[changed], minlength=len(ids))),
        since_at=since_at[changed],
        until_at=until_at[changed],
        visits=Visits(bounds=_ends(n_visits), at=visits.at),
        start_at=float(visits.since_at.min()),
        end_at=end_at,
        n_left=n_left,
        n_timed=int(timed.sum()),
    )


def _timed(seen: Seen) -> Bools:
    """Whether the change's own time is known: a moment, or one between the visits that is no stamp of the
    answer itself."""
    with np.errstate(invalid="ignore"):
        between = (seen.event_at > seen.since_at) & (seen.event_at < seen.at - STAMP_S)
        return np.asarray(between | seen.momentary)


def _still_watched(seen: Seen, end_at: float) -> tuple[Seen, int]:
    if not len(seen):
        return seen, 0
    _, first, n = np.unique(seen.id, return_index=True, return_counts=True)
    longest_s = np.maximum.reduceat(seen.at - seen.since_at, first)
    last_at = seen.at[first + n - 1]
    stays = end_at - last_at <= np.maximum(_LONG * longest_s, DAY_S)
    return seen.pick(np.repeat(stays, n)), int((~stays).sum())


def _ends(n_each: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(n_each)]).astype(np.int64)


def _too_little(n_visits: int, n_changes: int, days: float, asked_days: float) -> ConflictError:
    farther = "ask for more days, " if isfinite(asked_days) else ""
    return ConflictError(
        f"{n_visits:,} visits after first ones, with {n_changes:,} changes in {days:.1f} days, are too "
        f"little to replay; {farther}let `recrawl run` go on until there are {FEWEST_VISITS} visits, "
        f"{FEWEST_CHANGES} changes and {FEWEST_DAYS:g} days, or replay a corpus with `recrawl simulate`."
    )
