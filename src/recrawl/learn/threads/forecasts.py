"""What may happen in a thread that posts bring on posts in (`learn.threads.hawkes`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.threads.hawkes import DECAY
from recrawl.model import Floats, Ints

# The integral of S has no closed form; on these points, which lie dense near 0, it is off by less than a
# thousandth.
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(40)
_AT = ((_POINTS + 1.0) / 2.0) ** 4
_PART = 2.0 * ((_POINTS + 1.0) / 2.0) ** 3 * _WEIGHTS


@dataclass(frozen=True, slots=True)
class SpokenForecasts:
    """Without a further post the rate is `rate @ exp(-decay t)` times a liveliness, Gamma(`a`, `b`). With L
    the integral of the former, S(t) = (b / (b + L))^a. The expected number counts the answers to posts to
    come: it is `mode @` integrals of `exp(-fall t)`, times a / b."""

    rate: Floats  # a row for each thread, a column for each memory
    a: Floats
    b: Floats
    mode: Floats
    fall: Floats  # of each mode

    def survival(self, t_s: Floats) -> Floats:
        return np.asarray(np.exp(-self.a * np.log1p(self._due(t_s) / self.b)))

    def survival_integral(self, t_s: Floats) -> Floats:
        parts = (part * self.survival(t_s * at) for at, part in zip(_AT, _PART, strict=True))
        return np.asarray(t_s * sum(parts, np.zeros(np.shape(t_s))))

    def survival_slope(self, t_s: Floats) -> Floats:
        now = sum(rate * np.exp(-decay * t_s) for rate, decay in zip(self.rate.T, DECAY, strict=True))
        return np.asarray(-self.a / (self.b + self._due(t_s)) * now * self.survival(t_s))

    def n_expected(self, t_s: Floats) -> Floats:
        modes = zip(self.mode.T, self.fall, strict=True)
        return np.asarray(self.a / self.b * sum(mode * t_s * _once(fall * t_s) for mode, fall in modes))

    def n_expected_integral(self, t_s: Floats) -> Floats:
        modes = zip(self.mode.T, self.fall, strict=True)
        return np.asarray(self.a / self.b * sum(mode * t_s**2 * _twice(fall * t_s) for mode, fall in modes))

    def pick(self, rows: Ints) -> SpokenForecasts:
        return SpokenForecasts(self.rate[rows], self.a[rows], self.b[rows], self.mode[rows], self.fall)

    def _due(self, t_s: Floats) -> Floats:
        memories = zip(self.rate.T, DECAY, strict=True)
        return np.asarray(sum(rate * t_s * _once(decay * t_s) for rate, decay in memories))


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
