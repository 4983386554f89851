"""The paper's tables for one split: the learners, the initial classifiers, and what visits make of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

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
# Visits after which the historic classifier decides, class by class: from the paper's on, class after class
# the best of some, again and again until none is better. It is the error that chooses, as there; here on
# training pages.
WINDOW, TRIED = (3, 2, 2, 1), (1, 2, 3, 5, 7, 10, 15, 20)
LOW, HIGH = 0.2, 0.8
SLOWEST_DAYS = 2_000.0
N_TRIED = 800  # training pages on which windows are tried: with a few hundred it is chance that chooses
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
    windows: dict[str, dict[str, tuple[int, ...]]]  # by the same, and by the initial classifier


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
    apart = {**start, "static": _held_out(values, label, even, site, split, len(found))}
    table5: dict[str, dict[str, float]] = {}
    windows: dict[str, dict[str, tuple[int, ...]]] = {}
    judged = {SAME: (time.middle_at, label)}
    if after is not None:
        judged[LATER] = (time.end_at, found.of(after.per_day))
    for name, (end_at, truth) in judged.items():
        some = traces.pick(tried)
        windows[name] = {
            began: _windowed(some, one[tried], truth[tried], found, time, end_at)
            for began, one in apart.items()
        }
        table5[name] = _finals(
            traces.pick(test),
            {began: one[test] for began, one in start.items()},
            truth[test],
            {began: rate_classes(found, chosen) for began, chosen in windows[name].items()},
            time,
            end_at,
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
    return [
        RateClass(name=f"class_{i}", interval_s=day * DAY_S, window=window, low=LOW, high=HIGH)
        for i, (day, window) in enumerate(zip(days.tolist(), windows, strict=True))
    ]


def _held_out(
    values: Floats, label: Ints, even: Ints, site: Ints | None, split: Part, n_classes: int
) -> Ints:
    """The class that a static classifier gives to each page that has not seen it."""
    fold = by_resource(len(label), 2, split.seed) if site is None else by_site(site, 2, split.seed)
    found = np.empty(len(label), dtype=np.int64)
    for one in (0, 1):
        rows = even[fold[even] != one] if (fold[even] != one).any() else even
        of = None if site is None else site[rows]
        static = learned(STATIC, values[rows], label[rows], of, n_classes=n_classes, seed=split.seed)
        found[fold == one] = static.classify(values[fold == one])
    return found


def _windowed(
    traces: Traces, start: Ints, truth: Ints, found: Classes, time: Time, end_at: float
) -> tuple[int, ...]:
    def error(windows: tuple[int, ...]) -> float:
        table = rate_classes(found, windows)
        said = final_classes("historic", table, start, traces, start_at=time.start_at, end_at=end_at)
        return float((said != truth).mean())

    best = tuple(
        np.interp(np.arange(len(found)), np.arange(len(WINDOW)), WINDOW).round().astype(int).tolist()
    )
    least, before = error(best), inf
    while least < before:
        before = least
        for place in range(len(best)):
            for n in TRIED:
                other = (*best[:place], n, *best[place + 1 :])
                if other != best and (wrong := error(other)) < least:
                    best, least = other, wrong
    return best


def _finals(
    traces: Traces,
    start: dict[str, Ints],
    truth: Ints,
    tables_: dict[str, list[RateClass]],
    time: Time,
    end_at: float,
) -> dict[str, float]:
    """Table 5. A class drawn at random is believed no more than the others."""
    wrong = {}
    for name in COMBINATIONS:
        began, then = name.split("+")
        table = tables_[began]
        beliefs = {"belief": 1.0 / len(table)} if began == RANDOM else {}
        said = final_classes(
            then, table, start[began], traces, start_at=time.start_at, end_at=end_at, **beliefs
        )
        wrong[name] = float((said != truth).mean())
    return wrong
