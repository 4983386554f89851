"""Forecasts that predictors return: in closed form, or as a table over time.

Every method takes times whose last axis runs over the resources, so a whole grid of times is one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from recrawl.contracts import UsualForecasts
from recrawl.model import Floats, Ints


@dataclass(frozen=True, slots=True)
class GammaForecasts:
    """The rate of change is not known exactly: it is Gamma(shape `a`, `b_s` seconds of evidence).

    Averaging a Poisson process over it gives S(t) = (b / (b + t))^a and M(t) = a t / b. The hazard
    a / (b + t) only falls, so every index only grows.
    """

    a: Floats
    b_s: Floats

    def gamma(self) -> tuple[Floats, Floats]:
        """For whoever knows what follows from these two numbers alone."""
        return self.a, self.b_s

    def survival(self, t_s: Floats) -> Floats:
        return np.exp(-self.a * np.log1p(t_s / self.b_s))

    def survival_integral(self, t_s: Floats) -> Floats:
        # b * ((1 + t/b)^(1-a) - 1) / (1 - a), which tends to b * ln(1 + t/b) as a tends to 1
        log = np.log1p(t_s / self.b_s)
        power = (1.0 - self.a) * log
        return self.b_s * log * _expm1_over(power)

    def survival_slope(self, t_s: Floats) -> Floats:
        return -self.a / (self.b_s + t_s) * self.survival(t_s)

    def n_expected(self, t_s: Floats) -> Floats:
        return self.a / self.b_s * t_s

    def n_expected_integral(self, t_s: Floats) -> Floats:
        return self.a / self.b_s * t_s * t_s / 2.0

    def pick(self, rows: Ints) -> GammaForecasts:
        return GammaForecasts(self.a[rows], self.b_s[rows])


@runtime_checkable
class Guessed(UsualForecasts, Protocol):
    """Forecasts that are as sure as a Gamma distributed rate is, and can be had at another one."""

    @property
    def gamma(self) -> GammaForecasts: ...
    def with_gamma(self, gamma: GammaForecasts) -> Guessed: ...


@dataclass(frozen=True, slots=True)
class MixtureForecasts:
    """The rate of change is one of a few, `per_s`, each with its probability `p`: a row for each resource.

    Averaging Poisson processes over them gives S(t) = sum of p e^(-rate t) and M(t) = the mean rate times t.
    The longer nothing happens the likelier a slow rate, so the hazard only falls and every index only grows.
    """

    p: Floats
    per_s: Floats

    def survival(self, t_s: Floats) -> Floats:
        return sum((p * np.exp(-rate * t_s) for p, rate in self._columns()), np.zeros(t_s.shape))

    def survival_integral(self, t_s: Floats) -> Floats:
        return sum((p * t_s * _decay_over(rate * t_s) for p, rate in self._columns()), np.zeros(t_s.shape))

    def survival_slope(self, t_s: Floats) -> Floats:
        return sum((-p * rate * np.exp(-rate * t_s) for p, rate in self._columns()), np.zeros(t_s.shape))

    def n_expected(self, t_s: Floats) -> Floats:
        return np.asarray((self.p * self.per_s).sum(axis=1) * t_s)

    def n_expected_integral(self, t_s: Floats) -> Floats:
        return np.asarray((self.p * self.per_s).sum(axis=1) * t_s * t_s / 2.0)

    def pick(self, rows: Ints) -> MixtureForecasts:
        return MixtureForecasts(self.p[rows], self.per_s[rows])

    def _columns(self) -> zip[tuple[Floats, Floats]]:
        return zip(self.p.T, self.per_s.T, strict=True)


@dataclass(frozen=True, slots=True)
class TabulatedForecasts:
    """Any forecast, from its hazard at given times: between two of them the hazard is constant.

    `grid_s` holds the k times, from 0 upward, at which an interval begins; the last goes on for ever.
    `hazard_per_s` has one row per resource. With no memory within the interval the expected number of
    changes is the summed hazard itself.
    """

    grid_s: Floats
    hazard_per_s: Floats

    def survival(self, t_s: Floats) -> Floats:
        return np.exp(-self.n_expected(t_s))

    def survival_integral(self, t_s: Floats) -> Floats:
        starts, before = self._starts()
        step_s = np.diff(self.grid_s)
        hazard = self.hazard_per_s
        pieces = np.exp(-before[:, :-1]) * step_s * _decay_over(hazard[:, :-1] * step_s)
        summed = np.concatenate([np.zeros((len(hazard), 1)), np.cumsum(pieces, axis=1)], axis=1)
        row, cell = self._cells(t_s)
        rest_s = t_s - starts[cell]
        return summed[row, cell] + np.exp(-before[row, cell]) * rest_s * _decay_over(
            hazard[row, cell] * rest_s
        )

    def survival_slope(self, t_s: Floats) -> Floats:
        row, cell = self._cells(t_s)
        return -self.hazard_per_s[row, cell] * self.survival(t_s)

    def n_expected(self, t_s: Floats) -> Floats:
        starts, before = self._starts()
        row, cell = self._cells(t_s)
        return before[row, cell] + self.hazard_per_s[row, cell] * (t_s - starts[cell])

    def n_expected_integral(self, t_s: Floats) -> Floats:
        starts, before = self._starts()
        step_s = np.diff(self.grid_s)
        hazard = self.hazard_per_s
        pieces = before[:, :-1] * step_s + hazard[:, :-1] * step_s * step_s / 2.0
        summed = np.concatenate([np.zeros((len(hazard), 1)), np.cumsum(pieces, axis=1)], axis=1)
        row, cell = self._cells(t_s)
        rest_s = t_s - starts[cell]
        return summed[row, cell] + before[row, cell] * rest_s + hazard[row, cell] * rest_s * rest_s / 2.0

    def pick(self, rows: Ints) -> TabulatedForecasts:
        return TabulatedForecasts(self.grid_s, self.hazard_per_s[rows])

    def _starts(self) -> tuple[Floats, Floats]:
        """When each interval begins, and the hazard summed up to then."""
        summed = np.cumsum(self.hazard_per_s[:, :-1] * np.diff(self.grid_s), axis=1)
        return self.grid_s, np.concatenate([np.zeros((len(self.hazard_per_s), 1)), summed], axis=1)

    def _cells(self, t_s: Floats) -> tuple[Ints, Ints]:
        cell = np.searchsorted(self.grid_s, t_s, side="right") - 1
        row = np.broadcast_to(np.arange(len(self.hazard_per_s)), cell.shape)
        return row, np.maximum(cell, 0)


def _expm1_over(x: Floats) -> Floats:
    """(e^x - 1) / x, which is 1 at x = 0."""
    safe = np.where(np.abs(x) < 1e-8, 1.0, x)
    return np.where(np.abs(x) < 1e-8, 1.0 + x / 2.0, np.expm1(safe) / safe)


def _decay_over(x: Floats) -> Floats:
    """(1 - e^-x) / x, which is 1 at x = 0."""
    return _expm1_over(-x)
