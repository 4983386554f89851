"""Decision trees as plain arrays: read out of what scikit-learn has grown, and followed without it.

Nodes of all trees lie one after the other. A leaf is its own child on both sides, so that all rows of a batch
can go down as many steps as the deepest tree has. Values are compared in single precision, as they were when
the trees were grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from recrawl.compiled import can_compile, hurried
from recrawl.model import Bools, Floats, Ints

Singles = npt.NDArray[np.float32]

_CHUNK = 8_192
_MANY = 1_000_000  # steps from leaf to leaf: with more, a compiler is worth waiting for
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    root: Ints  # of each tree
    feature: Ints  # a column; 0 in leaves
    threshold: Floats  # up to it to the left; infinite in leaves
    left: Ints
    right: Ints
    unknown_left: Bools  # where rows go whose value is not known
    value: Floats  # one for each node; those of leaves count
    depth: int  # steps to the deepest leaf

    def __len__(self) -> int:
        return len(self.root)

    @property
    def leaf(self) -> Bools:
        return np.asarray(self.left == np.arange(len(self.left)))

    def leaves(self, values: Floats | Singles, tree: int = 0) -> Ints:
        """The leaf of each row in one tree."""
        values = singles(values)
        found = np.empty(len(values), dtype=np.int64)
        for start in range(0, len(values), _CHUNK):
            part = values[start : start + _CHUNK]
            found[start : start + _CHUNK] = self._down(part, int(self.root[tree]))
        return found

    def sums(self, values: Floats) -> Floats:
        """Of all trees' values, for each row."""
        compared = singles(values)
        total = np.zeros(len(compared))
        if len(compared) * len(self) * max(self.depth, 1) > _MANY and can_compile():
            children = np.stack([self.left, self.right])
            _add_all(
                compared,
                self.root,
                self.feature,
                self.threshold,
                children,
                self.unknown_left,
                self.value,
                total,
            )
            return total
        for start in range(0, len(compared), _CHUNK):
            part = compared[start : start + _CHUNK]
            for root in self.root.tolist():
                total[start : start + _CHUNK] += self.value[self._down(part, root)]
        return total

    def _down(self, values: Singles, root: int) -> Ints:
        n, width = values.shape
        flat, first = values.ravel(), np.arange(n) * width
        node = np.full(n, root, dtype=np.int64)
        for _ in range(self.depth):
            x = flat[first + self.feature[node]]
            left = (x <= self.threshold[node]) | (np.isnan(x) & self.unknown_left[node])
            node = np.where(left, self.left[node], self.right[node])
        return node


NO_TREES = Trees(
    root=np.empty(0, dtype=np.int64),
    feature=np.empty(0, dtype=np.int64),
    threshold=np.empty(0),
    left=np.empty(0, dtype=np.int64),
    right=np.empty(0, dtype=np.int64),
    unknown_left=np.empty(0, dtype=np.bool_),
    value=np.empty(0),
    depth=0,
)


def singles(values: Floats | Singles) -> Singles:
    """As the trees compare them; what is too large for that is the largest."""
    if values.dtype == np.float32:
        return cast(Singles, values)
    return np.ascontiguousarray(np.clip(values, -_LARGEST, _LARGEST), dtype=np.float32)


def exported(grown: Any, columns: Ints | None = None) -> Trees:
    """A tree of scikit-learn's. `columns` are those that it was grown on; the values are left 0."""
    tree = grown.tree_
    leaf = tree.children_left < 0
    own = np.arange(tree.node_count)
    feature = np.where(leaf, 0, tree.feature).astype(np.int64)
    if columns is not None:
        feature = np.where(leaf, 0, columns[feature])
    depth = np.zeros(tree.node_count, dtype=np.int64)
    for node in np.flatnonzero(~leaf).tolist():  # parents come before their children
        depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    return Trees(
        root=np.zeros(1, dtype=np.int64),
        feature=feature,
        threshold=np.where(leaf, np.inf, tree.threshold),
        left=np.where(leaf, own, tree.children_left).astype(np.int64),
        right=np.where(leaf, own, tree.children_right).astype(np.int64),
        unknown_left=np.asarray(tree.missing_go_to_left, dtype=np.bool_),
        value=np.zeros(tree.node_count),
        depth=int(depth.max()),
    )


def joined(trees: Sequence[Trees]) -> Trees:
    """All in one, in this order."""
    if not trees:
        return NO_TREES
    sizes = np.array([len(one.feature) for one in trees])
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def moved(name: str) -> Ints:
        return np.concatenate([getattr(one, name) + k for one, k in zip(trees, first.tolist(), strict=True)])

    return Trees(
        root=moved("root"),
        feature=np.concatenate([one.feature for one in trees]),
        threshold=np.concatenate([one.threshold for one in trees]),
        left=moved("left"),
        right=moved("right"),
        unknown_left=np.concatenate([one.unknown_left for one in trees]),
        value=np.concatenate([one.value for one in trees]),
        depth=max(one.depth for one in trees),
    )


@hurried
def _add_all(
    values: Singles,
    root: Ints,
    feature: Ints,
    threshold: Floats,
    children: Ints,
    unknown_left: Bools,
    value: Floats,
    total: Floats,
) -> None:
    for i in range(len(values)):
        for tree in range(len(root)):
            node = root[tree]
            while children[0, node] != node:
                x = values[i, feature[node]]
                left = unknown_left[node] if np.isnan(x) else x <= threshold[node]
                node = children[0, node] if left else children[1, node]
            total[i] += value[node]
