"""What visits say of each resource's rate, laid out over the logarithms of rates.

Every visit counts for what it tells: a resource that was never seen to change says that it is slow, the
better the longer it was watched; one that changed at every visit says that it is fast, and no more. Under any
bell-shaped guess of the logarithm (a place and a spread) the probability of what was seen, and what is to be
believed after it, are sums over the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt
from math import lgamma as log_gamma

import numpy as np

from recrawl.learn.histories import Histories
from recrawl.learn.priors import likelihoods
from recrawl.model import DAY_S, Floats, Ints

STEP = 0.3
GRID = np.arange(log(1e-5), log(2e3), STEP)  # ln(changes a day); what is slower counts as the slowest
NARROWEST, WIDEST = 0.3, 4.0  # spreads of ln(rate) that are believed
_CHUNK = 2_048
_FINE = 100  # guesses in 1


@dataclass(frozen=True, slots=True)
class Believed:
    """After the visits, by resource: ln(rate)'s mean and variance, and the logarithm of the probability that
    they had."""

    mean: Floats
    variance: Floats
    log_p: Floats


@dataclass(frozen=True, slots=True)
class Evidence:
    likelihood: Floats  # rows: resources; columns: GRID; 1 at its highest
    top: Floats  # the logarithm of what was divided by

    @classmethod
    def of(cls, seen: Histories) -> Evidence:
        whole = likelihoods(seen, np.exp(GRID) / DAY_S)
        top = whole.max(axis=1)
        return cls(np.exp(whole - top[:, None]), top)

    def __len__(self) -> int:
        return len(self.top)

    def pick(self, rows: Ints) -> Evidence:
        return Evidence(self.likelihood[rows], self.top[rows])

    def believed(self, guess: Floats, spread: float) -> Believed:
        """Under a bell about each guess of ln(rate)."""
        mean, variance, log_p = (np.empty(len(self)) for _ in range(3))
        # bells for guesses a hundredth apart: looked up, they cost a tenth of what working them out does
        place = np.rint((np.clip(guess, GRID[0], GRID[-1]) - GRID[0]) * _FINE).astype(np.int64)
        different, place = np.unique(place, return_inverse=True)
        at = different / _FINE + GRID[0]
        bells = np.exp((GRID - at[:, None]) ** 2 * (-0.5 / spread**2))
        bells /= bells.sum(axis=1, keepdims=True)
        powers = np.stack([np.ones_like(GRID), GRID, GRID * GRID], axis=1)
        for start in range(0, len(self), _CHUNK):
            part = slice(start, start + _CHUNK)
            sums = (bells[place[part]] * self.likelihood[part]) @ powers
            total = np.maximum(sums[:, 0], 1e-300)
            mean[part] = sums[:, 1] / total
            variance[part] = np.maximum(sums[:, 2] / total - mean[part] ** 2, 0.0)
            log_p[part] = self.top[part] + np.log(total)
        return Believed(mean, variance, log_p)

    def foretold(self, guess: Floats, spread: float) -> Floats:
        """The logarithm of the probability of each resource's visits."""
        return self.believed(guess, spread).log_p

    def foretold_by(self, shape: float, scale_days: float) -> Floats:
        """The logarithm of the probability of each resource's visits, under a Gamma prior."""
        x = np.exp(GRID) * scale_days
        mass = np.exp(shape * np.log(x) - x - log_gamma(shape)) * STEP
        slower = float(x[0]) * exp(-STEP / 2.0)  # all that is slower than the grid goes by
        mass[0] += exp(shape * log(slower) - log_gamma(shape) - log(shape))
        return np.asarray(self.top + np.log(np.maximum(self.likelihood @ (mass / mass.sum()), 1e-300)))

    def middle(self) -> tuple[float, float]:
        """The one guess and spread for all under which everything seen is likeliest."""
        best = (-np.inf, 0.0, 1.0)
        for spread in (0.3, 0.5, 0.8, 1.2, 1.8, 2.6, 4.0):
            bells = np.exp((GRID[:, None] - GRID) ** 2 * (-0.5 / spread**2))
            given = np.log(np.maximum(self.likelihood @ (bells / bells.sum(axis=0)), 1e-300)).sum(axis=0)
            k = int(given.argmax())
            best = max(best, (float(given[k]), float(GRID[k]), spread))
        guess, spread = best[1], best[2]
        for _ in range(20):  # expectation and maximisation: from the grid's best place to the top
            now = self.believed(np.full(len(self), guess), spread)
            guess = float(now.mean.mean())
            spread = within(sqrt(float((now.variance + (now.mean - guess) ** 2).mean())))
        return guess, spread

    def best_spread(self, guess: Floats) -> float:
        """The spread about these guesses under which everything seen is likeliest."""
        spread = 1.0
        for _ in range(15):
            now = self.believed(guess, spread)
            spread = within(sqrt(float((now.variance + (now.mean - guess) ** 2).mean())))
        return spread


def told(believed: Believed, guess: Floats, spread: float) -> tuple[Floats, Floats]:
    """What the visits alone say of ln(rate), beyond the guess, and how much of it there is to go by, from 0
    (nothing) to 1 (all): the step and weight of Newton's method for the guess."""
    known = np.clip(1.0 - believed.variance / spread**2, 1e-6, 1.0)
    return (believed.mean - guess) / known, known


def within(spread: float) -> float:
    return min(max(spread, NARROWEST), WIDEST)
