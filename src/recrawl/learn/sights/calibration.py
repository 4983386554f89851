"""Probabilities that mean what they say: of all that was given 30 %, about 30 % are so.

A tree grown on a balanced set knows nothing of how large the classes really are. What it says of rows that
were held out is laid beside what they are, class by class, and a curve is drawn through it that only rises:
a straight line in log odds where rows are few, steps where they are many.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from recrawl.learn.sights.splits import scikit_learn
from recrawl.model import Bools, Floats, Ints

MANY = 1_000  # rows: from here on steps
_EDGE = 1e-3  # a probability is never nearer to 0 or 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """For each class, points of a curve: what a probability is to be taken for."""

    said: list[Floats]  # rising
    meant: list[Floats]
    by: str  # `sigmoid`, `isotonic` or `none`

    def of(self, p: Floats) -> Floats:
        taken = np.stack([np.interp(p[:, k], self.said[k], self.meant[k]) for k in range(p.shape[1])], axis=1)
        return np.asarray(taken / taken.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """By tenths of what was said: the mean of it, the share that was so, and of how many."""

    said: Floats
    came: Floats
    n: Ints

    @property
    def error(self) -> float:
        """The mean distance of the two."""
        return float(np.abs(self.said - self.came) @ self.n / max(int(self.n.sum()), 1))


def calibration(p: Floats, label: Ints) -> Calibration:
    """From held-out rows: what was said of each class, and what each row is."""
    by = "isotonic" if len(label) >= MANY else "sigmoid"
    curves = [
        (_steps if by == "isotonic" else _sigmoid)(p[:, k], np.asarray(label == k)) for k in range(p.shape[1])
    ]
    return Calibration([said for said, _ in curves], [np.clip(y, _EDGE, 1 - _EDGE) for _, y in curves], by)


def as_said(n_classes: int) -> Calibration:
    """No curve, but that no probability is 0 or 1."""
    ends = np.array([0.0, 1.0])
    return Calibration([ends] * n_classes, [np.clip(ends, _EDGE, 1 - _EDGE)] * n_classes, "none")


def log_loss(p: Floats, label: Ints) -> float:
    """The mean of -ln(what was said of the class that it is): the less the better."""
    return float(-np.log(np.maximum(p[np.arange(len(label)), label], _EDGE)).mean())


def reliability(p: Floats, label: Ints, n_bins: int = 10) -> Reliability:
    """Over all classes together: each row says one probability of each."""
    so = (label[:, None] == np.arange(p.shape[1])).ravel()
    said = p.ravel()
    where = np.minimum((said * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(where, minlength=n_bins)
    some = np.flatnonzero(n)
    sums = [np.bincount(where, weights=x, minlength=n_bins)[some] / n[some] for x in (said, so.astype(float))]
    return Reliability(said=sums[0], came=sums[1], n=n[some])


def _steps(said: Floats, so: Bools) -> tuple[Floats, Floats]:
    curve = scikit_learn("isotonic").IsotonicRegression(out_of_bounds="clip").fit(said, so.astype(float))
    return np.asarray(curve.X_thresholds_, dtype=float), np.asarray(curve.y_thresholds_, dtype=float)


def _sigmoid(said: Floats, so: Bools) -> tuple[Floats, Floats]:
    """1 / (1 + e^-(a + b logit)) with b >= 0: Newton's steps for the likelihood of what came, the two kinds
    of rows counted as if one more of each had been seen (Platt)."""
    n_so = int(so.sum())
    aim = np.where(so, (n_so + 1.0) / (n_so + 2.0), 1.0 / (len(so) - n_so + 2.0))
    share = min(max(float(aim.mean()), _EDGE), 1 - _EDGE)
    x = _logit(said)
    a, b = log(share / (1.0 - share)), 0.0
    for _ in range(50):
        p = 1.0 / (1.0 + np.exp(-(a + b * x)))
        away, weight = aim - p, p * (1.0 - p)
        g = np.array([away.sum(), away @ x - 1e-3 * b])
        h = np.array([[weight.sum() + 1e-6, weight @ x], [weight @ x, weight @ (x * x) + 1e-3]])
        step = np.clip(np.linalg.solve(h, g), -2.0, 2.0)
        a, b = a + float(step[0]), b + float(step[1])
        if np.abs(step).max() < 1e-9:
            break
    if b < 0.0:  # what it says has nothing to do with it
        a, b = log(share / (1.0 - share)), 0.0
    grid = np.linspace(0.0, 1.0, 101)
    return grid, 1.0 / (1.0 + np.exp(-(a + b * _logit(grid))))


def _logit(p: Floats) -> Floats:
    inside = np.clip(p, 0.01, 0.99)
    return np.asarray(np.log(inside / (1.0 - inside)))
