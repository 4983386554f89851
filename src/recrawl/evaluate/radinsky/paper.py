"""The paper's own figures: accuracies in percent."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TABLE_1: Mapping[str, float] = MappingProxyType({"1d": 54.84, "2d": 62.93, "3d": 72.72})
TABLE_2: Mapping[str, float] = MappingProxyType(
    {"union": 62.91, "boosting": 63.44, "bagging": 63.58, "experts": 72.72}
)
TABLE_3: Mapping[str, float] = MappingProxyType(
    {"graph": 64.40, "content": 67.27, "cross_correlation": 72.72, "dtw": 70.33}
)
