"""What the graph of collected links says of a resource: who links to it, and how much that counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Floats, Ints, column

_DAMPING = 0.85  # the share of readers who follow a link; the others go anywhere
_CLOSE = 1e-10  # of a total of 1: so little may still move between two rounds
_CLOSE_ENOUGH = 1e-6  # the same, for telling resources apart by it


@dataclass(frozen=True, slots=True)
class Graph:
    """What all links together say of those at their ends; counted once, asked in pages."""

    node: Ints  # rising
    in_links: Floats
    page_rank: Floats  # in multiples of the mean

    @classmethod
    def of(cls, from_ids: Ints, to_ids: Ints) -> Graph:
        node = np.union1d(from_ids, to_ids)
        n = len(node)
        edges = _edges(np.searchsorted(node, from_ids), np.searchsorted(node, to_ids), n)
        n_in = np.bincount(edges[1], minlength=n).astype(np.float64)
        return cls(node, n_in, _ranked(*edges, n, _CLOSE_ENOUGH) * n)

    def told(self, values: Floats, ids: Ints) -> Floats:
        """Sights with what the graph says of them. `ids` are the resources of the rows; a resource that
        stands at no end of a link was not collected, and nothing is known of it."""
        found = values.copy()
        if not len(self.node):
            return found
        place = np.minimum(np.searchsorted(self.node, ids), len(self.node) - 1)
        known = self.node[place] == ids
        for name, figures in (("in_links", self.in_links), ("page_rank", self.page_rank)):
            found[known, column(name)] = figures[place[known]]
        return found


def in_links(from_place: Ints, to_place: Ints, n: int) -> Floats:
    """How many others link to each of `n` resources, which are named by their places from 0."""
    _, to = _edges(from_place, to_place, n)
    return np.bincount(to, minlength=n).astype(np.float64)


def page_rank(from_place: Ints, to_place: Ints, n: int, close: float = _CLOSE) -> Floats:
    """The PageRank of each of `n` resources; all together have 1. Whoever reads one without links goes on
    anywhere. Links to oneself do not count, and several from one to another count once."""
    return _ranked(*_edges(from_place, to_place, n), n, close)


def _ranked(start: Ints, to: Ints, n: int, close: float) -> Floats:
    """`to` rises, so that what leads to one place is one stretch of a sum."""
    if n == 0:
        return np.empty(0)
    n_out = np.bincount(start, minlength=n)
    ends = n_out == 0
    share = 1.0 / np.maximum(n_out, 1)
    first = np.flatnonzero(np.diff(to, prepend=-1))
    linked = to[first]
    passed = np.zeros(n)
    rank: Floats = np.full(n, 1.0 / n)
    while True:  # what still moves shrinks by the damping in every round
        if len(first):
            passed[linked] = np.add.reduceat((rank * share)[start], first)
        following: Floats = _DAMPING * (passed + rank[ends].sum() / n) + (1 - _DAMPING) / n
        following /= following.sum()
        moved = np.abs(following - rank).sum()
        rank = following
        if moved < close:
            return rank


def _edges(from_place: Ints, to_place: Ints, n: int) -> tuple[Ints, Ints]:
    """Every link once, without those to oneself, in the order of where they lead."""
    other = from_place != to_place
    once = np.sort(to_place[other] * np.int64(n) + from_place[other])
    once = once[np.diff(once, prepend=-1) > 0]
    return once % max(n, 1), once // max(n, 1)
