"""What the same number of visits could have done: the limits beside a policy's own figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from recrawl.evaluate.limits import known_rates, omniscient
from recrawl.evaluate.measures import measure
from recrawl.evaluate.pieces import Population

OMNISCIENT = ("recall", "precision", "freshness", "age_days", "wait_days_mean")
# which goal the best even gaps are for, measure by measure
KNOWN_RATES = {
    "recall": "capture",
    "precision": "capture",
    "freshness": "fresh",
    "harmonic": "fresh-harmonic",
    "wait_days_mean": "prompt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """Each figure is that of a schedule of its own, the best one for it.

    `omniscient` knows every change and keeps to no gap bounds: nothing can do better. `known_rates` knows how
    often each resource changes in the window, and visits in even gaps within the bounds, those that are best
    if changes are Poisson.
    """

    omniscient: dict[str, float]
    known_rates: dict[str, float]

    def document(self) -> dict[str, Any]:
        return {
            name: {key: None if isnan(value) else value for key, value in figures.items()}
            for name, figures in (("omniscient", self.omniscient), ("known_rates", self.known_rates))
        }


def possible(some: Population, n_visits: int, min_gap_s: float, max_gap_s: float) -> Possible:
    if not len(some.traces):
        return Possible(
            omniscient=dict.fromkeys(OMNISCIENT, nan), known_rates=dict.fromkeys(KNOWN_RATES, nan)
        )
    best = omniscient(some.traces, some.window, n_visits)
    even = {
        goal: measure(
            some.traces,
            known_rates(
                some.traces, some.window, n_visits, goal=goal, min_gap_s=min_gap_s, max_gap_s=max_gap_s
            )[0],
            some.window,
        )
        for goal in dict.fromkeys(KNOWN_RATES.values())
    }
    return Possible(
        omniscient={name: getattr(best, name) for name in OMNISCIENT},
        known_rates={name: even[goal].value(name) for name, goal in KNOWN_RATES.items()},
    )


def mean_possible(draws: Sequence[Possible]) -> Possible:
    return Possible(
        omniscient={name: known_mean([one.omniscient[name] for one in draws]) for name in OMNISCIENT},
        known_rates={name: known_mean([one.known_rates[name] for one in draws]) for name in KNOWN_RATES},
    )


def known_mean(values: Sequence[float]) -> float:
    """Of those that are no NaN."""
    known = [value for value in values if not isnan(value)]
    return float(np.mean(known)) if known else nan
