"""What the experiment came to, and its document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from recrawl.corpora.about import About
from recrawl.evaluate.tan import paper
from recrawl.evaluate.tan.ask import Ask
from recrawl.evaluate.tan.measures import NAMES, Figures
from recrawl.evaluate.tan.paired import Spread, lower_by, mean
from recrawl.model import Floats

FIXED = "fixed"
OURS, DIRECT, SQRT, LIMIT = "ours", "direct", "sqrt", "omniscient"
ERRORS = ("pr_error", "p_error_norm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model at its own number of visits; or, `beside` it, another with as many."""

    model: str
    figures: Figures
    mape: Floats  # of each thread
    beside: str | None = None

    def figure(self, name: str) -> float:
        values = self.mape if name == "mape" else getattr(self.figures, name)
        return float("nan") if np.isnan(values).all() else float(np.nanmean(values))

    @property
    def visits_per_post(self) -> float:
        return float(self.figures.visits.sum() / self.figures.posts.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A model at a number of visits that all models have."""

    asked: float  # visits per post
    model: str
    visits: Floats  # of each thread
    delay_min: Floats  # of all posts of each thread together

    @property
    def n_visits(self) -> float:
        return float(self.visits.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Tan:
    corpus: str
    about: About
    ask: Ask
    notes: Sequence[str]
    n_all: int  # threads, with those of another size
    n_boards: int
    posts: Floats  # of each thread: those that were to be fetched
    rows: Sequence[Row]
    levels: Sequence[Level]

    @property
    def n_threads(self) -> int:
        return len(self.posts)

    @property
    def own(self) -> list[Row]:
        """The models of the paper, each at its own number of visits."""
        return [row for row in self.rows if row.beside is None]

    @property
    def best(self) -> Row:
        """Of the models that predict gaps, the one with the shortest delays at its own number of visits. A
        fixed rate predicts none: its delays are short where it takes many visits."""
        told = [row for row in self.own if row.model != FIXED]
        return min(told, key=lambda row: row.figure("t_score_min"))

    @property
    def budgets(self) -> list[float]:
        return list(dict.fromkeys(one.asked for one in self.levels))

    @property
    def models(self) -> list[str]:
        """Those with equal visits."""
        return list(dict.fromkeys(one.model for one in self.levels))

    def beside(self, row: Row, model: str) -> Row | None:
        return next((one for one in self.rows if (one.model, one.beside) == (model, row.model)), None)

    def level(self, asked: float, model: str) -> Level | None:
        return next((one for one in self.levels if (one.asked, one.model) == (asked, model)), None)

    def t_score_min(self, level: Level) -> Spread:
        """The mean delay of all posts of all threads."""
        total = float(self.posts.mean())
        found = mean(level.delay_min, self.ask.seed)
        return Spread(found.value / total, found.low / total, found.high / total)

    def sooner(self, asked: float, one: str, other: str) -> Spread | None:
        """By which share the one's T-score is below the other's."""
        a, b = self.level(asked, one), self.level(asked, other)
        return None if a is None or b is None else lower_by(a.delay_min, b.delay_min, self.ask.seed)

    def fewer(self, row: Row, model: str, measure: str) -> Spread | None:
        """By which share the errors of `model` are below those of the row, with as many visits."""
        found = self.beside(row, model)
        if found is None:
            return None
        return lower_by(getattr(found.figures, measure), getattr(row.figures, measure), self.ask.seed)

    def document(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "threads": self.n_threads,
            "rows": [self._row(row) for row in self._single()],
            "beside": [self._row(row) for row in self.rows if row.beside is not None],
            "equal_visits": [self._level(one) for one in self.levels],
            "tests": list(self._tests()),
            "paper": {
                "table": [{"model": f"svr-words-{size}", **asdict(one)} for size, one in paper.TABLE.items()],
                "thesis": [{"model": name, **asdict(one)} for name, one in paper.THESIS.items()],
            },
            "board": self.ask.board,
            "boards": self.n_boards,
            "threads_of_any_size": self.n_all,
            "posts_of_a_thread": [self.ask.least, self.ask.most],
            "train": self.ask.train,
            "models": list(self.ask.models),
            "posts": int(self.posts.sum()),
            "seed": self.ask.seed,
            "notes": list(self.notes),
        }

    def _single(self) -> list[Row]:
        """One of each model, so that readers may go by its name: those of the paper, and others with as many
        visits as the best of them."""
        others = (self.beside(self.best, model) for model in (OURS, DIRECT, SQRT))
        return [*self.own, *(row for row in others if row is not None)]

    def _row(self, row: Row) -> dict[str, Any]:
        known = {name: plain(row.figure(name)) for name in ("mape", *NAMES)}
        spreads = {
            name: mean(values, self.ask.seed).document()
            for name in ("t_score_min", *ERRORS)
            for values in [getattr(row.figures, name)]
        }
        return {
            "model": row.model,
            **known,
            "visits_per_post": plain(row.visits_per_post),
            "beside": row.beside,
            "intervals": spreads,
        }

    def _level(self, one: Level) -> dict[str, Any]:
        found = self.t_score_min(one)
        return {
            "visits_per_post": one.asked,
            "model": one.model,
            "t_score_min": plain(found.value),
            "low": plain(found.low),
            "high": plain(found.high),
            "visits": round(one.n_visits),
            "visits_per_post_made": plain(one.n_visits / float(self.posts.sum())),
        }

    def _tests(self) -> Iterator[dict[str, Any]]:
        """By which share the one is below the other, on the same threads."""
        for asked in self.budgets:
            for other in self.models:
                found = self.sooner(asked, OURS, other)
                if found is not None and other not in (OURS, LIMIT):
                    yield {
                        "what": "t_score_min", "visits_per_post": asked, "one": OURS, "other": other,
                        **found.document(),
                    }  # fmt: skip
        for row in self.own:
            for model in (OURS, DIRECT):
                for measure in ERRORS:
                    found = self.fewer(row, model, measure)
                    if found is not None:
                        yield {
                            "what": measure, "visits_per_post": plain(row.visits_per_post), "one": model,
                            "other": row.model, **found.document(),
                        }  # fmt: skip


def plain(value: float) -> float | None:
    return value if isfinite(value) else None
