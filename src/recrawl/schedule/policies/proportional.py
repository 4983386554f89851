"""The proportional policy: who changes twice as often is visited twice as often."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recrawl.contracts import Forecasts, Quote
from recrawl.model import Batch, Floats
from recrawl.schedule.policies.index import Index


class Proportional:
    """Policy `proportional`. Its price is the number of changes expected by the next visit, the same for
    everything; so gaps go with one over the rate, and weights do not count."""

    name = "proportional"

    def quote(self, batch: Batch, forecasts: Forecasts) -> Quote:
        return Index(_Expected()).quote(replace(batch, weight=np.ones(len(batch)), cost=1.0), forecasts)


class _Expected:
    name = "expected"

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return forecasts.n_expected(t_s)
