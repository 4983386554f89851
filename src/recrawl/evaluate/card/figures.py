"""What a report card holds, before anybody decides how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from recrawl.evaluate.calibration import Bin
from recrawl.evaluate.card.delays import Delay
from recrawl.evaluate.card.missed import Missed
from recrawl.evaluate.card.rivals import Rival


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """From `at` on, for a day or what there was of it."""

    at: float
    days: float
    n_visits: int
    n_changes: int
    n_failed: int
    n_second: int  # second looks: charged like visits, and not among them
    budget: float  # NaN: no limit

    def document(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "days": self.days,
            "visits": self.n_visits,
            "changes": self.n_changes,
            "told_nothing": self.n_failed,
            "second_looks": self.n_second,
            "budget": None if isnan(self.budget) else self.budget,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Waste:
    """Visits that could have found a change and found none."""

    n_looked: int  # that could
    n_nothing: int
    n_forecast: int  # of which there was a forecast
    n_unlikely: int  # of those, that found nothing and could not be expected to
    expected: float  # of those with a forecast, how many were expected to find nothing

    def times(self, n: float) -> Waste:
        return Waste(
            n_looked=round(self.n_looked * n),
            n_nothing=round(self.n_nothing * n),
            n_forecast=round(self.n_forecast * n),
            n_unlikely=round(self.n_unlikely * n),
            expected=self.expected * n,
        )

    def document(self) -> dict[str, Any]:
        return {
            "looked": self.n_looked,
            "found_nothing": self.n_nothing,
            "forecast": self.n_forecast,
            "unlikely": self.n_unlikely,
            "expected": self.expected,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Chances that were forecast before visits, against what these found."""

    n: int
    forecast: float  # the mean
    happened: float  # the share
    least: float
    most: float
    brier: float
    log_loss: float
    error: float
    curve: Sequence[Bin]

    @property
    def brier_of_share(self) -> float:
        """Of whoever knows nothing but how many there were in all."""
        return self.happened * (1.0 - self.happened)

    def document(self) -> dict[str, Any]:
        names = ("n", "forecast", "happened", "brier", "brier_of_share", "log_loss", "error")
        return {
            **{name: getattr(self, name) for name in names},
            "happened_interval": [self.least, self.most],
            "reliability": [one.document() for one in self.curve],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    host: str
    n_visits: int
    n_failed: int
    n_in_a_row: int  # up to now

    def document(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "visits": self.n_visits,
            "told_nothing": self.n_failed,
            "in_a_row": self.n_in_a_row,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    from_at: float
    until_at: float
    rule: str  # of the last run; empty: there was none
    per_day: float  # the budget now; NaN: none
    n_resources: int
    n_paused: int
    n_visited: int
    days: Sequence[Day]
    waste: Waste
    n_changes: int
    delay: Delay | None  # None, here and below: too little to judge
    missed: Missed | None
    calibration: Calibration | None
    rivals: Sequence[Rival]  # none: too little to judge
    n_compared: int  # resources
    troubles: Sequence[Trouble]
    n_troubled: int  # hosts
    notes: Sequence[str]

    @property
    def n_visits(self) -> int:
        return sum(day.n_visits for day in self.days)

    @property
    def n_failed(self) -> int:
        return sum(day.n_failed for day in self.days)

    @property
    def n_second(self) -> int:
        return sum(day.n_second for day in self.days)

    @property
    def n_charged(self) -> int:
        """To the budget."""
        return self.n_visits + self.n_second

    @property
    def budget(self) -> float:
        """Visits that there were for all of the time; NaN: for some of it there was no limit."""
        return sum(day.budget for day in self.days) if self.days else nan

    def document(self) -> dict[str, Any]:
        return {
            "from_at": self.from_at,
            "until_at": self.until_at,
            "rule": self.rule,
            "budget_per_day": None if isnan(self.per_day) else self.per_day,
            "budget": None if isnan(self.budget) else self.budget,
            "resources": self.n_resources,
            "paused": self.n_paused,
            "visited": self.n_visited,
            "visits": self.n_visits,
            "told_nothing": self.n_failed,
            "second_looks": self.n_second,
            "changes": self.n_changes,
            "days": [day.document() for day in self.days],
            "delay": None if self.delay is None else self.delay.document(),
            "wasted": self.waste.document(),
            "missed": None if self.missed is None else self.missed.document(),
            "forecasts": None if self.calibration is None else self.calibration.document(),
            "compared_resources": self.n_compared,
            "compared": [rival.document() for rival in self.rivals],
            "hosts_in_trouble": self.n_troubled,
            "hosts": [trouble.document() for trouble in self.troubles],
            "notes": list(self.notes),
        }
