"""How often each learner foretells right, page by page, on a window that slides over the steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from recrawl.evaluate.pieces import Tell, each
from recrawl.evaluate.radinsky.choosing import MAIN, WAYS
from recrawl.learn.experts import Foretold, Task, Tuning, foretold, foretold_by_counts, tuned
from recrawl.learn.kin import Kin
from recrawl.model import Bools, Floats, Ints

LEARNERS = {"1d": "frequency", "2d": "single", "3d": "experts", "ours": "ours"}
STACKED = ("union", "boosting", "bagging")
TUNED = ("experts", *STACKED, "ours", "single")
PLAIN = {"1d": "frequency", "2d": "single", "majority": "frequency-threshold"}
Found = dict[tuple[str | int, ...], Floats]
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

    def told(name: str, one: Task, steps: Ints, own: Foretold | None = None) -> Foretold:
        return foretold(name, one, steps, tuning=tunings.get(name), own=own)

    def main() -> Found:
        """The experts are asked once for all numbers of them, and ours does not ask them again."""
        counts = [k, *COUNTS]
        most = _sharing(task, kin=kin[MAIN])
        experts = dict(zip(counts, foretold_by_counts(most, at, counts, tunings["experts"]), strict=True))
        window = _sharing(base, n_past=task.n_train)
        return {
            ("of", "3d"): share_right(base, experts[k].yes, at),
            ("of", "ours"): share_right(base, told("ours", base, at, experts[k]).yes, at),
            ("of", "ours_window"): share_right(base, told("ours", window, at, experts[k]).yes, at),
            **{("count", n): share_right(base, experts[n].yes, at) for n in COUNTS},
        }

    def by_way(way: str) -> Found:
        one = ways[way]
        experts = told("experts", one, at)
        ours = told("ours", one, at, experts)
        return {
            ("way", way, "3d"): share_right(one, experts.yes, at),
            ("way", way, "ours"): share_right(one, ours.yes, at),
        }

    def by_size(n: int) -> Found:
        one = replace(base, n_train=n, n_past=n)
        by = {key: told(name, one, later) for key, name in LEARNERS.items() if key != "ours"}
        by["ours"] = told("ours", one, later, by["3d"])
        return {("size", n, key): share_right(one, by[key].yes, later) for key in LEARNERS}

    def plain(key: str, name: str, one: Task = base) -> Found:
        return {("of", key): share_right(one, told(name, one, at).yes, at)}

    jobs: list[tuple[str, Callable[[], Found]]] = [
        ("experts and ours", main),
        *((f"training size {n}", partial(by_size, n)) for n in reversed(sizes)),  # the longest first
        *((f"kin by {way}", partial(by_way, way)) for way in ways if way != MAIN),
        *((name, partial(plain, name, name)) for name in STACKED),
        *((name, partial(plain, key, name)) for key, name in PLAIN.items()),
        ("ours without kin", partial(plain, "ours_alone", "ours", _sharing(task, kin=None))),
    ]
    done: Found = {}
    for i, found in enumerate(each(lambda i: jobs[i][1](), len(jobs), n_cores), 1):
        done.update(found)
        tell(i / len(jobs), f"{jobs[i - 1][0]}, {i} of {len(jobs)}")
    so, known = base.outcome[task.pages][:, at], base.known[task.pages][:, at]
    yes = task.steps.changed[task.pages][:, at]
    p_change = float(so[known].mean()) if known.any() else float("nan")
    of = {name: done["of", name] for name in (*LEARNERS, "ours_alone", "ours_window", *STACKED, "majority")}
    of["last"] = share_right(base, yes, at)
    of["always"] = share_right(base, np.full_like(yes, p_change > 0.5), at)
    return Accuracies(
        of=of,
        by_way={way: of["3d"] if way == MAIN else done.get(("way", way, "3d")) for way in WAYS},
        ours_by_way={way: of["ours"] if way == MAIN else done.get(("way", way, "ours")) for way in WAYS},
        by_size={n: {key: done["size", n, key] for key in LEARNERS} for n in sizes},
        by_count={n: done["count", n] for n in COUNTS},
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
    return _sharing(task, kin=kin.nearest(k))


def _sharing(task: Task, **other: Any) -> Task:
    """The same but for some fields; the words' products are worked out once for all."""
    like = replace(task, **other)
    like.__dict__["sheets"] = task.sheets
    return like
