"""From what a machine says to a probability: a sigmoid through what was said and what came (Platt 1999), or
steps that only rise."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from recrawl.errors import BadInputError
from recrawl.model import Bools, Floats

WAYS = ("platt", "isotonic")
_FARTHEST = 3.0  # margins: what lies beyond says no more


@dataclass(frozen=True, slots=True)
class Sigmoid:
    """p = 1 / (1 + e^-(a + b said)), b >= 0."""

    a: float
    b: float

    def of(self, said: Floats) -> Floats:
        return np.asarray(1.0 / (1.0 + np.exp(-(self.a + self.b * np.clip(said, -_FARTHEST, _FARTHEST)))))


@dataclass(frozen=True, slots=True)
class Rising:
    """Points of a curve that never falls."""

    said: Floats
    p: Floats

    def of(self, said: Floats) -> Floats:
        return np.interp(np.clip(said, -_FARTHEST, _FARTHEST), self.said, self.p)


Curve = Sigmoid | Rising


def curve(said: Floats, so: Bools, way: str = "platt") -> Curve:
    """From what was said of rows that were held out, and what came of them."""
    if way not in WAYS:
        raise BadInputError(f"There is no calibration {way!r}; choose one of: {', '.join(WAYS)}.")
    said = np.clip(said, -_FARTHEST, _FARTHEST)
    return _platt(said, so) if way == "platt" else _rising(said, so)


def _platt(said: Floats, so: Bools) -> Sigmoid:
    """Newton's steps for the likelihood, with the two kinds of rows counted as if one more of each had been
    seen."""
    n_so = int(so.sum())
    aim = np.where(so, (n_so + 1.0) / (n_so + 2.0), 1.0 / (len(so) - n_so + 2.0))
    share = (n_so + 1.0) / (len(so) + 2.0)
    a, b = log(share / (1.0 - share)), 0.0
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-(a + b * said)))
        away, weight = aim - p, p * (1.0 - p)
        slope = np.array([away.sum(), away @ said])
        bend = np.array([[weight.sum(), weight @ said], [weight @ said, weight @ (said * said)]])
        step = np.clip(np.linalg.solve(bend + 1e-9 * np.eye(2), slope), -2.0, 2.0)
        a, b = a + float(step[0]), b + float(step[1])
        if np.abs(step).max() < 1e-9:
            break
    if b < 0.0:  # what is said has nothing to do with what comes
        return Sigmoid(log(share / (1.0 - share)), 0.0)
    return Sigmoid(a, b)


def _rising(said: Floats, so: Bools) -> Rising:
    """Neighbours of which the first is above the second are taken together, until none is. Each block counts
    as if half a row of each kind had been seen with it: none is certain."""
    if not len(said):
        return Rising(np.zeros(1), np.array([0.5]))
    points, place, n = np.unique(said, return_inverse=True, return_counts=True)
    sums = np.bincount(place, weights=so)
    blocks: list[tuple[float, float, int]] = []  # rows that are so, rows, points
    for n_so, n_all in zip(sums.tolist(), n.tolist(), strict=True):
        block = (n_so, float(n_all), 1)
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    p = [(n_so + 0.5) / (n_all + 1.0) for n_so, n_all, _ in blocks]
    return Rising(points, np.maximum.accumulate(np.repeat(p, [length for _, _, length in blocks])))
