"""What gap a resource would have in the long run, with this budget and with another."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np

from recrawl.app.beliefs import Beliefs
from recrawl.contracts import Forecasts
from recrawl.model import DAY_S, Batch, Floats
from recrawl.pricing import costed
from recrawl.schedule.budget import lowest_price
from recrawl.schedule.policies.index import Index
from recrawl.schedule.relooks import relooks

N_ASKED = 10_000  # resources, evenly among all: the price is found for them alone


@dataclass(frozen=True, slots=True)
class Otherwise:
    """`error` is about the standard error of a gap, as a share: 0 where all were asked."""

    times: float  # the budget
    gap_s: float
    price: float
    full: bool  # whether its host can serve no more at that price, and so has a higher one
    n_asked: int
    error: float


def gaps_at(
    beliefs: Beliefs, batch: Batch, one: Batch, forecast: Forecasts, now: float, times: tuple[float, ...]
) -> list[Otherwise]:
    """The gap of the only resource in `one` at so many times the budget, in the long run; nothing where there
    is no budget to change. At this moment it may be another one: the price is that of the day ahead."""
    terms, budget = beliefs.terms, beliefs.budget
    if terms is None or not len(batch) or (budget.visits_per_day, budget.bytes_per_day) == (None, None):
        return []
    rows = np.unique(np.linspace(0, len(batch) - 1, min(N_ASKED, len(batch))).astype(np.int64))
    some = batch.pick(rows)
    n_bytes = None if beliefs.costs is None else beliefs.costs.n_bytes(some.id)
    some = costed(some, n_bytes, terms.mix, terms.mean_bytes)
    forecasts = beliefs.predictor.forecast(some, now)
    quote = beliefs.policy.quote(some, forecasts)
    more = len(batch) / len(rows)

    def taken(price: float) -> float:
        """Of the tighter limit of the budget."""
        per_day = more * DAY_S / quote.gaps(price)
        return max(
            float(per_day.sum()) / (budget.visits_per_day or inf),
            0.0 if n_bytes is None else float(per_day @ n_bytes) / (budget.bytes_per_day or inf),
        )

    own_bytes = None if beliefs.costs is None else beliefs.costs.n_bytes(one.id)
    own = costed(one, own_bytes, terms.mix, terms.mean_bytes)
    own_quote = beliefs.policy.quote(own, forecast)
    lasting = lowest_price(taken, 1.0, guess=terms.price)
    error = _error(quote.gaps(lasting), len(batch))
    host_price = terms.dear.get(str(int(one.group[0])), 0.0)
    found = []
    for factor in times:
        price = lowest_price(taken, factor, guess=lasting)
        gap_s = own_quote.gaps(max(price, host_price))
        if isinstance(beliefs.policy, Index) and budget.visits_per_day and price < inf:
            pairs = relooks(some, forecasts, quote.gaps(price), factor * budget.visits_per_day / more)
            gap_s = gap_s if pairs is None else pairs.applied(own, forecast, gap_s)
        found.append(
            Otherwise(factor, float(gap_s[0]), max(price, host_price), host_price > price, len(rows), error)
        )
    return found


def _error(gap_s: Floats, n_all: int) -> float:
    """Of what all ask for together, as a share, when only these were asked. A gap goes with the budget at
    most in proportion."""
    asked = 1.0 / gap_s
    if len(asked) >= n_all or not isfinite(float(asked.sum())):
        return 0.0
    return float(asked.std() / asked.mean() / sqrt(len(asked)) * sqrt(1.0 - len(asked) / n_all))
