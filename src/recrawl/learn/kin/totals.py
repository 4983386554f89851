"""Scores of some pages beside all others: sums over words of weight x similarity, by matrix products.

Two pages score only by words that move in both, so the work goes word by word: the series of the pages that
are asked about, moved by every lag, times those of all pages that have the word. The best lag of each word
is taken before words are summed, which is why this is not one large product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from recrawl.compiled import can_compile, hurried
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Singles
from recrawl.model import Bools, Ints

ROOM = 1_000_000  # similarities worked out together: they should stay near the processor
BLOCK = 40_000_000  # places for scores at once, in each thread

T = TypeVar("T")


class Asked:
    """The rows of the pages that are asked about, found page by page."""

    def __init__(self, dynamics: Dynamics, heeded: Bools | None = None) -> None:
        rows = np.flatnonzero(dynamics.weight > 0 if heeded is None else heeded)
        self._row = rows[np.argsort(dynamics.page[rows], kind="stable")]
        n_each = np.bincount(dynamics.page[rows], minlength=dynamics.n_pages)
        self._bounds = np.concatenate([[0], np.cumsum(n_each)])

    def rows(self, pages: Ints) -> tuple[Ints, Ints]:
        """The rows of some pages, and which of these pages (by its place among them) each is of."""
        n = np.diff(self._bounds)[pages]
        ends = np.cumsum(n)
        place = np.repeat(np.arange(len(pages)), n)
        return self._row[np.arange(ends[-1]) + (self._bounds[pages] - ends + n)[place]], place


def reach(lags: int | range, n_steps: int) -> range:
    """The lags as a range without gaps, within the steps. A lag d compares a page with what another showed d
    steps before: of lags above 0 the other one leads."""
    said = range(-lags, lags + 1) if isinstance(lags, int) else lags
    if not len(said) or said.step != 1:
        raise ValueError("Lags go up one by one; give a number, or a range such as range(1, 8).")
    within = range(max(said.start, 1 - n_steps), min(said.stop, n_steps))
    if n_steps and not len(within):
        raise ValueError(f"All lags are beyond the {n_steps} steps there are; give smaller ones.")
    return within or range(1)


def shifted(move: Singles, lags: range) -> Singles:
    """(n_rows, n_lags, n_steps): times a series of another page these give the products at each lag."""
    n_rows, n_steps = move.shape
    out = np.zeros((n_rows, len(lags), n_steps), dtype=np.float32)
    for i, lag in enumerate(lags):
        if lag >= 0:
            out[:, i, : n_steps - lag] = move[:, lag:]
        else:
            out[:, i, -lag:] = move[:, :lag]
    return out


def totals(
    dynamics: Dynamics, asked: Asked, pages: Ints, lags: range, basis: Singles, others: Singles
) -> Singles:
    """(n_asked, n_pages) scores. Series are compared in `basis`, in which `others` are all rows already; a
    page beside itself scores nothing."""
    row, place = asked.rows(pages)
    word = np.searchsorted(dynamics.bounds, row, side="right") - 1
    order = np.argsort(word, kind="stable")
    row, place, word = row[order], place[order], word[order]
    out = np.zeros((len(pages), dynamics.n_pages), dtype=np.float32)
    for start, stop in pairwise(np.flatnonzero(np.diff(word, prepend=-1, append=-1)).tolist()):
        mine = shifted(dynamics.move[row[start:stop]], lags) @ basis
        have = slice(*dynamics.bounds[word[start] : word[start] + 2])
        theirs = others[have].T
        at_once = max(1, ROOM // (len(lags) * theirs.shape[1]))
        for i in range(start, stop, at_once):
            part = slice(i, min(i + at_once, stop))
            few = mine[part.start - start : part.stop - start]
            alike: Singles = np.matmul(few.reshape(-1, few.shape[2]), theirs, dtype=np.float32)
            shape = (len(few), len(lags), theirs.shape[1])
            _add(out, place[part], dynamics.page[have], dynamics.weight[row[part]], alike.reshape(shape))
    out[np.arange(len(pages)), pages] = 0.0
    return out


def by_blocks(make: Callable[[Ints], T], pages: Ints, n_each: int, n_threads: int) -> Iterator[T]:
    """What `make` makes of the pages, some at a time: as many as there is room for, at `n_each` each."""
    at_once = max(1, min(BLOCK // max(n_each, 1), -(-len(pages) // n_threads)))
    blocks = [pages[i : i + at_once] for i in range(0, len(pages), at_once)]
    if n_threads == 1:
        yield from map(make, blocks)
    else:
        with ThreadPoolExecutor(n_threads) as threads:
            yield from threads.map(make, blocks)


def _add(out: Singles, row: Ints, column: Ints, weight: Singles, alike: Singles) -> None:
    if can_compile():
        _added(out, row, column, weight, alike)
    else:
        out[row[:, None], column] += alike.max(axis=1) * weight[:, None]


@hurried
def _added(out: Singles, row: Ints, column: Ints, weight: Singles, alike: Singles) -> None:
    n_rows, n_lags, n_columns = alike.shape
    best = np.empty(n_columns, dtype=np.float32)
    for i in range(n_rows):
        for c in range(n_columns):
            best[c] = alike[i, 0, c]
        for lag in range(1, n_lags):
            for c in range(n_columns):
                best[c] = max(best[c], alike[i, lag, c])
        for c in range(n_columns):
            out[row[i], column[c]] += weight[i] * best[c]
