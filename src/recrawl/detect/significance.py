"""Whether two versions differ in their words by more than chance: a chi-squared test of homogeneity.

The question is whether both can be draws of one distribution of words. The table has two rows, the versions,
and a column for each word. Most words of a page occur once or twice, where the chi-squared distribution does
not hold and pooling the rare ones would throw away nearly all that there is to see. So the table is taken
apart into two that are independent of each other when nothing changed:

* the common words, of which at least five are expected in each version, with all others as one more column;
* the others among themselves.

The statistic of each is held against its own distribution, given how often every word occurs and how long the
versions are: that has an exact mean and variance (Haldane 1940), and the Gamma distribution with both is
chi-squared where counts are large. The smaller of the two chances counts, as the least of two. Up to `FEW`
words in all every possible table is counted out.

Versions without a common word are compared two by two, the words of one against those of the other, by
Fisher's exact test: where no word occurs twice no test of distributions could ever tell, and a short page
whose every word was replaced did change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb, lcm

import numpy as np

from recrawl.detect import tails
from recrawl.model import Bags, Bools, Floats, Ints
from recrawl.parse.bags import noisy

LEVEL = 0.05  # a chance below it is significant
EXPECTED = 5.0  # of a common word, in each version, if nothing changed
FEW = 16  # words of both versions: up to so many, all tables are counted out

_AT_ONCE = 1_000_000  # words of pairs that are compared together
_UNIT = lcm(*range(1, FEW + 1))  # squares over any count up to FEW are whole numbers of it
_MOST_KEPT = 20_000  # distributions: more than there are up to FEW words
_NO_SPREAD = 1e-9


@dataclass(frozen=True, slots=True)
class Significances:
    """A row for each pair. `statistic` and `df` are of the whole table: `p` is not what the chi-squared
    distribution would make of them, since most counts are too small for it."""

    statistic: Floats
    df: Ints
    p: Floats  # of such a difference or a greater one, if both were draws of one distribution
    significant: Bools
    magnitude: Floats  # the share of words that differ: 0 the same, 1 nothing in common
    effect: Floats  # the root of statistic over words, Cramér's V: 0 to 1


@dataclass(frozen=True, slots=True)
class Significance:
    """The same of one pair."""

    statistic: float
    df: int
    p: float
    significant: bool
    magnitude: float
    effect: float


def significance(
    before: Mapping[str, int], after: Mapping[str, int], *, ignored: Set[str] = frozenset()
) -> Significance:
    """Of two bags of words. Words that are `ignored`, numbers, times and the like decide nothing."""
    spelt = sorted(word for word in {*before, *after} if word not in ignored and not noisy(word))
    bags = Bags.of({i: bag[word] for i, word in enumerate(spelt) if bag.get(word)} for bag in (before, after))
    found = significances(bags, np.array([0]), np.array([1]))
    return Significance(
        float(found.statistic[0]),
        int(found.df[0]),
        float(found.p[0]),
        bool(found.significant[0]),
        float(found.magnitude[0]),
        float(found.effect[0]),
    )


def significances(bags: Bags, before: Ints, after: Ints, *, ignored: Ints | None = None) -> Significances:
    """Of pairs of rows of `bags`; `ignored` words, by their numbers, decide nothing."""
    if ignored is not None and len(ignored):
        bags = _without(bags, ignored)
    parts = [_compared(bags, before[own], after[own]) for own in _together(bags, before, after)]
    names = ("statistic", "df", "p", "magnitude", "effect")
    statistic, df, p, magnitude, effect = (
        np.concatenate([getattr(part, name) for part in parts]) for name in names
    )
    return Significances(statistic, df, p, p < LEVEL, magnitude, effect)


def _without(bags: Bags, words: Ints) -> Bags:
    kept = ~np.isin(bags.word, words)
    before = np.concatenate([[0], np.cumsum(kept)])
    return Bags(before[bags.bounds], bags.word[kept], bags.count[kept])


def _together(bags: Bags, before: Ints, after: Ints) -> Iterator[slice]:
    """Pairs as many as fit."""
    size = np.diff(bags.bounds)
    lot = np.cumsum(size[before] + size[after]) // _AT_ONCE
    edges = [0, *(np.flatnonzero(np.diff(lot)) + 1).tolist(), len(before)]
    return (slice(low, high) for low, high in pairwise(edges))


@dataclass(frozen=True, slots=True)
class _Table:
    """Tables of two rows, end to end: a row for each word of each pair."""

    pair: Ints
    a: Floats  # how often the word is in the version before
    n: Floats  # and in both
    n_pairs: int

    def sums(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.pair, values, self.n_pairs), dtype=np.float64)

    def pick(self, rows: Bools) -> _Table:
        return _Table(self.pair[rows], self.a[rows], self.n[rows], self.n_pairs)


def _compared(bags: Bags, before: Ints, after: Ints) -> Significances:
    table = _merged(bags.pick(before), bags.pick(after))
    total, one = table.sums(table.n), table.sums(table.a)
    n_words = np.bincount(table.pair, minlength=table.n_pairs)
    differing = table.sums(np.abs(2.0 * table.a - table.n))
    with np.errstate(all="ignore"):  # of nothing, nothing is known: such pairs are dealt with below
        magnitude = np.where(total > 0.0, differing / total, 0.0)
        statistic = _statistic(table.sums(table.a**2 / table.n), one, total)
        p = _of_two(table, one, total)
        p = np.where(np.isnan(p), 1.0, p)
    few = (total <= FEW) & (table.sums(table.n % 1.0 + table.a % 1.0) == 0.0)
    p[few] = _counted_out(table, one, np.flatnonzero(few))
    empty = (one == 0.0) | (one == total)
    statistic[empty] = 0.0
    apart = (differing == total) & ~empty
    mirrored = 2.0 * one[apart] == total[apart]  # then the rows can be swapped: as far apart, the other way
    p[apart] = (1.0 + mirrored) * np.exp(-tails.log_choose(total[apart], one[apart]))
    p[empty] = np.where(total[empty] > 0.0, 0.0, 1.0)
    effect = np.sqrt(np.maximum(statistic, 0.0) / np.maximum(total, 1.0))
    effect[empty] = np.where(total[empty] > 0.0, 1.0, 0.0)
    return Significances(statistic, np.maximum(n_words - 1, 0), p, p < LEVEL, magnitude, effect)


def _merged(before: Bags, after: Bags) -> _Table:
    """The words of the one before, then those that only the other has."""
    n = len(before)
    words = before.word, after.word
    most = max(int(np.max(word, initial=0)) for word in words) + 1
    if most > (1 << 62) // max(n, 1):  # numbers from a hash: two of them and a pair do not fit in one
        known, dense = np.unique(np.concatenate(words), return_inverse=True)
        words, most = (dense[: len(before.word)], dense[len(before.word) :]), len(known)
    old, new = before.row * most + words[0], after.row * most + words[1]
    place = np.searchsorted(old, new)
    both = np.append(old, -1)[place] == new
    n_both = before.count.copy()
    n_both[place[both]] += after.count[both]
    only = after.count[~both]
    return _Table(
        np.concatenate([before.row, after.row[~both]]),
        np.concatenate([before.count, np.zeros(len(only))]),
        np.concatenate([n_both, only]),
        n,
    )


def _of_two(table: _Table, one: Floats, total: Floats) -> Floats:
    """The chance of the common words and of the others among themselves; NaN where neither can tell."""
    least = np.minimum(one, total - one) / total
    common = table.n * least[table.pair] >= EXPECTED
    some, others = table.pick(common), table.pick(~common)
    rest, rest_one = others.sums(others.n), others.sums(others.a)
    there = rest > 0.0
    squares = some.sums(some.a**2 / some.n) + np.where(there, rest_one**2 / rest, 0.0)
    inverse = some.sums(1.0 / some.n) + np.where(there, 1.0 / rest, 0.0)
    n_columns = np.bincount(some.pair, minlength=table.n_pairs) + there
    p_common = _chance(squares, inverse, n_columns, one, total)
    p_others = _chance(
        others.sums(others.a**2 / others.n),
        others.sums(1.0 / others.n),
        np.bincount(others.pair, minlength=table.n_pairs),
        rest_one,
        rest,
    )
    least_p = np.fmin(p_common, p_others)
    asked_twice = ~np.isnan(p_common) & ~np.isnan(p_others)
    return np.where(asked_twice, 1.0 - (1.0 - least_p) ** 2, least_p)


def _statistic(squares: Floats, one: Floats, n: Floats) -> Floats:
    out: Floats = n * n / (one * (n - one)) * (squares - one * one / n)
    return out


def _chance(squares: Floats, inverse: Floats, n_columns: Ints, one: Floats, n: Floats) -> Floats:
    """Of tables by the sum of their words' squares over counts and that of inverse counts; NaN where every
    table with the same counts would look alike."""
    other = n - one
    mean = n * (n_columns - 1.0) / (n - 1.0)
    rows = (n - 2.0) / (n - 1.0), (n / one + n / other - 4.0) / (n - 2.0)
    columns = (n - n_columns) * (n_columns - 1.0) / (n - 1.0), (n * inverse - n_columns**2) / (n - 2.0)
    variance = 2.0 * n / (n - 3.0) * (rows[0] - rows[1]) * (columns[0] - columns[1])
    variance += n * n / (n - 1.0) * rows[1] * columns[1]
    tells = (one > 0.0) & (other > 0.0) & (n > 3.0) & (n_columns > 1) & (variance > _NO_SPREAD)
    statistic = np.maximum(_statistic(squares, one, n), 0.0)
    out = np.full(len(n), np.nan)
    scale = variance[tells] / mean[tells]
    out[tells] = tails.gamma(mean[tells] / scale, statistic[tells] / scale)
    return out


def _counted_out(table: _Table, one: Floats, pairs: Ints) -> Floats:
    """The exact chance of pairs with few words."""
    place = np.full(table.n_pairs, -1)
    place[pairs] = np.arange(len(pairs))
    rows = np.flatnonzero(place[table.pair] >= 0)
    rows = rows[np.argsort(place[table.pair[rows]], kind="stable")]
    ends = np.cumsum(np.bincount(place[table.pair[rows]], minlength=len(pairs)))
    a, n = table.a[rows].astype(np.int64).tolist(), table.n[rows].astype(np.int64).tolist()
    low, out = 0, np.empty(len(pairs))
    for i, high in enumerate(ends.tolist()):
        words = list(zip(a[low:high], n[low:high], strict=True))
        value = sum(x * x * (_UNIT // of) for x, of in words)
        chances = _distribution(int(one[pairs[i]]), tuple(sorted(of for _, of in words)))
        out[i] = sum(p for reached, p in chances if reached >= value)
        low = high
    return np.minimum(out, 1.0)


@lru_cache(maxsize=_MOST_KEPT)
def _distribution(n_before: int, counts: tuple[int, ...]) -> tuple[tuple[int, float], ...]:
    """Words that occur so often are dealt out, `n_before` of them to one version: what the sum of squares
    over counts can come to, and the chance of each."""
    ways = {(0, 0): 1}  # by how many that version has, and the sum
    for count in counts:
        grown: dict[tuple[int, int], int] = {}
        for (had, value), n in ways.items():
            for x in range(min(count, n_before - had) + 1):
                key = had + x, value + x * x * (_UNIT // count)
                grown[key] = grown.get(key, 0) + n * comb(count, x)
        ways = grown
    every = comb(sum(counts), n_before)
    return tuple((value, n / every) for (had, value), n in ways.items() if had == n_before)
