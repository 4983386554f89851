"""What the experiment came to, and its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.corpora.about import About
from recrawl.evaluate.barbosa import paper
from recrawl.evaluate.barbosa.ask import Ask
from recrawl.evaluate.barbosa.losses import Lost
from recrawl.evaluate.barbosa.scheduling import WAYS, Firsts
from recrawl.evaluate.barbosa.spreads import Spread, lowest, spread
from recrawl.evaluate.barbosa.stretches import Sums
from recrawl.evaluate.barbosa.tables import COMBINATIONS, LATER, SAME, Tables
from recrawl.learn.groups import Choice, Grouping
from recrawl.learn.sights.learners import LEARNERS
from recrawl.model import DAY_S

_PERCENT = (0.0, 100.0)
FIRST, AFTER = "first", "later"  # the time in which ten visits a page are paid for, and what follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """All splits of one sort, with classes of one sort."""

    by: str
    made: str
    splits: Sequence[Tables]

    def error1(self, learner: str) -> Spread:
        return spread([100.0 * one.table1[learner][0] for one in self.splits], *_PERCENT)

    def seconds1(self, learner: str) -> float:
        return float(np.mean([one.table1[learner][1] for one in self.splits]))

    def error3(self, name: str) -> Spread:
        return spread([100.0 * one.table3[name] for one in self.splits], *_PERCENT)

    def error5(self, name: str, over: str) -> Spread:
        return spread(self._errors5(over)[name], *_PERCENT)

    def lowest5(self, name: str, over: str) -> bool | None:
        """Whether it has the lowest error of the four; None: it cannot be told."""
        return lowest(self._errors5(over), name)

    def ahead5(self, name: str, over: str) -> Spread:
        """By how many points it is ahead of the best of the others, on the same splits."""
        errors = self._errors5(over)
        best = min((other for other in COMBINATIONS if other != name), key=lambda other: sum(errors[other]))
        return spread([b - a for a, b in zip(errors[name], errors[best], strict=True)])

    def _errors5(self, over: str) -> dict[str, list[float]]:
        tables5 = [one.table5[over] for one in self.splits if over in one.table5]
        return {name: [100.0 * one[name] for one in tables5] for name in COMBINATIONS}

    @property
    def overs(self) -> list[str]:
        return [over for over in (SAME, LATER) if any(over in one.table5 for one in self.splits)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRate:
    """How far hunches are off, split by split."""

    by: str
    error: Sequence[float]
    error_of_mean: Sequence[float]
    n_trees: int
    depth: int
    n_bands: int  # of the priors about hunches
    n_heeded: int  # splits in which hunches were heeded: where what was held out spoke for them

    @property
    def explained(self) -> Spread:
        """Of the variance of what is measured, which has the noise of few changes in it."""
        shares = [1.0 - (a / b) ** 2 for a, b in zip(self.error, self.error_of_mean, strict=True)]
        return spread(shares, most=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Barbosa:
    corpus: str  # as the user named it
    about: About
    ask: Ask
    notes: Sequence[str]
    features: Sequence[str]
    n_pages: int
    n_sites: int
    groupings: Mapping[int, list[dict[str, Any]]]
    choice: Choice
    variants: Sequence[Variant]
    log_rates: Sequence[LogRate]
    firsts: Mapping[str, Sequence[Firsts]]
    gap_days: float

    def variant(self, by: str, made: str) -> Variant | None:
        return next((one for one in self.variants if (one.by, one.made) == (by, made)), None)

    def upto(self, by: str, k: int) -> Lost:
        """The time until both ways have visited a page k times."""
        return Lost(_gathered([one.upto[k - 1] for one in self.firsts[by]]))

    def lost(self, by: str, when: str) -> Lost:
        parts = [one.first if when == FIRST else one.later for one in self.firsts[by]]
        return Lost(_gathered(parts))

    def document(self) -> dict[str, Any]:
        kinds = list(self.firsts)
        return {
            "corpus": self.corpus,
            "title": self.about.title,
            "pages": self.n_pages,
            "sites": self.n_sites,
            "days": self.ask.days,
            "test_days": self.ask.test_days,
            "splits": self.ask.n_splits,
            "seed": self.ask.seed,
            "changes": self.ask.changes,
            "mean_gap_days": self.gap_days,
            "features": list(self.features),
            "notes": list(self.notes),
            "groups": self.groupings.get(self.ask.n_classes, []),
            "groups_by_k": [{"k": k, "groups": rows} for k, rows in self.groupings.items()],
            "chosen_k": {"k": self.choice.k, "why": self.choice.why},
            "table1": [row for one in self.variants for row in _table1(one)],
            "table3": [row for one in self.variants for row in _table3(one)],
            "table5": [row for one in self.variants for row in _table5(one)],
            "log_rate": [_log_rate(one) for one in self.log_rates],
            "first_visits": [
                {"visit": k, "by": by, **self.upto(by, k).document()}
                for by in kinds
                for k in range(1, len(self.firsts[by][0].upto) + 1)
            ],
            "first_visits_in_all": [
                {"by": by, "when": when, **self.lost(by, when).document()}
                for by in kinds
                for when in (FIRST, AFTER)
            ],
        }


def classes_rows(groupings: Sequence[Grouping]) -> dict[int, list[dict[str, Any]]]:
    return {
        one.k: [
            {"interval_days": days if np.isfinite(days) else None, "n": n}
            for days, n in zip((one.classes.interval_s / DAY_S).tolist(), one.classes.n.tolist(), strict=True)
        ]
        for one in groupings
    }


def _gathered(parts: Sequence[Mapping[str, Sums]]) -> dict[str, list[Sums]]:
    return {way: [one[way] for one in parts] for way in WAYS}


def _table1(one: Variant) -> list[dict[str, Any]]:
    return [
        {
            "learner": name,
            "by": one.by,
            "classes": one.made,
            "error": one.error1(name).value,
            "interval": one.error1(name).document(),
            "seconds": one.seconds1(name),
            "paper": dict(zip(("error", "seconds"), paper.TABLE_1[name], strict=True))
            if name in paper.TABLE_1
            else None,
        }
        for name in LEARNERS
    ]


def _table3(one: Variant) -> list[dict[str, Any]]:
    return [
        {
            "classifier": name,
            "by": one.by,
            "classes": one.made,
            "error": one.error3(name).value,
            "interval": one.error3(name).document(),
            "paper": paper.TABLE_3.get(name),
        }
        for name in one.splits[0].table3
    ]


def _table5(one: Variant) -> list[dict[str, Any]]:
    return [
        {
            "approach": name,
            "by": one.by,
            "classes": one.made,
            "over": over,
            "error": one.error5(name, over).value,
            "interval": one.error5(name, over).document(),
            "paper": paper.TABLE_5[name],
            "lowest": one.lowest5(name, over),
            "ahead": one.ahead5(name, over).document(),
        }
        for over in one.overs
        for name in COMBINATIONS
    ]


def _log_rate(one: LogRate) -> dict[str, Any]:
    return {
        "by": one.by,
        "rmse": spread(one.error).document(),
        "rmse_of_mean": spread(one.error_of_mean).document(),
        "explained": one.explained.document(),
        "trees": one.n_trees,
        "depth": one.depth,
        "bands": one.n_bands,
        "heeded_in_splits": one.n_heeded,
    }
