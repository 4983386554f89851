"""The Bayesian class estimator as a predictor: a resource changes at the rate of one of the classes, and how
probable each of them is follows from its visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from recrawl.learn.forecasts import MixtureForecasts
from recrawl.memberships import BELIEF, Weighed
from recrawl.model import TABLE_4, Batch, Floats, RateClass


class Bayesian(Weighed):
    """Predictor `bayesian`. Its forecast is the mean over the classes, not that of the most probable one."""

    def __init__(self, classes: Sequence[RateClass] = TABLE_4, belief: float = BELIEF) -> None:
        super().__init__(classes, belief)

    def forecast(self, batch: Batch, now: float) -> MixtureForecasts:  # noqa: ARG002 - no calendar in it
        p = self.p_classes(batch.id, batch.hunch_gap_s)
        return MixtureForecasts(p, np.broadcast_to(1.0 / self.table.interval_s, p.shape))

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:  # noqa: ARG002 - as above
        """What the forecasts rest on: the most probable class, and how probable it is."""
        place = self.classes(batch.id, batch.hunch_gap_s)
        p = self.p_classes(batch.id, batch.hunch_gap_s)
        return {"class_interval_s": self.table.interval_s[place], "class_belief": p[np.arange(len(p)), place]}
