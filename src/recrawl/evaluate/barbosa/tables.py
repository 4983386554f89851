"""The paper's tables for one split: the learners, the initial classifiers, and what visits make of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.evaluate.barbosa.daily import Daily
from recrawl.learn.groups import Classes, classes, equal_classes
from recrawl.learn.sights.learners import LEARNERS, learned
from recrawl.learn.sights.splits import balanced, by_resource, by_site
from recrawl.model import DAY_S, Floats, Ints, RateClass
from recrawl.simulate.classed import final_classes
from recrawl.simulate.traces import Traces

STATIC = "tree-pruned"  # the learner that the paper chose
RANDOM, LARGEST = "random", "largest"
COMBINATIONS = tuple(f"{start}+{then}" for start in ("random", "static") for then in ("bayesian", "historic"))
SAME, LATER = "same", "later"
# Visits after which the historic classifier decides, class by class: the paper's two, and some others. One is
# chosen, as there, by its error; here on training pages.
WINDOWS = ((3, 2, 2, 1), (10, 8, 6, 2), (5, 5, 5, 5), (1, 1, 1, 1), (8, 5, 3, 2), (3, 3, 3, 3))
LOW, HIGH = 0.2, 0.8
SLOWEST_DAYS = 2_000.0
N_TRIED = 250  # training pages on which windows are tried
N_FOLDS = 3  # two thirds to learn from, one to test on


@dataclass(frozen=True, slots=True)
class Part:
    """Who is learned from and who is tested, of all pages."""

    by: str
    train: Ints
    test: Ints
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    classes: Classes
    table1: dict[str, tuple[float, float]]  # learner: error, seconds
    n_balanced: int
    table3: dict[str, float]
    table5: dict[str, dict[str, float]]  # of the same days, and of the time after them
    windows: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Time:
    """When the daily visits were, and until when there is more."""

    start_at: float
    days: int
    end_at: float

    @property
    def middle_at(self) -> float:
        return self.start_at + self.days * DAY_S


def part(by: str, site: Ints, seed: int) -> Part:
    fold = by_site(site, N_FOLDS, seed) if by == "site" else by_resource(len(site), N_FOLDS, seed)
    return Part(by, np.flatnonzero(fold != 0), np.flatnonzero(fold == 0), seed)


def tables(
    traces: Traces,
    values: Floats,
    seen: Daily,
    after: Daily | None,
    time: Time,
    split: Part,
    *,
    k: int,
    made: str,
    clock: Callable[[], float],
) -> Tables | None:
    """None where the training pages have no two classes. `after` is what daily visits would find in the last
    days of the time: what the class is by then."""
    per_day = seen.per_day
    found = (classes if made == "k-means" else equal_classes)(per_day[split.train], k)
    if len(found) < 2:
        return None
    label = found.of(per_day)
    rng = np.random.default_rng([split.seed, k, made == "equal"])
    even = split.train[balanced(label[split.train], seed=split.seed)]
    site = traces.host if split.by == "site" else None
    of = None if site is None else site[even]
    static = learned(STATIC, values[even], label[even], of, n_classes=len(found), seed=split.seed)
    start = {RANDOM: rng.integers(0, len(found), len(label)), "static": static.classify(values)}
    test = split.test
    largest = int(np.bincount(label[split.train]).argmax())
    wrong = {name: float((one[test] != label[test]).mean()) for name, one in start.items()}
    tried = rng.permutation(split.train)[:N_TRIED]
    table5: dict[str, dict[str, float]] = {}
    windows: tuple[int, ...] = ()
    judged = {SAME: (time.middle_at, label)}
    if after is not None:
        judged[LATER] = (time.end_at, found.of(after.per_day))
    for name, (end_at, truth) in judged.items():
        chosen, table = _windowed(traces.pick(tried), start[RANDOM][tried], truth[tried], found, time, end_at)
        windows = windows or chosen
        table5[name] = _finals(
            traces.pick(test), {n: one[test] for n, one in start.items()}, truth[test], table, time, end_at
        )
    return Tables(
        classes=found,
        table1=_compared(values, label, even, site, split, len(found), clock),
        n_balanced=len(even),
        table3={**wrong, LARGEST: float((label[test] != largest).mean())},
        table5=table5,
        windows=windows,
    )


def _compared(
    values: Floats,
    label: Ints,
    even: Ints,
    site: Ints | None,
    split: Part,
    n_classes: int,
    clock: Callable[[], float],
) -> dict[str, tuple[float, float]]:
    """Table 1: two thirds of the balanced set against one."""
    fold = by_resource(len(even), N_FOLDS, split.seed)
    if site is not None and len(np.unique(site[even])) >= N_FOLDS:
        fold = by_site(site[even], N_FOLDS, split.seed)
    rows, held = even[fold != 0], even[fold == 0]
    values = values[:, ~np.isnan(values[rows]).all(axis=0)]  # not every learner bears an empty column
    found = {}
    for name in LEARNERS:
        of = None if site is None else site[rows]
        one = learned(name, values[rows], label[rows], of, n_classes=n_classes, seed=split.seed)
        begun = clock()
        said = one.classify(values[held])
        found[name] = (float((said != label[held]).mean()) if len(held) else float("nan"), clock() - begun)
    return found


def rate_classes(found: Classes, windows: tuple[int, ...]) -> list[RateClass]:
    """To be visited by: never more than daily, since nobody looked more often, and rising throughout."""
    days = np.clip(found.interval_s / DAY_S, 1.0, SLOWEST_DAYS)
    days = np.maximum.accumulate(days * (1.0 + 1e-3 * np.arange(len(days))))
    of = np.interp(np.arange(len(days)), np.arange(len(windows)), windows).round().astype(int)
    return [
        RateClass(name=f"class_{i}", interval_s=float(days[i]) * DAY_S, window=int(of[i]), low=LOW, high=HIGH)
        for i in range(len(days))
    ]


def _windowed(
    traces: Traces, start: Ints, truth: Ints, found: Classes, time: Time, end_at: float
) -> tuple[tuple[int, ...], list[RateClass]]:
    def error(windows: tuple[int, ...]) -> float:
        table = rate_classes(found, windows)
        said = final_classes("historic", table, start, traces, start_at=time.start_at, end_at=end_at)
        return float((said != truth).mean())

    best = min(WINDOWS, key=error)
    return best, rate_classes(found, best)


def _finals(
    traces: Traces, start: dict[str, Ints], truth: Ints, table: list[RateClass], time: Time, end_at: float
) -> dict[str, float]:
    """Table 5. A class drawn at random is believed no more than the others."""
    wrong = {}
    for name in COMBINATIONS:
        began, then = name.split("+")
        beliefs = {"belief": 1.0 / len(table)} if began == RANDOM else {}
        said = final_classes(
            then, table, start[began], traces, start_at=time.start_at, end_at=end_at, **beliefs
        )
        wrong[name] = float((said != truth).mean())
    return wrong
