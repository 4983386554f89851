"""What a fixed rate and the square-root rule come to at one visit per post, by how the experiment is read.

Where a thread ends, what was not fetched is fetched then and nobody visits again (as in `recrawl evaluate
tan`); or it is fetched by the visit that would come next, which counts. The rate of a thread is that of all
its posts so far, or of the last few. T-scores in minutes; threads of 100 to 1,000 posts, the first three
quarters of each known.

    python bench/thread_readings.py --corpus builtin:threads [--board NAME]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from recrawl.corpora.opened import opened
from recrawl.corpora.posts import boards
from recrawl.evaluate.tan.measures import MINUTE_S, Watched, delays_s
from recrawl.evaluate.tan.rates import paced
from recrawl.evaluate.tan.visiting import visits
from recrawl.learn.threads.board import Threads
from recrawl.model import Floats, Ints

ALL = 1_000_000
N_HALVINGS = 50


class Recent(NamedTuple):
    price: float
    n_posts: int  # that make a rate


def recent(how: Recent, row: int, at: Floats, first: int, known: int, now: float, end_at: float) -> float:  # noqa: ARG001
    n = min(how.n_posts, known - first + 1)
    age = max(now - at[known - n + 1], MINUTE_S)
    return float(now + max(sqrt(2.0 * how.price * age / n), MINUTE_S))


by_recent = visits(recent)


def at_the_end(made: Watched, _then_at: Floats) -> tuple[float, float]:
    """Seconds of delay, and visits."""
    return float(delays_s(made).sum()), float(made.n_visits.sum())


def by_the_next(made: Watched, then_at: Floats) -> tuple[float, float]:
    last_at = np.array([_last(made, row) for row in range(made.n)])
    late = made.at > last_at[made.row]
    longer_s = (then_at - made.end_at)[made.row][late].sum()
    return float(delays_s(made).sum() + longer_s), float(made.n_visits.sum() + made.n)


def _last(made: Watched, row: int) -> float:
    own = made.visit_at[made.visit_bounds[row] : made.visit_bounds[row + 1]]
    return float(own[-1]) if len(own) else float(made.start_at[row])


def fixed(threads: Threads, n_train: Ints, gap_s: float) -> tuple[Watched, Floats]:
    """The visits, and when the next would be to each thread."""
    made = paced(threads, n_train, gap_s)
    return made, np.array([_last(made, row) for row in range(made.n)]) + gap_s


def root(threads: Threads, n_train: Ints, price: float, n_posts: int) -> tuple[Watched, Floats]:
    how = Recent(price, n_posts)
    made, then_at = by_recent(threads, n_train, how), np.empty(threads.n)
    for row in range(threads.n):
        first, end = int(threads.bounds[row]), int(threads.bounds[row + 1])
        now = _last(made, row)
        known = first + int(np.searchsorted(threads.at[first:end], now, side="right")) - 1
        then_at[row] = recent(how, row, threads.at, first, known, now, inf)
    return made, then_at


def t_score_min(
    run: Callable[[float], tuple[Watched, Floats]],
    read: Callable[[Watched, Floats], tuple[float, float]],
    n_posts: float,
) -> float:
    """At one visit per post."""
    low, high = 1.0, 1e12
    for _ in range(N_HALVINGS):
        middle = sqrt(low * high)
        delay_s, n_visits = read(*run(middle))
        low, high = (middle, high) if n_visits > n_posts else (low, middle)
    return delay_s / n_posts / MINUTE_S


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", default="builtin:threads")
    parser.add_argument("--board")
    asked = parser.parse_args()
    threads = boards(opened(asked.corpus), 100, 1_000, lambda _share, _what: None, asked.board).threads
    n_train = np.asarray(3 * threads.n_posts // 4)
    n_posts = float((threads.n_posts - n_train).sum())
    print("at the end", "fixed rate", "root, all posts", "root, last 20", "root, last 10", sep="\t")
    for read in (at_the_end, by_the_next):
        scores = [t_score_min(lambda gap_s: fixed(threads, n_train, gap_s), read, n_posts)]
        for n in (ALL, 20, 10):
            scores.append(t_score_min(lambda price, n=n: root(threads, n_train, price, n), read, n_posts))  # type: ignore[misc]
        print(read.__name__.replace("_", " "), *(f"{score:,.0f}" for score in scores), sep="\t", flush=True)


if __name__ == "__main__":
    main()
