"""What is believed of one resource's rate, over a grid of rates, each twice the one before.

Kept is how many times as likely each rate is as it was before anything was seen. So a row holds under any
prior: one that is fitted anew moves every resource, and no row has to be written. A visit multiplies each
number by the probability of what it found. Then resources may have changed their ways: from one visit to the
next a rate may have become its neighbour, or any other, as likely as if nothing had been seen.

A Gamma distribution has one width for all it may come to; the grid can hold that a resource is either as
good as dead or fast, which is what a change after a long silence says. It learns soon, and soon unlearns; the
Gamma filter remembers longer. Neither is right of all resources, so what is believed is one half of each.
Forecasts go by the Gamma with the mean and the mean logarithm of both: their curves have closed forms.
"""

from __future__ import annotations

from math import exp, expm1, isfinite, log, sqrt

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.predictors.gamma import TELLING
from recrawl.learn.priors import digamma, nearest_gamma
from recrawl.learn.rhythms.rows import N_RATES, RATES, SHARE, T, X
from recrawl.model import DAY_S, Floats

LEAN = 0.5  # so much of what is believed is the grid's
SLOWEST_PER_DAY = 2.0**-15  # a change in ninety years; the fastest is one in 42 seconds
DRIFT = 0.05  # that a rate becomes one of its two neighbours between two visits
UPHEAVAL = 0.01  # that it becomes any other
UNHEARD = 1e-9  # beside the prior: no rate is impossible
SHARPEST = 1e3  # the shape of a prior that is narrower than the grid's steps
LEAST, MOST = 1e-200, 1e200

_SLOWEST = SLOWEST_PER_DAY / DAY_S
_PER_S = _SLOWEST * 2.0 ** np.arange(N_RATES)
_LOG = np.log(_PER_S)
# Within a step of the grid rates are spread evenly by their logarithms: so much lies the mean logarithm below
# the logarithm of the mean.
_WITHIN = log(2.0) ** 2 / 24.0


@quick
def prior(shape: float, scale_s: float) -> Floats:
    """How much of Gamma(shape, scale_s) is at each rate; its mean is brought into the grid."""
    mean = min(max(shape / scale_s, _PER_S[0]), _PER_S[N_RATES - 1])
    shape = min(shape, SHARPEST)
    scale_s = shape / mean
    mass, total = np.empty(N_RATES), 0.0
    log_scale, peak = log(scale_s), shape * log(shape) - shape
    for k in range(N_RATES):
        mass[k] = exp(shape * (_LOG[k] + log_scale) - _PER_S[k] * scale_s - peak)
        if k == 0:  # and all below the grid
            below = _PER_S[0] * scale_s / sqrt(2.0)
            mass[k] += exp(shape * log(below) - below - peak) / shape / log(2.0)
        total += mass[k]
    for k in range(N_RATES):
        mass[k] = mass[k] / total + UNHEARD
    return mass


def priors_of(shape: Floats, scale_s: Floats) -> list[Floats]:
    """The same for many, rate by rate."""
    mean = np.clip(shape / scale_s, _PER_S[0], _PER_S[-1])
    shape = np.minimum(shape, SHARPEST)
    scale_s = shape / mean
    log_scale, peak = np.log(scale_s), shape * np.log(shape) - shape
    mass = [np.exp(shape * (_LOG[k] + log_scale) - _PER_S[k] * scale_s - peak) for k in range(N_RATES)]
    below = _PER_S[0] * scale_s / sqrt(2.0)
    mass[0] += np.exp(shape * np.log(below) - below - peak) / shape / log(2.0)
    total = sum(mass)
    return [one / total + UNHEARD for one in mass]


@quick
def gamma_of(row: Floats, lean: float, shape: float, scale_s: float) -> tuple[float, float]:
    """Shape and seconds of evidence, in own time: the Gamma nearest to the mixture of the grid's belief and
    the Gamma filter's, so much of which is the grid's. Of whoever was never seen they are the prior's own."""
    a, b_s = row[X] + row[SHARE] * shape, row[T] + row[SHARE] * scale_s
    if lean == 0.0 or row[X] + row[T] == 0.0:
        return a, b_s
    mass = prior(shape, scale_s)
    whole, mean, log_mean = 0.0, 0.0, 0.0
    for k in range(N_RATES):
        weight = mass[k] * row[RATES + k]
        whole += weight
        mean += weight * _PER_S[k]
        log_mean += weight * _LOG[k]
    mean, log_mean = mean / whole, log_mean / whole - _WITHIN
    mean = lean * mean + (1.0 - lean) * a / b_s
    log_mean = lean * log_mean + (1.0 - lean) * (_digamma(a) - log(b_s))
    a = _shape_of(log(mean) - log_mean)
    return a, a / mean


def gammas_of(rows: Floats, lean: float, shape: Floats, scale_s: Floats) -> tuple[Floats, Floats]:
    """The same of many, rate by rate."""
    a, b_s = rows[:, X] + rows[:, SHARE] * shape, rows[:, T] + rows[:, SHARE] * scale_s
    seen = np.flatnonzero(rows[:, X] + rows[:, T] > 0.0)
    if lean == 0.0 or not len(seen):
        return a, b_s
    shape, scale_s, rates = shape[seen], scale_s[seen], rows[seen, RATES:]
    whole, mean, log_mean = np.zeros(len(seen)), np.zeros(len(seen)), np.zeros(len(seen))
    for k, mass in enumerate(priors_of(shape, scale_s)):
        weight = mass * rates[:, k]
        whole += weight
        mean += weight * _PER_S[k]
        log_mean += weight * _LOG[k]
    mean, log_mean = mean / whole, log_mean / whole - _WITHIN
    mean = lean * mean + (1.0 - lean) * a[seen] / b_s[seen]
    log_mean = lean * log_mean + (1.0 - lean) * (digamma(a[seen]) - np.log(b_s[seen]))
    a[seen], b_s[seen] = nearest_gamma(mean, log_mean)
    return a, b_s


def rates_of(a: Floats, b_s: Floats, shape: float, scale_s: float) -> Floats:
    """As visits would leave them where rates are Gamma(a, b_s), and were Gamma(shape, scale_s) before."""
    return np.stack(priors_of(a, b_s), axis=1) / prior(shape, scale_s)


@quick
def _shape_of(spread: float) -> float:
    """Of the Gamma whose mean logarithm lies so far below the logarithm of its mean."""
    s = max(spread, 1e-6)
    shape = (3.0 - s + sqrt((s - 3.0) ** 2 + 24.0 * s)) / (12.0 * s)
    for _ in range(3):  # Newton's steps; the start is within two in a hundred
        step = (log(shape) - _digamma(shape) - s) / (1.0 / shape - _trigamma(shape))
        shape = max(shape - step, shape / 2.0)
    return shape


@quick
def believe(
    row: Floats, shape: float, scale_s: float, own_s: float, changed: bool, later_s: float, due: float
) -> None:
    """Take in a visit that found a change or none in so much own time. `later_s` is how much of that passed
    after a change whose moment is known, else NaN; `due` how far the visit itself brought what was found."""
    mass = prior(shape, scale_s)
    timed = isfinite(later_s)
    quiet = exp(-_SLOWEST * (later_s if timed else own_s))
    loud = -expm1(-_SLOWEST * own_s)
    found, whole, expected, mean = np.empty(N_RATES), 0.0, 0.0, 0.0
    for k in range(N_RATES):
        mass[k] *= row[RATES + k]
        if timed:
            found[k] = _PER_S[k] * DAY_S * quiet
        else:
            found[k] = loud if changed else quiet
        whole += mass[k]
        mean += mass[k] * _PER_S[k]
        expected += mass[k] * found[k]
        quiet, loud = quiet * quiet, loud * (2.0 - loud)
    mean, expected = mean / whole, max(expected / whole, LEAST)
    for k in range(N_RATES):
        found[k] = 1.0 + due * (found[k] / expected - 1.0)
        mass[k] *= found[k]
        row[RATES + k] *= found[k] / whole
    if changed and not timed:
        quiet = exp(-_SLOWEST * _unheard_s(mass, max(mean, TELLING / own_s)))
        for k in range(N_RATES):
            row[RATES + k] *= quiet
            quiet *= quiet
    _unsettle(row, shape, scale_s)


@quick
def _unsettle(row: Floats, shape: float, scale_s: float) -> None:
    """Until the next visit its rate may become another."""
    mass, whole = prior(shape, scale_s), 0.0
    for k in range(N_RATES):
        whole += mass[k] * row[RATES + k]
    whole = max(whole, LEAST)
    last, total = row[RATES], 0.0
    for k in range(N_RATES):
        here, faster = row[RATES + k], row[RATES + min(k + 1, N_RATES - 1)]
        drifted = ((1.0 - DRIFT) * here + DRIFT / 2.0 * (last + faster)) / whole
        row[RATES + k] = min(max(UPHEAVAL + (1.0 - UPHEAVAL) * drifted, LEAST), MOST)
        total += mass[k] * row[RATES + k]
        last = here
    for k in range(N_RATES):
        row[RATES + k] /= total


@quick
def _unheard_s(mass: Floats, most_per_s: float) -> float:
    """How much silence must be imagined so that rates are believed to be no faster than this in the mean.

    A visit after a long gap cannot tell fast rates apart: what it leaves of those is what the prior says, by
    which many would be given up as too fast to follow. They are taken for the slowest that they may be."""
    most_per_s = max(most_per_s, 2.0 * _SLOWEST)
    low, high = 0.0, 1.0 / most_per_s
    if _mean_after(mass, 0.0) <= most_per_s:
        return 0.0
    while _mean_after(mass, high) > most_per_s:
        low, high = high, 2.0 * high
    for _ in range(20):
        middle = (low + high) / 2.0
        if _mean_after(mass, middle) > most_per_s:
            low = middle
        else:
            high = middle
    return high


@quick
def _mean_after(mass: Floats, silence_s: float) -> float:
    quiet, whole, mean = exp(-_SLOWEST * silence_s), 0.0, 0.0
    for k in range(N_RATES):
        whole += mass[k] * quiet
        mean += mass[k] * quiet * _PER_S[k]
        quiet *= quiet
    return mean / max(whole, LEAST)


@quick
def _digamma(x: float) -> float:
    """The slope of ln(gamma(x)): moved up by 6, where its series has eight digits and more."""
    down = 0.0
    for k in range(6):
        down += 1.0 / (x + k)
    y = x + 6.0
    z = 1.0 / (y * y)
    return log(y) - 0.5 / y - z * (1 / 12.0 - z * (1 / 120.0 - z / 252.0)) - down


@quick
def _trigamma(x: float) -> float:
    """The slope of that."""
    up = 0.0
    for k in range(6):
        up += 1.0 / ((x + k) * (x + k))
    y = x + 6.0
    z = 1.0 / (y * y)
    return (1.0 + 0.5 / y + z * (1 / 6.0 - z * (1 / 30.0 - z / 42.0))) / y + up
