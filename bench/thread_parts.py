"""What each part of the self-exciting model brings: the T-score without it, beside that with it.

Half of a board's threads, of --posts posts and more, go by figures that were fitted to all of the other half,
without the part; each is visited from three quarters of its posts on. A row for each board and part, a column
for each number of visits per post: above 0, delays are longer without it. Over --partings into halves.

    python bench/thread_parts.py --corpus builtin:threads
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf

import numpy as np

from recrawl.corpora.opened import opened
from recrawl.corpora.posts import boards
from recrawl.evaluate.tan.measures import delays_s
from recrawl.evaluate.tan.pricing import priced
from recrawl.evaluate.tan.speaking import minded, spoken
from recrawl.learn.threads import fitting, hawkes
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.fitting import fitted
from recrawl.learn.threads.hawkes import N_MEMORIES
from recrawl.learn.threads.profile import EVEN
from recrawl.model import DAY_S, Floats, Ints

_expose = fitting._expose


def _unborn(bounds: Ints, own: Floats, decay: Floats, kept: float, rate: Floats, due: Floats) -> None:
    _expose(bounds, own, decay, kept, rate, due)
    rate[:, N_MEMORIES:] = due[:, N_MEMORIES:] = 0.0


# Of each part: what takes the place of which name where threads are learned.
PARTS: Mapping[str, tuple[str, object]] = {
    "profile": ("profile", lambda _at, _prior: EVEN),
    "birth": ("_expose", _unborn),
    "liveliness": ("likely_shape", lambda _said, _due, _waited: inf),
    "fading with posts": ("KEPT", 1.0),
    "answers to come": ("ANSWERED", 0.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", default="builtin:threads")
    parser.add_argument("--posts", type=int, default=10, help="of a thread, at least")
    parser.add_argument("--budgets", type=float, nargs="+", default=[0.5, 1.0, 2.0, 8.0])
    parser.add_argument("--partings", type=int, default=3)
    asked = parser.parse_args()
    found = boards(opened(asked.corpus), asked.posts, 1_000_000, lambda _share, _what: None)
    print("board", "without", *asked.budgets, sep="\t")
    for board in np.unique(found.threads.board):
        threads = found.threads.pick(np.flatnonzero(found.threads.board == board))
        whole, *others = (_delays(name, threads, asked.budgets, asked.partings) for name in ("", *PARTS))
        for name, delay in zip(PARTS, others, strict=True):
            shares = (f"{100.0 * share:+.1f} %" for share in delay / whole - 1.0)
            print(found.hosts[board], name, *shares, sep="\t", flush=True)


def _delays(name: str, threads: Threads, budgets: Sequence[float], n_partings: int) -> Floats:
    """Of all posts together, at each budget."""
    total = np.zeros(len(budgets))
    for seed in range(n_partings):
        half = np.random.default_rng(seed).permutation(threads.n) % 2
        for one in (0, 1):
            learned, visited = (threads.pick(np.flatnonzero(half == side)) for side in (one, 1 - one))
            n_train = np.clip(3 * visited.n_posts // 4, 2, visited.n_posts - 1)
            with _without(name):
                mind = minded(visited, [fitted(learned)], np.zeros(visited.n, dtype=np.int64))
            n_posts = float((visited.n_posts - n_train).sum())
            runs = (priced(partial(spoken, visited, n_train, mind), n * n_posts, DAY_S) for n in budgets)
            total += [delays_s(made).sum() for made in runs]
    return total


@contextmanager
def _without(part: str) -> Iterator[None]:
    if not part:
        yield
        return
    name, other = PARTS[part]
    kept = [(module, getattr(module, name)) for module in (hawkes, fitting) if hasattr(module, name)]
    try:
        for module, _ in kept:
            setattr(module, name, other)
        yield
    finally:
        for module, before in kept:
            setattr(module, name, before)


if __name__ == "__main__":
    main()
