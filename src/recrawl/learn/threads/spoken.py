"""What may happen in threads whose boards have hours and days: forecasts in the board's own time, with the
clock that turns them into the world's.

A goal's index is read off the forecasts in own time, and the visit is due when so much of that has passed:
soon in busy hours, late in a night.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, expm1, log1p

import numpy as np

from recrawl.compiled import hurried, quick
from recrawl.learn.rhythms.calendars import Rows, moments, pace_at, paces, shown_at, shown_many
from recrawl.learn.threads.forecasts import SpokenForecasts
from recrawl.learn.threads.hawkes import DECAY
from recrawl.model import DAY_S, Floats, Ints

# An integral over the world's time goes hour by hour, and from here on in steps of a tenth of what is past:
# so long after the visit it makes no difference at which hour it was.
_FAR_S = 56 * DAY_S
_STEP = 0.1
_POINTS, _WEIGHTS = (np.ascontiguousarray(one) for one in np.polynomial.legendre.leggauss(8))


@dataclass(frozen=True)
class Spoken:
    usual: SpokenForecasts
    shown: Rows  # a row for each clock: what it shows as each hour of the week begins
    clock: Ints  # of each thread: which row is its board's
    since_at: Floats

    @property
    def scatter(self) -> Floats:
        """Nobody need scout: posts of one thread tell nothing of another's."""
        return np.zeros(len(self.clock))

    @cached_property
    def _since(self) -> Floats:
        return shown_many(self.shown, self.clock, self.since_at)

    def own_s(self, t_s: Floats) -> Floats:
        return shown_many(self.shown, self.clock, self.since_at + t_s) - self._since

    def real_s(self, own_s: Floats, most_s: Floats) -> Floats:
        """How long after the last visit so much own time has passed, or `most_s` if that is sooner."""
        real_s = moments(self.shown, self.clock, self._since + own_s) - self.since_at
        return np.asarray(np.clip(real_s, 0.0, most_s))

    def due_s(self, own_s: Floats, most_s: Floats, timely: bool, counting: bool) -> Floats:  # noqa: ARG002
        return self.real_s(own_s, most_s)

    def timed_s(self, gap_s: Floats) -> Floats:
        """The same: visits that were moved to the end of busy hours found posts no sooner."""
        return gap_s

    def before_leap_s(self, own_s: Floats, q: Floats, counting: bool) -> Floats:
        return self.usual.before_leap_s(own_s, q, counting)

    def survival(self, t_s: Floats) -> Floats:
        return self.usual.survival(self.own_s(t_s))

    def survival_integral(self, t_s: Floats) -> Floats:
        return self._scanned(t_s)[0]

    def survival_slope(self, t_s: Floats) -> Floats:
        pace = paces(self.shown, self.clock, self.since_at + t_s)
        return np.asarray(self.usual.survival_slope(self.own_s(t_s)) * pace)

    def n_expected(self, t_s: Floats) -> Floats:
        return self.usual.n_expected(self.own_s(t_s))

    def n_expected_integral(self, t_s: Floats) -> Floats:
        return self._scanned(t_s)[1]

    def pick(self, rows: Ints) -> Spoken:
        return Spoken(self.usual.pick(rows), self.shown, self.clock[rows], self.since_at[rows])

    def _scanned(self, t_s: Floats) -> tuple[Floats, Floats]:
        """The integrals of S and of M."""
        one = self.usual
        times = np.atleast_2d(np.asarray(t_s, dtype=np.float64))
        times = np.broadcast_to(times, (len(times), len(self.clock)))
        survived, waited = _scan(
            self.shown, self.clock, self.since_at, one.rate, one.a, one.b, one.mode, one.fall, times
        )
        shape = np.broadcast_shapes(np.shape(t_s), (len(self.clock),))
        return survived.reshape(shape), waited.reshape(shape)


@hurried
def _scan(
    shown: Rows,
    clock: Ints,
    since_at: Floats,
    rate: Floats,
    a: Floats,
    b: Floats,
    mode: Floats,
    fall: Floats,
    times: Floats,
) -> tuple[Floats, Floats]:
    survived, waited = np.zeros(times.shape), np.zeros(times.shape)
    for i in range(times.shape[1]):
        week = shown[clock[i]]
        since = shown_at(week, since_at[i])
        at, lived, gone = since, 0.0, 0.0
        for k in np.argsort(times[:, i]):
            until = shown_at(week, since_at[i] + times[k, i])
            while at < until:
                pace, stop = 1.0, at + _STEP * (at - since)
                if at - since < _FAR_S:
                    pace, stop = pace_at(week, at)
                stop = min(max(stop, at + 1e-3), until)
                for p in range(len(_POINTS)):
                    own = at + (stop - at) * (1.0 + _POINTS[p]) / 2.0 - since
                    part = (stop - at) / pace * _WEIGHTS[p] / 2.0
                    lived += part * exp(-a[i] * log1p(_summed(rate[i], DECAY, own) / b[i]))
                    gone += part * a[i] / b[i] * _summed(mode[i], fall[i], own)
                at = stop
            survived[k, i], waited[k, i] = lived, gone
    return survived, waited


@quick
def _summed(rate: Floats, fall: Floats, t_s: float) -> float:
    """The integral of a sum of exponentials from 0 to t."""
    total = 0.0
    for j in range(len(rate)):
        x = max(fall[j] * t_s, -50.0)
        total += rate[j] * t_s * (1.0 - x / 2.0 if abs(x) < 1e-6 else -expm1(-x) / x)
    return total
