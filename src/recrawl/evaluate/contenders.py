"""Everything that can be measured against everything else, by name: rules, and policies with a price.

A rule decides by itself how often it looks. A policy with a price is run at the price that gives the number
of visits asked for, so that all can be compared at equal cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from recrawl import registry
from recrawl.contracts import Predictor
from recrawl.errors import BadInputError, UnknownPartError
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.grounding import fits
from recrawl.evaluate.protocol import FIRST_GAP_S, Window
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.model import HOUR_S, Floats, Ints
from recrawl.schedule.closed import EXPECTED
from recrawl.schedule.policies.classes import CLASSED
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.proportional import Proportional
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.rule import Rule
from recrawl.schedule.policies.rules.step import FIXED
from recrawl.simulate.classed import walk_classed
from recrawl.simulate.columns import walk_columns
from recrawl.simulate.floor import walk_floor
from recrawl.simulate.rhythms import walk_rhythm
from recrawl.simulate.scalar import GOALS
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import walk, walk_index

ARCHIVER = ("fix", "dyn", "window", "state-1", "state-2", "gold", "week")
PRICED = ("uniform", "round-robin", "proportional", "index", "floor")
PEERS = (
    *("nutch", "storm-crawler", "heritrix", "miniflux", "commafeed", "hydra"),
    *("freshrss-autottl", "changedetection"),
)
NAMES: tuple[str, ...] = (*ARCHIVER, *PRICED, *PEERS, *CLASSED)

DEFAULT_PREDICTOR = "rhythm"  # what `index` forecasts with, unless it is told otherwise

GROUNDS = "priors"  # what is left out where a rhythm keeps to the prior that it began with

_RHYTHMS = ("rhythm", "either")  # histories tell of no moments, and without any these are the same

TOLERANCE = 0.005  # of the number of visits: equal cost, well within the one in a hundred that is asked for
_N_PILOT = 1_500  # resources on which a price is looked for before all are run


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """`rule` is None for policies with a price, and for those of rate classes. Without bounds a rule keeps
    its own, and its first gap."""

    name: str
    rule: Rule | None
    goal: str
    predictor: str
    min_gap_s: float | None
    max_gap_s: float | None
    without: tuple[str, ...] = ()  # parts of the rhythm that are left out, or `GROUNDS`

    @property
    def priced(self) -> bool:
        return self.name in PRICED

    def visits(
        self, traces: Traces, window: Window, *, n_visits: int | None = None, price: float | None = None
    ) -> Visits:
        """The visits that it makes to the window's population, whose traces these are.

        A policy with a price makes `n_visits`, within one in a hundred where its bounds allow it; or as many
        as a given `price` has. Rules ignore both.
        """
        if self.rule is not None:
            return self._ruled(self.rule, traces, window)
        if self.name in CLASSED:
            return self._classed(traces, window)
        if price is not None:
            return self._at(price, traces, window, window.first_gap_s)
        if n_visits is None:
            raise BadInputError(
                f"{self.name} looks as often as it is paid for; say how many visits it may make (n_visits)."
            )
        return self._bidden(traces, window, n_visits, TOLERANCE)[1]

    def price(self, traces: Traces, window: Window, n_visits: int) -> float:
        """The price at which it makes this many visits; for all of a corpus that comes in chunks, say."""
        return self._bidden(traces, window, n_visits, TOLERANCE)[0]

    def guess(self, traces: Traces, window: Window, n_visits: int) -> float:
        """A price to begin with: see `guess_at`."""
        return self.guess_at(len(traces) * window.length_s / max(n_visits, 1))

    def guess_at(self, gap_s: float) -> float:
        """A price to begin with where gaps are so long on average, in the policy's own unit: a gap, changes
        expected, or what a visit is worth (the chance of a change, or seconds)."""
        if self.name in ("uniform", "round-robin"):
            return gap_s
        return 1.0 if self.name == "proportional" else 0.2 if self.goal == "capture" else gap_s / 10.0

    def _bidden(
        self, traces: Traces, window: Window, n_visits: int, tolerance: float
    ) -> tuple[float, Visits]:
        guess = self.guess(traces, window, n_visits)
        if self.name not in ("uniform", "round-robin") and len(traces) > 4 * _N_PILOT:
            few: Ints = np.arange(0, len(traces), len(traces) // _N_PILOT)
            share = max(1, round(n_visits * len(few) / len(traces)))
            first_s = window.first_gap_s[few]
            pilot = traces.pick(few)
            guess, _ = bid(lambda p: self._at(p, pilot, window, first_s), share, guess, 4 * tolerance)
        return bid(lambda p: self._at(p, traces, window, window.first_gap_s), n_visits, guess, tolerance)

    def _ruled(self, rule: Rule, traces: Traces, window: Window) -> Visits:
        own = self.min_gap_s is None and self.max_gap_s is None
        return walk(
            rule,
            traces,
            start_at=window.start_at,
            end_at=window.end_at,
            first_gap_s=window.first_gap_s,
            min_gap_s=self.min_gap_s,
            max_gap_s=self.max_gap_s,
            start_gap_s=None if own else FIRST_GAP_S,
        )

    def _classed(self, traces: Traces, window: Window) -> Visits:
        return walk_classed(
            CLASSED[self.name](),
            traces,
            start_at=window.start_at,
            end_at=window.end_at,
            first_gap_s=window.first_gap_s,
            min_gap_s=0.0 if self.min_gap_s is None else self.min_gap_s,
            max_gap_s=inf if self.max_gap_s is None else self.max_gap_s,
        )

    def _at(self, price: float, traces: Traces, window: Window, first_gap_s: Floats) -> Visits:
        low_s, high_s = self._bounds()
        if self.name in ("uniform", "round-robin"):
            gap_s = min(max(price, low_s), high_s)
            # in turn: the first round takes as long as every other, whatever the first gaps of others are
            turn_s = gap_s if self.name == "round-robin" else FIRST_GAP_S
            return walk(
                Rule(name=self.name, code=FIXED, start_gap_s=gap_s, min_gap_s=gap_s, max_gap_s=gap_s),
                traces,
                start_at=window.start_at,
                end_at=window.end_at,
                first_gap_s=first_gap_s / FIRST_GAP_S * turn_s,
                start_gap_s=gap_s,
            )
        if self.name == "floor":
            return walk_floor(
                traces,
                start_at=window.start_at,
                end_at=window.end_at,
                first_gap_s=first_gap_s,
                min_gap_s=low_s,
                max_gap_s=high_s,
                price=price,
                goal=self.goal,
            )
        goal = EXPECTED if self.name == "proportional" else GOALS.get(self.goal)
        if self.predictor in _RHYTHMS and goal is not None and goal != EXPECTED:
            return walk_rhythm(
                traces,
                start_at=window.start_at,
                end_at=window.end_at,
                first_gap_s=first_gap_s,
                min_gap_s=low_s,
                max_gap_s=high_s,
                price=price,
                goal=goal,
                predictor=Rhythm(without=_parts(self.without)),
                replan_every_s=HOUR_S,  # as runs do, unless they are told otherwise
                fits=None if GROUNDS in self.without else fits(traces, window),
            )
        # what is expected in the mean needs no rhythm: `proportional` goes by the Gamma filter
        if self.predictor in ("gamma", *_RHYTHMS) and goal is not None:
            return walk_index(
                traces,
                start_at=window.start_at,
                end_at=window.end_at,
                first_gap_s=first_gap_s,
                min_gap_s=low_s,
                max_gap_s=high_s,
                price=price,
                goal=goal,
                predictor=GammaFilter(),
            )
        proportional = self.name == "proportional"
        return walk_columns(
            predictor_named(self.predictor),
            Proportional() if proportional else Index(registry.made("goals", self.goal)),
            traces,
            start_at=window.start_at,
            end_at=window.end_at,
            first_gap_s=first_gap_s,
            min_gap_s=low_s,
            max_gap_s=high_s,
            price=price,
        )

    def _bounds(self) -> tuple[float, float]:
        if self.min_gap_s is None or self.max_gap_s is None:
            raise BadInputError(f"{self.name} has no bounds of its own; give a smallest and a largest gap.")
        return self.min_gap_s, self.max_gap_s


def contender(
    name: str,
    *,
    goal: str = "fresh",
    predictor: str = DEFAULT_PREDICTOR,
    min_gap_s: float | None = None,
    max_gap_s: float | None = None,
    without: tuple[str, ...] = (),
) -> Contender:
    """One of `NAMES`. Goal and predictor matter to `index` (the predictor to `proportional` too, and the goal
    to `floor`). Of the rhythm that `index` goes by, parts may be left out (`without`)."""
    if name not in NAMES:
        raise UnknownPartError(f"There is no policy called {name!r}; choose some of: {', '.join(NAMES)}.")
    registry.part("goals", goal)  # also where the policy looks at none: a wrong word is wrong everywhere
    registry.part("predictors", predictor)
    if without:
        Rhythm(without=_parts(without))  # which knows its parts
        if (name, predictor) != ("index", "rhythm"):
            raise BadInputError(
                f"{name} with predictor {predictor} has no parts to leave out; name policy index and "
                "predictor rhythm."
            )
    if name == "floor" and goal not in GOALS:
        raise BadInputError(
            f"The floor has no form for the goal {goal!r}; choose one of: {', '.join(GOALS)}."
        )
    found = Contender(
        name=name,
        rule=RULES.get(name),
        goal=goal,
        predictor=predictor,
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        without=without,
    )
    if found.priced:
        found._bounds()
    return found


def _parts(without: tuple[str, ...]) -> tuple[str, ...]:
    """Those that the rhythm itself is made without."""
    return tuple(part for part in without if part != GROUNDS)


def predictor_named(name: str) -> Predictor:
    """A new one, which has learned nothing yet."""
    found: Predictor = registry.made("predictors", name)
    return found


def predictors_named(text: str | None) -> tuple[str, ...]:
    """From a list with commas; all there are, the default one first, where nothing is said."""
    if text is None:
        others = (one for one in registry.names("predictors") if one != DEFAULT_PREDICTOR)
        return (DEFAULT_PREDICTOR, *others)
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    if not names:
        raise BadInputError("No predictor is named; name one, or leave the option out for all.")
    return tuple(registry.check("predictors", name).name for name in names)
