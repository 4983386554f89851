"""What 5,000 generated threads have in common is learned within a minute, on one core.

Prints the time to fit, as it is and per million posts, and how far the delays at one visit per post are below
those of the square-root rule, where the first three quarters of each thread are learned from.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

from recrawl.evaluate.tan.measures import delays_s
from recrawl.evaluate.tan.pricing import priced
from recrawl.evaluate.tan.rates import rooted
from recrawl.evaluate.tan.speaking import minded, spoken
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.fitting import by_board, fitted
from recrawl.model import DAY_S

N_THREADS, MEAN_POSTS = 5_000, 28
LIMIT_S = 60.0
GUESS = DAY_S


def talk(rng: np.random.Generator) -> Threads:
    """Quick answers follow quick ones, and silences of weeks are followed by others."""
    n_posts = 10 + rng.geometric(1.0 / (MEAN_POSTS - 10), N_THREADS)
    bounds = np.concatenate([[0], np.cumsum(n_posts)]).astype(np.int64)
    pace = rng.normal(0.0, 1.5, bounds[-1])
    for i in range(1, len(pace)):
        pace[i] += 0.8 * pace[i - 1]
    at = np.cumsum(np.maximum(np.round(6.0 * 3_600.0 * np.exp(pace) / 60.0), 1.0) * 60.0)
    at = 1e9 + at - np.repeat(at[bounds[:-1]], n_posts)
    nobody = np.full(len(at), -1, dtype=np.int64)
    return Threads(bounds, at, nobody, None, np.zeros(N_THREADS, dtype=np.int64))


def main() -> None:
    threads = talk(np.random.default_rng(1))
    fitted(threads.pick(np.arange(10)))  # compiled now
    began = time.process_time()
    fitted(threads)
    took_s = time.process_time() - began
    n = len(threads.at)
    print(f"fitted to {threads.n:,} threads, {n:,} posts: {took_s:.1f} s of {LIMIT_S:.0f}")
    print(f"per million posts: {took_s / n * 1e6:.1f} s")
    n_train = np.asarray(3 * threads.n_posts // 4)
    mind = minded(threads, *by_board(threads.first(n_train)))
    asked = float((threads.n_posts - n_train).sum())
    began = time.process_time()
    ours = priced(partial(spoken, threads, n_train, mind), asked, GUESS)
    took_s = time.process_time() - began
    root = priced(partial(rooted, threads, n_train), asked, GUESS)
    below = 1.0 - delays_s(ours).sum() / delays_s(root).sum()
    print(f"delay at one visit per post: {100.0 * below:.0f} % below the square-root rule ({took_s:.1f} s)")


if __name__ == "__main__":
    main()
