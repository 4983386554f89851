"""First sight: how long a model takes for 100,000 pages, beside scikit-learn's own trees in the same run.

Run it with OMP_NUM_THREADS=1, on one core. The limits: classes well below a second, and hunches (with all
the boosted trees) below one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from recrawl.learn.groups import report
from recrawl.learn.histories import Histories
from recrawl.learn.sights.learners import grown_tree
from recrawl.learn.sights.model import Trained
from recrawl.learn.sights.splits import balanced
from recrawl.learn.sights.training import trained
from recrawl.learn.sights.trees import exported, singles
from recrawl.model import DAY_S, FEATURES, Floats

N, N_TAUGHT = 100_000, 3_000
TIMES = 5
LIMIT_CLASSES_S, LIMIT_HUNCHES_S = 0.5, 1.0


def world(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Values for all features, a twentieth not known, and rates that some of them tell of."""
    values = rng.lognormal(2.0, 1.5, (n, len(FEATURES)))
    told = (np.log(values[:, :6]) - 2.0) @ np.array([0.4, -0.3, 0.3, 0.2, 0.2, -0.2])
    per_day = 0.1 * np.exp(told + rng.standard_normal(n))
    values[rng.random(values.shape) < 0.05] = np.nan
    return values, per_day


def best_s(task: Callable[[], object]) -> float:
    taken = []
    for _ in range(TIMES + 1):
        began = time.perf_counter()
        task()
        taken.append(time.perf_counter() - began)
    return min(taken[1:])


def taught(rng: np.random.Generator) -> tuple[Trained, float]:
    values, per_day = world(N_TAUGHT, rng)
    row = np.repeat(np.arange(N_TAUGHT), 20)
    gap = rng.exponential(3.0, len(row))
    seen = Histories(
        n=N_TAUGHT,
        row=row,
        gap_s=gap * DAY_S,
        changed=rng.random(len(row)) < -np.expm1(-per_day[row] * gap),
        after_s=np.full(len(row), np.nan),
    )
    began = time.perf_counter()
    model = trained(values, seen, rng.integers(0, 60, N_TAUGHT), now=0.0)
    return model, time.perf_counter() - began


def main() -> None:
    rng = np.random.default_rng(1)
    model, took_s = taught(rng)
    size = f"{len(model.trees)} trees, {len(model.written()):,} bytes"
    print(f"trained on {N_TAUGHT:,} pages in {took_s:.1f} s: {size}")
    values, per_day = world(N, rng)
    label = model.classes.of(per_day)
    rows = balanced(label[:N_TAUGHT])
    theirs = grown_tree(values[rows], label[rows])
    same = exported(theirs)
    print(f"a tree of {theirs.tree_.n_leaves} leaves, depth {same.depth}; the model's: {model.tree.depth}")
    figures = {
        "that tree's leaves, ours": best_s(lambda: same.leaves(values)),
        "that tree's leaves, scikit-learn": best_s(lambda: theirs.apply(singles(values))),
        "classes": best_s(lambda: model.classify(values)),
        "probabilities": best_s(lambda: model.p_classes(values)),
        "rates a day": best_s(lambda: model.per_day(values)),
        "hunches (rates and classes)": best_s(lambda: model.hunches(values)),
        "classes of rates for k = 2..6": best_s(lambda: report(per_day)),
    }
    for name, took in figures.items():
        print(f"{name:32} {took * 1e3:8.1f} ms")
    assert figures["that tree's leaves, ours"] < LIMIT_CLASSES_S
    assert figures["hunches (rates and classes)"] < LIMIT_HUNCHES_S


if __name__ == "__main__":
    main()
