"""Kin of 50,000 generated pages, 50 steps, 1,000 words and lags up to 7: the 20 nearest of each.

By candidates, then exactly among them, in two threads: run it with OPENBLAS_NUM_THREADS=1. It prints the
time and how many of the exact 20 nearest of some pages are found. With --exact all pairs are compared
without candidates, and with --gpu by PyTorch, which needs nothing of recrawl's but NumPy and PyTorch:
PYTHONPATH=src is enough.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from recrawl.learn.kin import accelerated
from recrawl.learn.kin.candidates import likely
from recrawl.learn.kin.correlation import correlated
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Kin
from recrawl.learn.kin.warping import warped
from recrawl.model import Ints
from recrawl.simulate.kindred import Kindred, Telling, kindred

K, N_SAMPLE, N_THREADS = 20, 500, 2
LIMIT_S, LIMIT_GPU_S = 600.0, 120.0
LEAST_RECALL = 0.95
LIMIT_GB = 8.0

T = TypeVar("T")


def timed(name: str, task: Callable[[], T]) -> tuple[T, float]:
    began, began_cpu = time.perf_counter(), time.process_time()
    made = task()
    took = time.perf_counter() - began
    print(f"{name:44} {took:8.1f} s, {time.process_time() - began_cpu:8.1f} s of processors", flush=True)
    return made, took


def recall(exact: Kin, found: Ints) -> float:
    hits = [np.isin(of[of >= 0], some).sum() for of, some in zip(exact.of, found, strict=True)]
    return float(sum(hits) / (exact.of >= 0).sum())


def family(world: Kindred, pages: Ints, kin: Kin) -> float:
    same = (world.family[kin.of] == world.family[pages][:, None]) & (kin.of >= 0)
    return float(same.sum() / (np.bincount(world.family)[world.family[pages]] - 1).sum())


def by_candidates(moves: Dynamics, sample: Ints, exact: Kin, world: Kindred) -> None:
    among, took_s = timed("candidates of all", lambda: likely(moves, n_threads=N_THREADS))
    kin, more_s = timed("exactly among them", lambda: correlated(moves, K, among=among, n_threads=N_THREADS))
    found = recall(exact, kin.of[sample])
    print(f"recall of the exact {K} nearest of {len(sample)} pages: {found:.4f}")
    warp, _ = timed(
        f"by warping, {len(sample)} pages", lambda: warped(moves, K, pages=sample, among=among[sample])
    )
    print(f"true kin found: {family(world, sample, exact):.3f}, by warping {family(world, sample, warp):.3f}")
    assert found >= LEAST_RECALL
    assert took_s + more_s < LIMIT_S


def by_torch(moves: Dynamics, sample: Ints, exact: Kin) -> None:
    accelerated.correlated(moves, K, pages=sample[:10])  # whatever is set up once
    kin, took_s = timed("by PyTorch, all pairs", lambda: accelerated.correlated(moves, K))
    print(
        f"the same kin: {(kin.of[sample] == exact.of).mean():.4f}, recall {recall(exact, kin.of[sample]):.4f}"
    )
    print(f"largest difference in weight: {np.abs(kin.weight[sample] - exact.weight).max():.1e}")
    assert np.abs(kin.weight[sample] - exact.weight).max() < 1e-4
    assert took_s < LIMIT_GPU_S


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--pages", type=int, default=50_000)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--exact", action="store_true", help="all pairs, without candidates")
    words.add_argument("--gpu", action="store_true", help="all pairs, by PyTorch")
    said = words.parse_args()
    rng = np.random.default_rng(said.seed)
    world, _ = timed("pages generated", lambda: kindred(Telling(n_pages=said.pages), rng))
    print(f"{len(world.bags):,} versions of {len(world.bags.word) / len(world.bags):.1f} words")
    moves, _ = timed("dynamics", lambda: Dynamics.of(world.bags, world.at))
    shown = int((moves.weight > 0).sum())
    print(f"moving words of a page: {len(moves.page) / said.pages:.1f}, at the end {shown / said.pages:.1f}")
    sample = rng.choice(said.pages, min(N_SAMPLE, said.pages), replace=False)
    exact, _ = timed(f"exact, {len(sample)} pages", lambda: correlated(moves, K, pages=sample))
    if said.exact:
        timed("exact, all", lambda: correlated(moves, K, n_threads=N_THREADS))
    if said.gpu:
        by_torch(moves, sample, exact)
    else:
        by_candidates(moves, sample, exact, world)
        gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"memory at most: {gb:.1f} GB")
        assert gb < LIMIT_GB


if __name__ == "__main__":
    main()
