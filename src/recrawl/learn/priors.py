"""Priors from what was seen of others (empirical Bayes): for everything, and for each group.

The likelihood of every resource's visits is laid out over a grid of rates once. Under any Gamma prior the
probability of what was seen is then a weighted sum, so that hundreds of priors are tried in one product of
matrices. A group's prior is an average over all priors tried, weighted by how well each foretells the group
and how near it is to the whole; how near groups are to the whole is fitted too. Few data leave a group close
to the whole, and the whole close to the default.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import exp, log, nan
from math import lgamma as log_gamma
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from recrawl.learn.algebra import one_thread
from recrawl.learn.histories import Histories
from recrawl.model import DAY_S, Bools, Floats, Ints, Priors

SHAPE, SCALE_DAYS = 0.5, 10.0  # the default: a change in twenty days, or in two, or in two hundred
DOUBT = 0.3  # how much of the default is in what anybody goes by
MAX_GROUPS = 1_000  # with a prior of their own: those that told most
_MIN_IN_GROUP = 2

_PER_DAY = np.exp(np.arange(log(1e-5), log(2e3), 0.15))  # rates; those below count as the lowest
_SHAPES = np.exp(np.arange(log(0.1), log(12.0), 0.3))
_MEANS = np.exp(np.arange(log(1e-4), log(60.0), 0.25))  # a day
_SHAPE_SPREAD, _MEAN_SPREAD = 0.75, 1.5  # of the logarithms: how far the default is trusted
_WITHIN_SPREAD = 0.4  # of the shapes' logarithms, between groups
_SPREADS = (0.1, 0.25, 0.5, 1.0, 1.75)  # of the means' logarithms, between groups: one is chosen
_TIGHTER = (1.0, 2.0, 4.0)  # a group's resources are more alike than all are
_CHUNK = 4_096
_FAINT, _FAR = -300.0, exp(-250.0)  # ln of what counts for nothing; where it would count for something


@runtime_checkable
class Grounded(Protocol):
    """A predictor that begins from priors and can be given others; the loop keeps it on the newest."""

    def ground(self, priors: Priors) -> None: ...


class Ratio(NamedTuple):
    """How a model of first sights says that rates lie about its hunches: as multiples of them, in a Gamma
    distribution."""

    shape: float
    scale: float
    proven: bool = False  # by visits of sites that were held out, beyond a standard error


@dataclass(frozen=True, slots=True)
class _Tried:
    """Candidates, as columns: ln(shape) and ln(mean per day)."""

    log_shape: Floats
    log_mean: Floats

    @property
    def shape(self) -> Floats:
        return np.exp(self.log_shape)

    @property
    def scale_days(self) -> Floats:
        return np.exp(self.log_shape - self.log_mean)

    def near(self, log_shape: float, log_mean: float, shape_spread: float, mean_spread: float) -> Floats:
        """The logarithm of a bell's height at each, all together adding up to 1."""
        x = ((self.log_shape - log_shape) / shape_spread) ** 2 + (
            (self.log_mean - log_mean) / mean_spread
        ) ** 2
        return -x / 2.0 - _log_sum(-x / 2.0)


def fitted(
    seen: Histories,
    group: Ints,
    *,
    shape: float = SHAPE,
    scale_days: float = SCALE_DAYS,
    now: float = np.nan,
) -> Priors:
    """Priors for what these histories are a sample of; `group` has one number for each resource, 0 for those
    of no group. Shape and scale are the default, for where there is little to go by."""
    if not len(seen):
        return Priors(shape=shape, scale_s=scale_days * DAY_S, fitted_at=now)
    return fitted_to(laid_out(seen), group, shape=shape, scale_days=scale_days, now=now)


def laid_out(seen: Histories) -> Floats:
    """The logarithm of the likelihood of each resource's visits over all rates that are tried: whoever fits
    several times does this once."""
    return likelihoods(seen, _PER_DAY / DAY_S)


@one_thread()
def fitted_to(
    likelihood: Floats, group: Ints, *, shape: float, scale_days: float, now: float = nan
) -> Priors:
    """The same for histories that are laid out; there must be some."""
    coarse, weights = _coarse()
    numbers, rows = np.unique(group, return_inverse=True)
    by_group = _foretold(likelihood, weights, rows, len(numbers))
    total = by_group.sum(axis=0)
    trusted = coarse.near(log(shape), log(shape / scale_days), _SHAPE_SPREAD, _MEAN_SPREAD)
    log_shape, log_mean = _mean(coarse, total + trusted)
    fine = _grid(log_shape + np.linspace(-0.45, 0.45, 13), log_mean + np.linspace(-0.375, 0.375, 13))
    total = _foretold(likelihood, _weights(fine), np.zeros_like(rows), 1)[0]
    trusted = fine.near(log(shape), log(shape / scale_days), _SHAPE_SPREAD, _MEAN_SPREAD)
    log_shape, log_mean = _mean(fine, total + trusted)
    own = _own(numbers, np.bincount(rows), by_group, coarse, log_shape, log_mean)
    return Priors(
        shape=exp(log_shape),
        scale_s=exp(log_shape - log_mean) * DAY_S,
        group=own[0],
        shapes=own[1],
        scales_s=own[2],
        n_resources=len(likelihood),
        fitted_at=now,
    )


def doubted(found: Priors, share: float = DOUBT) -> Priors:
    """These priors, with so much of the default in them.

    Resources change their ways. Of many that were quiet a prior says that the next one will be too, and one
    that wakes is looked at months later: so no prior is believed for the whole time to come.
    """
    shapes = np.append(found.shapes, found.shape)
    scales_days = np.append(found.scales_s, found.scale_s) / DAY_S
    default = np.array([SHAPE])
    mean = (1.0 - share) * shapes / scales_days + share * SHAPE / SCALE_DAYS
    own, other = digamma(shapes) - np.log(scales_days), digamma(default) - log(SCALE_DAYS)
    shapes, scales_days = nearest_gamma(mean, (1.0 - share) * own + share * other)
    return replace(
        found,
        shape=float(shapes[-1]),
        scale_s=float(scales_days[-1] * DAY_S),
        shapes=shapes[:-1],
        scales_s=scales_days[:-1] * DAY_S,
    )


def scaled(seen: Histories, per_day: Floats) -> Histories:
    """The same visits in time that runs as fast as each resource is expected to change: whoever changes as
    expected changes once a day."""
    factor = per_day[seen.row]
    return replace(seen, gap_s=seen.gap_s * factor, after_s=seen.after_s * factor)


def foretold(seen: Histories, shape: Floats, scale_s: Floats) -> Floats:
    """The logarithm of the probability that each resource's visits have under a prior of its own."""
    return foretold_of(laid_out(seen), shape, scale_s)


def foretold_of(likelihood: Floats, shape: Floats, scale_s: Floats) -> Floats:
    """The same of histories that are laid out."""
    top = likelihood.max(axis=1)
    weights = _weights(_Tried(np.log(shape), np.log(shape / scale_s * DAY_S)))
    given = (np.exp(likelihood - top[:, None]) * weights.T).sum(axis=1)
    return np.asarray(np.log(np.maximum(given, 1e-300)) + top)


def kept_apart(ids: Ints) -> Bools:
    """A fifth of all resources, always the same: no model of first sights is trained on them by the loop, so
    that they show how far rates really are from hunches."""
    return np.asarray(((ids * np.int64(2_654_435_761)) >> np.int64(16)) % 5 == 0, dtype=np.bool_)


def likelihoods(seen: Histories, per_s: Floats) -> Floats:
    """The logarithm of the likelihood of each resource's visits (rows) at each rate (columns)."""
    n_timed = seen.sums(seen.timed.astype(np.float64))
    whole = n_timed[:, None] * np.log(per_s) - seen.watched_s[:, None] * per_s
    untimed = seen.untimed
    row, gap_s = seen.row[untimed], seen.gap_s[untimed]
    for k, rate in enumerate(per_s.tolist()):
        whole[:, k] += np.bincount(row, weights=np.log(-np.expm1(-rate * gap_s)), minlength=seen.n)
    return whole


def _foretold(likelihood: Floats, weights: Floats, rows: Ints, n_groups: int) -> Floats:
    """The logarithm of what each candidate, with these weights, gave to all that was seen, by group."""
    sums = np.zeros((n_groups, weights.shape[1]))
    for start in range(0, len(likelihood), _CHUNK):
        own = rows[start : start + _CHUNK]
        order = np.argsort(own, kind="stable")
        present, first = np.unique(own[order], return_index=True)
        part = likelihood[start : start + _CHUNK][order]
        top = part.max(axis=1, keepdims=True)
        given = np.exp(part - top) @ weights
        np.maximum(given, 1e-300, out=given)
        np.log(given, out=given)
        given += top
        sums[present] += np.add.reduceat(given, first, axis=0)
    return sums


@cache
def _coarse() -> tuple[_Tried, Floats]:
    """The candidates that every fit begins with, and their weights: always the same."""
    tried = _grid(np.log(_SHAPES), np.log(_MEANS))
    weights = _weights(tried)
    for column in (tried.log_shape, tried.log_mean, weights):
        column.setflags(write=False)
    return tried, weights


def _weights(tried: _Tried) -> Floats:
    """How much of each candidate (columns) is at each rate of the grid (rows)."""
    shape, scale_days = tried.shape, tried.scale_days
    constant = np.array([log_gamma(a) for a in shape.tolist()])
    x = _PER_DAY[:, None] * scale_days
    mass = np.exp(shape * np.log(x) - x - constant) * 0.15
    # all that is slower than the grid goes by: of a Gamma with a small shape that may be a third
    slowest = x[0] * exp(-0.075)
    mass[0] += np.exp(shape * np.log(slowest) - constant - np.log(shape))
    return np.asarray(mass / mass.sum(axis=0))


def _own(
    numbers: Ints, sizes: Ints, by_group: Floats, tried: _Tried, log_shape: float, log_mean: float
) -> tuple[Ints, Floats, Floats]:
    """The groups that told enough, with shapes and scales."""
    enough = np.flatnonzero((numbers != 0) & (sizes >= _MIN_IN_GROUP))
    if len(enough) > MAX_GROUPS:
        enough = np.sort(enough[np.argsort(-sizes[enough], kind="stable")[:MAX_GROUPS]])
    if not len(enough) or len(numbers) == 1:
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    told = by_group[enough]
    top = told.max(axis=1)
    likely = _seen(told - top[:, None])
    best, nearest = -np.inf, (np.zeros_like(told[0]), top)
    for spread in _SPREADS:
        for tighter in _TIGHTER:
            # the mean of means that are spread so far lies above their middle
            bell = tried.near(
                log_shape + log(tighter), log_mean - spread * spread / 2.0, _WITHIN_SPREAD, spread
            )
            summed = likely @ _seen(bell)
            far = summed < _FAR  # the bell is nowhere near what this group told
            each = np.log(np.maximum(summed, _FAR)) + top
            each[far] = _log_sum(told[far] + bell)
            if each.sum() > best:
                best, nearest = float(each.sum()), (bell, each)
    bell, each = nearest
    weight = np.exp(told + bell - each[:, None])
    shapes, scales_days = _blended(tried, weight)
    return numbers[enough], shapes, scales_days * DAY_S


def _blended(tried: _Tried, weight: Floats) -> tuple[Floats, Floats]:
    """The Gamma nearest to a mixture of candidates: it has the mixture's mean and mean logarithm. A single
    candidate in its place would be too sure of itself."""
    return nearest_gamma(
        weight @ np.exp(tried.log_mean), weight @ (digamma(tried.shape) - np.log(tried.scale_days))
    )


def nearest_gamma(mean: Floats, log_mean: Floats) -> tuple[Floats, Floats]:
    """Shapes and scales of the Gamma distributions that have these means and mean logarithms."""
    s = np.maximum(np.log(mean) - log_mean, 1e-6)
    shape = (3.0 - s + np.sqrt((s - 3.0) ** 2 + 24.0 * s)) / (12.0 * s)
    for _ in range(3):  # Newton's steps for ln(shape) - digamma(shape) = s
        h = 1e-4 * shape
        value = np.log(shape) - digamma(shape) - s
        slope = (np.log(shape + h) - digamma(shape + h) - np.log(shape - h) + digamma(shape - h)) / (2 * h)
        shape = np.maximum(shape - value / slope, shape / 2.0)
    return shape, shape / mean


def _mean(tried: _Tried, log_weight: Floats) -> tuple[float, float]:
    weight = np.exp(log_weight - _log_sum(log_weight))
    return float(weight @ tried.log_shape), float(weight @ tried.log_mean)


def _grid(log_shapes: Floats, log_means: Floats) -> _Tried:
    both = np.meshgrid(log_shapes, log_means, indexing="ij")
    return _Tried(both[0].ravel(), both[1].ravel())


def _seen(x: Floats) -> Floats:
    """e^x, where it is not too faint to count beside 1."""
    return np.where(x > _FAINT, np.exp(x), 0.0)


def _log_sum(x: Floats) -> Floats:
    """ln(sum of e^x) over the last axis."""
    top = x.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(x - top).sum(axis=-1)) + top[..., 0])


def digamma(x: Floats) -> Floats:
    """The slope of ln(gamma(x)): moved up by 6, where its series has eight digits and more."""
    down = sum(1.0 / (x + k) for k in range(6))
    y = x + 6.0
    z = 1.0 / (y * y)
    return np.asarray(np.log(y) - 0.5 / y - z * (1 / 12.0 - z * (1 / 120.0 - z / 252.0)) - down)
