"""Cross-correlation of chosen pairs, kept up to date step by step without the versions of before.

What is kept: of each word that a page ever showed, its sum, its sum of squares, at how many steps it was
shown, and its first and last counts, as many as there are lags; of each word of a pair that both ever
showed, a sum of products for each lag. Means are taken out of the products afterwards: the sums of a series
without its first or last few counts are known. Nothing else is needed, however many steps there were.
"""

from __future__ import annotations

import numpy as np

from recrawl.learn.kin.correlation import LAGS
from recrawl.model import Bags, Floats, Ints

_WORDS = 1 << 31  # more than there are


class Running:
    """Pairs of a page and another that may be its kin; scores are those of `correlated`, at any time."""

    def __init__(self, n_pages: int, page: Ints, other: Ints, lags: int = LAGS) -> None:
        self.n_steps = 0
        self._n_pages, self._lags = n_pages, lags
        self._page, self._other = page, other
        self._key = np.empty(0, dtype=np.int64)  # page x word, rising
        self._now, self._n_shown = np.empty(0), np.empty(0)
        self._sum, self._squares = np.empty(0), np.empty(0)
        self._first, self._last = np.empty((0, lags)), np.empty((0, lags))  # the newest of the last is first
        self._pair = np.empty(0, dtype=np.int64)  # pair x word, rising
        self._x, self._y = self._pair, self._pair  # rows of the words of its two pages
        self._products = np.empty((0, 2 * lags + 1))

    def step(self, bags: Bags, at: Ints) -> None:
        """What each page shows now: a row of `bags`, or -1 where it is as it was."""
        if len(at) != self._n_pages or (not self.n_steps and (at < 0).any()):
            raise ValueError("The first step says what every page shows; give a row of the bags for each.")
        seen = np.flatnonzero(at >= 0)
        shown = bags.pick(at[seen])
        key = seen[shown.row] * _WORDS + shown.word
        self._make_room(key)
        now = np.where(at[self._key // _WORDS] < 0, self._now, 0.0)
        now[np.searchsorted(self._key, key)] = shown.count
        x, y, lags = self._x, self._y, self._lags
        self._products[:, lags] += now[x] * now[y]
        self._products[:, lags + 1 :] += now[x][:, None] * self._last[y]
        self._products[:, :lags] += (now[y][:, None] * self._last[x])[:, ::-1]
        self._n_shown += now > 0
        self._sum += now
        self._squares += now * now
        if self.n_steps < lags:
            self._first[:, self.n_steps] = now
        self._last = np.column_stack([now, self._last])[:, :lags]
        self._now = now
        self.n_steps += 1

    def scores(self) -> Floats:
        """Of each pair."""
        n, word = self.n_steps, self._key % _WORDS
        spread = n * self._squares - self._sum**2  # exactly 0 where counts never changed
        moves = spread > 0
        n_showing = np.bincount(word, weights=self._n_shown)
        rarity = np.log(n * self._n_pages / np.maximum(n_showing, 1))
        weight = np.where(moves, self._now * rarity[word], 0.0)
        whole = np.bincount(self._key // _WORDS, weights=weight, minlength=self._n_pages)[self._page]
        kept = np.flatnonzero((weight[self._x] > 0) & moves[self._y])
        x, y = self._x[kept], self._y[kept]
        crossed = self._centred(kept, x, y) * n / np.sqrt(spread[x] * spread[y])[:, None]
        total = np.bincount(
            self._pair[kept] // _WORDS, weights=weight[x] * crossed.max(axis=1), minlength=len(self._page)
        )
        return np.divide(total, whole, out=np.zeros(len(whole)), where=whole > 0)

    def _centred(self, kept: Ints, x: Ints, y: Ints) -> Floats:
        """Sums of products of deviations from the means, for each lag that there were steps for."""
        n, lags = self.n_steps, min(self._lags, self.n_steps - 1)
        # of sums over a part of the steps: what is left out at the start, and at the end, up to each lag
        early = np.cumsum(np.pad(self._first, ((0, 0), (1, 0))), axis=1)[:, : lags + 1]
        late = np.cumsum(np.pad(self._last, ((0, 0), (1, 0))), axis=1)[:, : lags + 1]
        leads = self._products[kept][:, self._lags : self._lags + lags + 1]
        follows = self._products[kept][:, self._lags - lags : self._lags + 1][:, ::-1]
        size = (n - np.arange(lags + 1)) / n**2

        def out(products: Floats, a: Ints, b: Ints) -> Floats:
            whole_a, whole_b = self._sum[a][:, None], self._sum[b][:, None]
            means = whole_b / n * (whole_a - early[a]) + whole_a / n * (whole_b - late[b])
            return np.asarray(products - means + whole_a * whole_b * size)

        return np.column_stack([out(leads, x, y), out(follows, y, x)])

    def _make_room(self, key: Ints) -> None:
        new = np.union1d(self._key, key)
        if len(new) == len(self._key):
            return
        place = np.searchsorted(new, self._key)
        for name in ("_now", "_n_shown", "_sum", "_squares", "_first", "_last"):
            setattr(self, name, _moved(getattr(self, name), place, len(new)))
        self._key = new
        self._pair_up()

    def _pair_up(self) -> None:
        """A row for every word that both pages of a pair have shown; before they did, products were 0."""
        ends = np.searchsorted(self._key, np.arange(self._n_pages + 1) * _WORDS)
        n = np.diff(ends)[self._page]
        pair = np.repeat(np.arange(len(self._page)), n)
        x = np.arange(len(pair)) + np.repeat(ends[self._page] - np.cumsum(n) + n, n)
        word = self._key[x] % _WORDS
        sought = self._other[pair] * _WORDS + word
        y = np.minimum(np.searchsorted(self._key, sought), len(self._key) - 1)
        both = self._key[y] == sought
        new = (pair * _WORDS + word)[both]
        self._products = _moved(self._products, np.searchsorted(new, self._pair), len(new))
        self._pair, self._x, self._y = new, x[both], y[both]


def _moved(rows: Floats, place: Ints, n: int) -> Floats:
    out = np.zeros((n, *rows.shape[1:]))
    out[place] = rows
    return out
