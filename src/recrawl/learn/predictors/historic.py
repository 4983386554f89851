"""The historic classifier as a predictor: a resource changes at the rate of the class that it is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recrawl.learn.forecasts import MixtureForecasts
from recrawl.memberships import Counted
from recrawl.model import TABLE_4, Batch, Floats, RateClass


class Historic(Counted):
    """Predictor `historic`, by default with the classes that the paper's figures were made with.

    It counts visits, whatever their gaps are: a class says something of whoever is visited at its interval,
    as policy `historic` does.
    """

    def __init__(self, classes: Sequence[RateClass] = TABLE_4) -> None:
        super().__init__(classes)

    def forecast(self, batch: Batch, now: float) -> MixtureForecasts:  # noqa: ARG002 - no calendar in it
        per_s = 1.0 / self.interval_s(batch.id, batch.hunch_gap_s)[:, None]
        return MixtureForecasts(np.ones_like(per_s), per_s)

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:  # noqa: ARG002 - as above
        """What the forecasts rest on: the class, and what was counted since it was last decided on."""
        _, n_visits, n_changes = self.memory(batch.id).T
        return {
            "class_interval_s": self.interval_s(batch.id, batch.hunch_gap_s),
            "window_visits": n_visits,
            "window_changes": n_changes,
        }
