"""A crawl that sees only what it fetches: a tenth of the pages at each step, and which is the question.

Before it begins, pages were seen at every step; all learners have learned from that, and they are not
trained again, as in the paper. From then on a page shows what it was last seen with, until it is fetched
again. Copies are fresh until the page changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from recrawl.learn.experts import Task, Tuning, schooled
from recrawl.learn.features.content import Steps
from recrawl.learn.kin import Kin
from recrawl.model import Bools, Floats, Ints

COIN, INDEX = "coin", "index"
RULES = (COIN, INDEX)
_AHEAD = 1  # who chooses for tomorrow asks about tomorrow
_TAIL = 10  # steps before the present that features may ask for


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawl:
    """All pages are crawled; `start` is the last step at which all of them are seen."""

    steps: Steps
    kin: Kin
    group: Ints
    start: int
    n_days: int  # a day is a step here, as in the paper
    n_train: int
    back: int
    budget: float  # of all pages
    seed: int

    @property
    def n_visits(self) -> int:
        return max(1, round(self.budget * self.steps.n_pages))


Likely = Callable[["Seen"], Floats]  # of each page the chance that it changes at the next step


class Seen:
    """What a crawl has seen so far. A page that is not fetched is taken to be as it was."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._first = max(crawl.start - crawl.n_train - crawl.back - _AHEAD + 1, 0)
        own = slice(self._first, crawl.start + 1)
        self._at = [*crawl.steps.at[:, own].T]
        self._changed = [*crawl.steps.changed[:, own].T]
        self.n_learned = len(self._at)

    def see(self, t: int, pages: Ints, changed: Bools) -> None:
        at, bits = self._at[-1].copy(), np.zeros(len(changed), dtype=bool)
        at[pages], bits[pages] = self._crawl.steps.at[pages, t], changed[pages]
        self._at.append(at)
        self._changed.append(bits)

    def task(self) -> Task:
        """To foretell from the present, with the examples of the time before the crawl."""
        n_more = len(self._at) - self.n_learned
        rows = [*range(self.n_learned), *range(self.n_learned + max(0, n_more - _TAIL), len(self._at))]
        steps = self._crawl.steps.seen_as(
            np.stack([self._at[row] for row in rows], axis=1),
            np.stack([self._changed[row] for row in rows], axis=1),
        )
        crawl = self._crawl
        task = Task(
            steps=steps, pages=np.arange(steps.n_pages), kin=crawl.kin, n_train=len(rows), back=crawl.back,
            ahead=_AHEAD, group=crawl.group, seed=crawl.seed,
        )  # fmt: skip
        known = task.known.copy()
        known[:, self.n_learned - _AHEAD :] = False  # what came then, nobody saw at every step
        task.__dict__["known"] = known
        return task

    @property
    def frequency(self) -> Floats:
        return np.asarray(np.stack(self._changed[1 : self.n_learned], axis=1).mean(axis=1))


def likely(name: str, crawl: Crawl, tuning: Tuning | None) -> Likely:
    """Trained here, once for all days; whatever is crawled by it, the learned part is the same."""
    if tuning is None:
        return lambda seen: seen.frequency
    learner = schooled(name, Seen(crawl).task(), tuning)
    return lambda seen: learner(seen.task())


def crawled(crawl: Crawl, asked: Likely | None, rule: str) -> Bools:
    """Which copies are fresh, (n_pages, n_days). Without anybody to ask, pages take turns."""
    n = crawl.steps.n_pages
    rng = np.random.default_rng((crawl.seed, RULES.index(rule)))
    seen = Seen(crawl)
    stale = np.zeros(n, dtype=bool)
    survival, area, age = np.ones(n), np.zeros(n), np.zeros(n)
    turn = rng.permutation(n)
    fresh = np.zeros((n, crawl.n_days), dtype=bool)
    for day in range(crawl.n_days):
        t = crawl.start + 1 + day
        stale |= crawl.steps.changed[:, t]
        if asked is None:
            chosen, turn = turn[: crawl.n_visits], np.roll(turn, -crawl.n_visits)
        else:
            p = np.clip(asked(seen), 1e-3, 1.0 - 1e-3)
            area, age = area + survival * (1.0 - 0.5 * p), age + 1.0
            survival = survival * (1.0 - p)
            # a coin for each page, tossed until the budget is spent: who comes up first is a race; or else
            # the worth of a visit, by the survival that was foretold since the last one
            order = rng.exponential(size=n) / p if rule == COIN else age * survival - area
            chosen = np.argsort(order, kind="stable")[: crawl.n_visits]
        seen.see(t, chosen, stale)
        stale[chosen] = False
        survival[chosen], area[chosen], age[chosen] = 1.0, 0.0, 0.0
        fresh[:, day] = ~stale
    return fresh


def within(crawl: Crawl, draw: int) -> Crawl:
    return replace(crawl, seed=crawl.seed * 1_000 + draw)
