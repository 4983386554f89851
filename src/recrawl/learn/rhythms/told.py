"""Forecasts of resources that somebody has told of: a source, or their kin.

After the telling a change is the likelier by as much as the teller is believed; before it all is as it was.
The index is still read off the usual curve: when a visit is due follows from the leap in own time. Copies are
fresh or not, so for them what kin told makes a change the likelier; where every change waits by itself (goal
`prompt`) it is so many more that wait, and the leap is shorter. For goal `capture` kin hasten nothing: a
change that is there is caught later as well as now, and to catch many it is better to wait until more is due
than what kin have seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Protocol, Self

import numpy as np

from recrawl.contracts import Clocked
from recrawl.learn.forecasts import Guessed
from recrawl.model import Floats, Ints


class Untold(Clocked, Protocol):
    """Forecasts that know of no telling."""

    @property
    def usual(self) -> Guessed: ...
    def real_s(self, own_s: Floats, most_s: Floats) -> Floats: ...  # when so much own time has passed
    def timed_s(self, gap_s: Floats) -> Floats: ...  # the best moment near that
    def before_leap_s(
        self, own_s: Floats, q: Floats, counting: bool
    ) -> Floats: ...  # where a telling leads there
    def pick(self, rows: Ints) -> Self: ...


@dataclass(frozen=True)
class Told:
    untold: Untold
    told_s: Floats  # how long after the last visit a source told; inf: none did
    belief: Floats  # how far each source is believed
    kin_s: Floats | float = inf  # the same of their kin
    by_kin: Floats | float = 0.0

    @property
    def usual(self) -> Guessed:
        return self.untold.usual

    @property
    def scatter(self) -> Floats:
        return self.untold.scatter

    def real_s(self, own_s: Floats, most_s: Floats) -> Floats:
        """By what sources have told."""
        untold_s = self.untold.real_s(own_s, most_s)
        return self._leapt_s(own_s, most_s, self.belief, self.told_s, untold_s)

    def due_s(self, own_s: Floats, most_s: Floats, timely: bool, counting: bool) -> Floats:
        """Whoever was told of does not wait for a better moment."""
        gap_s = self.real_s(own_s, most_s)
        if not timely:
            return gap_s
        first_s = np.where(np.isfinite(self.kin_s), np.minimum(self.told_s, self.kin_s), np.inf)
        q = self.belief + self.by_kin if counting else 1.0 - self._both
        gap_s = self._leapt_s(own_s, most_s, q, first_s, gap_s, counting)
        told = np.isfinite(self.told_s) | np.isfinite(self.kin_s)
        return np.where(told, gap_s, self.untold.timed_s(gap_s))

    def _leapt_s(
        self,
        own_s: Floats,
        most_s: Floats,
        q: Floats,
        told_s: Floats,
        untold_s: Floats,
        counting: bool = False,
    ) -> Floats:
        """Sooner than untold, where somebody is believed so far and told then."""
        told = np.isfinite(told_s)
        if not told.any():
            return untold_s
        leapt_s = self.untold.real_s(self.untold.before_leap_s(own_s, q, counting), most_s)
        return np.where(told, np.minimum(untold_s, np.maximum(leapt_s, told_s)), untold_s)

    def survival(self, t_s: Floats) -> Floats:
        return np.asarray(self.untold.survival(t_s) * self._left(t_s))

    def survival_integral(self, t_s: Floats) -> Floats:
        first_s, last_s = np.minimum(self.told_s, self.kin_s), np.maximum(self.told_s, self.kin_s)
        until_first = self.untold.survival_integral(np.minimum(t_s, first_s))
        until_last = self.untold.survival_integral(np.minimum(t_s, last_s))
        between = (until_last - until_first) * self._left(first_s)
        return until_first + between + (self.untold.survival_integral(t_s) - until_last) * self._both

    def survival_slope(self, t_s: Floats) -> Floats:
        """But for the leap itself, which has none."""
        return np.asarray(self.untold.survival_slope(t_s) * self._left(t_s))

    def n_expected(self, t_s: Floats) -> Floats:
        told, by_kin = t_s >= self.told_s, t_s >= self.kin_s
        return self.untold.n_expected(t_s) + told * self.belief + by_kin * self.by_kin

    def n_expected_integral(self, t_s: Floats) -> Floats:
        since_s, since_kin_s = np.maximum(t_s - self.told_s, 0.0), np.maximum(t_s - self.kin_s, 0.0)
        told = self.belief * since_s + self.by_kin * since_kin_s
        return self.untold.n_expected_integral(t_s) + told

    def pick(self, rows: Ints) -> Told:
        kin_s, by_kin = (np.broadcast_to(one, len(self.told_s))[rows] for one in (self.kin_s, self.by_kin))
        return Told(self.untold.pick(rows), self.told_s[rows], self.belief[rows], kin_s, by_kin)

    @property
    def _both(self) -> Floats:
        """The probability that neither told of anything."""
        return np.asarray((1.0 - self.belief) * (1.0 - self.by_kin))

    def _left(self, t_s: Floats) -> Floats:
        """The probability that what was told by then was of nothing."""
        left = np.where(t_s >= self.told_s, 1.0 - self.belief, 1.0)
        return left * np.where(t_s >= self.kin_s, 1.0 - self.by_kin, 1.0)
