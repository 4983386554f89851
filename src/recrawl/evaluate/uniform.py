"""The schedule that everything is compared with: the same number of visits, shared out evenly."""

from __future__ import annotations

import numpy as np

from recrawl.model import Floats, Ints


def uniform_visits(
    n_resources: int, n_visits: int, *, start_at: float, end_at: float, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Round and round in one random order, evenly over the time: exactly `n_visits` of them."""
    order = rng.permutation(n_resources)
    turn = np.arange(n_visits)
    step_s = (end_at - start_at) / max(n_visits, 1)
    return order[turn % max(n_resources, 1)], np.asarray(start_at + (turn + 0.5) * step_s, dtype=np.float64)
