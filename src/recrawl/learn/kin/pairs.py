"""Scores of chosen pairs of pages, word by word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Kin, Singles, highest, stacked
from recrawl.learn.kin.totals import Asked, by_blocks
from recrawl.model import Ints

Similarity = Callable[[Ints, Ints], Singles]  # of pairs of rows of the dynamics


def chosen(
    dynamics: Dynamics, k: int, pages: Ints, among: Ints, similarity: Similarity, n_threads: int
) -> Kin:
    """The `k` of each page with the highest scores, of those in its row of `among`."""
    asked = Asked(dynamics)
    word = dynamics.word
    key = word * dynamics.n_pages + dynamics.page
    place = np.full(dynamics.n_pages, -1, dtype=np.int64)
    place[pages] = np.arange(len(pages))
    n_words = 1 + int((dynamics.weight > 0).sum()) // max(dynamics.n_pages, 1)

    def block(some: Ints) -> Kin:
        # in order of their numbers, the words of all of them are found in one sweep
        others = np.sort(among[place[some]], axis=1)
        others[:, 1:][others[:, 1:] == others[:, :-1]] = -1
        row, of = asked.rows(some)
        sought = word[row][:, None] * dynamics.n_pages + others[of]
        found = np.minimum(np.searchsorted(key, sought.ravel()), len(key) - 1).reshape(sought.shape)
        there = (key[found] == sought) & (others[of] >= 0) & (others[of] != some[of][:, None])
        i, column = np.nonzero(there)
        x = row[i]
        scored = np.bincount(
            of[i] * others.shape[1] + column,
            weights=dynamics.weight[x] * similarity(x, found[there]),
            minlength=others.size,
        )
        return highest(scored.reshape(others.shape).astype(np.float64), k, others)

    return stacked(list(by_blocks(block, pages, among.shape[1] * n_words * 8, n_threads)), k)
