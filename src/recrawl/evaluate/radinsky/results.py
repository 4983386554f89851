"""What the experiment came to, and its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from recrawl.corpora.about import About
from recrawl.evaluate.radinsky import paper
from recrawl.evaluate.radinsky.accuracy import LEARNERS, STACKED, Accuracies
from recrawl.evaluate.radinsky.ask import Ask
from recrawl.evaluate.radinsky.choosing import WAYS
from recrawl.evaluate.radinsky.crawling import COIN, INDEX
from recrawl.evaluate.radinsky.paired import Mean, mean
from recrawl.model import DAY_S, HOUR_S, Floats

BASES = ("always", "majority", "last")  # what is right for all, for the page so far, and what it did just now
EVERY = 10  # steps of the crawl that are averaged
TURNS = "turns"


@dataclass(frozen=True, slots=True)
class Tried:
    """One way to look at the corpus, and how many pages the filter leaves there."""

    changes: str
    step_s: float
    n_steps: int
    n_kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Radinsky:
    corpus: str
    about: About
    ask: Ask
    notes: Sequence[str]
    changes: str
    step_s: float
    n_all: int
    n_kept: int
    n_pages: int
    n_steps: int
    n_hosts: int
    tried: Sequence[Tried]
    accuracies: Accuracies
    true_kin: Mapping[str, float]  # empty where nobody knows them
    n_kin: Mapping[str, float]
    fresh: Mapping[str, Mapping[str, Floats]]
    n_visits: int

    def accuracy(self, name: str) -> Mean:
        """In percent; names as in `Accuracies`: 1d, 2d, 3d, ours …"""
        return mean(100.0 * self.accuracies.of[name])

    def ahead(self, one: str, other: str) -> Mean:
        """By how many points one is right more often than the other, on the same pages."""
        return mean(100.0 * (self.accuracies.of[one] - self.accuracies.of[other]))

    def by_way(self, way: str, learner: str = "3d") -> Mean | None:
        of = self.accuracies.by_way if learner == "3d" else self.accuracies.ours_by_way
        found = of.get(way)
        return None if found is None else mean(100.0 * found)

    def ahead_by_way(self, way: str, other: str) -> Mean | None:
        one, two = self.accuracies.by_way.get(way), self.accuracies.by_way.get(other)
        return None if one is None or two is None else mean(100.0 * (one - two))

    @property
    def best_of_paper(self) -> str:
        """The most accurate of the paper's variants here, on the main way's kin."""
        return max(("1d", "2d", "3d", *STACKED), key=lambda name: self.accuracy(name).value)

    def days(self) -> list[int]:
        n = next(iter(self.fresh[COIN].values())).shape[1]
        return [min(day + EVERY, n) for day in range(0, n, EVERY)]

    def freshness(self, rule: str, name: str, day: int) -> float:
        """The mean of the steps up to this one, since the one before in `days`."""
        part = self.fresh[rule][name][:, (day - 1) // EVERY * EVERY : day]
        return float(part.mean()) if part.size else float("nan")

    def fresher(self, one: tuple[str, str], other: tuple[str, str]) -> Mean:
        """By how much the copies of one way to crawl are fresher, in percent, on the same pages."""
        a, b = (self.fresh[rule][name].mean(axis=1) for rule, name in (one, other))
        return mean(100.0 * (a - b))

    def document(self) -> dict[str, Any]:
        table1 = {name: _plain(self.accuracy(name).value) for name in LEARNERS}
        table2 = {name: _plain(self.accuracy(name).value) for name in STACKED}
        return {
            "corpus": self.corpus,
            "pages": self.n_pages,
            "steps": self.n_steps,
            "table1": table1,
            "table2": {**table2, "experts": table1["3d"]},
            "table3": {way: _of(self.by_way(way)) for way in WAYS},
            "figure8": self._figure8(COIN),
            "figure8_index": self._figure8(INDEX),
            "figure6": [
                {"train": n, **{name: _plain(mean(100.0 * one).value) for name, one in by.items()}}
                for n, by in self.accuracies.by_size.items()
            ],
            "figure7": [
                {"experts": n, "3d": _plain(mean(100.0 * one).value)}
                for n, one in sorted(self.accuracies.by_count.items())
            ],
            "paper": {
                "table1": dict(paper.TABLE_1),
                "table2": dict(paper.TABLE_2),
                "table3": dict(paper.TABLE_3),
            },
            "base_rates": {name: _plain(self.accuracy(name).value) for name in BASES},
            "ours_alone": _plain(self.accuracy("ours_alone").value),
            "ours_window": _plain(self.accuracy("ours_window").value),
            "ours_by_way": {way: _of(self.by_way(way, "ours")) for way in WAYS},
            "intervals": {name: self.accuracy(name).document() for name in self.accuracies.of},
            "tests": self._tests(),
            "true_kin": dict(self.true_kin) or None,
            "kin_per_page": dict(self.n_kin),
            "changes": self.changes,
            "step_s": self.step_s,
            "filter": {
                "least_switching": self.ask.least_switching,
                "pages": self.n_all,
                "kept": self.n_kept,
                "drawn": self.n_pages,
                "tried": [
                    {"changes": one.changes, "step_s": one.step_s, "steps": one.n_steps, "kept": one.n_kept}
                    for one in self.tried
                ],
            },
            "train": self.ask.n_train,
            "k": self.ask.k,
            "foretold": self.accuracies.n_foretold,
            "p_change": _plain(self.accuracies.p_change),
            "visits_a_step": self.n_visits,
            "seed": self.ask.seed,
            "notes": list(self.notes),
        }

    def _figure8(self, rule: str) -> list[dict[str, float | None]]:
        names = [*LEARNERS, *([TURNS] if TURNS in self.fresh[rule] else [])]
        return [
            {"day": day, **{name: _plain(self.freshness(rule, name, day)) for name in names}}
            for day in self.days()
        ]

    def _tests(self) -> list[dict[str, Any]]:
        """Paired, over pages; in percent."""
        pairs = [
            ("2d", "1d"), ("3d", "1d"), ("3d", "2d"), ("ours", "3d"), ("ours", "2d"), ("ours", "ours_alone"),
            ("ours", "ours_window"), *(("ours", name) for name in STACKED),
            *(("3d", name) for name in STACKED), ("ours", self.best_of_paper),
            *((name, base) for name in ("3d", "ours") for base in BASES),
        ]  # fmt: skip
        rows: list[dict[str, Any]] = [
            {"what": "accuracy", "one": one, "other": other, **self.ahead(one, other).document()}
            for one, other in dict.fromkeys(pairs)
        ]
        for way in WAYS:
            found = self.ahead_by_way("cross_correlation", way)
            if way != "cross_correlation" and found is not None:
                rows.append({"what": "kin", "one": "cross_correlation", "other": way, **found.document()})
        for name in LEARNERS:
            found = self.fresher((INDEX, name), (COIN, name))
            rows.append(
                {
                    "what": "freshness",
                    "one": f"{name} by index",
                    "other": f"{name} by coin",
                    **found.document(),
                }
            )
            if name != "1d":
                found = self.fresher((COIN, name), (COIN, "1d"))
                rows.append(
                    {"what": "freshness", "one": f"{name} by coin", "other": "1d by coin", **found.document()}
                )
        return rows


def span(step_s: float) -> str:
    """
    >>> span(86_400), span(7_200), span(604_800)
    ('1 day', '2 hours', '7 days')
    """
    size_s, name = (HOUR_S, "hour") if step_s < DAY_S else (DAY_S, "day")
    figure = f"{step_s / size_s:.3g}"
    return f"{figure} {name}" if figure == "1" else f"{figure} {name}s"


def _of(found: Mean | None) -> float | None:
    return None if found is None else _plain(found.value)


def _plain(value: float) -> float | None:
    return None if isnan(value) or not np.isfinite(value) else value
