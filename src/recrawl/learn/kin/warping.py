"""Kin by temporal content, where one page may tell faster or slower than the other: dynamic time warping.

Warping gives a distance D between two series, here between their shapes (deviations from the mean, of
length one), so that a page which says a word more often is not further away for it. It becomes a similarity
as 1 / (1 + D): 1 for the same shape. A pair's score is the sum over words of tf-idf times similarity, as
with correlation.
"""

from __future__ import annotations

import numpy as np

from recrawl.compiled import can_compile, hurried
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Kin, Singles
from recrawl.learn.kin.pairs import chosen
from recrawl.model import Ints

LANES = 64  # pairs side by side: a processor works out many at once
ROOM = 4_000  # pairs that are warped together without a compiler


def warped(
    dynamics: Dynamics,
    k: int,
    *,
    band: int | None = None,
    pages: Ints | None = None,
    among: Ints | None = None,
    n_threads: int = 1,
) -> Kin:
    """The kin of all pages, or of `pages`, one row each. With `among` (one row a page; -1: none) only these
    are compared; without it everybody, which is much work beyond some thousand pages. With a band no step is
    matched with one that is further away; the paper has none."""
    n = dynamics.n_pages
    pages = np.arange(n) if pages is None else pages
    among = np.broadcast_to(np.arange(n), (len(pages), n)) if among is None else among
    widest = dynamics.n_steps if band is None else band

    def similarity(x: Ints, y: Ints) -> Singles:
        return np.asarray(1 / (1 + distance(dynamics.move, x, y, widest)))

    return chosen(dynamics, k, pages, among, similarity, n_threads)


def distance(move: Singles, x: Ints, y: Ints, band: int) -> Singles:
    """The sum of differences along the best way to match the steps of row `x` with those of row `y`."""
    if can_compile():
        return _warped(move, x, y, band)
    parts = [
        _by_columns(move[x[i : i + ROOM]].T, move[y[i : i + ROOM]].T, band) for i in range(0, len(x), ROOM)
    ]
    return np.concatenate([np.empty(0, dtype=np.float32), *parts])


def _by_columns(one: Singles, other: Singles, band: int) -> Singles:
    n_steps = len(one)
    above = np.full((n_steps + 1, one.shape[1]), np.inf, dtype=np.float32)
    above[0] = 0.0
    for i in range(n_steps):
        row = np.full_like(above, np.inf)
        for j in range(max(0, i - band), min(n_steps, i + band + 1)):
            nearest = np.minimum(np.minimum(above[j + 1], row[j]), above[j])
            row[j + 1] = np.abs(one[i] - other[j]) + nearest
        above = row
    return np.asarray(above[n_steps])


@hurried
def _warped(move: Singles, x: Ints, y: Ints, band: int) -> Singles:
    n_steps = move.shape[1]
    out = np.empty(len(x), dtype=np.float32)
    one = np.zeros((n_steps, LANES), dtype=np.float32)
    other = np.zeros((n_steps, LANES), dtype=np.float32)
    above = np.empty((n_steps + 1, LANES), dtype=np.float32)
    row = np.empty((n_steps + 1, LANES), dtype=np.float32)
    for first in range(0, len(x), LANES):
        n_lanes = min(LANES, len(x) - first)
        for lane in range(n_lanes):
            for t in range(n_steps):
                one[t, lane] = move[x[first + lane], t]
                other[t, lane] = move[y[first + lane], t]
        above[:] = np.inf
        above[0] = 0.0
        for i in range(n_steps):
            row[:] = np.inf
            for j in range(max(0, i - band), min(n_steps, i + band + 1)):
                for lane in range(LANES):
                    nearest = min(min(above[j + 1, lane], row[j, lane]), above[j, lane])
                    row[j + 1, lane] = abs(one[i, lane] - other[j, lane]) + nearest
            above, row = row, above
        out[first : first + n_lanes] = above[n_steps, :n_lanes]
    return out
