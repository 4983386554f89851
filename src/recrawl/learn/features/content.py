"""What a page's own past says of it: how often it changed (1D), its words and how far it moved (2D).

At step t everything up to t is known, and nothing after it is looked at. `back` is the window of Radinsky and
Bennett (2013), their l, and `ahead` their sigma, how many steps ahead a change is foretold.

A change is counted where it is seen: `changed[:, t]` is the change between t - 1 and t. The paper writes
change(A(t - 1)) for that, since there a change goes from a step to the next: its bits t - 1 .. t - l are ours
t .. t - l + 1, all of them known at t. A(t) is a vector of word counts; distances are Euclidean. What is not
known (steps before the first, a page not seen yet) has no words and did not move: distances are 0, bits
unset.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recrawl.compiled import hurried
from recrawl.model import Bags, Bools, Floats, Ints


@dataclass(frozen=True)
class Steps:
    """Pages at evenly spaced moments, fully observed."""

    bags: Bags  # words are numbered from 0 without gaps
    at: Ints  # (n_pages, n_steps): the row of `bags` that a page shows at a step; -1: not known
    changed: Bools  # (n_pages, n_steps): significantly, between the step before and this one

    @property
    def n_pages(self) -> int:
        return int(self.at.shape[0])

    @property
    def n_steps(self) -> int:
        return int(self.at.shape[1])

    @cached_property
    def judged(self) -> Bools:
        """(n_pages, n_steps): whether it is known if a page changed at a step."""
        return np.asarray((self.at >= 0) & (earlier(self.at, 1) >= 0))

    @cached_property
    def squares(self) -> Floats:
        """Of each bag: its length, squared; and a 0 at the end, for the row -1."""
        rows = np.arange(len(self.bags))
        return np.append(dots(self.bags, rows, rows), 0.0)

    def seen_as(self, at: Ints, changed: Bools) -> Steps:
        """The same bags at other steps; what was worked out of them is kept."""
        other = Steps(self.bags, at, changed)
        other.__dict__["squares"] = self.squares
        return other


def frequency(changed: Bools, back: int) -> Floats:
    """The share of changes in the last steps up to each, or in as many as there are. At the first step
    nothing can be seen to change: it does not count."""
    n_pages, n_steps = changed.shape
    sums = np.concatenate([np.zeros((n_pages, 1)), np.cumsum(changed, axis=1)], axis=1)
    start = np.minimum(np.maximum(np.arange(n_steps) - back + 1, 1), n_steps)
    n = np.maximum(np.arange(n_steps) + 1 - start, 1)
    share = (sums[:, 1:] - sums[:, start]) / n
    share[:, :1] = 0.0
    return np.asarray(share)


def own_blocks(back: int) -> Ints:
    """Which of the kinds of features each column of `own` is of."""
    return np.repeat(np.arange(4), [1, back, back, back])


def own(steps: Steps, back: int = 1, ahead: int = 1, pages: Ints | None = None) -> Floats:
    """All 2D features but the words, (n_pages, n_steps, 1 + 3 back): how often it changed in the window; how
    far it is from where it was i steps ago; how far it moved in `ahead` steps up to i steps ago; and whether
    it changed at each step of the window, newest first."""
    at = steps.at if pages is None else steps.at[pages]
    changed = steps.changed if pages is None else steps.changed[pages]
    window = range(1, back + 1)
    return np.concatenate(
        [
            frequency(changed, back)[:, :, None],
            *(moved(steps, at, earlier(at, i))[:, :, None] for i in window),
            *(moved(steps, earlier(at, i), earlier(at, i + ahead))[:, :, None] for i in window),
            *(earlier(changed.astype(np.int64), i - 1, 0)[:, :, None] for i in window),
        ],
        axis=2,
    )


def unigrams(bags: Bags) -> Bags:
    """The share of each word in its bag."""
    total = bags.total
    return Bags(bags.bounds, bags.word, bags.count / np.where(total > 0.0, total, 1.0)[bags.row])


def earlier(column: Ints, i: int, nothing: int = -1) -> Ints:
    """At each step what stood there i steps before."""
    n = column.shape[1]
    shifted = np.full_like(column, nothing)
    shifted[:, min(i, n) :] = column[:, : max(n - i, 0)]
    return shifted


def moved(steps: Steps, to: Ints, since: Ints) -> Floats:
    """The distance between two rows of bags each, in columns of any shape; 0 where one is not known."""
    both = (to >= 0) & (since >= 0)
    products = dots(steps.bags, to.ravel(), since.ravel()).reshape(to.shape)
    square = steps.squares[to] + steps.squares[since] - 2.0 * products
    return np.asarray(np.sqrt(np.maximum(np.where(both, square, 0.0), 0.0)))


def dots(bags: Bags, left: Ints, right: Ints) -> Floats:
    """The products of pairs of rows; 0 where one of the two is -1."""
    found = np.zeros(len(left))
    _multiply(bags.bounds, bags.word, bags.count, left, right, found)
    return found


@hurried
def _multiply(bounds: Ints, word: Ints, count: Floats, left: Ints, right: Ints, found: Floats) -> None:
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        if a < 0 or b < 0:
            continue
        i, j = bounds[a], bounds[b]
        end_i, end_j = bounds[a + 1], bounds[b + 1]
        total = 0.0
        while i < end_i and j < end_j:
            if word[i] == word[j]:
                total += count[i] * count[j]
                i += 1
                j += 1
            elif word[i] < word[j]:
                i += 1
            else:
                j += 1
        found[pair] = total
