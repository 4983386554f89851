"""A line through the log odds of all examples: logistic regression whose slopes are drawn towards 0.

It cannot say what trees can, that one sign counts only beside another. But it needs few examples, and where
signs are log odds already, which may be added up, little more can be said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Bools, Floats

_DRAWN = 30.0  # a slope of 1 costs as much as so many nats
_FARTHEST = 4.0  # spreads: what lies beyond says no more
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Ridge:
    middle: Floats
    spread: Floats
    slope: Floats  # and at the end the height

    def odds(self, columns: Floats) -> Floats:
        """The log odds of rows."""
        return np.asarray(_scaled(columns, self.middle, self.spread) @ self.slope)


def drawn_through(columns: Floats, so: Bools, weight: Floats) -> Ridge:
    """By Newton's steps; weights of rows have a mean of 1."""
    middle, spread = columns.mean(axis=0), columns.std(axis=0) + 1e-6
    x = _scaled(columns, middle, spread)
    cost = np.append(np.full(columns.shape[1], _DRAWN), 1e-6)
    slope = np.zeros(len(cost))
    for _ in range(_ROUNDS):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ slope, -30.0, 30.0)))
        bend = (x * (weight * p * (1.0 - p))[:, None]).T @ x + np.diag(cost + 1e-6)
        step = np.linalg.solve(bend, x.T @ (weight * (so - p)) - cost * slope)
        slope = slope + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-6:
            break
    return Ridge(middle, spread, slope)


def _scaled(columns: Floats, middle: Floats, spread: Floats) -> Floats:
    near = np.clip((columns - middle) / spread, -_FARTHEST, _FARTHEST)
    return np.append(near, np.ones((len(columns), 1)), axis=1)
