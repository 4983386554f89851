"""Support vector regression on windows of posts (Tan 2012), with an RBF kernel.

As in the paper each thread has a machine of its own, fitted once to the first part of it. The paper prints
no C, epsilon or scale. Here columns have mean 0 and spread 1 over the posts that are learned from, and gaps
are in units of the spread between their quartiles, of which C = 1 and epsilon = 0.1 are usual multiples; a
column that is not known counts as its mean. The loss is the absolute error, so what is predicted is near a
median: much less than the mean gap. A thread with too few gaps to learn from has its mean so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.features import discounted, last_gaps, times
from recrawl.learn.threads.gaps import MIN_GAP_S, W, mean, settled
from recrawl.learn.threads.words import columns, gathered, rarity, telling
from recrawl.model import Bags, Floats, Ints

C, EPSILON = 1.0, 0.1
ALPHA = 0.5  # what a post counts for after one more post
MOST_WORDS = 50
N_WORDS = 20  # where no vocabulary size is said
_N_HEARD = 10  # posts: what came before counts less than a thousandth at ALPHA, and chooses no words
LEAST = 2 * W  # gaps that are worth learning from


def plain(threads: Threads, w: int = W) -> Floats:
    """The last gaps before each post, its day and its hour."""
    return np.hstack([last_gaps(threads, w), times(threads.at)])


def summed(threads: Threads, *more: Floats) -> Floats:
    """Discounted sums over all posts up to each: of the gap before it, of its day and hour, and of what more
    there is of each post."""
    gap_s = np.nan_to_num(last_gaps(threads, 1))
    return discounted(threads, np.hstack([gap_s, times(threads.at), *more]), ALPHA)


class Windows:
    """Columns over posts for several models at once: words are counted and chosen only once."""

    def __init__(self, threads: Threads, n_train: Ints, w: int = W) -> None:
        self.threads, self.n_train, self.w = threads, n_train, w
        self.known = threads.known(n_train)

    @cached_property
    def plain(self) -> Floats:
        """The last gaps, day and hour."""
        return plain(self.threads, self.w)

    @cached_property
    def words(self) -> Floats:
        """How often the window has each word, those that tell most about gaps first."""
        return self._best(self._heard, MOST_WORDS)

    @cached_property
    def rare_words(self) -> Floats:
        """The same with words weighed by their rarity."""
        return self._best(rarity(self._heard, self.known), N_WORDS)

    @cached_property
    def tags(self) -> Floats:
        """How many words of each part of speech the window has."""
        if self.threads.tags is None:
            raise BadInputError("These threads come without their parts of speech; count them first.")
        tags = gathered(self.threads, self.threads.tags, np.ones(self.w))
        all_tags = np.arange(int(tags.word.max(initial=-1)) + 1)
        return columns(self.threads, tags, np.tile(all_tags, (self.threads.n, 1)))

    @cached_property
    def sums(self) -> Floats:
        """Discounted sums over all posts: of the gap before each, of its day and hour, and of its words."""
        threads = self.threads
        heard = gathered(threads, self._bags, np.power(ALPHA, np.arange(_N_HEARD, dtype=np.float64)))
        best = telling(threads, heard, threads.gap_s, self.known, N_WORDS)
        return summed(threads, columns(threads, self._bags, best))

    @cached_property
    def _heard(self) -> Bags:
        return gathered(self.threads, self._bags, np.ones(self.w))

    @property
    def _bags(self) -> Bags:
        if self.threads.bags is None:
            raise BadInputError("These threads come without their words; count them first.")
        return self.threads.bags

    def _best(self, heard: Bags, k: int) -> Floats:
        best = telling(self.threads, heard, self.threads.gap_s, self.known, k)
        return columns(self.threads, heard, best)


@dataclass(frozen=True, slots=True)
class Machine:
    """Fitted to the posts of one thread."""

    fitted: Any
    middle: Floats  # of each column
    spread: Floats
    unit_s: float  # of gaps

    def predicted(self, x: Floats) -> Floats:
        """The gap after each post, in seconds; it may be anything."""
        return np.asarray(self.fitted.predict(scaled(x, self.middle, self.spread)) * self.unit_s)


def taught(x: Floats, gap_s: Floats) -> Machine:
    """By these posts, and the gaps that followed them."""
    there = np.isfinite(x)
    n = np.maximum(there.sum(axis=0), 1)
    middle = np.where(there, x, 0.0).sum(axis=0) / n
    spread = np.sqrt(np.where(there, (x - middle) ** 2, 0.0).sum(axis=0) / n)
    q1, q3 = np.quantile(gap_s, (0.25, 0.75))
    unit_s = max(float(q3 - q1), MIN_GAP_S)
    fitted = regression()(kernel="rbf", C=C, epsilon=EPSILON, gamma="scale")
    fitted.fit(scaled(x, middle, spread), gap_s / unit_s)
    return Machine(fitted, middle, spread, unit_s)


def scaled(x: Floats, middle: Floats, spread: Floats) -> Floats:
    return np.asarray(np.nan_to_num((x - middle) / np.where(spread > 0.0, spread, 1.0)))


def predicted(windows: Windows, x: Floats, heard: Callable[[int], None] = lambda _: None) -> Floats:
    """The gap after each post, from columns over all posts. `heard` is told how many threads are done."""
    threads, gap_s = windows.threads, windows.threads.gap_s
    told = np.full(len(gap_s), np.nan)
    regression()
    for i in range(threads.n):
        own = slice(int(threads.bounds[i]), int(threads.bounds[i + 1]))
        known = windows.known[own]
        if known.sum() >= LEAST:
            told[own] = taught(x[own][known], gap_s[own][known]).predicted(x[own])
        heard(i + 1)
    return settled(told, mean(threads, windows.n_train))


def regression() -> Any:
    """Looked for when it is needed: a second goes by until it is there."""
    try:
        return import_module("sklearn.svm").SVR
    except ImportError as error:
        raise BadInputError(
            "Support vector regression needs scikit-learn, which is not installed; install it with "
            "`pip install 'recrawl[learn]'`."
        ) from error
