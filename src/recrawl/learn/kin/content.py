"""Kin by content: pages whose words are the same, as the cosine of their bags."""

from __future__ import annotations

import numpy as np

from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Kin, highest, stacked
from recrawl.learn.kin.totals import Asked, by_blocks, totals
from recrawl.model import Bags, Ints


def alike(bags: Bags, k: int, *, n_threads: int = 1) -> Kin:
    """Of pages whose last step is the row of their number. Pages without words have no kin."""
    length = np.sqrt(np.bincount(bags.row, weights=bags.count**2, minlength=len(bags)))
    share = np.asarray(bags.count / np.where(length > 0, length, 1.0)[bags.row], dtype=np.float32)
    order = np.argsort(bags.word, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(bags.word))]).astype(np.int64)
    # of one step: a word weighs its share in a page, and is as similar as its share in the other
    theirs = share[order][:, None]
    single = Dynamics(len(bags), bounds, bags.row[order], share[order], np.ones_like(theirs))
    asked, whole = Asked(single), np.ones((1, 1), dtype=np.float32)

    def block(some: Ints) -> Kin:
        return highest(totals(single, asked, some, range(1), whole, theirs), k)

    return stacked(list(by_blocks(block, np.arange(len(bags)), len(bags), n_threads)), k)
