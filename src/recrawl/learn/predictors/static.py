"""First sight alone: what a resource's hunch makes us expect, whatever its visits find."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.gamma import known
from recrawl.learn.priors import SCALE_DAYS, SHAPE
from recrawl.model import DAY_S, Batch, Floats, Ints, Priors, Seen


class Static:
    """Predictor `static`. Its forecasts are the prior: that of the hunch where there is one and the priors
    say how far hunches go wrong, else the plain one. It keeps nothing."""

    width = 0

    def __init__(self, *, shape: float = SHAPE, scale_days: float = SCALE_DAYS) -> None:
        self.priors = Priors(shape=shape, scale_s=scale_days * DAY_S)

    def ground(self, priors: Priors) -> None:
        self.priors = priors

    def forecast(self, batch: Batch, now: float) -> GammaForecasts:  # noqa: ARG002 - no calendar in it
        return GammaForecasts(*self._prior(batch))

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:  # noqa: ARG002 - as above
        shape, scale_s = self._prior(batch)
        return known(shape, scale_s, shape, scale_s, np.ones(len(batch)))

    def learn(self, seen: Seen) -> None:
        """Nothing."""

    def memory(self, ids: Ints) -> Floats:
        return np.empty((len(ids), 0))

    def recall(self, ids: Ints, rows: Floats) -> None:
        """There is nothing to put back."""

    def _prior(self, batch: Batch) -> tuple[Floats, Floats]:
        return self.priors.of(batch.group, batch.hunch_per_day)
