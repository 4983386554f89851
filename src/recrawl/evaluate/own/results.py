"""What came of a backtest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from recrawl.evaluate.own.past import Past

MEASURES = ("freshness", "recall", "wait_days_mean", "harmonic")
OWN = "as it was"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """A middle value, and how low and high the truth may lie."""

    value: float
    low: float
    high: float

    def document(self) -> dict[str, float | None]:
        row = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if isnan(figure) else figure for name, figure in row.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    policy: str
    visits: float  # in the mean over draws
    asked: float | None  # visits that a policy with a price was to make
    measures: dict[str, Bounded]

    def document(self) -> dict[str, Any]:
        return {
            "policy": self.policy,
            "visits": self.visits,
            "visits_asked": self.asked,
            **{name: found.document() for name, found in self.measures.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Backtest:
    past: Past
    goal: str
    predictor: str
    rows: Sequence[Replayed]
    notes: Sequence[str]

    def document(self) -> dict[str, Any]:
        past = self.past
        return {
            "resources": len(past),
            "resources_left_out": past.n_left,
            "days": past.days,
            "start_at": past.start_at,
            "end_at": past.end_at,
            "changes_at_least": past.n_changes,
            "changes_timed": past.n_timed,
            "visits": len(past.visits),
            "goal": self.goal,
            "predictor": self.predictor,
            "notes": list(self.notes),
            "rows": [row.document() for row in self.rows],
        }
