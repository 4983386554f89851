"""What may happen in a thread that posts bring on posts in (`learn.threads.hawkes`)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.rhythms.signals import before_leaps_s
from recrawl.learn.threads.hawkes import DECAY
from recrawl.model import DAY_S, Floats, Ints

# The integral of S has no closed form; on these points, which lie dense near 0, it is off by less than a
# thousandth.
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_AT = ((_POINTS + 1.0) / 2.0) ** 4
_PART = 2.0 * ((_POINTS + 1.0) / 2.0) ** 3 * _WEIGHTS

_MONTH_S = 30 * DAY_S
_CLOSE_S, _N_STEPS = 1e-3, 60  # a step below this leaves an error of its square; twenty lead far


@dataclass(frozen=True, slots=True)
class SpokenForecasts:
    """Without a further post the rate is `rate @ exp(-decay t)` times a liveliness, Gamma(`a`, `b`). With L
    the integral of the former, S(t) = (b / (b + L))^a. The expected number counts the answers to posts to
    come: it is `mode @` integrals of `exp(-fall t)`, times a / b."""

    rate: Floats  # a row for each thread, a column for each memory
    a: Floats
    b: Floats
    mode: Floats
    fall: Floats  # of each mode, likewise: those of its board

    @property
    def gamma(self) -> GammaForecasts:
        """The rate, as if posts came evenly for a month."""
        return GammaForecasts(self.a, self.b / self._evenly)

    def with_gamma(self, gamma: GammaForecasts) -> SpokenForecasts:
        return replace(self, a=gamma.a, b=gamma.b_s * self._evenly)

    @property
    def _evenly(self) -> Floats:
        """Posts a second of a thread as lively as others."""
        return self.n_expected(np.full(len(self.a), _MONTH_S)) * self.b / self.a / _MONTH_S

    def own_s(self, t_s: Floats) -> Floats:
        """These are forecasts in the board's own time."""
        return np.asarray(t_s)

    def survival(self, t_s: Floats) -> Floats:
        return np.asarray(np.exp(-self.a * np.log1p(self.due(t_s) / self.b)))

    def survival_integral(self, t_s: Floats) -> Floats:
        parts = (part * self.survival(t_s * at) for at, part in zip(_AT, _PART, strict=True))
        return np.asarray(t_s * sum(parts, np.zeros(np.shape(t_s))))

    def survival_slope(self, t_s: Floats) -> Floats:
        return np.asarray(-self.a / (self.b + self.due(t_s)) * self._rate(t_s) * self.survival(t_s))

    def n_expected(self, t_s: Floats) -> Floats:
        modes = zip(self.mode.T, self.fall.T, strict=True)
        return np.asarray(self.a / self.b * sum(mode * t_s * _once(fall * t_s) for mode, fall in modes))

    def n_expected_integral(self, t_s: Floats) -> Floats:
        modes = zip(self.mode.T, self.fall.T, strict=True)
        return np.asarray(self.a / self.b * sum(mode * t_s**2 * _twice(fall * t_s) for mode, fall in modes))

    def pick(self, rows: Ints) -> SpokenForecasts:
        kept = (one[rows] for one in (self.rate, self.a, self.b, self.mode, self.fall))
        return SpokenForecasts(*kept)

    def due(self, t_s: Floats) -> Floats:
        """The posts due by then in a thread as lively as others, while nobody speaks: L(t)."""
        total: Floats = np.zeros(np.broadcast_shapes(np.shape(t_s), np.shape(self.a)))
        for part, decay in zip((self.rate / DECAY).T, DECAY, strict=True):
            total -= part * np.expm1(-decay * t_s)
        return total

    def before_leap_s(self, own_s: Floats, q: Floats, counting: bool) -> Floats:
        """How far it must be in own time, where somebody who is believed so far has told of a post, to be as
        sure of one (or, `counting`, to expect as many) as it is after `own_s` when nobody has. In posts due
        the leap has a closed form."""
        asked = before_leaps_s(self.due(own_s), self.a, self.b, q, counting)
        found_s = np.zeros(np.shape(own_s))
        # L rises ever less steeply, so Newton's method from the left cannot overshoot.
        for _ in range(_N_STEPS):
            step_s = (asked - self.due(found_s)) / np.maximum(self._rate(found_s), 1e-300)
            next_s = np.clip(found_s + step_s, found_s, own_s)
            close = next_s - found_s <= _CLOSE_S
            found_s = next_s
            if close.all():
                break
        return np.asarray(found_s)

    def _rate(self, t_s: Floats) -> Floats:
        """How fast L rises then."""
        memories = zip(self.rate.T, DECAY, strict=True)
        return np.asarray(sum(rate * np.exp(-decay * t_s) for rate, decay in memories))


def _once(x: Floats) -> Floats:
    """(1 - e^-x) / x, the integral of e^(-x s) over s from 0 to 1."""
    small = np.abs(x) < 1e-6
    safe = np.where(small, 1.0, np.maximum(x, -50.0))
    return np.where(small, 1.0 - x / 2.0, -np.expm1(-safe) / safe)


def _twice(x: Floats) -> Floats:
    """(x - 1 + e^-x) / x^2, the integral of that."""
    small = np.abs(x) < 1e-3
    safe = np.where(small, 1.0, np.maximum(x, -50.0))
    return np.where(small, 0.5 - x / 6.0 + x * x / 24.0, (safe + np.expm1(-safe)) / safe**2)
