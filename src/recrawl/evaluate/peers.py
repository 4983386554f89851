"""Every rule against ours, rule by rule at the same number of visits.

A rule runs first and decides how often it looks. Then ours (policy `index`) and the floor run over the same
resources in the same window, each at the price that gives as many visits. All of them begin with the window's
first visits, a rule that knows the future too: when they come tells nobody anything, and they are left out
where visits are counted to be equal. What all meet alike cancels out in the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from threading import Lock
from zlib import crc32

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.contenders import ARCHIVER, PEERS, TOLERANCE, Contender, contender
from recrawl.evaluate.gains import aim, gain
from recrawl.evaluate.intervals import difference, spread
from recrawl.evaluate.limits import n_evenly, omniscient_within
from recrawl.evaluate.matches import MEASURES, N_LIMIT_DRAWS, Match, Peers
from recrawl.evaluate.measures import mean_score, measure
from recrawl.evaluate.pieces import (
    Piece,
    Population,
    Tell,
    adapted,
    counted,
    each,
    measured_days,
    nobody,
    spared,
)
from recrawl.evaluate.sample import held_in_memory, unweighted
from recrawl.evaluate.sums import Sums, draws_of
from recrawl.schedule.policies.classes import CLASSED
from recrawl.simulate.traces import Visits

RULES = (*ARCHIVER, *PEERS)
KNOWN = (*RULES, *CLASSED)  # rate classes are tried where they are named
LIMITS = ("recall", "freshness", "wait_days_mean")
GAINS = ("freshness", "delay_days_mean", "recall", "harmonic")
FORCED = 0.02  # so near to the fewest or the most visits that the gaps allow, there is nothing left to choose


@dataclass(frozen=True, slots=True)
class _Made:
    """What the visits of one run came to; it is as long as it has visits that somebody decided on."""

    sums: Sums
    n_first: int

    def __len__(self) -> int:
        return self.sums.n_visits - self.n_first


@dataclass(frozen=True, slots=True)
class _Round:
    """A rule in one draw: its own, ours, the floor's, and the fewest and most visits within the gaps."""

    theirs: Sums
    ours: Sums
    floor: Sums
    fewest: int
    most: int
    n_first: int
    limits: Sequence[float] | None


def evaluate(name: str, corpus: Histories, ask: Ask, tell: Tell) -> Peers:
    """`ask.policies` are the rules. More resources than fit in memory are sampled, evenly."""
    aim(ask.goal)
    ask, notes = adapted(corpus, ask)
    held = held_in_memory(corpus, ask, notes)
    if held is None or not any(len(window.rows) for window in held.windows):
        raise nobody(corpus, ask.days)
    held = unweighted(held, notes)
    notes += counted(corpus)
    days = measured_days(held.windows, notes)
    ask = spared(held, ask, notes)
    replay = _Replay(held, ask, tell)
    draws = list(each(replay.draw, ask.n_draws, ask.n_cores))
    rows = [_match(rule, ask, [draw[i] for draw in draws]) for i, rule in enumerate(ask.policies)]
    pairs = [
        (draws_of([draw[i].ours for draw in draws]), draws_of([draw[i].floor for draw in draws]))
        for i, row in enumerate(rows)
        if not row.forced and row.surplus(row.ours, row.floor) <= 0.0
    ]
    seed = (ask.seed, crc32(corpus.about.name.encode()))
    return Peers(
        corpus=name,
        about=corpus.about,
        ask=ask,
        days=days,
        grouped_by=held.grouped_by,
        rows=rows,
        gains={what: gain(pairs, what, seed=seed) for what in GAINS} if pairs else {},
        notes=[*notes, *_unequal(rows)],
    )


class _Replay:
    """One draw after the other; several at once where there are cores."""

    def __init__(self, held: Piece, ask: Ask, tell: Tell) -> None:
        self._held, self._ask, self._tell = held, ask, tell
        self._rules = {name: self._contender(name) for name in ask.policies}
        self._ours, self._floor = self._contender("index"), self._contender("floor")
        self._n_done = 0
        self._lock = Lock()

    def draw(self, draw: int) -> list[_Round]:
        some = self._held.population(draw)
        # Runs at other prices stay known: rules that look about as often need one more run, or none.
        known: dict[str, dict[float, _Made]] = {}
        fewest, most = self._ends(some)
        found = []
        for name, rule in self._rules.items():
            theirs = self._made(some, rule.visits(some.traces, some.window))
            ours, floor = (
                self._equal(some, one, theirs, known.setdefault(one.name, {}))
                for one in (self._ours, self._floor)
            )
            limits = self._limits(some, theirs.sums.n_visits) if draw < N_LIMIT_DRAWS else None
            found.append(_Round(theirs.sums, ours.sums, floor.sums, fewest, most, theirs.n_first, limits))
            with self._lock:
                self._n_done += 1
                share = self._n_done / (len(self._rules) * self._ask.n_draws)
                self._tell(share, f"{name}, draw {draw + 1} of {self._ask.n_draws}")
        return found

    def _equal(self, some: Population, one: Contender, theirs: _Made, known: dict[float, _Made]) -> _Made:
        def run(price: float) -> _Made:
            return self._made(some, one.visits(some.traces, some.window, price=price))

        if not len(some.traces):
            return run(1.0)
        # At either end of the gaps the number of visits is known, and they may be very many.
        fewest, most = (n - theirs.n_first for n in self._ends(some))
        free = len(theirs) >= (1.0 - TOLERANCE) * most
        if free or len(theirs) <= (1.0 + TOLERANCE) * fewest:
            price = 0.0 if free else inf
            if price not in known:
                known[price] = run(price)
            return known[price]
        guess = one.guess(some.traces, some.window, theirs.sums.n_visits)
        return bid(run, len(theirs), guess, TOLERANCE, known)[1]

    def _ends(self, some: Population) -> tuple[int, int]:
        """The fewest and the most visits within the gaps."""
        return n_evenly(self._ask.max_gap_s, some.window), n_evenly(self._ask.min_gap_s, some.window)

    def _made(self, some: Population, visits: Visits) -> _Made:
        sums = Sums.of(measure(some.traces, visits, some.window), some.group, self._held.n_groups)
        return _Made(sums, int(np.count_nonzero(np.diff(visits.bounds))))

    def _limits(self, some: Population, n_visits: int) -> list[float] | None:
        if not len(some.traces):
            return None
        best = omniscient_within(
            some.traces,
            some.window,
            n_visits,
            min_gap_s=self._ask.min_gap_s,
            max_gap_s=self._ask.max_gap_s,
        )
        return [getattr(best, name) for name in LIMITS]

    def _contender(self, name: str) -> Contender:
        ask = self._ask
        return contender(
            name, goal=ask.goal, predictor=ask.predictor, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s
        )


def _match(rule: str, ask: Ask, rounds: Sequence[_Round]) -> Match:
    own = aim(ask.goal)[0]
    theirs, ours, floor = ([getattr(one, who) for one in rounds] for who in ("theirs", "ours", "floor"))
    ours_drawn, rule_drawn, floor_drawn = draws_of(ours), draws_of(theirs), draws_of(floor)
    scores = {who: [one.score() for one in made] for who, made in enumerate((theirs, ours, floor))}
    leads = [getattr(a, own) - getattr(b, own) for a, b in zip(scores[1], scores[0], strict=True)]
    # first visits are everybody's, and no choice of anybody
    n_first = sum(one.n_first for one in rounds)
    n_visits = sum(one.n_visits for one in theirs) - n_first
    fewest, most = (sum(getattr(one, end) for one in rounds) - n_first for end in ("fewest", "most"))
    return Match(
        rule=rule,
        goal=ask.goal,
        theirs=mean_score(scores[0]),
        ours=mean_score(scores[1]),
        floor=mean_score(scores[2]),
        differences={name: difference(ours_drawn, rule_drawn, name) for name in MEASURES},
        over_floor={name: difference(ours_drawn, floor_drawn, name) for name in MEASURES},
        forced=n_visits <= (1.0 + FORCED) * fewest or n_visits >= (1.0 - FORCED) * most,
        spread=spread(leads)[1],
        limits=_mean_limits(rounds),
        first_visits=round(sum(one.n_first for one in rounds) / len(rounds)),
    )


def _mean_limits(rounds: Sequence[_Round]) -> Mapping[str, float]:
    known = [one.limits for one in rounds if one.limits is not None]
    return {name: spread([one[i] for one in known])[0] for i, name in enumerate(LIMITS)}


def _unequal(rows: Sequence[Match]) -> list[str]:
    """Where no price gives as many visits, that is said."""
    return [
        f"{who} made {made.visits:,} visits beside the {row.theirs.visits:,} of {row.rule}: no price within "
        "the gap bounds gives those."
        for row in rows
        for who, made in (("ours", row.ours), ("the floor", row.floor))
        if max(row.surplus(made, row.theirs), row.surplus(row.theirs, made)) > 0.0
    ]
