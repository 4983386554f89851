"""How late visits come where there are more than can be made.

The longest overdue is visited first, so all that wait for the same thing are late by the same time: what may
wait for a day and what may wait for half a year alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recrawl.model import HOUR_S, Floats

_STRIDE = 4.0
_N_STRIDES = 200  # beyond any budget that can be written
_N_HALVED = 40


def late_s(taken: Callable[[Floats], Floats], n: int) -> Floats:
    """For each of `n` limits, how late its visits are when it makes as many as it can; 0 where all fit.
    `taken` is what they take of each, as a share, where they are so late."""
    low, high = np.zeros(n), np.full(n, HOUR_S)
    fits = taken(low) <= 1.0
    for _ in range(_N_STRIDES):
        over = ~fits & (taken(high) > 1.0)
        if not over.any():
            break
        low, high = np.where(over, high, low), np.where(over, _STRIDE * high, high)
    for _ in range(_N_HALVED):
        middle = (low + high) / 2.0
        over = taken(middle) > 1.0
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.where(fits, 0.0, high)
