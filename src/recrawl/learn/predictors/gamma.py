"""The Gamma filter: what is known of each resource's rate of change, as two numbers.

Its state is a Gamma distribution over the rate, shape `a` and `b_s` seconds of evidence. A visit says
whether there was a change in a gap of any length; the posterior is brought back to a Gamma with the same
mean and variance (assumed-density filtering). O(1) a visit, no history kept.
"""

from __future__ import annotations

import numpy as np

from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import DAY_S, Batch, Floats, Ints, Seen

# With this many changes expected in a gap, one without any is rarer than one in twenty: a visit that finds a
# change cannot tell higher rates apart. Whoever forgets must not let such visits raise the rate for ever.
TELLING = 3.0


class GammaFilter:
    """Predictor `gamma`.

    `shape` and `scale_days` are the prior: what is believed of a resource never seen to change or not.
    `forgetting` is the share of the evidence's weight let go at each visit, so that old habits can be
    unlearned.
    """

    width = 2

    def __init__(self, *, shape: float = 0.5, scale_days: float = 10.0, forgetting: float = 0.05) -> None:
        self.shape = shape
        self.scale_days = scale_days
        self.forgetting = forgetting
        self._rows = np.empty((0, 2))

    def learn(self, seen: Seen) -> None:
        """Take in visits; several of one resource are taken in the order of their times."""
        if not len(seen):
            return
        self._reach(int(seen.id.max()))
        for rows in _rounds(seen):
            ids = seen.id[rows]
            gap_s = np.maximum(seen.at[rows] - seen.since_at[rows], 1e-3)
            a, b_s = self._faded(self._rows[ids])
            changed = seen.changed[rows] == 1
            a_yes, b_yes = _after_change(a, b_s, gap_s)
            if self.forgetting:
                b_yes = np.maximum(b_yes, a_yes / np.maximum(a / b_s, TELLING / gap_s))
            self._rows[ids, 0] = np.where(changed, a_yes, a)
            self._rows[ids, 1] = np.where(changed, b_yes, b_s + gap_s)

    def forecast(self, batch: Batch, now: float) -> GammaForecasts:  # noqa: ARG002 - no calendar in it
        rows = self.memory(batch.id)
        return GammaForecasts(rows[:, 0], rows[:, 1])

    def memory(self, ids: Ints) -> Floats:
        if len(ids):
            self._reach(int(ids.max()))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; rows of NaN stand for "nothing kept" and are passed over."""
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        kept = np.isfinite(rows).all(axis=1)
        self._rows[ids[kept]] = rows[kept]

    def _faded(self, rows: Floats) -> tuple[Floats, Floats]:
        """Evidence loses weight, not its mean: what is believed stays, how firmly fades to the prior's
        shape. Fading towards the prior itself would hold every fast changer down to a few changes a day."""
        a, b_s = rows[:, 0], rows[:, 1]
        kept = np.maximum(1.0 - self.forgetting, np.minimum(1.0, self.shape / a))
        return a * kept, b_s * kept

    def _reach(self, highest: int) -> None:
        """Room for this id; whoever is new starts from the prior."""
        if highest < len(self._rows):
            return
        room = max(1024, 2 * len(self._rows), highest + 1)
        grown = np.tile([self.shape, self.scale_days * DAY_S], (room, 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown


def _after_change(a: Floats, b_s: Floats, gap_s: Floats) -> tuple[Floats, Floats]:
    """The Gamma with the mean and variance of the posterior, given "changed at least once in the gap".

    With q = P(no change): posterior moments are those of the prior less those of the no-change part,
    over 1 - q. Rates are scaled by b_s, so that nothing under- or overflows.
    """
    x = gap_s / b_s
    log = np.log1p(x)
    q = np.exp(-a * log)
    p = -np.expm1(-a * log)
    first = a * -np.expm1(-(a + 1.0) * log) / p
    second = a * (a + 1.0) * -np.expm1(-(a + 2.0) * log) / p
    variance = second - first * first
    # For gaps that are tiny beside b_s the differences cancel; the limit is one sure event: (a + 1, b).
    tiny = (x < 1e-6) | ~np.isfinite(variance) | (variance <= 0.0) | (q >= 1.0)
    b_unit = np.where(tiny, 1.0, first / np.where(tiny, 1.0, variance))
    a_new = np.where(tiny, a + 1.0, first * b_unit)
    return a_new, b_unit * b_s


def _rounds(seen: Seen) -> list[Ints]:
    """Row numbers, split so that each round holds every resource at most once, in order of time."""
    order = np.lexsort((seen.at, seen.id))
    ids = seen.id[order]
    first = np.r_[True, ids[1:] != ids[:-1]]
    if first.all():
        return [order]
    start = np.maximum.accumulate(np.where(first, np.arange(len(ids)), 0))
    rank = np.arange(len(ids)) - start
    return [order[rank == r] for r in range(int(rank.max()) + 1)]
