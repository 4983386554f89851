"""What is believed of a resource's rate of change before it was looked at twice."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def _none() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Priors:
    """Gamma distributions over the rate: one for everything, and one for each group that told enough to have
    its own. `shape` is a number of changes, `scale_s` the time that they are believed to have taken.

    `hunched` is the same for resources with a hunch, of rates in multiples of it: of a hunch of one change a
    day it is the prior as it stands, and of one of ten changes a day its times are a tenth. Some hunches are
    surer than others: `bends` has, by hunch in rising order, how many times as firm and how many times as
    fast it is there than said for all; between two of them it goes evenly from the one to the other.
    """

    shape: float
    scale_s: float
    group: Ints = field(default_factory=_none)  # in rising order
    shapes: Floats = field(default_factory=lambda: np.empty(0))
    scales_s: Floats = field(default_factory=lambda: np.empty(0))
    n_resources: int = 0  # that they were fitted to
    fitted_at: float = nan
    hunched: Priors | None = None
    bends: Floats = field(default_factory=lambda: np.empty((0, 3)))  # hunch a day, times shape, times mean

    def of(self, group: Ints, hunch_per_day: Floats | None = None) -> tuple[Floats, Floats]:
        """Shape and scale for resources of these groups, with these hunches (NaN: none)."""
        shape, scale_s = self._plain(group)
        if self.hunched is not None and hunch_per_day is not None:
            told = np.flatnonzero(hunch_per_day > 0.0)
            if len(told):
                per_day = hunch_per_day[told]
                shape[told], times_s = self.hunched.about(group[told], per_day)
                scale_s[told] = times_s / per_day
        return shape, scale_s

    def about(self, group: Ints, hunch_per_day: Floats) -> tuple[Floats, Floats]:
        """Of priors about hunches: shape and scale of rates in multiples of these."""
        shape, scale_s = self._plain(group)
        if len(self.bends):
            place = np.log(hunch_per_day)
            knots, log_firmer, log_faster = np.log(self.bends).T
            firmer = np.exp(np.interp(place, knots, log_firmer))
            shape, scale_s = shape * firmer, scale_s * firmer
            scale_s = scale_s / np.exp(np.interp(place, knots, log_faster))
        return shape, scale_s

    def _plain(self, group: Ints) -> tuple[Floats, Floats]:
        shape, scale_s = np.full(len(group), self.shape), np.full(len(group), self.scale_s)
        if len(self.group):
            place = np.minimum(np.searchsorted(self.group, group), len(self.group) - 1)
            own = self.group[place] == group
            shape[own], scale_s[own] = self.shapes[place[own]], self.scales_s[place[own]]
        return shape, scale_s

    def written(self) -> str:
        return json.dumps(self._said())

    @classmethod
    def read(cls, text: str) -> Priors:
        return cls._of_said(json.loads(text))

    def _said(self) -> dict[str, Any]:
        columns = zip(self.group.tolist(), self.shapes.tolist(), self.scales_s.tolist(), strict=True)
        return {
            "shape": self.shape,
            "scale_s": self.scale_s,
            "n_resources": self.n_resources,
            "fitted_at": self.fitted_at,
            "groups": [[group, round(shape, 4), round(scale_s, 1)] for group, shape, scale_s in columns],
            "bends": self.bends.tolist(),
            "hunched": None if self.hunched is None else self.hunched._said(),
        }

    @classmethod
    def _of_said(cls, said: dict[str, Any]) -> Priors:
        groups, hunched, bends = said.pop("groups"), said.pop("hunched", None), said.pop("bends", [])
        return cls(
            **said,
            hunched=None if hunched is None else cls._of_said(hunched),
            bends=np.array(bends, dtype=np.float64).reshape(-1, 3),
            group=np.array([row[0] for row in groups], dtype=np.int64),
            shapes=np.array([row[1] for row in groups], dtype=np.float64),
            scales_s=np.array([row[2] for row in groups], dtype=np.float64),
        )
