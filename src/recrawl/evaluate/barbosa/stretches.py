"""What visits came to within a stretch of each page's own: up to its tenth visit, say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Floats, Ints
from recrawl.simulate.traces import Traces, Visits


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A row for each page."""

    length_s: Floats
    stale_s: Floats  # the copy is not the live thing
    n_visits: Floats
    n_wasted: Floats  # visits that found no change
    n_changes: Floats

    def total(self, group: Ints, n_groups: int) -> Sums:
        """With what is resampled: groups of pages, which are numbered alike in all splits."""
        return Sums(
            stale_by_group=_summed(group, self.stale_s, n_groups),
            length_by_group=_summed(group, self.length_s, n_groups),
            length_s=float(self.length_s.sum()),
            stale_s=float(self.stale_s.sum()),
            n_visits=float(self.n_visits.sum()),
            n_wasted=float(self.n_wasted.sum()),
            n_changes=float(self.n_changes.sum()),
            n_pages=len(self.length_s),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """Of all pages together."""

    length_s: float
    stale_s: float
    n_visits: float
    n_wasted: float
    n_changes: float
    n_pages: int
    stale_by_group: Floats
    length_by_group: Floats

    @property
    def stale(self) -> float:
        """The share of time in which copies were stale."""
        return self.stale_s / self.length_s if self.length_s > 0.0 else 0.0

    @property
    def recall(self) -> float:
        return (self.n_visits - self.n_wasted) / self.n_changes if self.n_changes > 0.0 else np.nan

    @property
    def wasted(self) -> float:
        """The share of visits that found nothing new."""
        return self.n_wasted / self.n_visits if self.n_visits > 0.0 else np.nan


def nth_visit_at(visits: Visits, n: int, end_at: float) -> Floats:
    """When each page is visited for the nth time; the end where it never is."""
    first, after = visits.bounds[:-1], visits.bounds[1:]
    has = first + n <= after
    at = np.full(len(first), end_at)
    at[has] = visits.at[first[has] + n - 1]
    return np.asarray(np.minimum(at, end_at))


def stretch(traces: Traces, visits: Visits, since_at: Floats, until_at: Floats, start_at: float) -> Stretch:
    """From `since_at` to `until_at`, both of each page; a copy is held from `start_at` on.

    A change lies in the stretch where it comes in it, a visit likewise; a visit that finds changes finds all
    since the last one, before the stretch or in it.
    """
    n = len(traces)
    # Each copy stands from its visit to the next one; the first from the start on.
    sizes = np.diff(visits.bounds) + 1
    row = np.repeat(np.arange(n), sizes)
    opens = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    begin_at = np.empty(len(row))
    begin_at[np.setdiff1d(np.arange(len(row)), opens)] = visits.at
    begin_at[opens] = start_at
    end_at = np.append(begin_at[1:], np.inf)
    end_at[opens[1:] - 1] = np.inf
    end_at[-1:] = np.inf
    spoilt_at = _next_change(traces, row, begin_at)
    low, high = np.maximum(np.maximum(spoilt_at, begin_at), since_at[row]), np.minimum(end_at, until_at[row])
    stale_s = np.bincount(row, weights=np.maximum(high - low, 0.0), minlength=n).astype(np.float64)
    visited = (end_at > since_at[row]) & (end_at <= until_at[row]) & np.isfinite(end_at)
    wasted = visited & (spoilt_at > end_at)
    owner = np.repeat(np.arange(n), traces.n_changes)
    came = (traces.at > since_at[owner]) & (traces.at <= until_at[owner])
    return Stretch(
        length_s=np.maximum(until_at - since_at, 0.0),
        stale_s=stale_s,
        n_visits=_counts(row[visited], n),
        n_wasted=_counts(row[wasted], n),
        n_changes=_counts(owner[came], n),
    )


def _summed(group: Ints, value: Floats, n_groups: int) -> Floats:
    return np.bincount(group, weights=value, minlength=n_groups).astype(np.float64)


def _counts(row: Ints, n: int) -> Floats:
    return np.bincount(row, minlength=n).astype(np.float64)


def _next_change(traces: Traces, row: Ints, at: Floats) -> Floats:
    """The first change of each of these rows after a moment of its own; infinite where there is none."""
    if not len(traces.at):
        return np.full(len(row), np.inf)
    # One line of all moments: each page's lie behind those of the page before.
    origin = min(float(traces.at.min()), float(at.min()))
    span = max(float(traces.at.max()), float(at.max())) - origin + 1.0
    owner = np.repeat(np.arange(len(traces)), traces.n_changes)
    line = owner * span + (traces.at - origin)
    place = np.searchsorted(line, row * span + (at - origin), side="right")
    last = traces.bounds[row + 1]
    return np.where(place < last, traces.at[np.minimum(place, len(traces.at) - 1)], np.inf)
