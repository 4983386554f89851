"""Kin by temporal content: words that come and go in both pages, at the same time or one after the other.

A pair's score is the sum, over the words that the page shows at the last step, of the word's tf-idf times the
best cross-correlation of its two series over the lags; a page beside itself would score 1.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Kin, Singles, highest, stacked
from recrawl.learn.kin.pairs import chosen
from recrawl.learn.kin.totals import Asked, by_blocks, reach, shifted, totals
from recrawl.model import Ints

LAGS = 7


def correlated(
    dynamics: Dynamics,
    k: int,
    lags: int | range = LAGS,
    *,
    pages: Ints | None = None,
    among: Ints | None = None,
    n_threads: int = 1,
) -> Kin:
    """The kin of all pages, or of `pages`, one row each. With `among` (one row a page; -1: none) only these
    are compared. `range(1, 8)` takes only those that lead."""
    pages = np.arange(dynamics.n_pages) if pages is None else pages
    tried = reach(lags, dynamics.n_steps)
    if among is not None:
        return chosen(dynamics, k, pages, among, lambda x, y: crossed(dynamics.move, x, y, tried), n_threads)
    asked, whole = Asked(dynamics), np.eye(dynamics.n_steps, dtype=np.float32)

    def block(some: Ints) -> Kin:
        return highest(totals(dynamics, asked, some, tried, whole, dynamics.move), k)

    return stacked(list(by_blocks(block, pages, dynamics.n_pages, n_threads)), k)


def crossed(move: Singles, x: Ints, y: Ints, lags: range) -> Singles:
    """The best cross-correlation over the lags, of pairs of rows; pairs with the same `x` stand together."""
    out = np.empty(len(x), dtype=np.float32)
    edges = np.flatnonzero(np.diff(x, prepend=-1, append=-1))
    mine = shifted(move[x[edges[:-1]]], lags)
    for i, (start, stop) in enumerate(pairwise(edges.tolist())):
        np.maximum.reduce(mine[i] @ move[y[start:stop]].T, axis=0, out=out[start:stop])
    return out
