"""The index policy: visit when weight * U(t) / cost reaches the price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from recrawl.contracts import Clocked, Divisible, Forecasts, Goal, Quote
from recrawl.model import Batch, Floats, Ints
from recrawl.schedule.closed import CODES, FRESH, FRESH_HARMONIC, PROMPT, GammaQuote, GammaRates
from recrawl.schedule.jitter import JitteredQuote, factors, jittered

# Between its smallest and largest gap each resource's worth is laid out on this many points, evenly in
# the logarithm, and read off along straight lines in log-log. With 32 points half the gaps are right to
# about a thousandth and nine in ten to a hundredth; the rest lie where the curve is flat and a visit is
# worth the same sooner or later (tests/unit/test_index.py).
N_POINTS = 32
# So many resources at a time stay within the processor's cache: twice as fast as all at once.
N_TOGETHER = 4_096
# Of the smallest gap: what is due so soon by its own time is due at the smallest gap even while that time
# runs four times as slow as usual.
SOONEST = 0.25
# Weights beyond this, or below one over it, count as these: what is worth more than a float can hold has no
# price. Nobody can say such a weight now, but stores and histories may have some.
EXTREME = 1e100
# The least that a visit can be worth, and so the least price that tells one from another. What has no weight
# is worth less yet: at no price is it visited before its largest gap.
LEAST = 1e-300
# Where a change is almost sure by then, nobody need scout: a third is the least chance of none for which some
# come as much sooner and later as forecasts say, and with less of a chance they do so less.
OPEN = 3.0


class Index:
    """Policy `index`: one formula for every goal and every forecast.

    With `jitter` every gap is up to so great a share longer or shorter, by the resource and the number of
    the visit: what changes at a fixed hour is then not always looked at just before it.
    """

    name = "index"

    def __init__(self, goal: Goal, jitter: float = 0.0) -> None:
        self.goal = goal
        self.jitter = jitter

    def quote(self, batch: Batch, forecasts: Forecasts) -> Quote:
        code = CODES.get(self.goal.name)
        weight = np.asarray(_bearable(batch.weight) / batch.cost)
        quote: Divisible
        # Asked first, since these may well tell a Gamma distributed rate too: one in own time.
        if isinstance(forecasts, Clocked):
            usual = self._laid_out(batch, weight, forecasts.usual, SOONEST)
            quote = ClockedQuote(
                usual,
                forecasts,
                factors(batch, forecasts.scatter) - 1.0,
                batch.min_gap_s,
                batch.max_gap_s,
                code in (FRESH, FRESH_HARMONIC, PROMPT),
                code == PROMPT,
            )
        elif code is not None and isinstance(forecasts, GammaRates):
            a, b_s = forecasts.gamma()
            quote = GammaQuote(code, a, b_s, weight, batch.min_gap_s, batch.max_gap_s)
        else:
            quote = self._laid_out(batch, weight, forecasts)
        return jittered(quote, batch, self.jitter) if self.jitter else quote

    def _laid_out(
        self, batch: Batch, weight: Floats, forecasts: Forecasts, soonest: float = 1.0
    ) -> IndexQuote:
        share = np.linspace(0.0, 1.0, N_POINTS)[:, None]
        low, high = np.log(soonest * batch.min_gap_s), np.log(np.maximum(batch.max_gap_s, batch.min_gap_s))
        log_gap = low + share * (high - low)
        log_worth = np.empty_like(log_gap)
        least = np.where(weight > 0.0, LEAST, LEAST / 2.0)
        for start in range(0, len(batch), N_TOGETHER):
            rows = np.arange(start, min(start + N_TOGETHER, len(batch)))
            part = forecasts.pick(rows)
            worth = weight[rows] * self.goal.worth(part, np.exp(log_gap[:, rows]))
            # The first time a curve reaches a price is the first time its running maximum does: this keeps
            # "never sooner when dearer" true for hazards that rise and fall with the calendar.
            log_worth[:, rows] = np.log(np.maximum(np.maximum.accumulate(worth, axis=0), least[rows]))
        return IndexQuote(log_gap, log_worth)


def _bearable(weight: Floats) -> Floats:
    return np.where(weight > 0.0, np.clip(weight, 1.0 / EXTREME, EXTREME), 0.0)


@dataclass(frozen=True, slots=True)
class IndexQuote:
    """Worth against gap, both as logarithms, one column per resource."""

    log_gap: Floats
    log_worth: Floats

    def pick(self, rows: Ints) -> IndexQuote:
        return IndexQuote(self.log_gap[:, rows], self.log_worth[:, rows])

    def gaps(self, price: float | Floats) -> Floats:
        wanted = np.log(np.maximum(price, LEAST))
        n_below = (self.log_worth < wanted).sum(axis=0)
        upper = np.clip(n_below, 1, N_POINTS - 1)
        columns = np.arange(self.log_worth.shape[1])
        x0, x1 = self.log_worth[upper - 1, columns], self.log_worth[upper, columns]
        y0, y1 = self.log_gap[upper - 1, columns], self.log_gap[upper, columns]
        rise = np.where(x1 > x0, x1 - x0, 1.0)
        share = np.clip((wanted - x0) / rise, 0.0, 1.0)
        inner = y0 + share * (y1 - y0)
        at_least = np.where(n_below == 0, self.log_gap[0], inner)
        return np.asarray(np.exp(np.where(n_below == N_POINTS, self.log_gap[-1], at_least)))


@dataclass(frozen=True, slots=True)
class ClockedQuote:
    """Gaps in the resources' own time, as the world's clock has them."""

    usual: IndexQuote
    clock: Clocked
    sway: Floats  # by what share each comes sooner or later, to scout
    min_gap_s: Floats
    max_gap_s: Floats
    timely: bool  # whether it counts how long a copy is stale
    counting: bool  # whether every change waits by itself

    def pick(self, rows: Ints) -> ClockedQuote:
        return ClockedQuote(
            self.usual.pick(rows),
            self.clock.pick(rows),
            self.sway[rows],
            self.min_gap_s[rows],
            self.max_gap_s[rows],
            self.timely,
            self.counting,
        )

    def gaps(self, price: float | Floats) -> Floats:
        usual_s = self.usual.gaps(price)
        own_s = self.clock.usual.own_s(usual_s)
        if self.sway.any():
            own_s = own_s * (1.0 + self.sway * np.minimum(OPEN * self.clock.usual.survival(usual_s), 1.0))
        gap_s = self.clock.due_s(own_s, self.max_gap_s, self.timely, self.counting)
        # What costs nothing is worth it however slow a clock runs, and waits for no better moment if it has a
        # weight: who waits for one at every visit makes fewer, and sees less. What no price allows comes at
        # the largest gap, however fast a clock runs.
        free = (np.asarray(price) <= 0.0) & (self.usual.log_worth[0] >= log(LEAST))
        gap_s = np.where(free, self.min_gap_s, np.where(np.isposinf(price), self.max_gap_s, gap_s))
        return np.asarray(np.clip(gap_s, self.min_gap_s, self.max_gap_s))


def even(quote: Quote) -> Quote:
    """Without what makes gaps a little longer or shorter, so that they differ and some scout."""
    if isinstance(quote, JitteredQuote):
        return even(quote.of)
    return replace(quote, sway=np.zeros_like(quote.sway)) if isinstance(quote, ClockedQuote) else quote
