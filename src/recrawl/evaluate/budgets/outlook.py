"""What is to be expected of visits in given gaps, in closed form from the forecasts.

Each figure is a ratio of two sums over resources, as the measures of a replay are (`evaluate.measures`), and
means the same: so that what was expected can be held against what came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.model import DAY_S, Bools, Floats, Ints

# name: what is summed, what it is divided by, and the unit
RATIOS = {
    "freshness": ("fresh", "one", 1.0),
    "recall": ("caught", "changes", 1.0),
    "delay_days_mean": ("waiting", "changes", DAY_S),
    "harmonic": ("harmonic", "one", 1.0),
    "within": ("soon", "changes", 1.0),
}
# which of them a goal is about
OF_GOAL = {
    "fresh": "freshness",
    "fresh-harmonic": "harmonic",
    "capture": "recall",
    "prompt": "delay_days_mean",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A figure, and the interval that holds what will be measured, 19 times in 20."""

    value: float
    low: float
    high: float

    def document(self) -> dict[str, float | None]:
        row = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if np.isnan(figure) else figure for name, figure in row.items()}


# Where (1 - S(gx)) / x is read off for its integral over x from 0 to 1: it bends wherever a change becomes
# likely, so each decade has points of its own.
_EDGES = (0.0, 0.001, 0.01, 0.1, 1.0)
_N_EACH = 4


@dataclass(frozen=True, slots=True)
class Outlook:
    """For each resource what it adds to the sums, in each second."""

    fresh: Floats  # the probability that the copy is as the resource is
    caught: Floats  # changes that visits tell apart
    changes: Floats
    waiting: Floats  # changes that no visit has seen yet: seconds of delay
    harmonic: Floats
    soon: Floats  # changes that are known within the time asked for
    one: Floats

    def value(self, name: str) -> float:
        above, below, unit = RATIOS[name]
        total = float(getattr(self, below).sum())
        return float(getattr(self, above).sum()) / total / unit if total > 0.0 else float("nan")


class Gaps(NamedTuple):
    """How often each is looked at. What was given up is looked at in pairs, two looks soon after each other:
    then the mean gap is that of a short one and a long one."""

    mean_s: Floats
    long_s: Floats
    given_up: Bools

    def pick(self, rows: Ints) -> Gaps:
        return Gaps(self.mean_s[rows], self.long_s[rows], self.given_up[rows])


def even(gap_s: Floats) -> Gaps:
    return Gaps(gap_s, gap_s, np.zeros(len(gap_s), dtype=np.bool_))


def outlook(forecasts: Forecasts, gaps: Gaps, within_s: float) -> Outlook:
    """Where every resource is visited again and again in its gap. Of a pair each look finds a change, since
    what was given up changes fast; to all else a pair is one look."""
    gap_s = gaps.long_s
    survived = forecasts.survival_integral(gap_s)
    n_changes = forecasts.n_expected(gap_s)
    late = forecasts.n_expected(np.maximum(gap_s - within_s, 0.0))
    return Outlook(
        fresh=survived / gap_s,
        caught=(1.0 - forecasts.survival(gaps.mean_s)) / gaps.mean_s,
        changes=n_changes / gap_s,
        waiting=forecasts.n_expected_integral(gap_s) / gap_s,
        harmonic=_harmonic(forecasts, gap_s, survived),
        soon=(n_changes - late) / gap_s,
        one=np.ones(len(gap_s)),
    )


def _harmonic(forecasts: Forecasts, gap_s: Floats, survived: Floats) -> Floats:
    """The penalty whose index is t - integral of S grows as (1 - S(t)) / t does; its mean over the gap."""
    at_end = np.zeros(len(gap_s))
    for share, weight in _points():
        at_end += weight * (1.0 - forecasts.survival(share * gap_s)) / share
    return np.asarray(np.maximum(at_end - (1.0 - survived / gap_s), 0.0))


def _points() -> Iterator[tuple[float, float]]:
    places, weights = np.polynomial.legendre.leggauss(_N_EACH)
    for low, high in pairwise(_EDGES):
        half = (high - low) / 2.0
        for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
            yield low + half * (1.0 + place), half * weight
