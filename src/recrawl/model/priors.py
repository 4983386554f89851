"""What is believed of a resource's rate of change before it was looked at twice."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import nan

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def _none() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """Gamma distributions over the rate: one for everything, and one for each group that told enough to have
    its own. `shape` is a number of changes, `scale_s` the time that they are believed to have taken."""

    shape: float
    scale_s: float
    group: Ints = field(default_factory=_none)  # in rising order
    shapes: Floats = field(default_factory=lambda: np.empty(0))
    scales_s: Floats = field(default_factory=lambda: np.empty(0))
    n_resources: int = 0  # that they were fitted to
    fitted_at: float = nan

    def of(self, group: Ints) -> tuple[Floats, Floats]:
        """Shape and scale for resources of these groups."""
        shape, scale_s = np.full(len(group), self.shape), np.full(len(group), self.scale_s)
        if len(self.group):
            place = np.minimum(np.searchsorted(self.group, group), len(self.group) - 1)
            own = self.group[place] == group
            shape[own], scale_s[own] = self.shapes[place[own]], self.scales_s[place[own]]
        return shape, scale_s

    def written(self) -> str:
        columns = zip(self.group.tolist(), self.shapes.tolist(), self.scales_s.tolist(), strict=True)
        return json.dumps(
            {
                "shape": self.shape,
                "scale_s": self.scale_s,
                "n_resources": self.n_resources,
                "fitted_at": self.fitted_at,
                "groups": [[group, round(shape, 4), round(scale_s, 1)] for group, shape, scale_s in columns],
            }
        )

    @classmethod
    def read(cls, text: str) -> Priors:
        said = json.loads(text)
        groups = said.pop("groups")
        return cls(
            **said,
            group=np.array([row[0] for row in groups], dtype=np.int64),
            shapes=np.array([row[1] for row in groups], dtype=np.float64),
            scales_s=np.array([row[2] for row in groups], dtype=np.float64),
        )
