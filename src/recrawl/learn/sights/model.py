"""What was learned from first sights: plain arrays that turn features into hunches, and a text of them.

Hunches need no scikit-learn, and the same text gives the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from recrawl.errors import BadInputError, NewerStoreError, UnsoundStoreError
from recrawl.learn.groups import Classes
from recrawl.learn.priors import Ratio
from recrawl.learn.sights.text import TextError, array, plain, read_trees, text_of, trees_of, unsealed
from recrawl.learn.sights.trees import Trees
from recrawl.model import Floats, Ints
from recrawl.model.sight import FEATURES, SIGHT_FORMAT

VERSION = 1  # of the text: one more whenever something in it comes, goes or means something else
KEY = "sight-model"  # the store's note that holds it
LEAST_PER_DAY, MOST_PER_DAY = 1e-5, 2e3  # no hunch says more or less

_ANEW = "learn it anew with `recrawl train`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Rates lie about their hunches as a Gamma distribution of `ratio_shape` and `ratio_scale` lies about 1:
    the rate is the hunch times a variable of that distribution."""

    features: tuple[str, ...]  # the columns of `values`, in this order
    format: int  # of the sights that it was learned from
    middle: float  # ln(changes a day)
    trees: Trees  # what is added to it
    ratio_shape: float
    ratio_scale: float
    classes: Classes
    tree: Trees  # one, that puts a sight into a class
    leaf_class: Ints  # of each node
    leaf_p: Floats  # probabilities of the classes, calibrated: nodes by classes
    trained_at: float
    report: Mapping[str, Any] = field(default_factory=dict)  # as JSON has it

    @property
    def name(self) -> str:
        """Short, and another for every other model: what hunches are kept under."""
        return sha256(self.written().encode()).hexdigest()[:12]

    @property
    def present(self) -> bool:
        """Whether sights as they are taken now are those that it was learned from."""
        return self.format == SIGHT_FORMAT and self.features == tuple(one.name for one in FEATURES)

    @property
    def ratio(self) -> Ratio:
        gain, error = (self.report.get(name) for name in ("gain_of_the_prior", "gain_of_the_prior_error"))
        proven = isinstance(gain, float) and isinstance(error, float) and gain > error
        return Ratio(self.ratio_shape, self.ratio_scale, proven)

    def hunches(self, values: Floats) -> tuple[Floats, Floats]:
        """Changes a day, and the mean interval of the class, in seconds, for each row."""
        return self.per_day(values), self.classes.interval_s[self.classify(values)]

    def per_day(self, values: Floats) -> Floats:
        rate = np.exp(self.middle + self.trees.sums(self._checked(values)))
        return np.asarray(np.clip(rate, LEAST_PER_DAY, MOST_PER_DAY))

    def classify(self, values: Floats) -> Ints:
        """The class that the tree puts each row into, from 0, the fastest."""
        return self.leaf_class[self.tree.leaves(self._checked(values))]

    def p_classes(self, values: Floats) -> Floats:
        """The probability of each class (columns). The largest need not be the class that the tree chose: the
        tree learned from as many of each class, and these count how many there really are."""
        return self.leaf_p[self.tree.leaves(self._checked(values))]

    def _checked(self, values: Floats) -> Floats:
        if values.ndim != 2 or values.shape[1] != len(self.features):
            raise BadInputError(
                f"This model of first sights has {len(self.features)} features, not "
                f"{values.shape[-1] if values.ndim else 0}; {_ANEW}."
            )
        return values

    def written(self) -> str:
        return text_of(
            {
                "features": list(self.features),
                "format": self.format,
                "middle": self.middle,
                "trees": trees_of(self.trees),
                "ratio": [self.ratio_shape, self.ratio_scale],
                "interval_s": plain(self.classes.interval_s),
                "bounds": plain(self.classes.bounds),
                "n": plain(self.classes.n),
                "tree": trees_of(self.tree),
                "leaf_class": plain(self.leaf_class),
                "leaf_p": plain(self.leaf_p),
                "trained_at": self.trained_at,
                "report": self.report,
            },
            VERSION,
        )

    @classmethod
    def read(cls, text: str) -> Trained:
        """Out of `written`. What cannot be used raises an error: nothing is guessed."""
        try:
            said, version = unsealed(text)
            if version > VERSION:
                raise NewerStoreError(
                    f"The model of first sights was written by a newer recrawl; upgrade recrawl, or {_ANEW}."
                )
            if version < VERSION:
                raise UnsoundStoreError(f"The model of first sights is of an older recrawl; {_ANEW}.")
            return cls._of(said)
        except TextError as problem:
            raise UnsoundStoreError(
                f"The model of first sights cannot be used: {problem}; {_ANEW}."
            ) from None

    @classmethod
    def _of(cls, said: Mapping[str, Any]) -> Trained:
        try:
            features = tuple(map(str, said["features"]))
            trees, tree = (read_trees(said[name], len(features)) for name in ("trees", "tree"))
            interval_s = array(said["interval_s"], np.float64, 1)
            k, nodes = len(interval_s), len(tree.feature)
            found = cls(
                features=features,
                format=int(said["format"]),
                middle=float(said["middle"]),
                trees=trees,
                ratio_shape=float(said["ratio"][0]),
                ratio_scale=float(said["ratio"][1]),
                classes=Classes(
                    interval_s, array(said["bounds"], np.float64, 1), array(said["n"], np.int64, 1)
                ),
                tree=tree,
                leaf_class=array(said["leaf_class"], np.int64, 1),
                leaf_p=array(said["leaf_p"], np.float64, 2),
                trained_at=float(said["trained_at"]),
                report=dict(said["report"]),
            )
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
            raise TextError("something in it is missing or of another kind") from problem
        _must(
            k > 0 and len(found.classes.bounds) == k - 1 and len(found.classes.n) == k,
            len(tree) == 1 and found.leaf_class.shape == (nodes,) and found.leaf_p.shape == (nodes, k),
            bool(((found.leaf_class >= 0) & (found.leaf_class < k)).all()),
            bool((np.diff(interval_s) >= 0.0).all() and (interval_s > 0.0).all()),
            bool(np.isfinite([found.middle, found.trained_at]).all() and np.isfinite(found.leaf_p).all()),
            0.0 < found.ratio_shape < np.inf and 0.0 < found.ratio_scale < np.inf,
        )
        return found


def _must(*conditions: bool) -> None:
    if not all(conditions):
        raise TextError("its parts do not fit together")
