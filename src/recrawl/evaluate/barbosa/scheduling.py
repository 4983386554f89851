"""Pages scheduled from their first visit on, by the default predictor, with and without first sight.

Both know the same of other pages: priors fitted to their daily visits, of each site its own where it told
enough. Each finds the price at which it makes the same number of visits, and chooses every gap itself, the
first one too. Beside them go two more. To the one all new pages are alike, whatever their site: the same
prior without sites. The other knows each page's rate beforehand: what is stale beyond it is lost to not
knowing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from recrawl.evaluate.barbosa.stretches import Sums, nth_visit_at, stretch
from recrawl.evaluate.bidding import bid
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.model import DAY_S, HOUR_S, Floats, Ints, Priors
from recrawl.schedule.closed import FRESH
from recrawl.simulate.rhythms import walk_rhythm
from recrawl.simulate.scalar import reached_gap
from recrawl.simulate.traces import Traces, Visits

N_VISITS = 10  # of each page that count as the first
WITH, WITHOUT, ALIKE, KNOWING = "with", "without", "alike", "knowing"
WAYS = (WITH, WITHOUT, ALIKE, KNOWING)
_TOLERANCE = 0.004
_SURE = 100.0  # changes that the one who knows the rate is taken to have seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    start_at: float
    end_at: float
    min_gap_s: float
    max_gap_s: float
    gap_s: float  # in the mean: so many visits there are


@dataclass(frozen=True, slots=True)
class Firsts:
    """What became of one split's test pages, by way."""

    upto: list[dict[str, Sums]]  # until both ways have visited a page once, twice, … ten times
    first: dict[str, Sums]  # the whole time in which ten visits a page are paid for
    later: dict[str, Sums]  # what comes after it
    prices: dict[str, tuple[float, float]]  # of the two


class Part:
    """A walk of which the visits in one part of the time are counted."""

    def __init__(self, visits: Visits, since_at: float, until_at: float) -> None:
        self.visits = visits
        self._n = int(np.count_nonzero((visits.at > since_at) & (visits.at <= until_at)))

    def __len__(self) -> int:
        return self._n


def scheduled(
    traces: Traces,
    priors: Priors,
    hunch_per_day: Floats,
    terms: Terms,
    groups: tuple[Ints, int],
    guess: Mapping[str, tuple[float, float]] | None = None,
) -> Firsts:
    """These pages, none of which anything was learned from, with the group of each and how many groups there
    are; prices of other pages save some tries."""
    middle_at = min(terms.start_at + N_VISITS * terms.gap_s, terms.end_at)
    n = len(traces)
    ways = {
        WITH: (replace(traces, hunch_per_day=hunch_per_day), priors),
        WITHOUT: (replace(traces, hunch_per_day=None), replace(priors, hunched=None)),
        ALIKE: (replace(traces, hunch_per_day=None), Priors(shape=priors.shape, scale_s=priors.scale_s)),
        KNOWING: (replace(traces, hunch_per_day=_rates(traces, terms)), _sure(priors)),
    }
    first, later, prices = {}, {}, {}
    for name, (some, held) in ways.items():
        low, high = (None, None) if guess is None else guess[name]
        price, part = _matched(some, held, terms, terms.start_at, middle_at, low)
        first[name] = part.visits
        after, part = _matched(some, held, terms, middle_at, terms.end_at, high or price)
        later[name] = part.visits
        prices[name] = (price, after)
    start, middle, end = (np.full(n, at) for at in (terms.start_at, middle_at, terms.end_at))

    def until(k: int) -> Floats:
        both = [nth_visit_at(first[name], k, middle_at) for name in (WITH, WITHOUT)]
        return np.maximum(*both)

    def sums(visits: dict[str, Visits], since_at: Floats, until_at: Floats) -> dict[str, Sums]:
        return {
            name: stretch(traces, made, since_at, until_at, terms.start_at).total(*groups)
            for name, made in visits.items()
        }

    return Firsts(
        [sums(first, start, until(k)) for k in range(1, N_VISITS + 1)],
        sums(first, start, middle),
        sums(later, middle, end),
        prices,
    )


def _matched(
    traces: Traces, priors: Priors, terms: Terms, since_at: float, until_at: float, guess: float | None
) -> tuple[float, Part]:
    """The walk, from the first visit on, that makes as many visits in a part of the time as are paid for."""
    n_wanted = max(1, round(len(traces) * (until_at - since_at) / terms.gap_s))
    end_at = until_at + 1.0

    def walked(price: float) -> Part:
        return Part(_walked(traces, priors, terms, price, end_at), since_at, until_at)

    return bid(walked, n_wanted, terms.gap_s / 10.0 if guess is None else guess, _TOLERANCE)


def _walked(traces: Traces, priors: Priors, terms: Terms, price: float, end_at: float) -> Visits:
    predictor = Rhythm()
    predictor.ground(priors)
    shape, scale_s = priors.of(traces.host + 1, traces.hunch_per_day)
    first_gap_s = [
        reached_gap(FRESH, a, b_s, 1.0, price, terms.min_gap_s, terms.max_gap_s)
        for a, b_s in zip(shape.tolist(), scale_s.tolist(), strict=True)
    ]
    return walk_rhythm(
        replace(traces, weight=np.ones(len(traces))),
        start_at=terms.start_at,
        end_at=end_at,
        first_gap_s=np.array(first_gap_s, dtype=np.float64),
        min_gap_s=terms.min_gap_s,
        max_gap_s=terms.max_gap_s,
        price=price,
        goal=FRESH,
        predictor=predictor,
        replan_every_s=max(HOUR_S, terms.min_gap_s / 4.0),
    )


def _rates(traces: Traces, terms: Terms) -> Floats:
    """Of the very time that is to come; what does not change in it has about a third of a change."""
    inside = (traces.at > terms.start_at) & (traces.at <= terms.end_at)
    owner = np.repeat(np.arange(len(traces)), traces.n_changes)
    n_changes = np.bincount(owner[inside], minlength=len(traces))
    return np.maximum(n_changes, 0.3) * DAY_S / (terms.end_at - terms.start_at)


def _sure(priors: Priors) -> Priors:
    return replace(priors, hunched=Priors(shape=_SURE, scale_s=_SURE * DAY_S))
