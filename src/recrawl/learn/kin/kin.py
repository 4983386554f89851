"""The kin of pages: for each the pages that are chosen as its experts, with their weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recrawl.model import Floats, Ints

Singles = npt.NDArray[np.float32]  # of a million series, half the memory is worth more than digits

NOTHING = 1e-6  # a score up to this is rounding


@dataclass(frozen=True, slots=True)
class Kin:
    of: Ints  # (n_pages, k) page numbers, the nearest first; -1: none
    weight: Floats  # the same shape, falling; 0 where there is none

    def nearest(self, k: int) -> Kin:
        return Kin(self.of[:, :k], self.weight[:, :k])


def highest(score: Singles | Floats, k: int, page: Ints | None = None) -> Kin:
    """Of each row the `k` columns with the highest scores, if they are any; of equal ones those that stand
    first. `page` says whom the columns stand for, where they are not pages in their order."""
    n_rows = len(score)
    of = np.full((n_rows, k), -1, dtype=np.int64)
    weight = np.zeros((n_rows, k))
    row, column = np.nonzero(score >= _least(score, k))
    found = score[row, column]
    # `row` rises already, and `column` within it: a stable sort keeps both where scores are equal
    order = np.lexsort((-found, row))
    place = np.arange(len(row)) - np.searchsorted(row, row)
    kept = place < k
    row, column, place, found = row[kept], column[order][kept], place[kept], found[order][kept]
    of[row, place] = column if page is None else page[row, column]
    weight[row, place] = found
    return Kin(of, weight)


def _least(score: Singles | Floats, k: int) -> Singles | Floats:
    """For each row a bound that its `k` highest reach: columns are dealt out into heaps, and the tops of at
    least `k` heaps are as high. Few others are, which is cheaper than to sort all."""
    n_rows, n = score.shape
    n_heaps = min(n, max(4 * k, n // 32))
    size = n // n_heaps if n_heaps else 0
    least = np.full((n_rows, 1), NOTHING, dtype=score.dtype)
    if 0 < k <= n_heaps and size:
        tops = score[:, : size * n_heaps].reshape(n_rows, size, n_heaps).max(axis=1)
        tops.partition(n_heaps - k, axis=1)
        least = np.maximum(least, tops[:, n_heaps - k, None])
    return least


def stacked(parts: list[Kin], k: int) -> Kin:
    if not parts:
        return Kin(np.empty((0, k), dtype=np.int64), np.empty((0, k)))
    return Kin(np.concatenate([part.of for part in parts]), np.concatenate([part.weight for part in parts]))
