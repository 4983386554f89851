"""A little disorder in the gaps, the same for everybody who asks.

A resource that changes every day at noon and is looked at every seven days at eleven seems never to change in
its last hour, and two that were added together are due together for ever. So every gap is a little longer or
shorter than it should be. By how much follows from the resource's number and how many visits told something
of it: live runs and simulations agree, and planning anew does not draw anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.contracts import Divisible
from recrawl.model import Batch, Floats, Ints
from recrawl.model.columns import Bits

SHARE = 0.07  # of the gap, either way


def jittered(quote: Divisible, batch: Batch, share: float) -> JitteredQuote:
    return JitteredQuote(quote, factors(batch, share), batch.min_gap_s, batch.max_gap_s)


def factors(batch: Batch, share: float | Floats) -> Floats:
    """By how much each is longer or shorter, up to a share."""
    turn = batch.id.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + batch.n_informative.astype(np.uint64)
    return np.asarray(1.0 + share * (2.0 * _scattered(turn) - 1.0))


@dataclass(frozen=True, slots=True)
class JitteredQuote:
    of: Divisible
    factor: Floats
    min_gap_s: Floats
    max_gap_s: Floats

    def pick(self, rows: Ints) -> JitteredQuote:
        of = self.of.pick(rows)
        return JitteredQuote(of, self.factor[rows], self.min_gap_s[rows], self.max_gap_s[rows])

    def gaps(self, price: float | Floats) -> Floats:
        return np.asarray(np.clip(self.of.gaps(price) * self.factor, self.min_gap_s, self.max_gap_s))


def _scattered(of: Bits) -> Floats:
    """Numbers in [0, 1), one for each number given, without any pattern that a schedule could meet. The
    finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = (of ^ (of >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) / 2.0**64)
