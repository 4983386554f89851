"""One's own past under other policies, with as many visits: from the worst that can have been to the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf

import numpy as np

from recrawl.errors import BadInputError
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.contenders import TOLERANCE, Contender, contender
from recrawl.evaluate.measures import Measured, joined, measure
from recrawl.evaluate.own.bounds import bounds
from recrawl.evaluate.own.past import Past, past_of
from recrawl.evaluate.own.results import MEASURES, OWN, Backtest, Bounded, Replayed
from recrawl.evaluate.protocol import FIRST_GAP_S, Window
from recrawl.learn.groups import classes
from recrawl.model import DAY_S, Floats, Ints, Seen
from recrawl.simulate.traces import Traces, Visits

N_DRAWS = 8
N_COHORTS = 8
WAIT = 0.01  # of the time watched: what the members of a cohort may wait for each other, together
Tell = Callable[[float, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of a backtest."""

    policies: tuple[str, ...]
    goal: str
    predictor: str
    min_gap_s: float
    max_gap_s: float
    days: float = inf
    budget_per_day: float | None = None  # None: as many visits as were made
    n_draws: int = N_DRAWS
    seed: int = 1


class _Run(list[Visits]):
    """The visits of all cohorts; its length is their number."""

    def __len__(self) -> int:
        return sum(len(self[i]) for i in range(super().__len__()))


@dataclass(frozen=True, slots=True)
class _Cohort:
    """Resources that entered at about the same time: whoever replays knows nothing of them before."""

    past: Past
    phase: Floats  # one for each resource, of each draw


def backtest(pages: Iterable[Seen], wanted: Wanted, tell: Tell) -> Backtest:
    past = past_of(pages, days=wanted.days)
    if wanted.budget_per_day is not None and not wanted.budget_per_day > 0.0:
        raise BadInputError("With a budget of 0 visits nobody looks; give more, such as 100/day.")
    n_visits = len(past.visits)
    if wanted.budget_per_day is not None:
        n_visits = max(1, round(wanted.budget_per_day * past.days))
    contenders = [
        contender(
            name,
            goal=wanted.goal,
            predictor=wanted.predictor,
            min_gap_s=wanted.min_gap_s,
            max_gap_s=wanted.max_gap_s,
        )
        for name in wanted.policies
    ]
    replay = _Replay(past, n_visits, wanted)
    rows = [replay.own()]
    for i, one in enumerate(contenders):
        tell(i / len(contenders), one.name)
        rows.append(replay.replayed(one))
    return Backtest(
        past=past,
        goal=wanted.goal,
        predictor=wanted.predictor,
        rows=rows,
        notes=_notes(past, rows, n_visits, wanted),
    )


def _notes(past: Past, rows: Sequence[Replayed], n_visits: int, wanted: Wanted) -> list[str]:
    notes = [
        f"{past.n_changes:,} changes are known of, each to the time between two visits"
        + (f" ({past.n_timed:,} to their own time)" if past.n_timed else "")
        + "; there were at least so many. Figures are of these.",
    ]
    if past.n_left:
        notes.append(f"Left out, since nobody has looked at them for long: {past.n_left:,} resources.")
    who = "as many visits as were made" if wanted.budget_per_day is None else f"{n_visits:,} visits"
    priced = [row.policy for row in rows if row.asked is not None]
    if priced:
        notes.append(f"With {who}: {', '.join(priced)}.")
    for row in rows:
        if row.asked is not None and abs(row.visits - row.asked) > 0.02 * row.asked + 1.0:
            notes.append(
                f"{row.policy} made {row.visits:,.0f} visits, not {row.asked:,.0f}: no price within the gap "
                "bounds gives those."
            )
    return notes


class _Replay:
    def __init__(self, past: Past, n_visits: int, wanted: Wanted) -> None:
        self.past, self.n_visits, self.wanted = past, n_visits, wanted
        turn = entered_together(past.entered_at, past.end_at)
        rng = np.random.default_rng(wanted.seed)
        self.cohorts = [
            _Cohort(past.pick(rows), rng.random((wanted.n_draws, len(rows))))
            for rows in (np.flatnonzero(turn == one) for one in range(N_COHORTS))
            if len(rows)
        ]
        whole_s = float((past.end_at - past.entered_at).sum())
        self.gap_s = whole_s / max(n_visits, 1)  # on average
        self.first_gap_s = min(FIRST_GAP_S, self.gap_s)

    def own(self) -> Replayed:
        """What really happened: its visits are known, only the changes' times are not. That all known changes
        were seen says nothing, so there is no recall."""
        runs = _Run(cohort.past.visits for cohort in self.cohorts)
        shares = self.shares()
        found = self._judged(OWN, None, [runs] * len(shares), shares)
        nothing = Bounded(value=np.nan, low=np.nan, high=np.nan)
        return replace(found, measures={**found.measures, "recall": nothing})

    def replayed(self, one: Contender) -> Replayed:
        shares = self.shares()
        return self._judged(
            one.name, float(self.n_visits) if one.priced else None, self.runs(one, shares), shares
        )

    def runs(self, one: Contender, shares: Sequence[list[float | Floats]]) -> list[_Run]:
        """Each replay at a price of its own: what is learned in it differs, and so would the visits."""
        if not one.priced:
            return [self._run(one, draw, share, None) for draw, share in enumerate(shares)]
        made: list[_Run] = []
        guess = one.guess_at(self.gap_s)
        for draw, share in enumerate(shares):
            price, run = bid(partial(self._run, one, draw, share), self.n_visits, guess, TOLERANCE)
            made.append(run)
            guess = price if 0.0 < price < inf else guess
        return made

    def shares(self) -> list[list[float | Floats]]:
        """When in its interval each change came: the earliest, the latest, and anywhere."""
        rng = np.random.default_rng(self.wanted.seed + 1)
        ends: list[list[float | Floats]] = [[end] * len(self.cohorts) for end in (0.0, 1.0)]
        drawn: list[list[float | Floats]] = [
            [rng.random(cohort.past.n_changes) for cohort in self.cohorts]
            for _ in range(max(self.wanted.n_draws, 1))
        ]
        return [*ends, *drawn]

    def _run(self, one: Contender, draw: int, share: list[float | Floats], price: float | None) -> _Run:
        return _Run(
            since_entered(
                one.visits(cohort.past.traces(part), self._window(cohort, draw), price=price), cohort.past
            )
            for cohort, part in zip(self.cohorts, share, strict=True)
        )

    def _window(self, cohort: _Cohort, draw: int) -> Window:
        start_at = float(cohort.past.entered_at.min())
        phase = cohort.phase[draw % len(cohort.phase)]
        return Window(
            start_at=start_at,
            end_at=cohort.past.end_at,
            rows=np.arange(len(cohort.past)),
            first_gap_s=cohort.past.entered_at - start_at + phase * self.first_gap_s,
        )

    def _judged(
        self,
        policy: str,
        asked: float | None,
        runs: Sequence[_Run],
        shares: Sequence[list[float | Floats]],
    ) -> Replayed:
        values: dict[str, list[float]] = {name: [] for name in MEASURES}
        lows, highs = {name: [inf] for name in MEASURES}, {name: [-inf] for name in MEASURES}
        n_visits = []
        for turn, (run, share) in enumerate(zip(runs, shares, strict=True)):
            measured = joined(
                [
                    _measured(cohort.past.traces(part), visits, cohort.past)
                    for cohort, part, visits in zip(self.cohorts, share, run, strict=True)
                ]
            )
            can_be = self._bounds(run)
            for name in MEASURES:
                value = measured.value(name)
                lows[name] += [value, can_be[name][0]]
                highs[name] += [value, can_be[name][1]]
                if turn >= 2:  # the first two are the ends
                    values[name].append(value)
            n_visits.append(len(run))
        return Replayed(
            policy=policy,
            visits=float(np.mean(n_visits[2:])),
            asked=asked,
            measures={
                name: Bounded(
                    value=float(np.mean(values[name])),
                    low=float(min(lows[name])),
                    high=float(max(highs[name])),
                )
                for name in MEASURES
            },
        )

    def _bounds(self, run: _Run) -> dict[str, tuple[float, float]]:
        """Over all cohorts, each measure by what it is a share of."""
        parts = [
            (bounds(cohort.past, visits), cohort.past)
            for cohort, visits in zip(self.cohorts, run, strict=True)
        ]
        found = {}
        for name in MEASURES:
            by_change = name in ("recall", "wait_days_mean")
            weight = np.array(
                [
                    one.n_changes if by_change else float((one.end_at - one.entered_at).sum())
                    for _, one in parts
                ]
            )
            weight = weight / max(float(weight.sum()), 1e-300)
            low, high = (
                float(sum(w * part[name][end] for w, (part, _) in zip(weight, parts, strict=True)))
                for end in (0, 1)
            )
            found[name] = (low, high)
        return found


def entered_together(entered_at: Floats, end_at: float) -> Ints:
    """The cohort of each, from 0. Who replays takes the time between the first that entered and another for
    time without a change, so members wait less than a day, or little beside the time that they are watched.
    There are as few cohorts as that allows: none learns from another."""
    after_days = (entered_at - entered_at.min()) / DAY_S
    little_s = WAIT * float((end_at - entered_at).sum())
    turn: Ints = np.zeros(len(entered_at), dtype=np.int64)
    for n in range(1, N_COHORTS + 1):
        turn = classes(after_days, n).of(after_days)
        first_at = np.full(n, inf)
        np.minimum.at(first_at, turn, entered_at)
        wait_s = entered_at - first_at[turn]
        if wait_s.max() <= DAY_S or wait_s.sum() <= little_s:
            break
    return turn


def since_entered(visits: Visits, past: Past) -> Visits:
    """Without those that were made before the resource was there to be visited."""
    row = np.repeat(np.arange(len(past)), np.diff(visits.bounds))
    kept = visits.at > past.entered_at[row]
    n_each: Ints = np.bincount(row[kept], minlength=len(past))
    return Visits(bounds=np.concatenate([[0], np.cumsum(n_each)]).astype(np.int64), at=visits.at[kept])


def _measured(traces: Traces, visits: Visits, past: Past) -> Measured:
    """Each resource from the moment at which it entered."""
    start_at = float(past.entered_at.min())
    window = Window(
        start_at=start_at, end_at=past.end_at, rows=np.arange(len(past)), first_gap_s=np.zeros(len(past))
    )
    found = measure(traces, visits, window)
    before_s = past.entered_at - start_at
    return replace(
        found,
        fresh_s=found.fresh_s - before_s,
        fresh_by_content_s=found.fresh_by_content_s - before_s,
        window_s=found.window_s - before_s,
    )
