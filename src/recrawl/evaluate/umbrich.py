"""The archiver's strategies on a corpus, in the bands and over the time that the paper reports.

Umbrich, Mrzelj and Polleres (2015), "Towards capturing and preserving changes on the Web of Data", section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.corpora.about import About
from recrawl.corpora.opened import Histories
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bands import ALL, BANDS, mean_interval_s
from recrawl.evaluate.contenders import contender
from recrawl.evaluate.findings import Caught, findings
from recrawl.evaluate.intervals import Interval, interval
from recrawl.evaluate.measures import Score, mean_score, measure
from recrawl.evaluate.pieces import Piece, Tell, adapted, counted, each, measured_days, nobody, pieces, uneven
from recrawl.evaluate.protocol import Window
from recrawl.evaluate.report.figures import Finding
from recrawl.evaluate.sums import N_SLICES, Sums, curve, draws_of, over_time, ratio, so_far
from recrawl.model import Floats, Ints

INTERVALS = ("recall", "precision", "freshness")
_FIRST = ("resources", "changes", "visits", "observed", "recall", "precision", "freshness")
Key = tuple[str, str]  # band and strategy


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """What a strategy did in a band, in the mean over draws; `slices` are counts over time."""

    band: str
    policy: str
    score: Score
    intervals: Mapping[str, Interval]
    slices: Mapping[str, Floats]

    def so_far(self, above: str, below: str) -> list[float]:
        return so_far(self.slices[above], self.slices[below])

    def caught(self) -> Caught:
        third = N_SLICES // 3
        early, late = (
            float(ratio(*(self.slices[name][part].sum(keepdims=True) for name in ("observed", "visits")))[0])
            for part in (slice(0, third), slice(N_SLICES - third, None))
        )
        return Caught(
            resources=self.score.resources,
            changes=self.score.changes,
            recall=self.score.recall,
            precision=self.score.precision,
            early=early,
            late=late,
        )

    def document(self) -> dict[str, Any]:
        score = self.score.document()
        return {
            "band": self.band,
            "policy": self.policy,
            **{name: score.pop(name) for name in _FIRST},
            **score,
            "intervals": {name: found.document() for name, found in self.intervals.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Umbrich:
    corpus: str  # as the user named it
    about: About
    ask: Ask
    days: float  # of the windows
    grouped_by: str
    rows: Sequence[Strategy]
    notes: Sequence[str]
    findings: Sequence[Finding]

    @property
    def bands(self) -> list[str]:
        return list(dict.fromkeys(row.band for row in self.rows))

    def of(self, band: str) -> list[Strategy]:
        return [row for row in self.rows if row.band == band]

    def document(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "title": self.about.title,
            "years": self.days / 365.0,
            "years_asked": self.ask.days / 365.0,
            "min_gap_s": self.ask.min_gap_s,
            "max_gap_s": self.ask.max_gap_s,
            "draws": self.ask.n_draws,
            "seed": self.ask.seed,
            "changes": self.ask.changes,
            "resampled_by": self.grouped_by,
            "notes": list(self.notes),
            "rows": [row.document() for row in self.rows],
            "curves": [
                {"band": row.band, "policy": row.policy, **curve(row.slices, self.days)} for row in self.rows
            ],
            "findings": [finding.document() for finding in self.findings],
        }


def evaluate(name: str, corpus: Histories, ask: Ask, tell: Tell) -> Umbrich:
    ask, notes = adapted(corpus, ask)
    made: dict[Key, list[Sums | None]] = {}
    windows: Sequence[Window] = ()
    n_population = np.zeros(ask.n_draws, dtype=np.int64)
    grouped_by = ""
    for piece in pieces(corpus, ask):
        windows, grouped_by = piece.windows, piece.grouped_by
        n_population += [len(window.rows) for window in windows]
        results = each(_replay(piece, ask, corpus.about.end_at), ask.n_draws, ask.n_cores)
        for draw, done in enumerate(results):
            for key, sums in done.items():
                held = made.setdefault(key, [None] * ask.n_draws)
                before = held[draw]
                held[draw] = sums if before is None else before.plus(sums)
            share = (draw + 1) / ask.n_draws * len(piece.traces) / max(len(corpus), 1)
            tell(piece.share + share, f"draw {draw + 1} of {ask.n_draws}")
    notes += counted(corpus)
    days = measured_days(windows, notes)
    notes += uneven(n_population)
    keys = [
        (band, policy)
        for band in (ALL, *(band.name for band in BANDS))
        for policy in ask.policies
        if (band, policy) in made
    ]
    tell(1.0, "intervals")
    rows = list(each(lambda i: _strategy(*keys[i], made[keys[i]]), len(keys), ask.n_cores))
    if not rows:
        raise nobody(corpus, days)
    return Umbrich(
        corpus=name,
        about=corpus.about,
        ask=ask,
        days=days,
        grouped_by=grouped_by,
        rows=rows,
        notes=notes,
        findings=findings({(row.band, row.policy): row.caught() for row in rows}),
    )


def _replay(piece: Piece, ask: Ask, end_at: float) -> Any:
    interval_s = mean_interval_s(piece.traces, end_at)
    band = np.zeros(len(piece.traces), dtype=np.int64)
    for number, one in enumerate(BANDS):
        band[one.rows(interval_s)] = number
    strategies = {
        name: contender(name, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s) for name in ask.policies
    }

    def replay(draw: int) -> dict[Key, Sums]:
        made: dict[Key, Sums] = {}
        everyone = piece.population(draw)
        own: Ints = band[piece.windows[draw].rows]
        for number in np.unique(own).tolist():
            some = everyone.pick(own == number)
            for name, strategy in strategies.items():
                visits = strategy.visits(some.traces, some.window)
                measured = measure(some.traces, visits, some.window, n_bins=N_SLICES)
                sums = Sums.of(measured, some.group, piece.n_groups)
                made[BANDS[number].name, name] = sums
                made[ALL, name] = made[ALL, name].plus(sums) if (ALL, name) in made else sums
        return made

    return replay


def _strategy(band: str, policy: str, made: Sequence[Sums | None]) -> Strategy:
    draws = [one for one in made if one is not None]
    resampled = draws_of(draws)
    return Strategy(
        band=band,
        policy=policy,
        score=mean_score([one.score() for one in draws]),
        intervals={name: interval(resampled, name) for name in INTERVALS},
        slices=over_time(draws),
    )
