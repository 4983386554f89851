"""What came of rules and ours at equal visits: rule by rule, and all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from recrawl.corpora.about import About
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.gains import Gain, aim
from recrawl.evaluate.intervals import Interval
from recrawl.evaluate.measures import Score

MEASURES = ("recall", "freshness", "delay_days_mean", "harmonic", "wait_days_mean")
N_LIMIT_DRAWS = 1  # a limit is far off: how it varies from draw to draw tells nothing
ROUNDED = 1e-12  # what sums in another order may differ by


EQUAL = 0.01  # of the visits: so near are two numbers of them the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A rule and ours at equal visits, in the mean over draws."""

    rule: str
    goal: str
    theirs: Score
    ours: Score
    floor: Score
    differences: Mapping[str, Interval]  # by measure: ours less the rule's
    over_floor: Mapping[str, Interval]  # ours less the floor's
    forced: bool  # the gap bounds alone make so many visits: nobody could do them otherwise
    spread: float  # of the difference in the goal's own measure, from draw to draw
    limits: Mapping[str, float]  # what a scheduler that knows every change could do within the gap bounds
    first_visits: int  # which all make alike, and which count for nobody

    @property
    def lead(self) -> float:
        """By how much ours is better in what the goal is about; below 0: the rule is."""
        name, more = aim(self.goal)
        lead = self.differences[name].value * (1.0 if more else -1.0)
        return 0.0 if abs(lead) < ROUNDED else lead

    @property
    def sure(self) -> bool:
        """Whether the interval leaves no doubt about who is better."""
        found = self.differences[aim(self.goal)[0]]
        return found.low > ROUNDED or found.high < -ROUNDED

    def surplus(self, made: Score, beside: Score) -> float:
        """By how many visits one made more than is the same number as the other's; below 0: it has not."""
        return (made.visits - beside.visits) - EQUAL * (beside.visits - self.first_visits) - 1.0

    @property
    def winner(self) -> str:
        if self.forced and not self.sure:
            return "even"
        if self.lead > 0.0:  # who made more visits has won nothing
            return "ours" if self.surplus(self.ours, self.theirs) <= 0.0 else "even"
        return "rule" if self.lead < 0.0 else "even"

    def document(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "first_visits": self.first_visits,
            **_figures(self.theirs),
            "ours": _figures(self.ours),
            "floor": _figures(self.floor),
            "winner": self.winner,
            "sure": self.sure,
            "forced": self.forced,
            "difference": {name: found.document() for name, found in self.differences.items()},
            "over_floor": {name: found.document() for name, found in self.over_floor.items()},
            "spread_of_draws": _plain(self.spread),
            "omniscient_within_gaps": {name: _plain(value) for name, value in self.limits.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Peers:
    corpus: str  # as the user named it
    about: About
    ask: Ask
    days: float  # of the windows
    grouped_by: str
    rows: Sequence[Match]
    gains: Mapping[str, Gain]  # over the floor, by measure, in the mean over budgets that are not forced
    notes: Sequence[str]

    @property
    def n_won(self) -> int:
        return sum(row.winner == "ours" for row in self.rows)

    def document(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "goal": self.ask.goal,
            "title": self.about.title,
            "predictor": self.ask.predictor,
            "days": self.days,
            "days_asked": self.ask.days,
            "min_gap_s": self.ask.min_gap_s,
            "max_gap_s": self.ask.max_gap_s,
            "draws": self.ask.n_draws,
            "limit_draws": N_LIMIT_DRAWS,
            "seed": self.ask.seed,
            "changes": self.ask.changes,
            "resampled_by": self.grouped_by,
            "measure": aim(self.ask.goal)[0],
            "won": self.n_won,
            "gains_over_floor": {name: one.interval().document() for name, one in self.gains.items()},
            "notes": list(self.notes),
            "rows": [row.document() for row in self.rows],
        }


def _plain(value: float) -> float | None:
    return None if isnan(value) else value


def _figures(score: Score) -> dict[str, Any]:
    return {"visits": score.visits, **{name: _plain(getattr(score, name)) for name in MEASURES}}
