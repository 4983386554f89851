"""Resources by how often they change: the bands of mean change interval that the archiver's paper reports.

A month is 30 days here, so that the bands touch and half a year is the largest gap, 180 days. The band of a
resource comes from its whole history, as in the paper: the time from its first version to the end of the
corpus, by the number of its changes. It is for reporting; no policy gets to know it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import DAY_S, Floats, Ints
from recrawl.simulate.traces import Traces

MONTH_DAYS = 30.0
ALL = "all"


@dataclass(frozen=True, slots=True)
class Band:
    """Mean change intervals from `low_days` to just below `high_days`."""

    name: str
    low_days: float
    high_days: float

    def rows(self, interval_s: Floats) -> Ints:
        days = interval_s / DAY_S
        return np.flatnonzero((days >= self.low_days) & ((days < self.high_days) | np.isinf(self.high_days)))


# The paper has no band below two days; without one such resources would be in "all" alone.
BANDS = (
    Band("< 2 d", 0.0, 2.0),
    Band("2-7 d", 2.0, 7.0),
    Band("7-14 d", 7.0, 14.0),
    Band("14-30 d", 14.0, MONTH_DAYS),
    Band("1-2 m", MONTH_DAYS, 2 * MONTH_DAYS),
    Band("2-4 m", 2 * MONTH_DAYS, 4 * MONTH_DAYS),
    Band("4-6 m", 4 * MONTH_DAYS, 6 * MONTH_DAYS),
    Band("> 6 m", 6 * MONTH_DAYS, np.inf),
)


def mean_interval_s(traces: Traces, end_at: float) -> Floats:
    """From each first version to `end_at`, by the changes that came in between; infinite where none did."""
    n = np.zeros(len(traces), dtype=np.int64)
    rows = np.repeat(np.arange(len(traces)), traces.n_changes)
    np.add.at(n, rows[traces.at <= end_at], 1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum(end_at - traces.born_at, 0.0) / np.where(n, n, 0.0), dtype=np.float64)
