"""The posts of many threads, as columns: thread after thread, each in the order of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.errors import BadInputError
from recrawl.model import Bags, Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class Threads:
    """Every thread has a post at least; posts of one minute may bear the same time."""

    bounds: Ints  # thread i has posts bounds[i] to bounds[i + 1]
    at: Floats
    author: Ints  # a number; -1: not known
    bags: Bags | None  # the words of each post; None: nobody has read them
    board: Ints  # of each thread: the number of its board
    tags: Bags | None = None  # the parts of speech of each post's words; None: as above

    def __post_init__(self) -> None:
        wrong = self._wrong()
        if wrong:
            raise BadInputError(f"These are no threads: {wrong}.")

    @property
    def n(self) -> int:
        """How many threads there are."""
        return len(self.bounds) - 1

    @property
    def n_posts(self) -> Ints:
        """Of each thread."""
        return np.diff(self.bounds)

    @property
    def row(self) -> Ints:
        """Of each post: the thread that it stands in."""
        return np.repeat(np.arange(self.n), self.n_posts)

    @property
    def place(self) -> Ints:
        """Of each post: how many came before it in its thread."""
        return np.arange(len(self.at)) - np.repeat(self.bounds[:-1], self.n_posts)

    @property
    def gap_s(self) -> Floats:
        """Of each post: the time to the next one of its thread; NaN: it is the last."""
        gap_s = np.append(np.diff(self.at), np.nan)
        gap_s[self.bounds[1:] - 1] = np.nan
        return gap_s

    def known(self, n_train: Ints) -> Bools:
        """Of each post: is the gap after it one that may be learned from, where only the first `n_train`
        posts of each thread may be? Their last one's is not: it ends with a later post."""
        return self.place + 1 < np.repeat(np.minimum(n_train, self.n_posts), self.n_posts)

    def pick(self, rows: Ints) -> Threads:
        """Some of the threads."""
        return self._kept(rows, self.n_posts[rows])

    def first(self, n: Ints) -> Threads:
        """All threads, of each the first n posts."""
        return self._kept(np.arange(self.n), np.minimum(n, self.n_posts))

    def _kept(self, rows: Ints, n: Ints) -> Threads:
        bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
        places = np.arange(bounds[-1]) + np.repeat(self.bounds[rows] - bounds[:-1], n)
        bags = None if self.bags is None else self.bags.pick(places)
        tags = None if self.tags is None else self.tags.pick(places)
        return Threads(bounds, self.at[places], self.author[places], bags, self.board[rows], tags)

    def _wrong(self) -> str:
        if not len(self.bounds) or self.bounds[0] != 0 or self.bounds[-1] != len(self.at):
            return "their bounds must begin with 0 and end with the number of posts"
        if (np.diff(self.bounds) < 1).any():
            return "one has no post; leave it out"
        if len(self.author) != len(self.at) or len(self.board) != self.n:
            return "every post must have an author, or -1, and every thread a board"
        if any(bags is not None and len(bags) != len(self.at) for bags in (self.bags, self.tags)):
            return "there must be as many bags of words as posts"
        step_s = np.diff(self.at)
        step_s[self.bounds[1:-1] - 1] = 0.0
        if not np.isfinite(self.at).all() or (step_s < 0.0).any():
            return "each must be in the order of time; sort its posts, and leave out those without a time"
        return ""
