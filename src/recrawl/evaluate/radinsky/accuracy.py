"""How often each learner foretells right, page by page, on a window that slides over the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recrawl.evaluate.pieces import Tell, each
from recrawl.evaluate.radinsky.choosing import MAIN, WAYS
from recrawl.learn.experts import Task, Tuning, foretold, tuned
from recrawl.learn.kin import Kin
from recrawl.model import Bools, Floats, Ints

LEARNERS = {"1d": "frequency", "2d": "single", "3d": "experts", "ours": "ours"}
STACKED = ("union", "boosting", "bagging")
TUNED = ("experts", *STACKED, "ours", "single")
SIZES = (20, 30, 40, 50, 75, 100)  # training sizes that are tried
COUNTS = (1, 2, 5, 10, 20, 30, 40)  # numbers of experts


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracies:
    """Of each page the share that was foretold right; NaN where nothing could be told of it."""

    of: Mapping[str, Floats]  # of 1d, 2d, 3d, ours in three ways, union, boosting, bagging and base rates
    by_way: Mapping[str, Floats | None]  # 3d with kin chosen in each way
    ours_by_way: Mapping[str, Floats | None]
    by_size: Mapping[int, Mapping[str, Floats]]
    by_count: Mapping[int, Floats]
    p_change: float  # how often pages changed at the steps that were foretold
    n_foretold: int
    tunings: Mapping[str, Tuning]


def measured(
    task: Task, kin: Mapping[str, Kin | None], k: int, n_tests: int, tell: Tell, n_cores: int | None
) -> Accuracies:
    """`kin` are as many as are tried, of which `k` are asked for."""
    last = task.steps.n_steps - 1 - task.ahead
    at = spread(task.first, last, n_tests)
    ways = {way: _kinned(task, found, k) for way, found in kin.items() if found is not None}
    base = ways[MAIN]
    tunings = dict(
        zip(TUNED, each(lambda i: tuned(TUNED[i], base, task.first), len(TUNED), n_cores), strict=True)
    )
    sizes = [n for n in SIZES if replace(task, n_train=n).first <= last - 10]
    later = spread(max(replace(task, n_train=n).first for n in [*sizes, 1]), last, n_tests)

    def right(one: Task, name: str, steps: Ints) -> Floats:
        return share_right(one, foretold(name, one, steps, tuning=tunings.get(name)).yes, steps)

    jobs: dict[tuple[str, str | int, str], Callable[[], Floats]] = {}

    def job(table: str, key: str | int, name: str, one: Task, steps: Ints) -> None:
        jobs[table, key, name] = lambda: right(one, name, steps)

    for key, name in LEARNERS.items():
        job("of", key, name, base, at)
    job("of", "ours_alone", "ours", _sharing(task, kin=None), at)
    job("of", "ours_window", "ours", _sharing(base, n_past=task.n_train), at)
    for name in STACKED:
        job("of", name, name, base, at)
    job("of", "majority", "frequency-threshold", base, at)
    for way, one in ways.items():
        if way != MAIN:
            job("way", way, "experts", one, at)
            job("way", way, "ours", one, at)
    for n in sizes:
        sized = replace(base, n_train=n, n_past=n)
        for name in LEARNERS.values():
            job("size", n, name, sized, later)
    most = kin[MAIN]
    if most is not None:
        for count in COUNTS:
            job("count", count, "experts", _kinned(base, most, count), at)
    names = list(jobs)
    done: dict[tuple[str, str | int, str], Floats] = {}
    for i, found in enumerate(each(lambda i: jobs[names[i]](), len(names), n_cores), 1):
        done[names[i - 1]] = found
        tell(i / len(names), f"{names[i - 1][2]}, {i} of {len(names)}")
    so, known = base.outcome[task.pages][:, at], base.known[task.pages][:, at]
    yes = task.steps.changed[task.pages][:, at]
    p_change = float(so[known].mean()) if known.any() else float("nan")
    of = {str(key): found for (table, key, _), found in done.items() if table == "of"}
    of["last"] = share_right(base, yes, at)
    of["always"] = share_right(base, np.full_like(yes, p_change > 0.5), at)
    return Accuracies(
        of=of,
        by_way={way: of["3d"] if way == MAIN else done.get(("way", way, "experts")) for way in WAYS},
        ours_by_way={way: of["ours"] if way == MAIN else done.get(("way", way, "ours")) for way in WAYS},
        by_size={n: {key: done["size", n, name] for key, name in LEARNERS.items()} for n in sizes},
        by_count={int(key): found for (table, key, _), found in done.items() if table == "count"},
        p_change=p_change,
        n_foretold=int(known.sum()),
        tunings=tunings,
    )


def spread(first: int, last: int, n: int) -> Ints:
    """At most n steps, evenly from the first to the last."""
    return np.unique(np.linspace(first, last, min(n, last - first + 1)).round().astype(np.int64))


def share_right(task: Task, yes: Bools, at: Ints) -> Floats:
    so, known = task.outcome[task.pages][:, at], task.known[task.pages][:, at]
    n = known.sum(axis=1)
    return np.where(n > 0, ((yes == so) & known).sum(axis=1) / np.maximum(n, 1), np.nan)


def _kinned(task: Task, kin: Kin, k: int) -> Task:
    """The same with other kin, `k` of each."""
    return _sharing(task, kin=Kin(kin.of[:, :k], kin.weight[:, :k]))


def _sharing(task: Task, **other: Any) -> Task:
    """The same but for some fields; the words' products are worked out once for all."""
    like = replace(task, **other)
    like.__dict__["sheets"] = task.sheets
    return like
