"""How well predictors forecast, on the very same visits: each says the chance of a change before the visit,
and learns from it afterwards.

The visits are those that policies make, not made up ones: a predictor must be right where it is asked. What
it says late in the window, after it could learn, is told apart from all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from threading import Lock
from typing import Any

import numpy as np

from recrawl.contracts import Predictor
from recrawl.corpora.about import About
from recrawl.corpora.opened import Histories
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.calibration import Bin, calibration_error, reliability, squares, surprises
from recrawl.evaluate.contenders import contender, predictor_named
from recrawl.evaluate.intervals import N_REPLICATES, Interval
from recrawl.evaluate.pieces import Population, Tell, adapted, counted, each, measured_days, nobody
from recrawl.evaluate.sample import held_in_memory
from recrawl.model import Bools, Floats, Ints
from recrawl.simulate.columns import Known
from recrawl.simulate.traces import Visits

SCHEDULES = ("week", "index")
SCORES = ("brier", "log_loss")
LATE = 0.5  # of the window: what lies after it was forecast by whoever had time to learn


@dataclass(frozen=True, slots=True)
class Said:
    """Forecasts of all visits of one schedule, in the order of time."""

    p: Floats
    changed: Bools
    group: Ints
    late: Bools

    def pick(self, rows: Bools) -> Said:
        return Said(self.p[rows], self.changed[rows], self.group[rows], self.late[rows])


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """One predictor on the visits of one schedule; draws are taken together."""

    predictor: str
    schedule: str
    part: str  # all, or late: the later half of the window
    n_visits: int
    share_changed: float
    scores: Mapping[str, Interval]
    differences: Mapping[str, Interval]  # less those of the first predictor, on the same visits
    calibration_error: float
    curve: Sequence[Bin]

    def document(self) -> dict[str, Any]:
        return {
            "predictor": self.predictor,
            "schedule": self.schedule,
            "part": self.part,
            "visits": self.n_visits,
            "share_changed": None if isnan(self.share_changed) else self.share_changed,
            **{name: found.document() for name, found in self.scores.items()},
            "difference": {name: found.document() for name, found in self.differences.items()},
            "calibration_error": None if isnan(self.calibration_error) else self.calibration_error,
            "reliability": [one.document() for one in self.curve],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecasting:
    corpus: str
    about: About
    ask: Ask
    days: float
    grouped_by: str
    n_resources: int
    rows: Sequence[Forecast]
    notes: Sequence[str]

    def document(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "title": self.about.title,
            "days": self.days,
            "days_asked": self.ask.days,
            "min_gap_s": self.ask.min_gap_s,
            "max_gap_s": self.ask.max_gap_s,
            "draws": self.ask.n_draws,
            "seed": self.ask.seed,
            "changes": self.ask.changes,
            "resampled_by": self.grouped_by,
            "notes": list(self.notes),
            "rows": [row.document() for row in self.rows],
        }


def evaluate(name: str, corpus: Histories, ask: Ask, tell: Tell, *, predictors: Sequence[str]) -> Forecasting:
    ask, notes = adapted(corpus, ask)
    for one in predictors:
        predictor_named(one)  # an unknown one is refused before the work, not after
    held = held_in_memory(corpus, ask, notes)
    if held is None or not any(len(window.rows) for window in held.windows):
        raise nobody(corpus, ask.days)
    notes += counted(corpus)
    days = measured_days(held.windows, notes)
    lock, done = Lock(), list[str]()

    def drawn(draw: int) -> dict[tuple[str, str], Said]:
        some = held.population(draw)
        found = {}
        for schedule, visits in _schedules(some, ask).items():
            for one in predictors:
                found[schedule, one] = foretold(predictor_named(one), some, visits, ask)
                with lock:
                    done.append(one)
                    share = len(done) / (ask.n_draws * len(SCHEDULES) * len(predictors))
                    tell(share, f"{one} on {schedule}, draw {draw + 1} of {ask.n_draws}")
        return found

    draws = list(each(drawn, ask.n_draws, ask.n_cores))
    rows = []
    for schedule in SCHEDULES:
        said = {one: _together([draw[schedule, one] for draw in draws]) for one in predictors}
        for part in ("all", "late"):
            kept = {one: all_.pick(all_.late) if part == "late" else all_ for one, all_ in said.items()}
            rows += _rows(schedule, part, kept)
    return Forecasting(
        corpus=name,
        about=corpus.about,
        ask=ask,
        days=days,
        grouped_by=held.grouped_by,
        n_resources=round(float(np.mean([len(window.rows) for window in held.windows]))),
        rows=rows,
        notes=notes,
    )


def _schedules(some: Population, ask: Ask) -> dict[str, Visits]:
    """Visits in even gaps, and as many where the index policy would have them (by the plain Gamma filter,
    so that they are the same whatever predictors are compared)."""
    low_s, high_s = ask.min_gap_s, ask.max_gap_s
    even = contender("week", min_gap_s=low_s, max_gap_s=high_s).visits(some.traces, some.window)
    if not len(even):
        return dict.fromkeys(SCHEDULES, even)
    index = contender("index", goal=ask.goal, predictor="gamma", min_gap_s=low_s, max_gap_s=high_s)
    return {"week": even, "index": index.visits(some.traces, some.window, n_visits=len(even))}


def foretold(predictor: Predictor, some: Population, visits: Visits, ask: Ask) -> Said:
    """What the predictor says of each visit with what it learned from those before it.

    Visits are taken together where none of them comes after another of the same resource: as the simulator
    does, and within as long as the smallest gap.
    """
    window = some.window
    known = Known(some.traces, window.start_at, ask.min_gap_s, ask.max_gap_s)
    row = np.repeat(np.arange(len(some.traces)), np.diff(visits.bounds))
    order = np.argsort(visits.at, kind="stable")
    row, at = row[order], visits.at[order]
    p, changed = np.empty(len(at)), np.empty(len(at), dtype=np.bool_)
    begin = 0
    for end in _ends(row, at, ask.min_gap_s):
        rows, now = row[begin:end], float(at[begin])
        batch = known.batch(rows)
        p[begin:end] = 1.0 - predictor.forecast(batch, now).survival(at[begin:end] - batch.since_at)
        seen = known.visit(rows, at[begin:end])
        changed[begin:end] = seen.changed == 1
        predictor.learn(seen)
        begin = end
    late = at > window.start_at + LATE * window.length_s
    return Said(p, changed, some.group[row], late)


def _ends(row: Ints, at: Floats, longest_s: float) -> list[int]:
    """Where slices of visits end: none is longer than this, or holds a resource twice."""
    by_row = np.lexsort((at, row))
    before = np.full(len(row), -1)  # the place of the same resource's visit before
    same = row[by_row][1:] == row[by_row][:-1]
    before[by_row[1:][same]] = by_row[:-1][same]
    ends, begin = [], 0
    while begin < len(at):
        end = int(np.searchsorted(at, at[begin] + longest_s, "left"))
        end = max(end, begin + 1)
        twice = np.flatnonzero(before[begin:end] >= begin)
        begin = begin + int(twice[0]) if len(twice) else end
        ends.append(begin)
    return ends


def _together(parts: Sequence[Said]) -> Said:
    columns = ([getattr(part, name) for part in parts] for name in ("p", "changed", "group", "late"))
    return Said(*(np.concatenate(column) for column in columns))


def _rows(schedule: str, part: str, said: Mapping[str, Said]) -> list[Forecast]:
    first = next(iter(said.values()))
    costs = {
        name: {"brier": squares(one.p, one.changed), "log_loss": surprises(one.p, one.changed)}
        for name, one in said.items()
    }
    against = next(iter(costs.values()))
    rows = []
    for name, one in said.items():
        curve = reliability(one.p, one.changed)
        rows.append(
            Forecast(
                predictor=name,
                schedule=schedule,
                part=part,
                n_visits=len(one.p),
                share_changed=float(first.changed.mean()) if len(first.changed) else float("nan"),
                scores={score: _mean(costs[name][score], one.group) for score in SCORES},
                differences={
                    score: _mean(costs[name][score] - against[score], one.group) for score in SCORES
                },
                calibration_error=calibration_error(curve),
                curve=curve,
            )
        )
    return rows


def _mean(values: Floats, group: Ints) -> Interval:
    """The mean over visits, with whole groups of resources resampled."""
    nan = Interval(value=float("nan"), low=float("nan"), high=float("nan"), n_groups=0, n_draws=1)
    if not len(values):
        return nan
    _, place = np.unique(group, return_inverse=True)
    sums, n = np.bincount(place, weights=values), np.bincount(place).astype(np.float64)
    value = float(values.mean())
    if len(n) < 2:
        return replace(nan, value=value, n_groups=len(n))
    times = np.random.default_rng(0).multinomial(len(n), np.full(len(n), 1 / len(n)), N_REPLICATES)
    low, high = np.quantile((times @ sums) / (times @ n), [0.025, 0.975])
    return Interval(value=value, low=float(low), high=float(high), n_groups=len(n), n_draws=1)
