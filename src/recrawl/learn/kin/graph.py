"""Kin by links: whoever is one link away, in either direction."""

from __future__ import annotations

import numpy as np

from recrawl.learn.kin.kin import Kin
from recrawl.model import Ints


def linked(from_: Ints, to: Ints, n: int, k: int) -> Kin:
    """Of `n` pages, from the pages that links lead from and to. All weigh 1; of more than `k`, those with the
    lowest numbers are taken."""
    one, other = (np.concatenate(ends).astype(np.int64) for ends in ((from_, to), (to, from_)))
    if len(one) and (one.min() < 0 or one.max() >= n):
        raise ValueError("A link has an end outside the pages; give only links between them.")
    key = np.unique((one * n + other)[one != other])
    page, neighbour = key // max(n, 1), key % max(n, 1)
    place = np.arange(len(key)) - np.searchsorted(page, page)
    kept = place < k
    of = np.full((n, k), -1, dtype=np.int64)
    of[page[kept], place[kept]] = neighbour[kept]
    return Kin(of, (of >= 0).astype(np.float64))
