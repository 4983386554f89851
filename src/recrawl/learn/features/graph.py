"""What the graph of collected links says of a resource: who links to it, and how much that counts."""

from __future__ import annotations

import numpy as np

from recrawl.model import Floats, Ints, column

_DAMPING = 0.85  # the share of readers who follow a link; the others go anywhere
_CLOSE = 1e-10  # of a total of 1: so little may still move between two rounds


def in_links(from_place: Ints, to_place: Ints, n: int) -> Floats:
    """How many others link to each of `n` resources, which are named by their places from 0."""
    _, to = _edges(from_place, to_place, n)
    return np.bincount(to, minlength=n).astype(np.float64)


def page_rank(from_place: Ints, to_place: Ints, n: int) -> Floats:
    """The PageRank of each of `n` resources; all together have 1. Whoever reads one without links goes on
    anywhere. Links to oneself do not count, and several from one to another count once."""
    if n == 0:
        return np.empty(0)
    start, to = _edges(from_place, to_place, n)
    n_out = np.bincount(start, minlength=n)
    ends = n_out == 0
    share = 1.0 / np.maximum(n_out, 1)
    rank: Floats = np.full(n, 1.0 / n)
    while True:  # what still moves shrinks by the damping in every round
        passed = np.bincount(to, weights=(rank * share)[start], minlength=n)
        following: Floats = _DAMPING * (passed + rank[ends].sum() / n) + (1 - _DAMPING) / n
        following /= following.sum()
        moved = np.abs(following - rank).sum()
        rank = following
        if moved < _CLOSE:
            return rank


def connected(values: Floats, ids: Ints, from_ids: Ints, to_ids: Ints) -> Floats:
    """Sights with what the graph says of them. `ids` are the resources of the rows; a resource that stands
    at no end of a link was not collected, and nothing is known of it."""
    nodes, ends = np.unique(np.concatenate([from_ids, to_ids]), return_inverse=True)
    found = values.copy()
    if not len(nodes):
        return found
    start, to = ends[: len(from_ids)], ends[len(from_ids) :]
    place = np.minimum(np.searchsorted(nodes, ids), len(nodes) - 1)
    known = nodes[place] == ids
    for name, told in (
        ("in_links", in_links(start, to, len(nodes))),
        ("page_rank", page_rank(start, to, len(nodes)) * len(nodes)),
    ):
        found[known, column(name)] = told[place[known]]
    return found


def _edges(from_place: Ints, to_place: Ints, n: int) -> tuple[Ints, Ints]:
    """Every link once, without those to oneself."""
    other = from_place != to_place
    once = np.unique(from_place[other] * np.int64(n) + to_place[other])
    return once // max(n, 1), once % max(n, 1)
