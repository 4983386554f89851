"""Small boards, made by hand or drawn from a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.learn.threads.board import Threads
from recrawl.model import DAY_S, Bags, Batch, Floats, Seen, unfolded

MONDAY = 4 * 86_400.0  # 5 January 1970, 00:00 UTC
MINUTE_S = 60.0


def thread(minutes: Sequence[float], texts: Bags | None = None) -> Threads:
    """One thread, with posts so many minutes after Monday's midnight."""
    at = MONDAY + MINUTE_S * np.array(minutes, dtype=np.float64)
    n = len(at)
    return Threads(np.array([0, n]), at, np.full(n, -1), texts, np.array([0]))


def drawn(n: int = 6, n_posts: int = 40, n_words: int = 30, seed: int = 0) -> Threads:
    """Threads on two boards whose gaps are drawn, with words and parts of speech."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(n_posts // 2, n_posts, n)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at = np.concatenate(
        [MONDAY + 60.0 * np.cumsum(np.round(rng.lognormal(4.0, 1.5, size))) for size in sizes]
    )
    return Threads(
        bounds,
        at,
        rng.integers(-1, 5, len(at)),
        bags(rng, len(at), n_words),
        np.arange(n) % 2,
        bags(rng, len(at), 12),
    )


def bags(rng: np.random.Generator, n: int, n_words: int) -> Bags:
    return Bags.of(
        {int(word): float(rng.integers(1, 4)) for word in rng.choice(n_words, 4, replace=False)}
        for _ in range(n)
    )


def moments(number: int, said_at: Floats, visit_at: float, since_at: float = np.nan) -> Seen:
    """As the loop tells of a visit that found these; without an earlier one it is the first."""
    visit = Seen(
        id=np.array([number]),
        since_at=np.array([since_at]),
        at=np.array([visit_at]),
        changed=np.array([len(said_at) > 0], dtype=np.int8),
        event_at=np.array([np.nan]),
    )
    return unfolded(visit, [said_at])


def batch(number: int, since_at: float) -> Batch:
    one = np.ones(1)
    return Batch(
        id=np.array([number]),
        weight=one,
        min_gap_s=60.0 * one,
        max_gap_s=400 * DAY_S * one,
        since_at=since_at * one,
        gap_s=np.nan * one,
        n_informative=np.array([3]),
        n_changes=np.array([1]),
        n_failures=np.array([0]),
        bits=np.array([1], dtype=np.uint64),
    )
