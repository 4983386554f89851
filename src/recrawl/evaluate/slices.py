"""Measures over time. A slice holds what lies after its beginning, up to and with its end."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from recrawl.model import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Slices:
    """Counts over time, for all resources together: `n` equal slices of the window."""

    n_resources: int
    edges_at: Floats  # one more than there are slices
    visits: Floats
    changes: Floats
    observed: Floats
    fresh_s: Floats

    def recall(self, *, cumulative: bool = True) -> Floats:
        return _share(self.observed, self.changes, cumulative)

    def precision(self, *, cumulative: bool = True) -> Floats:
        return _share(self.observed, self.visits, cumulative)

    def freshness(self, *, cumulative: bool = False) -> Floats:
        return _share(self.fresh_s, self.n_resources * np.diff(self.edges_at), cumulative)


def _share(part: Floats, whole: Floats, cumulative: bool) -> Floats:
    if cumulative:
        part, whole = np.cumsum(part), np.cumsum(whole)
    return np.asarray(np.divide(part, whole, out=np.full(len(part), nan), where=whole > 0))
