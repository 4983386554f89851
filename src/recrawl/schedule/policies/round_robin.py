"""The round-robin policy: everything in turn, round and round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.model import Batch, Floats

_GOLDEN = (5.0**0.5 - 1.0) / 2.0


class RoundRobin:
    """Policy `round-robin`. Like `uniform` its price is the gap, the same for everything; but the first round
    is spread over the whole of it, so that what was added together is not visited together ever after."""

    name = "round-robin"

    def quote(self, batch: Batch, forecasts: Forecasts) -> RoundRobinQuote:  # noqa: ARG002 - it looks at none
        # Steps of the golden ratio spread any number of consecutive ids evenly.
        place = np.where(batch.n_informative > 1, 1.0, batch.id * _GOLDEN % 1.0)
        return RoundRobinQuote(place, batch.min_gap_s, batch.max_gap_s)


@dataclass(frozen=True, slots=True)
class RoundRobinQuote:
    place: Floats  # in the round, as a share of it
    min_gap_s: Floats
    max_gap_s: Floats

    def gaps(self, price: float | Floats) -> Floats:
        return np.asarray(
            np.clip(np.minimum(price, self.max_gap_s) * self.place, self.min_gap_s, self.max_gap_s)
        )
