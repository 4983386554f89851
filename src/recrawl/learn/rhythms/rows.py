"""What is kept of one resource: a row of numbers, which only `learn.rhythms.steps` and `.rates` write.

X, T and SHARE are the Gamma filter's evidence. Forecasts go by the rates beyond; by the former, how firmly a
resource was known to change when it fell silent, and habits among moments.
"""

from __future__ import annotations

from math import log

import numpy as np

from recrawl.learn.rhythms.habits import N_ROWS
from recrawl.model import DAY_S, Bools, Floats

RATES, N_RATES = 8, 27  # from there on: what is believed of the rate (`learn.rhythms.rates`)
WIDTH = RATES + N_RATES
X, T, SHARE, CHANGED_AT, SCALE, HABIT, HEED, VERDICTS = range(RATES)
BLANK = (0.0, 0.0, 1.0, np.nan, 0.0, 0.0, 0.0, 0.0, *[1.0] * N_RATES)

FADING = 0.02  # share of the evidence for heeding let go at each visit
SURE = 1e-3
SHORTEST_S, LONGEST_S = 60.0, 365 * DAY_S  # between them lies a habit's unit


def sound(rows: Floats) -> Bools:
    """Which of these rows a visit can have written: of any others own time might not even pass."""
    x, t_s, share, changed_at, scale_s, habit, heed, verdicts = rows.T[:RATES]
    rates = rows.T[RATES:]
    fine = np.isfinite(np.delete(rows, CHANGED_AT, axis=1)).all(axis=1) & ~np.isinf(changed_at)
    fine &= (share >= 0.0) & (share <= 1.0)
    for one in (x, t_s):  # numbers that can be squared and divided by
        fine &= (one >= 0.0) & (one < 1e15) & (one + share > 1e-9)
    fine &= (scale_s == 0.0) | ((scale_s >= SHORTEST_S) & (scale_s <= LONGEST_S))
    fine &= (habit >= 0.0) & (habit < N_ROWS) & (verdicts >= 0.0) & (verdicts < 8.0)
    fine &= ((rates >= 0.0) & (rates < 1e250)).all(axis=0) & (rates > 0.0).any(axis=0)
    return np.asarray(fine & (np.abs(heed) <= -log(SURE) / FADING))
