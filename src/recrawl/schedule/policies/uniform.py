"""The uniform policy: the same gap for everything."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.model import Batch, Floats


class Uniform:
    """Policy `uniform`. Its price is the gap itself: the budget finds the gap that it can pay for."""

    name = "uniform"

    def quote(self, batch: Batch, forecasts: Forecasts) -> UniformQuote:  # noqa: ARG002 - it looks at none
        return UniformQuote(batch.min_gap_s, batch.max_gap_s)


@dataclass(frozen=True, slots=True)
class UniformQuote:
    min_gap_s: Floats
    max_gap_s: Floats

    def gaps(self, price: float | Floats) -> Floats:
        return np.asarray(np.clip(price, self.min_gap_s, self.max_gap_s))
