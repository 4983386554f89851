"""What as many visits would have given, shared out otherwise: evenly, or as is best for rates that are known.

All three are expected from the same rates, those of the present forecasts, as if changes were Poisson.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from recrawl.model import DAY_S, Floats, Ints, Looked, Prospects
from recrawl.schedule.optimum import Optimum, expected, optimum

N_SAMPLED = 20_000  # resources that the two others are worked out for
MEASURES = ("freshness", "recall", "wait_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """As `docs/reference/measures.md` has it."""

    name: str
    freshness: float  # the share of time, averaged by weight
    recall: float  # the share of changes that some visit tells apart
    wait_s: float  # from a change to the next visit, the mean over changes by weight

    def document(self) -> dict[str, Any]:
        figures = {name: getattr(self, name) for name in MEASURES}
        return {"schedule": self.name} | {k: None if isnan(v) else v for k, v in figures.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Visits that told something, of resources whose rates are known, over a time."""

    prospects: Prospects  # of these resources
    rate_per_s: Floats
    looked: Looked  # with an earlier one to count from
    rows: Ints  # of each visit, its resource's
    from_at: float
    until_at: float

    @property
    def per_day(self) -> float:
        return len(self.looked) / ((self.until_at - self.from_at) / DAY_S)


def rivals(spent: Spent, goal: str) -> list[Rival]:
    """Ours, uniform and the optimum for the goal."""
    every = -(-len(spent.prospects) // N_SAMPLED)
    rows = np.arange(0, len(spent.prospects), every)
    some, rate_per_s = spent.prospects.pick(rows), spent.rate_per_s[rows]
    per_day = spent.per_day * len(rows) / len(spent.prospects)
    best = optimum(
        rate_per_s,
        per_day,
        goal=goal,
        weight=some.weight,
        min_gap_s=some.min_gap_s,
        max_gap_s=some.max_gap_s,
    )
    return [made(spent), uniform(spent), _rival("optimum", best)]


def uniform(spent: Spent) -> Rival:
    """As many visits, shared out evenly."""
    every = -(-len(spent.prospects) // N_SAMPLED)
    rows = np.arange(0, len(spent.prospects), every)
    some = spent.prospects.pick(rows)
    per_day = spent.per_day * len(rows) / len(spent.prospects)
    return _rival("uniform", expected(spent.rate_per_s[rows], some.weight, even_gaps(some, per_day)))


def made(spent: Spent) -> Rival:
    """Freshness over the time itself; the others over the gaps that ended in it."""
    return during(spent, spent.from_at, spent.until_at)


def during(spent: Spent, from_at: float, until_at: float) -> Rival:
    """The same over a part of the time."""
    rate, weight = spent.rate_per_s[spent.rows], spent.prospects.weight[spent.rows]
    since_at, at = spent.looked.since_at, spent.looked.at
    fresh_s, all_s = _fresh(rate, weight, since_at, at, from_at, until_at)
    # since the last visit of each
    rest = spent.rate_per_s, spent.prospects.weight, spent.prospects.since_at
    open_fresh_s, open_s = _fresh(*rest, np.full(len(spent.prospects), spent.until_at), from_at, until_at)
    fresh_s, all_s = fresh_s + open_fresh_s, all_s + open_s
    ended = (at >= from_at) & (at < until_at)
    rate, weight, gap_s = rate[ended], weight[ended], (at - since_at)[ended]
    changes = float(weight @ (rate * gap_s))
    return Rival(
        name="this one",
        freshness=fresh_s / all_s if all_s else np.nan,
        recall=float(weight @ -np.expm1(-rate * gap_s)) / changes if changes else np.nan,
        wait_s=float(weight @ (rate * gap_s**2)) / 2.0 / changes if changes else np.nan,
    )


def _fresh(
    rate: Floats, weight: Floats, since_at: Floats, at: Floats, from_at: float, until_at: float
) -> tuple[float, float]:
    """Of gaps from one visit to the next, what lies in a part of the time: how long it was fresh in that, and
    how long it is, by weight."""
    begin_s = np.maximum(np.maximum(since_at, from_at) - since_at, 0.0)
    end_s = np.maximum(np.minimum(at, until_at) - since_at, begin_s)
    fresh_s = _fresh_s(rate, end_s) - _fresh_s(rate, begin_s)
    return float(weight @ fresh_s), float(weight @ (end_s - begin_s))


def even_gaps(prospects: Prospects, per_day: float) -> Floats:
    """The same gap for all, within each one's bounds, so that there are so many visits a day."""
    low, high = np.log(1e-3), np.log(1e12)
    for _ in range(100):
        middle = (low + high) / 2.0
        gap_s = np.clip(np.exp(middle), prospects.min_gap_s, prospects.max_gap_s)
        low, high = (middle, high) if float((DAY_S / gap_s).sum()) > per_day else (low, middle)
    return np.asarray(np.clip(np.exp(high), prospects.min_gap_s, prospects.max_gap_s))


def _fresh_s(rate: Floats, t_s: Floats) -> Floats:
    """The integral of e^(-rate t) from 0 to t."""
    x = rate * t_s
    return np.where(x < 1e-9, t_s * (1.0 - x / 2.0), -np.expm1(-x) / np.maximum(rate, 1e-300))


def _rival(name: str, found: Optimum) -> Rival:
    return Rival(name=name, freshness=found.freshness, recall=found.recall, wait_s=found.wait_s)
