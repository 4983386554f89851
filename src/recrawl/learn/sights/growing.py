"""Small regression trees, grown on columns: features in bins, all nodes of one depth at once.

For every node, feature and bin the weights and pulls of the rows in it are summed; running sums over the bins
are then all the splits there are. Rows whose value is not known go to whichever side is better for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.sights.trees import Singles, Trees
from recrawl.model import Floats, Ints

N_BINS = 32
_UNKNOWN = N_BINS  # the bin of what is not known
_WIDTH = N_BINS + 1


@dataclass(frozen=True, slots=True)
class Binned:
    bin: Ints  # rows by features
    edge: Floats  # features by bins: the largest value in each; infinite in the last

    @classmethod
    def of(cls, values: Singles) -> Binned:
        n, width = values.shape
        found = np.full((n, width), _UNKNOWN, dtype=np.int64)
        edges = np.full((width, N_BINS), np.inf)
        for column in range(width):
            x = values[:, column]
            known = ~np.isnan(x)
            cuts = _cuts(x[known])
            edges[column, : len(cuts)] = cuts
            found[known, column] = np.searchsorted(cuts, x[known], side="left")
        return cls(found, edges)


def _cuts(x: Singles) -> Singles:
    """Where a column is cut: between all its values where they are few, else so that bins are about full."""
    different = np.unique(x)
    if len(different) <= 1:
        return different[:0]
    if len(different) <= N_BINS:
        return different[:-1]
    at = np.unique(np.quantile(x, np.arange(1, N_BINS) / N_BINS, method="lower"))
    return np.asarray(at[at < different[-1]])


def grown(
    binned: Binned, rows: Ints, pull: Floats, weight: Floats, *, depth: int, ridge: float, smallest: float
) -> Trees:
    """A tree that splits where the pulls of rows differ most: sum(pull)^2 / (sum(weight) + ridge), added over
    leaves. No leaf has less than the smallest weight. The values are left 0."""
    n_features = binned.bin.shape[1]
    keys = binned.bin[rows] + np.arange(n_features) * _WIDTH
    node = np.zeros(len(rows), dtype=np.int64)  # among those of the present depth
    names = np.zeros(1, dtype=np.int64)  # their numbers in the tree
    feature, threshold, left, right, unknown = [0], [np.inf], [0], [0], [False]
    for level in range(depth):
        sums = _sums(keys, node, pull, weight, len(names), n_features)
        at, gain = _best(*sums, ridge, smallest)
        split = np.flatnonzero(gain > 1e-9)
        if not len(split):
            return _tree(feature, threshold, left, right, unknown, level)
        place = np.full(len(names), -1, dtype=np.int64)
        place[split] = np.arange(len(split))
        for one in split.tolist():
            which, cut, side = (int(part) for part in at[one])
            parent, first = int(names[one]), len(feature)
            feature[parent], threshold[parent] = which, float(binned.edge[which, cut])
            left[parent], right[parent], unknown[parent] = first, first + 1, side == 1
            for child in (first, first + 1):
                feature.append(0)
                threshold.append(np.inf)
                left.append(child)
                right.append(child)
                unknown.append(False)
        names = np.array([[left[i], right[i]] for i in names[split].tolist()]).ravel()
        kept = place[node] >= 0
        rows, keys, node, pull, weight = rows[kept], keys[kept], node[kept], pull[kept], weight[kept]
        which, cut, side = at[node].T
        bins = binned.bin[rows, which]
        goes_left = np.where(bins == _UNKNOWN, side == 1, bins <= cut)
        node = 2 * place[node] + ~goes_left
    return _tree(feature, threshold, left, right, unknown, depth)


def _sums(
    keys: Ints, node: Ints, pull: Floats, weight: Floats, n_nodes: int, n_features: int
) -> tuple[Floats, Floats]:
    """Pulls and weights by node, feature and bin."""
    where = (keys + (node * (n_features * _WIDTH))[:, None]).ravel()
    shape = (n_nodes, n_features, _WIDTH)
    pulls, weights = (
        np.bincount(where, weights=np.repeat(each, n_features), minlength=n_nodes * n_features * _WIDTH)
        for each in (pull, weight)
    )
    return pulls.astype(np.float64).reshape(shape), weights.astype(np.float64).reshape(shape)


def _best(pulls: Floats, weights: Floats, ridge: float, smallest: float) -> tuple[Ints, Floats]:
    """By node: the best split's feature and bin, whether the unknown go left, and its gain."""
    pull, weight = pulls.sum(axis=2)[:, :1, None], weights.sum(axis=2)[:, :1, None]
    known_pull, known_weight = (each[:, :, :N_BINS].cumsum(axis=2) for each in (pulls, weights))
    unknown_pull, unknown_weight = pulls[:, :, N_BINS:], weights[:, :, N_BINS:]
    whole = pull**2 / (weight + ridge)
    sides = []
    for goes_left in (0.0, 1.0):
        left_pull, left = known_pull + goes_left * unknown_pull, known_weight + goes_left * unknown_weight
        right_pull, right = pull - left_pull, weight - left
        worth = left_pull**2 / (left + ridge) + right_pull**2 / (right + ridge) - whole
        sides.append(np.where((left >= smallest) & (right >= smallest), worth, -np.inf))
    # Where nobody is unknown both are the same: then they would go with the more.
    heavier = known_weight >= weight / 2.0
    sides[1] = np.where((unknown_weight == 0.0) & ~heavier, -np.inf, sides[1])
    sides[0] = np.where((unknown_weight == 0.0) & heavier, -np.inf, sides[0])
    n_nodes, n_features = pulls.shape[:2]
    flat = np.stack(sides, axis=-1).reshape(n_nodes, -1)
    at = flat.argmax(axis=1)
    gain = flat[np.arange(n_nodes), at]
    places = np.stack(np.unravel_index(at, (n_features, N_BINS, 2)), axis=1).astype(np.int64)
    return places, gain


def _tree(
    feature: list[int],
    threshold: list[float],
    left: list[int],
    right: list[int],
    unknown: list[bool],
    depth: int,
) -> Trees:
    return Trees(
        root=np.zeros(1, dtype=np.int64),
        feature=np.array(feature, dtype=np.int64),
        threshold=np.array(threshold),
        left=np.array(left, dtype=np.int64),
        right=np.array(right, dtype=np.int64),
        unknown_left=np.array(unknown, dtype=np.bool_),
        value=np.zeros(len(feature)),
        depth=depth,
    )
