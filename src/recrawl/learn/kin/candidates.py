"""Likely kin, found without comparing everybody closely: those whose sketches score highest.

A sketch is a series in a few dimensions: those in which the series of the whole corpus differ most.
Sketches are compared at every third lag or so, and only by the words that weigh most in a page. Whoever is
found is then compared exactly (`correlated(..., among=...)`).
"""

from __future__ import annotations

import numpy as np

from recrawl.learn.kin.correlation import LAGS
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Kin, Singles, highest, stacked
from recrawl.learn.kin.totals import Asked, by_blocks, reach, totals
from recrawl.model import Bools, Ints

DIMENSIONS = 16
STRIDE = 3  # lags
SHARE = 0.9  # of a page's weight, in the words that are heeded
N_CANDIDATES = 200
SAMPLE = 20_000  # series that the dimensions are found from


def likely(
    dynamics: Dynamics,
    n_candidates: int = N_CANDIDATES,
    lags: int | range = LAGS,
    *,
    pages: Ints | None = None,
    n_dimensions: int = DIMENSIONS,
    stride: int = STRIDE,
    share: float = SHARE,
    n_threads: int = 1,
) -> Ints:
    """For each page, or each of `pages`, a row of others that may be its kin; -1: none."""
    pages = np.arange(dynamics.n_pages) if pages is None else pages
    tried = reach(lags, dynamics.n_steps)
    tried = range(tried.start + (len(tried) - 1) % stride // 2, tried.stop, stride)
    asked = Asked(dynamics, heaviest(dynamics, share))
    basis = _basis(dynamics, n_dimensions)
    sketches = dynamics.move @ basis

    def block(some: Ints) -> Kin:
        return highest(totals(dynamics, asked, some, tried, basis, sketches), n_candidates)

    return stacked(list(by_blocks(block, pages, dynamics.n_pages, n_threads)), n_candidates).of


def heaviest(dynamics: Dynamics, share: float) -> Bools:
    """Which rows are heeded: the words of each page that weigh most, until they make up the share."""
    order = np.lexsort((-dynamics.weight, dynamics.page))
    weight, page = dynamics.weight[order].astype(np.float64), dynamics.page[order]
    before = np.cumsum(weight) - weight
    first = np.searchsorted(page, page)
    out = np.zeros(len(order), dtype=np.bool_)
    out[order] = (weight > 0) & (before - before[first] < share) if len(order) else True
    return out


def _basis(dynamics: Dynamics, n_dimensions: int) -> Singles:
    some = dynamics.move[:: max(1, len(dynamics.move) // SAMPLE)].astype(np.float64)
    _, vectors = np.linalg.eigh(some.T @ some)
    return np.asarray(vectors[:, ::-1][:, :n_dimensions], dtype=np.float32)
