"""Any policies over any corpus, at the visits that they made or were given, beside what is possible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from recrawl.corpora.about import About
from recrawl.corpora.opened import Histories
from recrawl.errors import BadInputError
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.contenders import DEFAULT_PREDICTOR, PRICED
from recrawl.evaluate.intervals import Interval, interval
from recrawl.evaluate.measures import Score, mean_score
from recrawl.evaluate.passes import NEAR, Passes
from recrawl.evaluate.pieces import Tell, adapted, counted, measured_days, nobody, uneven
from recrawl.evaluate.possible import Possible, known_mean
from recrawl.evaluate.sums import curve, draws_of, over_time
from recrawl.model import Floats

INTERVALS = ("recall", "precision", "freshness", "age_days", "harmonic", "delay_days_mean")
FIRST = (
    *(
        "resources",
        "changes",
        "visits",
        "observed",
        "recall",
        "precision",
        "freshness",
        "age_days",
        "harmonic",
    ),
    *("delay_days_mean", "delay_days_p50", "delay_days_p95"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a policy did, in the mean over draws; `slices` are counts over time."""

    policy: str
    score: Score
    asked: float | None  # visits that it was to make, of a policy with a price
    intervals: Mapping[str, Interval]
    slices: Mapping[str, Floats]
    limits: Possible
    change_rate: float  # NaN where no ranking was asked for
    ndcg: float

    def document(self) -> dict[str, Any]:
        score = self.score.document()
        return {
            "policy": self.policy,
            **{name: score.pop(name) for name in FIRST},
            **score,
            "change_rate": None if isnan(self.change_rate) else self.change_rate,
            "ndcg": None if isnan(self.ndcg) else self.ndcg,
            "visits_asked": self.asked,
            "intervals": {name: found.document() for name, found in self.intervals.items()},
            "limits": self.limits.document(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    corpus: str  # as the user named it
    about: About
    ask: Ask
    days: float  # of the windows
    grouped_by: str
    rows: Sequence[Simulated]
    notes: Sequence[str]

    def document(self) -> dict[str, Any]:
        return {
            "corpus": self.corpus,
            "title": self.about.title,
            "days": self.days,
            "days_asked": self.ask.days,
            "min_gap_s": self.ask.min_gap_s,
            "max_gap_s": self.ask.max_gap_s,
            "goal": self.ask.goal,
            "predictor": self.ask.predictor,
            "budget_per_day": self.ask.budget_per_day,
            "draws": self.ask.n_draws,
            "seed": self.ask.seed,
            "changes": self.ask.changes,
            "rank": self.ask.rank,
            "resampled_by": self.grouped_by,
            "notes": list(self.notes),
            "rows": [row.document() for row in self.rows],
            "curves": [{"policy": row.policy, **curve(row.slices, self.days)} for row in self.rows],
        }


def simulate(name: str, corpus: Histories, ask: Ask, tell: Tell) -> Simulation:
    if ask.budget_per_day is not None and not ask.budget_per_day > 0.0:
        raise BadInputError("With a budget of 0 visits nobody looks; give more, such as 100/day.")
    if ask.rank is not None and len(corpus) > ask.n_at_once:
        raise BadInputError(
            f"A ranking is of all resources at once, and {len(corpus):,} are more than the {ask.n_at_once:,} "
            "that are held at a time; leave --rank out, or take a smaller corpus."
        )
    ask, notes = adapted(corpus, ask)
    notes += _unheeded(ask)
    run = Passes(corpus, ask, tell)
    run.rules()
    if run.sample is None or not run.n_population.any():
        raise nobody(corpus, ask.days)
    windows = run.sample.windows
    notes += counted(corpus)
    days = measured_days(windows, notes)
    notes += uneven(run.n_population)
    n_visits, why = _allowed(run, [window.days for window in windows])
    if any(one.priced for one in run.contenders.values()):
        notes.append(why)
        run.priced(n_visits)
    if len(corpus) > ask.n_at_once:
        notes.append(
            f"Prices and limits were found on {len(run.sample.traces):,} of {len(corpus):,} resources; "
            "visits were made to all of them."
        )
    rows = []
    for i, policy in enumerate(ask.policies):
        tell((i + 1) / len(ask.policies), f"limits of {policy}")
        rows.append(row := _simulated(run, policy, n_visits))
        if row.asked is not None and abs(row.score.visits - row.asked) > NEAR * row.asked + 1.0:
            notes.append(
                f"{policy} made {row.score.visits:,} visits, not {round(row.asked):,}: no price within "
                "the gap bounds gives those."
            )
    return Simulation(
        corpus=name,
        about=corpus.about,
        ask=ask,
        days=days,
        grouped_by=run.sample.grouped_by,
        rows=rows,
        notes=notes,
    )


def _unheeded(ask: Ask) -> Iterator[str]:
    """What was asked for and is nothing to the policies that were named."""
    for what, of, heed in (
        ("A budget", ask.budget_per_day is not None, PRICED),
        (f"The goal {ask.goal}", ask.goal != "fresh", ("index", "floor")),
        (f"The predictor {ask.predictor}", ask.predictor != DEFAULT_PREDICTOR, ("index", "proportional")),
    ):
        if of and not set(heed) & set(ask.policies):
            yield f"{what} is for {', '.join(heed)}; the policies named here do not look at it."


def _allowed(run: Passes, days: Sequence[float]) -> tuple[list[int], str]:
    """How many visits policies with a price may make in each draw, and who said so."""
    ask = run.ask
    names = ", ".join(name for name in ask.policies if name in PRICED)
    if ask.budget_per_day is not None:
        n_visits = [round(ask.budget_per_day * long) for long in days]
        return n_visits, f"With a budget of {ask.budget_per_day:g} visits a day: {names}."
    first = next((name for name in ask.policies if name not in PRICED), None)
    if first is not None:
        return [sums.n_visits for sums in run.made[first]], f"With as many visits as {first} makes: {names}."
    n_visits = [round(n * long / 7.0) for n, long in zip(run.n_population.tolist(), days, strict=True)]
    return n_visits, f"With one visit a week for each resource, since no budget was given: {names}."


def _simulated(run: Passes, policy: str, n_visits: Sequence[int]) -> Simulated:
    draws = run.made[policy]
    resampled = draws_of(draws)
    ranked = run.ranked.get(policy)
    change_rate, ndcg = (nan, nan) if ranked is None else map(known_mean, zip(*ranked, strict=True))
    return Simulated(
        policy=policy,
        score=mean_score([one.score() for one in draws]),
        asked=float(np.mean(n_visits)) if run.contenders[policy].priced else None,
        intervals={name: interval(resampled, name) for name in INTERVALS},
        slices=over_time(draws),
        limits=run.limits(policy),
        change_rate=change_rate,
        ndcg=ndcg,
    )
