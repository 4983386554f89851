"""The Gamma filter: what is known of each resource's rate of change, as a Gamma distribution.

Its state is the shape `a` and `b_s` seconds of evidence. A visit says whether there was a change in a gap of
any length; the posterior is brought back to a Gamma with the same mean and variance (assumed-density
filtering). Where a visit tells when the last change was, the posterior is a Gamma as it is: one change more,
and the time since; where it tells of all moments, the time before each. O(1) a visit, no history kept.

The prior is kept apart from what visits added: `a = x + share * shape`, `b_s = t_s + share * scale_s`, where
`share` is what forgetting has left of the prior. Visits add to x and t_s and never take away; forgetting
multiplies all three. So the rows hold for any prior: one that is fitted anew moves every resource by what it
still owes to the prior, and no row has to be written.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.histories import gaps_s, quiet_s
from recrawl.model import DAY_S, Batch, Floats, Ints, Priors, Seen

# With this many changes expected in a gap, one without any is rarer than one in twenty: a visit that finds a
# change cannot tell higher rates apart. Whoever forgets must not let such visits raise the rate for ever.
TELLING = 3.0


class GammaFilter:
    """Predictor `gamma`.

    `shape` and `scale_days` are the prior: what is believed of a resource never seen to change or not.
    `forgetting` is the share of the evidence's weight let go at each visit, so that old habits can be
    unlearned.
    """

    width = 3

    def __init__(self, *, shape: float = 0.5, scale_days: float = 10.0, forgetting: float = 0.05) -> None:
        self.priors = Priors(shape=shape, scale_s=scale_days * DAY_S)
        self.forgetting = forgetting
        self._rows = np.empty((0, 3))

    def ground(self, priors: Priors) -> None:
        """Believe this of resources before they were seen; what was seen of them stays."""
        self.priors = priors

    def learn(self, seen: Seen) -> None:
        """Take in visits; several of one resource are taken in the order of their times."""
        if not len(seen):
            return
        self._reach(int(seen.id.max()))
        for rows in seen.turns():
            self._take(seen.pick(rows))

    def state(self, ids: Ints, group: Ints, hunch_per_day: Floats | None = None) -> tuple[Floats, Floats]:
        """Shape and seconds of evidence of these resources, which are of these groups and have these
        hunches."""
        shape, scale_s = self.priors.of(group, hunch_per_day)
        self._reach(int(ids.max(initial=0)))
        x, t_s, share = self._rows[ids].T
        return x + share * shape, t_s + share * scale_s

    def forecast(self, batch: Batch, now: float) -> GammaForecasts:  # noqa: ARG002 - no calendar in it
        return GammaForecasts(*self.state(batch.id, batch.group, batch.hunch_per_day))

    def account(self, batch: Batch, now: float) -> Mapping[str, Floats]:  # noqa: ARG002 - as above
        """What the forecasts rest on."""
        a, b_s = self.state(batch.id, batch.group, batch.hunch_per_day)
        shape, scale_s = self.priors.of(batch.group, batch.hunch_per_day)
        return known(a, b_s, shape, scale_s, self._rows[batch.id, 2])

    def memory(self, ids: Ints) -> Floats:
        if len(ids):
            self._reach(int(ids.max()))
        return self._rows[ids]

    def recall(self, ids: Ints, rows: Floats) -> None:
        """Put back what the store kept; rows of NaN stand for "nothing kept" and are passed over, and so is
        what no filter of this kind wrote."""
        if not len(ids) or rows.shape[1] != self.width:
            return
        self._reach(int(ids.max()))
        kept = np.isfinite(rows).all(axis=1) & (rows >= 0.0).all(axis=1) & (rows[:, 2] <= 1.0)
        self._rows[ids[kept]] = rows[kept]

    def _take(self, seen: Seen) -> None:
        """At most one visit of each resource."""
        shape, scale_s = self.priors.of(seen.group, seen.hunch_per_day)
        a, b_s = self.state(seen.id, seen.group, seen.hunch_per_day)
        # Evidence loses weight, not its mean: what is believed stays, how firmly fades to the prior's shape.
        # Fading towards the prior itself would hold every fast changer down to a few changes a day.
        kept = np.maximum(1.0 - self.forgetting, np.minimum(1.0, shape / a))
        a, b_s, share = a * kept, b_s * kept, self._rows[seen.id, 2] * kept
        gap_s, after_s = gaps_s(seen), quiet_s(seen)
        a_yes, b_yes = _after_change(a, b_s, gap_s)
        if self.forgetting:
            b_yes = np.maximum(b_yes, a_yes / np.maximum(a / b_s, TELLING / gap_s))
        changed, timed = seen.changed == 1, np.isfinite(after_s)
        a_new = np.where(timed, a + 1.0, np.where(changed, a_yes, a))
        b_new = np.where(timed, b_s + after_s, np.where(changed, b_yes, b_s + gap_s))
        self._rows[seen.id, 0] = np.maximum(a_new - share * shape, 0.0)
        self._rows[seen.id, 1] = np.maximum(b_new - share * scale_s, 0.0)
        self._rows[seen.id, 2] = share

    def _reach(self, highest: int) -> None:
        """Room for this id; of whoever is new nothing is known but the prior."""
        if highest < len(self._rows):
            return
        room = max(1024, 2 * len(self._rows), highest + 1)
        grown = np.tile([0.0, 0.0, 1.0], (room, 1))
        grown[: len(self._rows)] = self._rows
        self._rows = grown


def known(a: Floats, b_s: Floats, shape: Floats, scale_s: Floats, share: Floats) -> Mapping[str, Floats]:
    """A rate and what it began from, by the names that an account gives them."""
    return {
        "shape": a,
        "evidence_s": b_s,
        "prior_shape": shape,
        "prior_scale_s": scale_s,
        "prior_share": share,
    }


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
