"""Classes of change rates: which resources change about equally often.

Rates lie on a line, so the best k-means classes are stretches of the sorted rates, and dynamic programming
finds them without luck: for every number of classes the best last cut before each place is looked for. Those
cuts move only forward with the place, so each is searched for between its neighbours' (divide and conquer);
all searches of one depth are made at once, on columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.errors import BadInputError
from recrawl.model import DAY_S, Bools, Floats, Ints

KS = (2, 3, 4, 5, 6)
FEW = 0.2  # of an equal share: a class with less has proportionally few
_NO_CUT = -1


@dataclass(frozen=True, slots=True)
class Classes:
    """The fastest first. A class's interval is that of its mean rate: what never changed has a rate as well,
    and no interval. Where a whole class never changed, its interval is infinite."""

    interval_s: Floats  # rising
    bounds: Floats  # rates a day between neighbours, falling: one less than there are classes
    n: Ints

    def __len__(self) -> int:
        return len(self.interval_s)

    def of(self, per_day: Floats) -> Ints:
        """The class of each rate, from 0; a rate that is a bound belongs to the faster."""
        return np.searchsorted(-self.bounds, -np.asarray(per_day), side="left").astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """The best classes for one k, with what the choice of k rests on."""

    k: int
    classes: Classes
    explained: float  # of the rates' variance
    n_fast: int  # classes that the fastest resources lie in: those of the first of two classes
    few: Bools  # of each class: it has proportionally few resources

    @property
    def splits_the_fast(self) -> bool:
        return self.n_fast > 1


@dataclass(frozen=True, slots=True)
class Choice:
    k: int
    why: str


def rates_of(n: Floats | Ints, x: Floats | Ints) -> Floats:
    """Changes in the time between two visits, from `n` visits of which `x` found one (Cho and Garcia-Molina,
    as Barbosa and others use it): near to unbiased, finite where every visit found one.

    >>> [round(rate, 3) for rate in rates_of(np.array([100, 100, 10]), np.array([0, 100, 5])).tolist()]
    [0.0, 5.303, 0.647]
    """
    n, x = np.asarray(n, dtype=np.float64), np.asarray(x, dtype=np.float64)
    return np.asarray(np.log(n + 0.5) - np.log(n - x + 0.5))


def classes(per_day: Floats, k: int) -> Classes:
    """The k classes with the least squares of distances to their means; fewer where there are fewer rates."""
    return _made(_Line(per_day), k)


def equal_classes(per_day: Floats, k: int) -> Classes:
    """k classes of equal size, as nearly as equal rates, which stay together, allow."""
    line = _Line(per_day)
    upto = np.concatenate([[0.0], np.cumsum(line.n)])
    aims = upto[-1] * np.arange(1, k) / k
    right = np.clip(np.searchsorted(upto, aims), 1, len(line.rate))
    nearer = aims - upto[right - 1] < upto[right] - aims
    cuts = np.unique(np.where(nearer, right - 1, right))
    return line.cut(cuts[(cuts > 0) & (cuts < len(line.rate))])


def report(per_day: Floats, ks: Sequence[int] = KS) -> list[Grouping]:
    """The best classes for each k."""
    line = _Line(per_day)
    cuts = _cuts(line, max(2, *ks))
    fast_from = float(line.cut(_path(cuts, 2)).bounds[0]) if len(line.rate) > 1 else float(line.rate[0])
    found = []
    for k in ks:
        made = line.cut(_path(cuts, k))
        size = line.n.sum()
        means = np.where(np.isfinite(made.interval_s), DAY_S / made.interval_s, 0.0)
        rate = np.repeat(means[::-1], np.diff(line.edges(made)))
        about, within = _squares(line, line.mean), _squares(line, rate)
        found.append(
            Grouping(
                k=k,
                classes=made,
                explained=1.0 - within / about if about > 0.0 else 0.0,
                n_fast=int((means >= fast_from).sum()),
                few=made.n < FEW * size / len(made),
            )
        )
    return found


def chosen(groupings: Sequence[Grouping]) -> Choice:
    """The k that Barbosa and others' reasons lead to, made precise.

    1. The fastest resources, which of two classes would be the first, lie in more than one class.
    2. No class has proportionally few resources: less than `FEW` of an equal share.
    3. Of those k that are left the smallest: more classes are mistaken for each other more often, and the
       ones that are added split slow resources, or the few.

    Where no k does both, the second reason decides: a classifier cannot learn a class that it hardly sees.
    """
    if not groupings:
        raise BadInputError("There is no number of classes to choose from; give some.")
    filled = [one for one in groupings if len(one.classes) == one.k and not one.few.any()]
    good = [one for one in filled if one.splits_the_fast]
    if good:
        best = min(good, key=lambda one: one.k)
        return Choice(
            best.k,
            f"{best.k} is the smallest number of classes that parts the fastest resources "
            f"({best.n_fast} classes) and leaves none with proportionally few",
        )
    if filled:
        best = max(filled, key=lambda one: one.k)
        return Choice(
            best.k,
            f"no number of classes both parts the fastest resources and leaves no class with proportionally "
            f"few; {best.k} is the largest that leaves none",
        )
    best = min(groupings, key=lambda one: one.k)
    return Choice(
        best.k, f"every number of classes leaves one with proportionally few; {best.k} is the least"
    )


def why_not(one: Grouping) -> str:
    """What speaks against a k; empty: nothing but a smaller one that does as well."""
    reasons = []
    if len(one.classes) < one.k:
        reasons.append("there are fewer different rates")
    if not one.splits_the_fast:
        reasons.append("the fastest are all in one class")
    if one.few.any():
        sizes = ", ".join(f"{n:,}" for n in one.classes.n[one.few].tolist())
        reasons.append(f"proportionally few in a class ({sizes})")
    return "; ".join(reasons)


def sizes_said(n: Ints, k: int) -> str:
    """How k classes of equal size came out; equal rates had to stay together.

    >>> sizes_said(np.array([33, 34, 33]), 3)
    '3 of equal size'
    >>> sizes_said(np.array([70, 30]), 3)
    '2 of as equal size as can be (not 3: many rates are equal, and stay together)'
    """
    if len(n) < k:
        return f"{len(n)} of as equal size as can be (not {k}: many rates are equal, and stay together)"
    if n.max() > n.min() + 1:
        return f"{k} of as equal size as can be (many rates are equal, and stay together)"
    return f"{k} of equal size"


def p_own(made: Classes, per_day: Floats, log_error: Floats) -> float:
    """The mean probability that a resource is of the class that its estimated rate puts it into, where the
    logarithm of the rate lies about the estimate's as a bell with this standard error."""
    bounds = np.concatenate([[np.inf], made.bounds, [0.0]])
    own = made.of(per_day)
    with np.errstate(divide="ignore"):
        ends = [np.log(bounds[own + k]) - np.log(per_day) for k in (0, 1)]
    below = [_bell(away / np.maximum(log_error, 1e-9)) for away in ends]
    return float((below[0] - below[1]).mean())


def _bell(z: Floats) -> Floats:
    """The share of a bell below z, to a hundredth."""
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(1.702 * z, -700.0, 700.0))))


class _Line:
    """Different rates in rising order, with how many have each."""

    def __init__(self, per_day: Floats) -> None:
        per_day = np.asarray(per_day, dtype=np.float64)
        if not len(per_day):
            raise BadInputError("There are no rates to make classes of; visit something at least twice.")
        if not (np.isfinite(per_day).all() and (per_day >= 0.0).all()):
            raise BadInputError("A rate must be a number from 0 up; leave out what was not visited twice.")
        self.rate, n = np.unique(per_day, return_counts=True)
        self.n = n.astype(np.float64)
        self.mean = float(self.rate @ self.n / self.n.sum())
        x = self.rate - self.mean  # about 0, so that sums of squares keep their digits
        zero = [0.0]
        self.sum_n = np.concatenate([zero, np.cumsum(self.n)])
        self.sum_x = np.concatenate([zero, np.cumsum(self.n * x)])
        self.sum_xx = np.concatenate([zero, np.cumsum(self.n * x * x)])

    def squares(self, start: Ints, stop: Ints) -> Floats:
        """Of the distances to their mean, of the rates in [start, stop)."""
        n = self.sum_n[stop] - self.sum_n[start]
        x = self.sum_x[stop] - self.sum_x[start]
        return np.asarray(self.sum_xx[stop] - self.sum_xx[start] - x * x / n)

    def cut(self, at: Ints) -> Classes:
        edges = np.concatenate([[0], at, [len(self.rate)]]).astype(np.int64)
        n = np.add.reduceat(self.n, edges[:-1])
        mean = np.add.reduceat(self.n * self.rate, edges[:-1]) / n
        bounds = (self.rate[at - 1] + self.rate[at]) / 2.0
        bounds = np.where(bounds > self.rate[at - 1], bounds, self.rate[at])  # neighbours among the floats
        with np.errstate(divide="ignore"):
            return Classes((DAY_S / mean)[::-1], bounds[::-1], n[::-1].astype(np.int64))

    def edges(self, made: Classes) -> Ints:
        inner = np.searchsorted(self.rate, made.bounds[::-1])
        return np.concatenate([[0], inner, [len(self.rate)]]).astype(np.int64)


def _made(line: _Line, k: int) -> Classes:
    if k < 1:
        raise BadInputError(f"{k} classes mean nothing; choose 2 or more.")
    return line.cut(_path(_cuts(line, k), k))


def _cuts(line: _Line, k: int) -> list[Ints]:
    """For 2 to k classes: where the last of them begins, if it ends before each place."""
    n = len(line.rate)
    places = np.arange(1, n + 1)
    least = np.concatenate([[0.0], line.squares(np.zeros(n, dtype=np.int64), places)])
    found = []
    for m in range(2, min(k, n) + 1):
        cut, least = _best_cuts(line, least, m)
        found.append(cut)
    return found


def _best_cuts(line: _Line, before: Floats, m: int) -> tuple[Ints, Floats]:
    """The best start of the m-th class for every end, and the squares of all m then."""
    n = len(line.rate)
    cut = np.full(n + 1, _NO_CUT, dtype=np.int64)
    least = np.full(n + 1, np.inf)
    # Ends m .. n in halves of halves: those in the middle first, each between cuts that are known.
    low_end, high_end = np.array([m]), np.array([n])
    low_cut, high_cut = np.array([m - 1]), np.array([n - 1])
    while len(low_end):
        end = (low_end + high_end) // 2
        stop = np.minimum(high_cut, end - 1)
        sizes = stop - low_cut + 1
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        start = np.arange(sizes.sum()) - np.repeat(first - low_cut, sizes)
        cost = before[start] + line.squares(start, np.repeat(end, sizes))
        lowest = np.minimum.reduceat(cost, first)
        reached = np.flatnonzero(cost == np.repeat(lowest, sizes))
        best = start[reached[np.searchsorted(reached, first)]]
        cut[end], least[end] = best, lowest
        low_end, high_end = np.concatenate([low_end, end + 1]), np.concatenate([end - 1, high_end])
        low_cut, high_cut = np.concatenate([low_cut, best]), np.concatenate([best, high_cut])
        some = low_end <= high_end
        low_end, high_end, low_cut, high_cut = low_end[some], high_end[some], low_cut[some], high_cut[some]
    return cut, least


def _path(cuts: list[Ints], k: int) -> Ints:
    """The k - 1 places at which the best k classes are parted."""
    found: list[int] = []
    for cut in reversed(cuts[: k - 1]):
        found.append(int(cut[found[-1] if found else len(cut) - 1]))
    return np.array(found[::-1], dtype=np.int64)


def _squares(line: _Line, about: float | Floats) -> float:
    return float(line.n @ (line.rate - about) ** 2)
