"""The paper's own figures, in percent and seconds; a pruned tree is its J48 with postpruning."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TABLE_1: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "tree-unpruned": (11.9, 2.41),
        "tree-pruned": (10.7, 1.63),
        "naive-bayes": (40.5, 120.5),
        "knn-1": (11.27, 4393.15),
        "knn-2": (11.88, 6335.49),
    }
)
TABLE_3: Mapping[str, float] = MappingProxyType({"random": 75.22, "static": 25.64})
TABLE_5: Mapping[str, float] = MappingProxyType(
    {
        "random+bayesian": 34.73,
        "random+historic": 28.33,
        "static+bayesian": 37.87,
        "static+historic": 14.95,
    }
)
