"""Any policies over any corpus, measured at the visits that they made or were given, beside what is possible.

Rules go first, over all pieces of the corpus. What they made, or the budget, says how many visits the
policies with a price may make in each draw; their prices are found on a sample that fits in memory (on
everything, if everything fits), and then they go over all pieces too. Where the sample misled, the price is
found anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.corpora.about import About
from recrawl.corpora.opened import Histories
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.contenders import PRICED, Contender, contender
from recrawl.evaluate.intervals import Interval, interval
from recrawl.evaluate.measures import Score, mean_score, measure
from recrawl.evaluate.pieces import Piece, Population, Tell, adapted, each, measured_days, nobody, pieces
from recrawl.evaluate.possible import Possible, mean_possible, possible
from recrawl.evaluate.sample import every, together
from recrawl.evaluate.sums import N_SLICES, SLICES, Sums, draws_of
from recrawl.model import Floats

NEAR = 0.01  # of the visits asked for: so near must those made be
_N_TRIES = 4
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

    def document(self) -> dict[str, Any]:
        score = self.score.document()
        return {
            "policy": self.policy,
            **{name: score.pop(name) for name in FIRST},
            **score,
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
            "resampled_by": self.grouped_by,
            "notes": list(self.notes),
            "rows": [row.document() for row in self.rows],
        }


class _Run:
    """The passes over the corpus, and what they made so far."""

    def __init__(self, corpus: Histories, ask: Ask, tell: Tell) -> None:
        self.corpus, self.ask, self.tell = corpus, ask, tell
        self.made: dict[str, list[Sums]] = {}
        self.contenders = {
            name: contender(
                name, goal=ask.goal, predictor=ask.predictor, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s
            )
            for name in ask.policies
        }
        self._kept: Piece | None = None  # where one piece holds all, it is read once
        self.sample: Piece | None = None
        self.n_population = np.zeros(ask.n_draws, dtype=np.int64)

    def rules(self) -> None:
        """The first pass. The sample is taken on the way."""
        rules = {name: one for name, one in self.contenders.items() if not one.priced}
        parts: list[Piece] = []
        step = -(-len(self.corpus) // self.ask.n_at_once)
        first_row = 0
        for piece in self._pieces():
            parts.append(every(piece, step, first_row))
            first_row += len(piece.traces)
            self.n_population += [len(window.rows) for window in piece.windows]
            self._add(piece, [(name, one, None) for name, one in rules.items()], "rules")
        self.sample = together(parts) if parts else None

    def priced(self, n_visits: Sequence[int]) -> None:
        """The other passes: one, as a rule."""
        priced = {name: one for name, one in self.contenders.items() if one.priced}
        wanted = {name: np.asarray(n_visits, dtype=np.float64) for name in priced}
        for _ in range(_N_TRIES):
            prices = {name: self._prices(priced[name], wanted[name]) for name in wanted}
            for name in wanted:
                self.made.pop(name, None)
            for piece in self._pieces():
                self._add(piece, [(name, priced[name], prices[name]) for name in wanted], "priced")
            if self._kept is not None:
                return  # the price was found on all of it
            off = {
                name: np.array([sums.n_visits for sums in self.made[name]]) / np.maximum(n_visits, 1)
                for name in wanted
            }
            wanted = {
                name: wanted[name] / np.maximum(off[name], 0.1)
                for name in wanted
                if (abs(off[name] - 1.0) > NEAR).any()
            }
            if not wanted:
                return

    def limits(self, name: str) -> Possible:
        """Of a policy's own visits, on the sample."""

        def of(draw: int) -> Possible:
            some, share = self._sampled(draw)
            n_visits = round(self.made[name][draw].n_visits * share)
            return possible(some, n_visits, self.ask.min_gap_s, self.ask.max_gap_s)

        return mean_possible(list(each(of, self.ask.n_draws, self.ask.n_cores)))

    def _prices(self, one: Contender, n_visits: Floats) -> list[float]:
        def price(draw: int) -> float:
            some, share = self._sampled(draw)
            wanted = max(1, round(n_visits[draw] * share))
            return one.price(some.traces, some.window, wanted) if len(some.traces) else 1.0

        found = []
        for draw, each_price in enumerate(each(price, self.ask.n_draws, self.ask.n_cores)):
            found.append(each_price)
            self.tell((draw + 1) / self.ask.n_draws, f"the price of {one.name}")
        return found

    def _sampled(self, draw: int) -> tuple[Population, float]:
        """The sample's population, and the share of everyone's that it is."""
        assert self.sample is not None  # noqa: S101 - the first pass took it
        some = self.sample.population(draw)
        return some, len(some.traces) / max(int(self.n_population[draw]), 1)

    def _pieces(self) -> Iterator[Piece]:
        if self._kept is not None:
            yield self._kept
            return
        for piece in pieces(self.corpus, self.ask):
            if len(self.corpus) <= self.ask.n_at_once:
                self._kept = piece
            yield piece

    def _add(
        self, piece: Piece, who: Sequence[tuple[str, Contender, Sequence[float] | None]], what: str
    ) -> None:
        alone = self.ask.n_draws == 1  # then the policies share the cores, else the draws do

        def replay(draw: int) -> dict[str, Sums]:
            some = piece.population(draw)

            def sums(i: int) -> Sums:
                _, one, prices = who[i]
                price = None if prices is None else prices[draw]
                visits = one.visits(some.traces, some.window, price=price)
                measured = measure(some.traces, visits, some.window, n_bins=N_SLICES)
                return Sums.of(measured, some.group, piece.n_groups)

            made = each(sums, len(who), self.ask.n_cores if alone else 1)
            return {name: one for (name, _, _), one in zip(who, made, strict=True)}

        for draw, done in enumerate(each(replay, self.ask.n_draws, self.ask.n_cores)):
            for name, sums in done.items():
                held = self.made.setdefault(name, [])
                if draw < len(held):
                    held[draw] = held[draw].plus(sums)
                else:
                    held.append(sums)
            share = (draw + 1) / self.ask.n_draws * len(piece.traces) / max(len(self.corpus), 1)
            self.tell(piece.share + share, f"{what}: draw {draw + 1} of {self.ask.n_draws}")


def simulate(name: str, corpus: Histories, ask: Ask, tell: Tell) -> Simulation:
    ask, notes = adapted(corpus, ask)
    run = _Run(corpus, ask, tell)
    run.rules()
    if run.sample is None or not run.n_population.any():
        raise nobody(corpus, ask.days)
    windows = run.sample.windows
    days = measured_days(windows, notes)
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


def _allowed(run: _Run, days: Sequence[float]) -> tuple[list[int], str]:
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


def _simulated(run: _Run, policy: str, n_visits: Sequence[int]) -> Simulated:
    draws = run.made[policy]
    resampled = draws_of(draws)
    over_time = np.mean([one.slices for one in draws], axis=0)
    return Simulated(
        policy=policy,
        score=mean_score([one.score() for one in draws]),
        asked=float(np.mean(n_visits)) if run.contenders[policy].priced else None,
        intervals={name: interval(resampled, name) for name in INTERVALS},
        slices={name: over_time[i] for i, name in enumerate(SLICES)},
        limits=run.limits(policy),
    )
