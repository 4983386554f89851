"""Pages seen once a day, as the paper saw them: all that rates are estimated from and classes are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.groups import rates_of
from recrawl.learn.histories import Histories
from recrawl.model import DAY_S, Bools, Floats, Ints
from recrawl.simulate.traces import Traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Daily:
    changed: Bools  # rows: pages; columns: days

    @property
    def n_days(self) -> int:
        return int(self.changed.shape[1])

    @property
    def n_changed(self) -> Ints:
        return np.asarray(self.changed.sum(axis=1), dtype=np.int64)

    @property
    def per_day(self) -> Floats:
        """The paper's estimate."""
        return rates_of(np.full(len(self.changed), self.n_days), self.n_changed)

    @property
    def log_per_day(self) -> Floats:
        """Its logarithm with half a visit and half a change more, so that what never changed has one."""
        return np.asarray(np.log(np.log(self.n_days + 1.0) - np.log(self.n_days - self.n_changed + 0.5)))

    def histories(self, rows: Ints) -> Histories:
        changed = self.changed[rows]
        n = len(rows)
        return Histories(
            n=n,
            row=np.repeat(np.arange(n), self.n_days),
            gap_s=np.full(changed.size, DAY_S),
            changed=changed.ravel(),
            after_s=np.full(changed.size, np.nan),
        )


def daily(traces: Traces, start_at: float, n_days: int) -> Daily:
    """What a visit a day finds, the first a day after the copy that is held at `start_at`."""
    row = np.repeat(np.arange(len(traces)), traces.n_changes)
    day = np.ceil((traces.at - start_at) / DAY_S).astype(np.int64) - 1
    inside = (day >= 0) & (day < n_days)
    changed = np.zeros((len(traces), n_days), dtype=bool)
    changed[row[inside], day[inside]] = True
    return Daily(changed=changed)
