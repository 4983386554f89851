"""Policies of rate classes: every resource is visited at the interval of the class that it is in.

They know no price. The class is decided at each visit (`recrawl.memberships`); quoting only reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.memberships import BELIEF, Counted, Memberships, Weighed
from recrawl.model import TABLE_2, TABLE_4, Batch, RateClass
from recrawl.schedule.policies.rules.policy import RuleQuote


def _quoted(of: Memberships, batch: Batch) -> RuleQuote:
    interval_s = of.interval_s(batch.id, batch.hunch_gap_s)
    return RuleQuote(np.clip(interval_s, batch.min_gap_s, batch.max_gap_s))


class HistoricPolicy(Counted):
    """The historic classifier of Barbosa and others (2005)."""

    def __init__(self, classes: Sequence[RateClass] = TABLE_4, name: str = "historic") -> None:
        super().__init__(classes)
        self.name = name

    def quote(self, batch: Batch, forecasts: Forecasts) -> RuleQuote:  # noqa: ARG002 - it looks at none
        return _quoted(self, batch)


class BayesianPolicy(Weighed):
    """The Bayesian estimator of Cho and Garcia-Molina, as that paper sets it beside its own."""

    def __init__(
        self, classes: Sequence[RateClass] = TABLE_4, belief: float = BELIEF, name: str = "bayesian"
    ) -> None:
        super().__init__(classes, belief)
        self.name = name

    def quote(self, batch: Batch, forecasts: Forecasts) -> RuleQuote:  # noqa: ARG002 - it looks at none
        return _quoted(self, batch)


def historic() -> HistoricPolicy:
    return HistoricPolicy()


def historic_example() -> HistoricPolicy:
    """With the classes of the paper's example."""
    return HistoricPolicy(TABLE_2, "historic-example")


def bayesian() -> BayesianPolicy:
    return BayesianPolicy()


# By their names: each makes a new one, which has learned nothing yet.
CLASSED: Mapping[str, Callable[[], HistoricPolicy | BayesianPolicy]] = {
    "historic": historic,
    "historic-example": historic_example,
    "bayesian": bayesian,
}
