"""The online model of Tan (2012): a scaled sigmoid, whose weights learn on as posts arrive.

f(X) = l + (L - l) s with s = 1 / (1 + e^(w.X)) is never below l nor above L. The bounds are the fences of
the gaps: L = Q3 + 2.5 (Q3 - Q1), and l = Q1 - 2.5 (Q3 - Q1) or a minute, whichever is more. The paper prints
one name for both bounds, and gives f for s in the gradient: neither can be meant, since f is in minutes.

After each gap, w += eta (f - gap) s (1 - s) X. The error is taken in units of L - l, so that one eta does for
threads of any pace; where f was too long, w.X grows and f comes down. X has a constant, the last gaps as
shares of L, day and hour, and words where they are asked for. Only the bounds are from what may be learned
from; the weights begin at 0 with the thread and learn from each gap once, as it ends.

As printed, one silence of a hundred times L drives s so near to 1 that nothing is learned any more. `clipped`
is ours: an error counts no more than L - l. Of 0.01, 0.1 and 1, the eta of each is the best on two boards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.features import last_gaps, times
from recrawl.learn.threads.gaps import MIN_GAP_S, W, first, settled
from recrawl.model import Floats, Ints

ETA = 0.01
CLIPPED_ETA = 1.0
_FENCE = 2.5


def fences(gaps: Floats) -> tuple[Floats, Floats]:
    """The least and the most that is predicted, from the gaps of each row; NaN where a row has none."""
    ascending = np.sort(gaps, axis=1)  # what is not known comes last
    n = np.isfinite(gaps).sum(axis=1)
    q1, q3 = _quantile(ascending, n, 0.25), _quantile(ascending, n, 0.75)
    low_s = np.maximum(q1 - _FENCE * (q3 - q1), MIN_GAP_S)
    return low_s, np.maximum(q3 + _FENCE * (q3 - q1), low_s)


def _quantile(ascending: Floats, n: Ints, q: float) -> Floats:
    """Of the first n of each row, interpolated."""
    place = q * np.maximum(n - 1, 0)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n - 1, 0))
    rows = np.arange(len(n))
    low, high = ascending[rows, below], ascending[rows, above]
    return np.asarray(low + (high - low) * (place - below))


@dataclass(slots=True)
class Sigmoids:
    """A row for each thread: its weights and its bounds."""

    weight: Floats
    low_s: Floats
    high_s: Floats

    def predicted(self, x: Floats) -> Floats:
        return self.low_s + (self.high_s - self.low_s) * self._s(x)

    def learn(self, x: Floats, gap_s: Floats, clipped: bool) -> None:
        """What was predicted from x turned out to be this."""
        s = self._s(x)
        error = (self.predicted(x) - gap_s) / np.maximum(self.high_s - self.low_s, 1.0)
        error, eta = (np.clip(error, -1.0, 1.0), CLIPPED_ETA) if clipped else (error, ETA)
        self.weight += (eta * error * s * (1.0 - s))[:, None] * x

    def _s(self, x: Floats) -> Floats:
        return np.asarray(1.0 / (1.0 + np.exp(np.clip((self.weight * x).sum(axis=1), -30.0, 30.0))))


def inputs(gaps: Floats, bits: Floats, high_s: Floats) -> Floats:
    """X of each row, from its last gaps, the newest first, and the bits of its last post's time."""
    share = np.clip(gaps / high_s[:, None], 0.0, 1.0)
    return np.hstack([np.ones((len(gaps), 1)), np.where(np.isfinite(share), share, 0.0), bits])


def sgd(
    threads: Threads, n_train: Ints, extra: Floats | None = None, *, clipped: bool = False, w: int = W
) -> Floats:
    """`extra` are further columns of X, words for example. All threads go forward together, post by post;
    one without a gap that may be learned from has no bounds, and is given its board's mean."""
    gap_s, row = threads.gap_s, threads.row
    low_s, high_s = _bounds(threads, np.where(threads.known(n_train), gap_s, np.nan))
    x = inputs(last_gaps(threads, w), times(threads.at), high_s[row])
    x = x if extra is None else np.hstack([x, extra])
    weight = np.zeros((threads.n, x.shape[1]))
    told = np.full(len(gap_s), np.nan)
    start, n_posts = threads.bounds[:-1], threads.n_posts
    for place in range(int(n_posts.max(initial=0))):
        there = np.flatnonzero((n_posts > place) & np.isfinite(high_s))
        post = start[there] + place
        part = Sigmoids(weight[there], low_s[there], high_s[there])
        told[post] = part.predicted(x[post])
        last = place + 1 == n_posts[there]
        part.learn(x[post], np.where(last, told[post], gap_s[post]), clipped)  # after the last: no error
        weight[there] = part.weight
    return settled(told, first(threads, n_train))


def _bounds(threads: Threads, gap_s: Floats) -> tuple[Floats, Floats]:
    low_s, high_s = np.full(threads.n, np.nan), np.full(threads.n, np.nan)
    for i in range(threads.n):
        part = gap_s[threads.bounds[i] : threads.bounds[i + 1]]
        part = part[np.isfinite(part)]
        if len(part):
            (low_s[i],), (high_s[i],) = fences(part[None, :])
    return low_s, high_s
