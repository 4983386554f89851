"""How long a round takes: the line is run through many times, each time with other draws of what visits take.

A host that fails is left alone for longer and longer, as it is live; a visit that failed is not made again in
the same round. Where robots.txt is not known yet, each host's first visit asks for it, and rests, before the
page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from recrawl.model import Bools, Floats, Ints
from recrawl.schedule.capacity.line import ends
from recrawl.schedule.capacity.looks import next_reasons, p_fails
from recrawl.schedule.capacity.looks import p_changed as changed_by
from recrawl.schedule.capacity.paces import Paces
from recrawl.schedule.capacity.samples import places
from recrawl.schedule.retry import LONGEST_S

MOST_DRAWS, FEWEST_DRAWS = 200, 20
N_VISITS = 2_000_000  # in all draws together
LOW, HIGH = 0.05, 0.95
NEAR = 0.15
ALIKE = 0.02  # of the draws: so many more or less decide nothing
RISKY = 0.1  # so likely to fail, and more: they can wait


@dataclass(frozen=True, slots=True)
class Load:
    """Visits to make: each host's together, in their turn. `place` is the host's among the paces."""

    place: Ints
    key: Floats  # the order in line: when it is due
    page: Ints  # its place among the resources that were visited before; -1: it was not
    p_twice: Floats  # that it is looked at twice
    p_trouble: Floats

    def __len__(self) -> int:
        return len(self.place)

    def only(self, rows: Bools | Ints) -> Load:
        return Load(
            self.place[rows], self.key[rows], self.page[rows], self.p_twice[rows], self.p_trouble[rows]
        )

    def risky_last(self) -> Ints:
        """The order in which a round visits them: of each host those last that are likely to fail. A host
        that failed is left alone for a minute and longer, and so is whatever stands behind in its line."""
        risk = np.where(self.p_trouble >= RISKY, self.p_trouble, 0.0)
        return np.lexsort((np.arange(len(self)), risk, self.place))


def load_of(
    paces: Paces, place: Ints, key: Floats, ids: Ints, fresh: Bools, p_changed: Floats, now: float
) -> tuple[Load, Ints]:
    """In the order that a load has; and which row became which. `ids` are the resources' (0: not watched),
    `fresh` those that were visited and never found changed; `p_changed` is a forecast, for when there is
    nothing else to go by."""
    of = paces.looks
    page = places(ids, of.id)
    chance = changed_by(of, page, p_changed, now)
    p_twice = chance * np.array(paces.p_twice)[next_reasons(of, page, fresh)]
    p_trouble = p_fails(of, page, paces.p_trouble[place])
    order = np.lexsort((key, place))
    return Load(place[order], key[order], page[order], p_twice[order], p_trouble[order]), order


def near(round_s: Floats) -> float:
    """What as many as can be come near to, within 15 %.

    A minute's rest comes or does not, and a second look at a host that wants 20 seconds; the middle of two
    heaps is near to neither of them.
    """
    ended_s = np.sort(round_s)
    at_s = np.sort(np.concatenate([(1.0 - NEAR) * ended_s, (1.0 + NEAR) * ended_s]))
    until = np.searchsorted(ended_s, at_s / (1.0 - NEAR) * (1.0 + 1e-9), side="right")
    n_near = until - np.searchsorted(ended_s, at_s / (1.0 + NEAR) * (1.0 - 1e-9))
    good = n_near >= n_near.max() - ALIKE * len(ended_s)
    best = np.flatnonzero(good)
    others, chosen = np.flatnonzero(~good), best[len(best) // 2]
    first = others[others < chosen].max(initial=-1) + 1
    last = others[others > chosen].min(initial=len(at_s)) - 1
    return float((at_s[first] + at_s[last]) / 2.0)


@dataclass(frozen=True, slots=True)
class Slow:
    place: int
    n_visits: int
    took_s: float  # from the beginning until its last visit has ended, in the middle of the draws
    alone_s: float  # … if nobody else were visited


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of 100 rounds 90 should take between `low_s` and `high_s`; to `middle_s` most of them come near."""

    low_s: float
    middle_s: float
    high_s: float
    n_workers: int
    n_draws: int
    n_in_the_air: float  # on average
    slowest: tuple[Slow, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A load, what is known of its hosts, and the draws: the same seed, the same estimate."""

    load: Load
    paces: Paces
    ready_s: Floats  # by the places of hosts: how long each is left alone yet
    seed: int = 0
    asks_robots: bool = True

    def in_turn(self) -> Model:
        """With the visits in the order in which a round makes them."""
        return replace(self, load=self.load.only(self.load.risky_last()))

    @property
    def n_draws(self) -> int:
        return int(np.clip(N_VISITS // max(len(self.load), 1), FEWEST_DRAWS, MOST_DRAWS))

    @property
    def few_draws(self) -> int:
        """Where it is asked again and again."""
        return int(np.clip(400_000 // max(len(self.load), 1), 4, FEWEST_DRAWS))

    @property
    def hosts(self) -> tuple[Ints, Ints]:
        """The places of the hosts, and where each one's visits begin, with their end."""
        place, first = np.unique(self.load.place, return_index=True)
        return place, np.append(first, len(self.load)).astype(np.int64)

    def estimate(self, n_workers: int, *, n_draws: int | None = None, n_slowest: int = 5) -> Estimate:
        if not len(self.load):
            return Estimate(0.0, 0.0, 0.0, n_workers, 0, 0.0, ())
        place, first = self.hosts
        n_draws = n_draws or self.n_draws
        lasts: list[Floats] = []
        alone: list[Floats] = []
        busy_s = 0.0
        for took_s, rest_s in self._draws(n_draws):
            ready_s = self.ready_s[place]
            lasts.append(ends(first, self.load.key, took_s, rest_s, ready_s, n_workers)[first[1:] - 1])
            alone.append(ends(first, self.load.key, took_s, rest_s, ready_s, len(place))[first[1:] - 1])
            busy_s += float(took_s.sum()) / n_draws
        last_s, alone_s = np.median(lasts, axis=0), np.median(alone, axis=0)
        round_s = np.array([draw.max() for draw in lasts])
        low_s, high_s = np.quantile(round_s, [LOW, HIGH]).tolist()
        middle_s = min(max(near(round_s), low_s), high_s)
        slowest = np.argsort(-last_s, kind="stable")[:n_slowest].tolist()
        return Estimate(
            low_s=low_s,
            middle_s=middle_s,
            high_s=high_s,
            n_workers=n_workers,
            n_draws=n_draws,
            n_in_the_air=busy_s / middle_s if middle_s > 0.0 else 0.0,
            slowest=tuple(
                Slow(int(place[i]), int(first[i + 1] - first[i]), float(last_s[i]), float(alone_s[i]))
                for i in slowest
            ),
        )

    def n_workers_for(self, within_s: float) -> int | None:
        """The fewest that end in time in 95 of 100 rounds; None where no number does: a host takes longer."""
        if not len(self.load):
            return 1
        place, first = self.hosts
        draws = list(self._draws(self.few_draws))

        def fits(n_workers: int) -> bool:
            took = [ends(first, self.load.key, *draw, self.ready_s[place], n_workers).max() for draw in draws]
            return bool(np.quantile(took, HIGH) <= within_s)

        if not fits(len(place)):
            return None
        busy_s = min(float(took_s.sum()) for took_s, _ in draws)
        low = min(max(ceil(busy_s / within_s - 1e-9) - 1, 0), len(place) - 1)
        high = low + 1
        while high < len(place) and not fits(high):
            low, high = high, min(high + max(1, high // 4), len(place))
        while high - low > max(1, high // 100):
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle, high)
        return high

    def fitting(self, within_s: float, n_workers: int) -> Bools:
        """Which of the visits can be made in time: of each host the first that it can serve; and of those,
        where there is no room in the air for so many, the first in line."""
        place, first = self.hosts
        if not len(self.load):
            return np.zeros(0, dtype=np.bool_)
        end_s = [
            ends(first, self.load.key, *draw, self.ready_s[place], len(place))
            for draw in self._draws(self.few_draws)
        ]
        chosen = np.asarray(np.quantile(end_s, HIGH, axis=0) <= within_s)
        for _ in range(12):
            rest = replace(self, load=self.load.only(chosen)).in_turn()
            took_s = rest.estimate(n_workers, n_draws=self.few_draws).high_s
            if took_s <= within_s:
                break
            keep = int(chosen.sum() * min(0.98 * within_s / took_s, 0.95))
            rows = np.flatnonzero(chosen)
            chosen[rows[np.argsort(self.load.key[rows], kind="stable")[keep:]]] = False
        return chosen

    def _draws(self, n: int) -> Iterator[tuple[Floats, Floats]]:
        """How long each visit takes, and how long its host rests afterwards."""
        rng = np.random.default_rng(self.seed)
        place, first = self.hosts
        n_each = np.diff(first)
        known = np.flatnonzero(self.paces.known)
        strange = ~self.paces.known[place]
        for _ in range(n):
            like = place.copy()
            if len(known):  # whom nobody knows is like one of those that are known, another one each time
                like[strange] = rng.choice(known, int(strange.sum()))
            row = np.repeat(like, n_each)
            page = np.where(np.repeat(strange, n_each), -1, self.load.page)
            took_s = self._taken(row, page, rng)
            rest_s = self.paces.rule.rest_s(self.paces.base_s[row], took_s)
            over_s = self.paces.over_s.resampled(rng).drawn(row, rng)
            trouble_s = self._trouble_s(row, first, rng)
            twice = (rng.random(len(row)) < self.load.p_twice) & (trouble_s == 0.0)
            # our own work and a second look keep a visit's room in the air, too
            taken_s = np.maximum(over_s + np.where(twice, 2.0 * took_s + rest_s, took_s), 0.0)
            if self.asks_robots:
                asked_s = self.paces.robots_s[like]
                taken_s[first[:-1]] += asked_s + self.paces.rule.rest_s(self.paces.base_s[like], asked_s)
            yield taken_s, np.maximum(rest_s, trouble_s)

    def _taken(self, row: Ints, page: Ints, rng: np.random.Generator) -> Floats:
        """Each time that the page was visited counts as much as all of its host together."""
        took_s = self.paces.took_s.resampled(rng).drawn(row, rng)
        seen = page >= 0
        n = self.paces.pages.n[page[seen]]
        own = np.flatnonzero(seen)[rng.random(len(n)) * (n + 1.0) < n]
        took_s[own] = self.paces.pages.drawn(page[own], rng)
        return took_s

    def _trouble_s(self, row: Ints, first: Ints, rng: np.random.Generator) -> Floats:
        """How long hosts are left alone because they failed: longer each time in a row."""
        troubled = rng.random(len(row)) < self.load.p_trouble
        if not troubled.any():
            return np.zeros(len(row))
        index = np.arange(len(row))
        begin = np.repeat(first[:-1], np.diff(first))
        good = np.maximum(np.maximum.accumulate(np.where(troubled, -1, index)), begin - 1)
        n_row = index - good
        n_row = n_row + np.where(good < begin, self.paces.n_failures[row], 0)
        gap_s = self.paces.trouble_s[row] * 2.0 ** np.minimum(n_row - 1, 20)
        return np.where(troubled, np.minimum(gap_s, LONGEST_S), 0.0)
