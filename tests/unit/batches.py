"""Resources as columns, all alike, and what is believed of them."""

from __future__ import annotations

import numpy as np

from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import DAY_S, HOUR_S, Batch

START_AT = 1.8e9


def batch_of(n: int, *, min_gap_s: float = HOUR_S, per_host: int = 10) -> Batch:
    zeros = np.zeros(n, dtype=np.int64)
    return Batch(
        id=np.arange(1, n + 1),
        weight=np.ones(n),
        min_gap_s=np.full(n, min_gap_s),
        max_gap_s=np.full(n, 30 * DAY_S),
        since_at=np.full(n, START_AT),
        gap_s=np.full(n, DAY_S),
        n_informative=zeros + 5,
        n_changes=zeros,
        n_failures=zeros,
        bits=zeros.astype(np.uint64),
        group=1 + np.arange(n) // per_host,
    )


def believed(n: int) -> GammaForecasts:
    per_day = np.geomspace(0.05, 5.0, n)
    return GammaForecasts(np.full(n, 8.0), 8.0 / per_day * DAY_S)
