"""Every candidate for the forecast beside the floor at equal visits, on one corpus, split by split.

A rule runs first and says how many visits there are, and the floor makes as many. Policy `index` with each
candidate then runs over all resources in the whole window, at several prices; what it does in a split is read
off where it has as many visits there as the floor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any
from zlib import crc32

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.candidates import CANDIDATES, WHOLE, Candidate
from recrawl.evaluate.contenders import TOLERANCE, Contender, contender
from recrawl.evaluate.folds import ALL, SPLITS, STREAM, in_fold_a, measured_in, mixed, rows_of
from recrawl.evaluate.gains import Gain, aim, gain, gain_of
from recrawl.evaluate.intervals import Draws
from recrawl.evaluate.limits import n_evenly
from recrawl.evaluate.measures import Measured
from recrawl.evaluate.pieces import Piece, Population, Tell, adapted, each, measured_days, nobody, spared
from recrawl.evaluate.sample import held_in_memory, unweighted
from recrawl.model import Bools, Ints

RULE = "dyn"  # of all rules one in the middle, by how often it looks
FORCED = 0.02  # so near to the fewest or the most visits that the gaps allow, there is nothing left to choose
# A run is looked for that has the visits wanted within `NEAR`, and one `ASIDE` on the other side; between two
# runs that are at most `WIDEST` off, either way, what is wanted is read off.
NEAR, ASIDE, WIDEST = 0.02, 0.03, 0.06
_UNEQUAL = 0.01
_FLOOR = "floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One corpus and one goal. Gains and numbers of visits are by candidate and then by split."""

    corpus: str
    goal: str
    title: str
    days: float
    n_resources: int
    n_draws: int
    n_visits: int  # in the mean over draws
    grouped_by: str  # what a fold has whole, and what is resampled
    gains: Mapping[str, Mapping[str, Gain]]  # over the floor
    visits: Mapping[str, Mapping[str, float]]  # beside the floor's: 1 is as many
    notes: Sequence[str]

    def document(self) -> dict[str, Any]:
        """All of it, so that `trial_of` has the same again, its replicates to five digits."""
        own = ("corpus", "goal", "title", "days", "n_resources", "n_draws", "n_visits", "grouped_by")
        return {
            **{name: getattr(self, name) for name in own},
            "gains": {
                name: {split: one.document() for split, one in of.items()} for name, of in self.gains.items()
            },
            "visits": self.visits,
            "notes": list(self.notes),
        }


def trial_of(document: Mapping[str, Any]) -> Trial:
    gains = {
        name: {split: gain_of(one) for split, one in of.items()} for name, of in document["gains"].items()
    }
    return Trial(**{**document, "gains": gains})


def tried(
    name: str,
    corpus: Histories,
    ask: Ask,
    goals: Sequence[str],
    tell: Tell,
    candidates: Sequence[Candidate] = CANDIDATES,
) -> list[Trial]:
    """A trial for each goal; none where the gap bounds alone make the visits. `ask.policies` is the rule
    whose visits all make; more resources than `ask.n_at_once` are sampled, evenly."""
    ask, notes = adapted(corpus, ask)
    held = held_in_memory(corpus, ask, notes)
    if held is None or not all(len(window.rows) for window in held.windows):
        raise nobody(corpus, ask.days)
    held = unweighted(held, notes)
    days = measured_days(held.windows, notes)
    ask = spared(held, ask, notes)
    found = []
    for turn, goal in enumerate(goals):
        replay = _Replay(held, ask, goal, candidates, partial(_later, tell, turn, len(goals)))
        draws = list(each(replay.draw, ask.n_draws, ask.n_cores))
        if any(draw.forced for draw in draws):
            continue
        visits = _beside(draws, candidates)
        found.append(
            Trial(
                corpus=name,
                goal=goal,
                title=corpus.about.title,
                days=days,
                n_resources=round(np.mean([len(window.rows) for window in held.windows])),
                n_draws=ask.n_draws,
                n_visits=round(np.mean([_n(draw.made[_FLOOR][ALL]) for draw in draws])),
                grouped_by=held.grouped_by,
                gains={
                    one.name: {
                        split: _gain(draws, one.name, split, goal, (ask.seed, crc32(name.encode())))
                        for split in SPLITS
                    }
                    for one in candidates
                },
                visits=visits,
                notes=[*notes, *_unequal(visits)],
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class _Drawn:
    made: Mapping[str, Mapping[str, Measured]]  # by candidate (or the floor), and split
    groups: Mapping[str, Ints]  # by split
    forced: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """What a run came to in one split; as long as it has visits there."""

    measured: Measured

    def __len__(self) -> int:
        return _n(self.measured)


class _Replay:
    def __init__(self, held: Piece, ask: Ask, goal: str, candidates: Sequence[Candidate], tell: Tell) -> None:
        self._held, self._ask, self._tell = held, ask, tell
        self._in_a = in_fold_a(held.group)
        named = partial(contender, goal=goal, min_gap_s=ask.min_gap_s, max_gap_s=ask.max_gap_s)
        (rule,) = ask.policies
        self._rule, self._floor = named(rule), named("floor")
        # the whole first: the others' prices are looked for near its own
        self._ours = {
            one.name: named("index", predictor=one.predictor, without=one.without)
            for one in sorted(candidates, key=lambda one: one.name != WHOLE)
        }
        self._n_done = 0
        self._lock = Lock()

    def draw(self, draw: int) -> _Drawn:
        some, in_a = self._held.population(draw), self._in_a[self._held.windows[draw].rows]
        n_visits = len(self._rule.visits(some.traces, some.window))
        fewest, most = (n_evenly(gap_s, some.window) for gap_s in (self._ask.max_gap_s, self._ask.min_gap_s))
        if n_visits <= (1.0 + FORCED) * fewest or n_visits >= (1.0 - FORCED) * most:
            return _Drawn({}, {}, forced=True)
        guess = self._floor.guess(some.traces, some.window, n_visits)
        runs = _Runs(self._floor, some, in_a)
        floor = runs.made[bid(runs.part(ALL), n_visits, guess, TOLERANCE)[0]]
        made: dict[str, Mapping[str, Measured]] = {_FLOOR: floor}
        for name, one in self._ours.items():
            runs = _Runs(one, some, in_a)
            made[name] = {split: runs.at(_n(floor[split]), split, guess) for split in SPLITS}
            guess = runs.nearest(_n(floor[ALL]), ALL) if name == WHOLE else guess
            with self._lock:
                self._n_done += 1
                share = self._n_done / (len(self._ours) * self._ask.n_draws)
                self._tell(share, f"{one.goal}: {name}, draw {draw + 1} of {self._ask.n_draws}")
        groups = {split: some.group[rows_of(split, in_a)] for split in SPLITS}
        return _Drawn(made, groups, forced=False)


class _Runs:
    """Runs of one contender over all resources in the whole window, by their prices; each may do for several
    splits."""

    def __init__(self, one: Contender, some: Population, in_a: Bools) -> None:
        self._one, self._some, self._in_a = one, some, in_a
        self.made: dict[float, dict[str, Measured]] = {}

    def part(self, split: str) -> Callable[[float], _Part]:
        def run(price: float) -> _Part:
            if price not in self.made:
                traces, window = self._some.traces, self._some.window
                visits = self._one.visits(traces, window, price=price)
                self.made[price] = measured_in(traces, visits, window, self._in_a)
            return _Part(self.made[price][split])

        return run

    def at(self, n_visits: int, split: str, guess: float) -> Measured:
        """What it does in a split with so many visits there: read off between the nearest run that has as
        many and the nearest that has fewer, in proportion. Where no two such runs are near, the nearest."""
        for wanted in (n_visits, *(round(n_visits * (1.0 + side * ASIDE)) for side in (1.0, -1.0))):
            ends = self._ends(n_visits, split)
            if ends is not None:
                break
            known = {price: _Part(made[split]) for price, made in self.made.items()}
            bid(self.part(split), wanted, guess, NEAR, known)
        ends = self._ends(n_visits, split)
        if ends is None:
            return self.made[self.nearest(n_visits, split)][split]
        fewer, more = ends
        return mixed(fewer, more, (n_visits - _n(fewer)) / (_n(more) - _n(fewer)))

    def nearest(self, n_visits: int, split: str) -> float:
        return min(self.made, key=lambda price: abs(_n(self.made[price][split]) - n_visits))

    def _ends(self, n_visits: int, split: str) -> tuple[Measured, Measured] | None:
        """The nearest runs with fewer and with at least as many visits, where both are near."""
        parts = sorted((made[split] for made in self.made.values()), key=_n)
        fewer = [part for part in parts if (1.0 - WIDEST) * n_visits <= _n(part) < n_visits]
        more = [part for part in parts if n_visits <= _n(part) <= (1.0 + WIDEST) * n_visits]
        return (fewer[-1], more[0]) if fewer and more else None


def _gain(draws: Sequence[_Drawn], name: str, split: str, goal: str, seed: tuple[int, int]) -> Gain:
    groups = [draw.groups[split] for draw in draws]
    ours, floor = (Draws([draw.made[who][split] for draw in draws], groups) for who in (name, _FLOOR))
    return gain([(ours, floor)], aim(goal)[0], seed=(*seed, STREAM[split]))


def _n(measured: Measured) -> int:
    return round(float(measured.n_visits.sum()))


def _beside(draws: Sequence[_Drawn], candidates: Sequence[Candidate]) -> dict[str, dict[str, float]]:
    def n(name: str, split: str) -> int:
        return sum(_n(draw.made[name][split]) for draw in draws)

    return {
        one.name: {split: n(one.name, split) / max(n(_FLOOR, split), 1) for split in SPLITS}
        for one in candidates
    }


def _unequal(visits: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Where no price gives as many visits, that is said."""
    return [
        f"{name} made {share:.3f} times the floor's visits ({split}): no price was found that gives as many."
        for name, of in visits.items()
        for split, share in of.items()
        if abs(share - 1.0) > _UNEQUAL
    ]


def _later(tell: Tell, turn: int, n_turns: int, share: float, what: str) -> None:
    tell((turn + share) / n_turns, what)
