"""Forecasts of resources that somebody has told of.

After the telling a change is the likelier by as much as the source is believed; before it all is as it was.
The index is still read off the usual curve: when a visit is due follows from the leap in own time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.rhythms.forecasts import Rhythms, Usual
from recrawl.learn.rhythms.signals import before_leaps_s
from recrawl.model import Floats, Ints


@dataclass(frozen=True)
class Told:
    rhythms: Rhythms
    told_s: Floats  # how long after the last visit; inf: nobody told
    belief: Floats  # how far each source is believed

    @property
    def usual(self) -> Usual:
        return self.rhythms.usual

    @property
    def scatter(self) -> Floats:
        return self.rhythms.scatter

    def real_s(self, own_s: Floats, most_s: Floats) -> Floats:
        untold_s = self.rhythms.real_s(own_s, most_s)
        told = np.isfinite(self.told_s)
        if not told.any():
            return untold_s
        a, b_s = self.rhythms.gamma.gamma()
        leapt_s = self.rhythms.real_s(before_leaps_s(own_s, a, b_s, self.belief), most_s)
        return np.where(told, np.minimum(untold_s, np.maximum(leapt_s, self.told_s)), untold_s)

    def timed_s(self, gap_s: Floats) -> Floats:
        """Whoever was told of does not wait for a better moment."""
        return np.where(np.isfinite(self.told_s), gap_s, self.rhythms.timed_s(gap_s))

    def survival(self, t_s: Floats) -> Floats:
        return np.asarray(self.rhythms.survival(t_s) * self._left(t_s))

    def survival_integral(self, t_s: Floats) -> Floats:
        before_s = np.minimum(t_s, self.told_s)
        until_told = self.rhythms.survival_integral(before_s)
        return until_told + (self.rhythms.survival_integral(t_s) - until_told) * self._left(t_s)

    def survival_slope(self, t_s: Floats) -> Floats:
        """But for the leap itself, which has none."""
        return np.asarray(self.rhythms.survival_slope(t_s) * self._left(t_s))

    def n_expected(self, t_s: Floats) -> Floats:
        return self.rhythms.n_expected(t_s) + 1.0 - self._left(t_s)

    def n_expected_integral(self, t_s: Floats) -> Floats:
        since_s = np.maximum(t_s - np.where(np.isfinite(self.told_s), self.told_s, np.inf), 0.0)
        return self.rhythms.n_expected_integral(t_s) + self.belief * since_s

    def pick(self, rows: Ints) -> Told:
        return Told(self.rhythms.pick(rows), self.told_s[rows], self.belief[rows])

    def _left(self, t_s: Floats) -> Floats:
        """The probability that the telling was of nothing."""
        return np.where(t_s >= self.told_s, 1.0 - self.belief, 1.0)
