"""How the schedule did over time, beside what as many visits would have given if shared out evenly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, isnan
from typing import Any

from recrawl.evaluate.card.past import Past, judged
from recrawl.evaluate.card.rivals import Rival, during, uniform
from recrawl.model import DAY_S

N_STEPS = 14
MOST_STEP_S = DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Up to `until_at`, from the end of the step before; figures are NaN where nothing is known."""

    from_at: float
    until_at: float
    freshness: float
    wait_s: float

    def document(self) -> dict[str, Any]:
        figures = {"freshness": self.freshness, "wait_s": self.wait_s}
        return {"from_at": self.from_at, "until_at": self.until_at} | {
            name: None if isnan(value) else value for name, value in figures.items()
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    steps: Sequence[Step]  # none: too little to judge
    uniform: Rival | None

    def document(self) -> dict[str, Any]:
        return {
            "steps": [step.document() for step in self.steps],
            "uniform": None if self.uniform is None else self.uniform.document(),
        }


def course(past: Past) -> Course:
    """In steps of a day, or less where there was less time. What uniform visits would have given is one
    figure for all of it: as many visits, at the same rates."""
    spent = judged(past).spent()
    if spent is None:
        return Course(steps=(), uniform=None)
    span_s = past.until_at - past.from_at
    n = max(1, ceil(span_s / min(MOST_STEP_S, span_s / N_STEPS) - 1e-9))
    edges = [past.from_at + span_s * i / n for i in range(n + 1)]
    steps = []
    for from_at, until_at in pairwise(edges):
        here = during(spent, from_at, until_at)
        steps.append(Step(from_at=from_at, until_at=until_at, freshness=here.freshness, wait_s=here.wait_s))
    return Course(steps=steps, uniform=uniform(spent))
