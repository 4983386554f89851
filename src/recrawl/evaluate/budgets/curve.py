"""Budgets side by side: what each buys, who gains by more and loses by less, and how much is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np

from recrawl.contracts import Forecasts
from recrawl.evaluate.budgets.offers import Offers
from recrawl.evaluate.budgets.outlook import Expected, Gaps, Outlook, even, outlook
from recrawl.evaluate.budgets.sureness import (
    BETWEEN,
    BURST,
    Sureness,
    always_changed,
    clumped,
    even_odds,
    others,
    rates,
    with_rates,
)
from recrawl.evaluate.budgets.untold import Doubts, Untold
from recrawl.model import DAY_S, Floats, Ints, Seen
from recrawl.schedule.budget import lowest_price

N_ASKED = 3_000  # of more resources than this, so many are asked for the curve
N_SURE = 800  # and so many for how sure it is
MEASURES = ("freshness", "recall", "delay_days_mean", "harmonic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """What a budget buys. `n_full` hosts have no room for more."""

    per_day: float  # that there are
    made_per_day: float  # fewer, where even the smallest gaps need no more
    price: float
    measures: dict[str, Expected]
    n_full: int

    def document(self) -> dict[str, Any]:
        return {
            "per_day": self.per_day,
            "made_per_day": self.made_per_day,
            "price": None if self.price == inf else self.price,
            "hosts_full": self.n_full,
            **{name: found.document() for name, found in self.measures.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The budget for knowing of `share` of all changes `within_s`; `reachable` is the most that any has."""

    within_s: float
    share: float
    per_day: float | None  # None: no budget is enough
    most_per_day: float  # what the smallest gaps and the hosts' limits allow
    reachable: float
    bought: Bought | None
    n_bound: int  # resources whose smallest gap is longer than that, and …
    n_full: int  # … hosts that are full, at the most that is possible

    def document(self) -> dict[str, Any]:
        return {
            "within_s": self.within_s,
            "share": self.share,
            "possible": self.per_day is not None,
            "per_day": self.per_day,
            "most_per_day": self.most_per_day,
            "reachable_share": self.reachable,
            "resources_with_longer_min_gap": self.n_bound,
            "hosts_full": self.n_full,
            "bought": None if self.bought is None else self.bought.document(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What another budget means to one resource: its gap, and what it adds to the goal's measure."""

    id: int
    gap_s: float
    other_gap_s: float
    value: float
    other_value: float


class Budgets:
    """Answers for any budget. What many resources have in common is worked out on some of them, taken evenly
    over all rates of change. `useful` is the share of visits that tell something; all are paid for."""

    def __init__(
        self,
        offers: Offers,
        *,
        within_s: float,
        scatter: float = 1.0,
        useful: float = 1.0,
    ) -> None:
        self._all, self.within_s, self.scatter = offers, within_s, scatter
        n = len(offers.batch)
        rate = offers.forecasts.n_expected(np.ones(n))
        order = np.lexsort((offers.batch.id, rate))
        self._rows: Ints = np.sort(_evenly(order, N_ASKED))
        self.some = offers if len(self._rows) == n else offers.pick(self._rows)
        self._asked: tuple[int, Offers] | None = None
        here = np.argsort(self.some.forecasts.n_expected(np.ones(len(self.some.batch))), kind="stable")
        self._sure_rows = np.sort(_evenly(here, N_SURE))
        forecasts = self.some.forecasts.pick(self._sure_rows)
        self._sureness = Sureness(forecasts, n / max(len(self._sure_rows), 1), scatter)
        self._guess, self.useful = 1.0, useful
        self._untold: Untold | None = None
        always = always_changed(self.some.batch)
        self.n_always = round(self.some.times * float(always.sum()))
        self.always: Ints = np.flatnonzero(always)  # rows of `some`
        self._faster: Forecasts | None = None  # what is to be believed of these
        self._unsure = (
            [replace(self.some, forecasts=one) for one in others(self.some.forecasts, always)]
            if always.any()
            else []
        )

    def recount(self, seen: Seen) -> None:
        """Visits to some of those that had always changed, the newest ones, tell how fast they are at least:
        from now on these and the others like them are taken to be as fast."""
        these = self.some.forecasts.pick(self.always)
        believed = rates(these)
        ids, rate = even_odds(seen)
        if believed is None or not len(ids):
            return
        row = np.searchsorted(self.some.batch.id[self.always], ids)
        times = np.full(len(believed), np.median(rate / believed[row]))
        times[row] = rate / believed[row]
        self._faster = with_rates(these, BETWEEN * times * believed)

    def doubt(self, doubts: Doubts) -> None:
        """Visits of these resources may not tell of their changes: from now on intervals allow for that."""
        self._untold = Untold(doubts, self.some.batch, self.some.forecasts, self.some.times)

    def bought(self, per_day: float, names: Sequence[str] = MEASURES) -> Bought:
        price, gaps = self.some.at(per_day * self.useful, self._guess)
        if 0.0 < price < inf:
            self._guess = price
        return self._judged(per_day, price, gaps, names)

    def _judged(self, per_day: float, price: float, gaps: Gaps, names: Sequence[str]) -> Bought:
        found = self._expected(gaps)
        seen = outlook(self.some.forecasts, gaps, self.within_s)
        possible = [found, seen, clumped(seen)]
        for unsure in self._unsure:
            # had that been known, they would be visited otherwise; and a run may find out
            _, known = unsure.at(per_day * self.useful, self._guess)
            possible += [outlook(unsure.forecasts, each, self.within_s) for each in (gaps, known)]
        values = {name: [one.value(name) for one in possible] for name in names}
        hidden = {} if self._untold is None else self._untold.ends(found, gaps, self.within_s, names)
        return Bought(
            per_day=per_day,
            made_per_day=self._paid(gaps.mean_s),
            price=price,
            measures=self._sureness.intervals(gaps.pick(self._sure_rows), self.within_s, values, hidden),
            n_full=self.some.n_full(gaps.mean_s),
        )

    def _expected(self, gaps: Gaps) -> Outlook:
        """By what is believed; changes come in bursts."""
        found = outlook(self.some.forecasts, gaps, self.within_s)
        if self._faster is not None:
            faster = outlook(self._faster, gaps.pick(self.always), self.within_s)
            for name, column in asdict(faster).items():
                getattr(found, name)[self.always] = column
        return clumped(found, BURST)

    def _paid(self, gap_s: Floats) -> float:
        """Visits a day in these gaps, with those that tell nothing."""
        return self.some.times * float((DAY_S / gap_s).sum()) / self.useful

    @property
    def most_per_day(self) -> float:
        """Visits a day at the smallest gaps, as far as the hosts can serve them."""
        return self.some.asked_per_day(0.0) / self.useful

    @property
    def least_per_day(self) -> float:
        """Visits a day at the largest gaps."""
        return self.some.asked_per_day(inf) / self.useful

    def needed(self, share: float) -> Needed:
        """The least budget of this policy with which so great a share of changes is known in time."""
        offers = self.some

        def late(price: float) -> float:
            """Falls with the price's inverse, as the search wants it."""
            gap_s = offers.gaps(1.0 / price if price > 0.0 else inf)
            found = self._expected(even(gap_s))
            return max(1.0 - found.value("within"), 1e-12)

        wanted = max(1.0 - share, 1e-12)
        densest_s = offers.gaps(0.0)
        reachable = self._expected(even(densest_s)).value("within")
        per_day, bought = None, None
        if reachable >= share:
            inverse = lowest_price(late, wanted, guess=1.0 / self._guess)
            price = inf if inverse == 0.0 else 1.0 / inverse if inverse < inf else 0.0
            gap_s = offers.gaps(price)
            per_day = self._paid(gap_s)
            bought = self._judged(per_day, price, even(gap_s), (*MEASURES, "within"))
        return Needed(
            within_s=self.within_s,
            share=share,
            per_day=per_day,
            most_per_day=self._paid(densest_s),
            reachable=reachable,
            bought=bought,
            n_bound=int((self._all.batch.min_gap_s > self.within_s).sum()),
            n_full=offers.n_full(densest_s),
        )

    def asking(self, resource_id: int) -> Offers:
        """Of `some`, and of this one in any case."""
        if (self.some.batch.id == resource_id).any():
            return self.some
        if self._asked is None or self._asked[0] != resource_id:
            row = np.flatnonzero(self._all.batch.id == resource_id)
            self._asked = (resource_id, self._all.pick(np.union1d(self._rows, row)))
        return self._asked[1]

    def gap_of(
        self, resource_id: int, per_day: float, bytes_per_day: float = inf
    ) -> tuple[float, float, bool, float]:
        """Of one: its gap, the price, whether its host is full; and about the standard error of the gap, as a
        share, since only some were asked. A gap goes with the budget at most in proportion."""
        offers = self.asking(resource_id)
        price, gaps = offers.at(per_day * self.useful, self._guess, bytes_per_day)
        row = int(np.flatnonzero(offers.batch.id == resource_id)[0])
        visits, n_left = 1.0 / gaps.mean_s, len(self._all.batch) - len(gaps.mean_s)
        error = float(visits.std() / visits.mean()) * sqrt(n_left / len(self._all.batch) / len(visits))
        return float(gaps.mean_s[row]), price, offers.is_full(row, gaps.mean_s), error

    def moved(self, here: float, there: float, goal: str, n: int) -> list[Moved]:
        """Whom going from one budget to another means most to, for better or worse: their part in the goal's
        measure, by weight."""
        offers = self.some
        gaps = [offers.at(per_day * self.useful, self._guess)[1] for per_day in (here, there)]
        parts = [_part(outlook(offers.forecasts, each, self.within_s), goal) for each in gaps]
        by = np.abs(parts[1] - parts[0]) * offers.batch.weight
        first: Ints = np.argsort(-by, kind="stable")[:n]
        return [
            Moved(
                id=int(offers.batch.id[i]),
                gap_s=float(gaps[0].mean_s[i]),
                other_gap_s=float(gaps[1].mean_s[i]),
                value=float(parts[0][i]),
                other_value=float(parts[1][i]),
            )
            for i in first.tolist()
            if by[i] > 0.0
        ]


# what one resource adds: a share of its time, or changes a second
_PARTS = {"fresh": "fresh", "fresh-harmonic": "harmonic", "capture": "caught", "prompt": "waiting"}


def _part(found: Outlook, goal: str) -> Floats:
    part: Floats = getattr(found, _PARTS.get(goal, "fresh"))
    return part


def _evenly(order: Ints, n: int) -> Ints:
    """So many of these, one out of each stretch."""
    if len(order) <= n:
        return order
    return order[((np.arange(n) + 0.5) * len(order) / n).astype(np.int64)]


def grid(present: float | None, most: float) -> list[float]:
    """Budgets worth comparing: an eighth of the present one to eight times as much, as far as more helps."""
    middle = min(present, most) if present is not None else most / 4.0
    steps = [middle * 2.0**power for power in range(-3, 4)]
    return [one for one in steps if one <= most * 1.001] or [middle]
