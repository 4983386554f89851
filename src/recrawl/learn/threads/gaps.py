"""The baselines of Tan (2012): gaps that no words are needed for.

`fixed` is one gap for all: the mean of those that may be learned from. `mean` is the mean of the thread's
own gaps so far, and `window-mean` that of the last w. A thread of which no gap is known yet has the mean of
all that may be learned from, of its own board where there are such.

No model says less than a minute: most boards tell no finer time, and what it would come to is a visit at
once, as for a prediction that lies in the past.
"""

from __future__ import annotations

import numpy as np

from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.features import last_gaps, running_mean
from recrawl.model import DAY_S, Floats, Ints

W = 5  # posts in a window
MIN_GAP_S = 60.0
FIRST_GAP_S = DAY_S  # where nothing at all is known


def fixed(threads: Threads, n_train: Ints) -> Floats:
    known = threads.known(n_train)
    gap_s = float(threads.gap_s[known].mean()) if known.any() else FIRST_GAP_S
    return np.full(len(threads.at), max(gap_s, MIN_GAP_S))


def mean(threads: Threads, n_train: Ints) -> Floats:
    return settled(running_mean(threads), first(threads, n_train))


def window_mean(threads: Threads, n_train: Ints, w: int = W) -> Floats:
    gaps = last_gaps(threads, w)
    n = np.isfinite(gaps).sum(axis=1)
    mean_s = np.where(n > 0, np.nansum(gaps, axis=1) / np.maximum(n, 1), np.nan)
    return settled(mean_s, first(threads, n_train))


def first(threads: Threads, n_train: Ints) -> Floats:
    """Of each post: the mean gap of its board, as far as it may be learned from."""
    known = threads.known(n_train)
    board, of = np.unique(threads.board, return_inverse=True)
    of_post = of[threads.row]
    n = np.bincount(of_post[known], minlength=len(board))
    sum_s = np.bincount(of_post[known], threads.gap_s[known], len(board))
    return np.where(n > 0, sum_s / np.maximum(n, 1), fixed(threads, n_train)[:1])[of_post]


def settled(gap_s: Floats, other_s: Floats) -> Floats:
    """The one where it is known, else the other; a minute at least."""
    return np.maximum(np.where(np.isfinite(gap_s), gap_s, other_s), MIN_GAP_S)
