"""How sure a measure is: resources resampled group by group, and draws of windows and phases.

Resources of one host, or files that one job writes, change together; taken for independent they would make
every interval too narrow. So whole groups are drawn with replacement, the same ones for all policies and all
draws of windows; the draws are drawn with replacement too, and averaged. The interval holds the middle of the
replicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from recrawl.errors import BadInputError
from recrawl.evaluate.measures import Measured
from recrawl.model import Floats, Ints
from recrawl.simulate.traces import Traces

N_REPLICATES = 1_000
FEWEST_GROUPS = 10  # with fewer, drawing groups says nothing about others of their kind
_AT_ONCE = 4_000_000  # numbers drawn at a time, to bound the memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure and the interval that holds it with the asked confidence."""

    value: float
    low: float
    high: float
    n_groups: int
    n_draws: int

    def document(self) -> dict[str, float | None]:
        row = {"value": self.value, "low": self.low, "high": self.high}
        return {key: None if np.isnan(value) else value for key, value in row.items()}


@dataclass(frozen=True, slots=True)
class Draws:
    """What one policy did in each draw, and the group of each resource measured in it.

    Groups are numbered alike in all draws: the same number, the same resources.
    """

    measured: Sequence[Measured]
    groups: Sequence[Ints]


def by_host(measured: Sequence[Measured]) -> Draws:
    return Draws(measured, [one.host for one in measured])


def interval(
    draws: Draws,
    measure: str,
    *,
    weighted: bool = False,
    level: float = 0.95,
    n_replicates: int = N_REPLICATES,
    seed: int = 0,
) -> Interval:
    """A measure of one policy: the mean over draws."""
    return _resampled([draws], measure, weighted, level, n_replicates, seed)


def difference(
    ours: Draws,
    theirs: Draws,
    measure: str,
    *,
    weighted: bool = False,
    level: float = 0.95,
    n_replicates: int = N_REPLICATES,
    seed: int = 0,
) -> Interval:
    """By how much a measure of ours is above theirs, on the same draws: what both share cancels out."""
    return _resampled([ours, theirs], measure, weighted, level, n_replicates, seed)


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation over draws, undefined ones left out; the latter is NaN for a single one."""
    known = np.array([value for value in values if not np.isnan(value)])
    if not len(known):
        return nan, nan
    return float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else nan


def _resampled(
    policies: Sequence[Draws], measure: str, weighted: bool, level: float, n_replicates: int, seed: int
) -> Interval:
    n_draws = len(policies[0].measured)
    if not n_draws or any(len(one.measured) != n_draws for one in policies):
        raise BadInputError("Policies are compared on the same draws; measure each policy on each of them.")
    if not 0.0 < level < 1.0:
        raise BadInputError(f"A confidence of {level:g} is none; choose one between 0 and 1, as 0.95.")
    names, codes = np.unique(
        np.concatenate([group for one in policies for group in one.groups]), return_inverse=True
    )
    n_groups = len(names)
    # a column for each policy, draw and sum; a row for each group
    sums = np.zeros((n_groups, len(policies), n_draws, 2))
    begin = 0
    for p, one in enumerate(policies):
        for d, measured in enumerate(one.measured):
            own = codes[begin : begin + len(measured)]
            begin += len(measured)
            for which, column in enumerate(measured.ratio(measure, weighted=weighted)):
                sums[:, p, d, which] = np.bincount(own, weights=column, minlength=n_groups)
    flat = sums.reshape(n_groups, -1)
    value = float(_statistic(flat.sum(axis=0)[None, :], np.ones((1, n_draws)), sums.shape)[0])
    if n_groups < 2:
        return Interval(value=value, low=nan, high=nan, n_groups=n_groups, n_draws=n_draws)
    rng = np.random.default_rng(seed)
    replicates: list[Floats] = []
    n_left = n_replicates
    while n_left > 0:
        n = min(n_left, max(1, _AT_ONCE // n_groups))
        n_left -= n
        times = _times_drawn(rng, n, n_groups)
        replicates.append(_statistic(times @ flat, _times_drawn(rng, n, n_draws), sums.shape))
    found = np.concatenate(replicates)
    found = found[~np.isnan(found)]
    if not len(found):
        return Interval(value=value, low=nan, high=nan, n_groups=n_groups, n_draws=n_draws)
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value=value, low=float(low), high=float(high), n_groups=n_groups, n_draws=n_draws)


def _times_drawn(rng: np.random.Generator, n_replicates: int, n: int) -> Floats:
    """How often each of n was drawn, in each replicate."""
    drawn = rng.integers(n, size=(n_replicates, n)) + np.arange(n_replicates)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=n_replicates * n).reshape(n_replicates, n).astype(np.float64)


def _statistic(totals: Floats, weights: Floats, shape: tuple[int, ...]) -> Floats:
    """The mean over draws of the ratio of sums; of two policies, the first less the second."""
    _, n_policies, n_draws, _ = shape
    pairs = totals.reshape(len(totals), n_policies, n_draws, 2)
    ratio = np.full(pairs.shape[:3], nan)
    np.divide(pairs[..., 0], pairs[..., 1], out=ratio, where=pairs[..., 1] > 0)
    of_draw = ratio[:, 0] if n_policies == 1 else ratio[:, 0] - ratio[:, 1]
    known = np.where(np.isnan(of_draw), 0.0, weights)
    total = known.sum(axis=1)
    summed = (np.nan_to_num(of_draw) * known).sum(axis=1)
    return np.asarray(np.divide(summed, total, out=np.full(len(totals), nan), where=total > 0))


def groups_of(traces: Traces, *, within_s: float = 60.0) -> tuple[Ints, str]:
    """A group for each resource, and by what: hosts; where there are too few of them, or none has more than
    one resource, batches, which are resources that mostly change in the same moments; where there are too few
    of these too, each by itself."""
    if FEWEST_GROUPS <= len(np.unique(traces.host)) < len(traces):
        return traces.host, "host"
    batches = _batches(traces, within_s)
    if len(np.unique(batches)) >= FEWEST_GROUPS:
        alone = len(np.unique(batches)) == len(traces)
        return batches, "resource" if alone else "batch"
    return np.arange(len(traces)), "resource"


def _batches(traces: Traces, within_s: float) -> Ints:
    """Resources are one batch where at least half of the changes of either come with the other's.

    Of those that change in one moment only neighbours in the order of rows are compared: work in proportion
    to the number of changes, and what always changes together is neighbours always.
    """
    n = len(traces)
    rows = np.repeat(np.arange(n), traces.n_changes)
    moment = np.floor(traces.at / within_s).astype(np.int64)
    order = np.lexsort((rows, moment))
    rows, moment = rows[order], moment[order]
    once = np.ones(len(rows), dtype=bool)
    once[1:] = (rows[1:] != rows[:-1]) | (moment[1:] != moment[:-1])
    rows, moment = rows[once], moment[once]
    n_moments = np.bincount(rows, minlength=n)
    together = moment[1:] == moment[:-1]
    pairs, times = np.unique(rows[:-1][together] * n + rows[1:][together], return_counts=True)
    group = np.arange(n)

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = int(group[i])
        return i

    for pair, count in zip(pairs.tolist(), times.tolist(), strict=True):
        a, b = divmod(pair, n)
        if 2 * count >= max(n_moments[a], n_moments[b]):
            group[root(b)] = root(a)
    return np.array([root(i) for i in range(n)], dtype=np.int64)
