"""Any predictor with any policy at a constant price, without a store: visits in slices of time, as columns.

For predictors whose resources teach each other, which the fast path cannot walk one by one. A slice is no
longer than the smallest gap, so that everything is visited at most once in it, at the very moment it is due.
All visits of a slice are learned together before the next ones are planned; none of those plans begins before
the slice has ended, so nothing is known before its time.
"""

from __future__ import annotations

from math import inf

import numpy as np

from recrawl.compiled import compiled
from recrawl.contracts import Learner, Policy, Predictor
from recrawl.model import MOST_MOMENTS, Batch, Bools, Bytes8, Floats, Ints, Seen, unfolded
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import checked, first_after


def walk_columns(
    predictor: Predictor,
    policy: Policy,
    traces: Traces,
    *,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
    min_gap_s: float,
    max_gap_s: float,
    price: float,
    replan_every_s: float = inf,
    moments: bool = False,
) -> Visits:
    """The visits made until `end_at`, that moment not included. Predictor and policy begin as they are given,
    and know the resources as 1, 2, 3 … in the order of the traces.

    With `replan_every_s` everything is planned anew so often, as the loop does when it finds its price; that
    is how what one resource taught reaches another before its own visit. With `moments` a visit tells when
    every change was, and the copies held at the start of all that came before.
    """
    checked(traces, first_gap_s)
    known = Known(traces, start_at, min_gap_s, max_gap_s, moments)
    if moments:
        predictor.learn(known.past())
    due_at = start_at + first_gap_s
    kept: list[tuple[Ints, Floats]] = []
    replan_at = start_at + replan_every_s
    now = start_at
    while now < end_at and len(due_at):
        now = max(now, float(due_at.min()))
        until_at = min(now + min_gap_s, replan_at, end_at)
        rows = np.flatnonzero(due_at < until_at)
        if len(rows):
            at = np.maximum(due_at[rows], now)
            seen = known.visit(rows, at)
            predictor.learn(seen)
            if isinstance(policy, Learner):
                policy.learn(seen.folded())
            batch = known.batch(rows)
            gap_s = policy.quote(batch, predictor.forecast(batch, float(at.max()))).gaps(price)
            known.gap_s[rows] = gap_s
            due_at[rows] = at + gap_s
            kept.append((rows, at))
        now = until_at
        if now >= replan_at:
            batch = known.batch(np.flatnonzero(known.n_informative > 1))
            gap_s = policy.quote(batch, predictor.forecast(batch, now)).gaps(price)
            known.gap_s[batch.id - 1] = gap_s
            due_at[batch.id - 1] = batch.since_at + gap_s
            replan_at += replan_every_s
    return _visits(kept, len(traces))


class Known:
    """What the store would know of every resource."""

    def __init__(
        self, traces: Traces, start_at: float, min_gap_s: float, max_gap_s: float, moments: bool = False
    ) -> None:
        n = len(traces)
        self._traces = traces
        self._moments = moments
        self._bounds_s = (np.full(n, min_gap_s), np.full(n, max_gap_s))
        self._since_at = np.full(n, start_at)
        self._next = _after(traces.bounds, traces.at, np.arange(n), self._since_at)  # the next change of each
        self.gap_s = np.full(n, np.nan)
        self.n_informative = np.ones(n, dtype=np.int64)
        self._n_changes = np.zeros(n, dtype=np.int64)
        self._bits = np.zeros(n, dtype=np.uint64)

    def visit(self, rows: Ints, at: Floats) -> Seen:
        since_at = self._since_at[rows]
        change = _after(self._traces.bounds, self._traces.at, rows, at)
        changed: Bools = change > self._next[rows]
        said = self._said(self._next[rows], change) if self._moments else None
        self._next[rows] = change
        self._since_at[rows] = at
        self.n_informative[rows] += 1
        self._n_changes[rows] += changed
        self._bits[rows] = (self._bits[rows] << np.uint64(1)) | changed.astype(np.uint64)
        seen = self._seen(rows, since_at, at, changed.astype(np.int8))
        return seen if said is None else unfolded(seen, said)

    def past(self) -> Seen:
        """What the copies that are held tell of the time before."""
        rows = np.arange(len(self._traces))
        nothing, unknown = np.full(len(rows), np.nan), np.full(len(rows), -1, dtype=np.int8)
        said = self._said(self._traces.bounds[:-1], self._next)
        return unfolded(self._seen(rows, nothing, self._since_at, unknown), said)

    def _seen(self, rows: Ints, since_at: Floats, at: Floats, changed: Bytes8) -> Seen:
        return Seen(
            id=rows + 1,
            since_at=since_at,
            at=at,
            changed=changed,
            event_at=np.full(len(rows), np.nan),
            group=self._traces.host[rows] + 1,
            **self._traces.hunches(rows),
        )

    def _said(self, first: Ints, end: Ints) -> list[Floats]:
        """The moments from each of these places up to the other, the newest of very many."""
        begin = np.maximum(first, end - MOST_MOMENTS)
        return [self._traces.at[low:high] for low, high in zip(begin.tolist(), end.tolist(), strict=True)]

    def batch(self, rows: Ints) -> Batch:
        return Batch(
            id=rows + 1,
            weight=self._traces.weight[rows],
            min_gap_s=self._bounds_s[0][rows],
            max_gap_s=self._bounds_s[1][rows],
            since_at=self._since_at[rows],
            gap_s=self.gap_s[rows],
            n_informative=self.n_informative[rows],
            n_changes=self._n_changes[rows],
            n_failures=np.zeros(len(rows), dtype=np.int64),
            bits=self._bits[rows],
            group=self._traces.host[rows] + 1,  # 0 is for those of none
            **self._traces.hunches(rows),
        )


@compiled
def _after(bounds: Ints, times: Floats, rows: Ints, at: Floats) -> Ints:
    """For each row the place of its first change after its moment."""
    found = np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        found[i] = first_after(times, bounds[rows[i]], bounds[rows[i] + 1], at[i])
    return found


def _visits(kept: list[tuple[Ints, Floats]], n: int) -> Visits:
    rows = np.concatenate([rows for rows, _ in kept]) if kept else np.empty(0, dtype=np.int64)
    at = np.concatenate([at for _, at in kept]) if kept else np.empty(0)
    order = np.lexsort((at, rows))
    return Visits(bounds=np.searchsorted(rows[order], np.arange(n + 1)).astype(np.int64), at=at[order])
