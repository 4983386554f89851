"""How the words of pages come and go: what temporal similarity is worked out from.

The dynamics of a word in a page are its counts over the steps. Of each series only its shape counts, so it
is kept as deviations from its mean, of length one; the inverse document frequency, which is the same at all
steps, falls out of the shape and stays in the weight (a document is a page at a step: ln of how many there
are for each that shows the word). A word that never moves has no shape and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.kin.kin import Singles
from recrawl.model import Bags, Bools, Floats, Ints

ROOM = 5_000_000  # places for a word in a page, that are looked at together


@dataclass(frozen=True, slots=True)
class Dynamics:
    """One row for each word that moves in a page: ordered by words, then by pages."""

    n_pages: int
    bounds: Ints  # word w has rows bounds[w] to bounds[w + 1]
    page: Ints
    weight: Singles  # tf-idf at the last step, as a share of the page's; 0: the word is not there any more
    move: Singles  # (n_rows, n_steps); 0 at steps that are not known

    @classmethod
    def of(cls, bags: Bags, at: Ints) -> Dynamics:
        """From the row of `bags` that each page shows at each step. A page is taken as it was last seen where
        a step is not known (-1); steps before its first one say nothing."""
        n, n_words = len(at), int(bags.word.max(initial=-1)) + 1
        rows = _carried(at)
        at_once = max(1, ROOM // max(n_words, 1))
        parts = [_block(bags, rows[i : i + at_once], i, n_words) for i in range(0, n, at_once)]
        if not parts or not at.shape[1]:
            empty = np.empty(0, dtype=np.float32)
            none = np.zeros(n_words + 1, dtype=np.int64)
            return cls(n, none, np.empty(0, dtype=np.int64), empty, np.empty((0, at.shape[1]), np.float32))
        n_showing = np.sum([part.n_showing for part in parts], axis=0)
        rarity = np.log((rows >= 0).sum() / np.maximum(n_showing, 1))
        page, word = (
            np.concatenate([part.page for part in parts]),
            np.concatenate([part.word for part in parts]),
        )
        weight = np.concatenate([part.last for part in parts]) * rarity[word]
        whole = np.bincount(page, weights=weight, minlength=n)[page]
        weight = np.divide(weight, whole, out=np.zeros_like(weight), where=whole > 0)
        order = np.argsort(word, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(word, minlength=n_words))])
        move = np.concatenate([part.move for part in parts])
        return cls(n, bounds, page[order], weight[order].astype(np.float32), move[order])

    @property
    def word(self) -> Ints:
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def n_steps(self) -> int:
        return int(self.move.shape[1])


@dataclass(frozen=True, slots=True)
class _Part:
    page: Ints
    word: Ints
    last: Floats
    move: Singles
    n_showing: Ints  # of each word: at how many steps it is shown, all pages together


def _carried(at: Ints) -> Ints:
    place = np.maximum.accumulate(np.where(at >= 0, np.arange(at.shape[1]), -1), axis=1)
    return np.where(place >= 0, np.take_along_axis(at, np.maximum(place, 0), axis=1), -1)


def _block(bags: Bags, rows: Ints, first: int, n_words: int) -> _Part:
    known = rows >= 0
    page, step = np.nonzero(known)
    shown = bags.pick(rows[known])
    where = shown.row
    key = page[where] * n_words + shown.word
    there: Bools = np.zeros(len(rows) * n_words, dtype=np.bool_)
    there[key] = True
    kept = np.flatnonzero(there)
    series = np.zeros((len(kept), rows.shape[1]))
    series[(np.cumsum(there) - 1)[key], step[where]] = shown.count
    page, word = kept // max(n_words, 1), kept % max(n_words, 1)
    of_page = known[page]
    n_showing = np.bincount(shown.word, minlength=n_words)
    last = series[:, -1].copy()
    # said exactly: a constant series minus its mean need not be 0
    moves = np.where(of_page, series, np.inf).min(axis=1) < np.where(of_page, series, -np.inf).max(axis=1)
    series, of_page = series[moves], of_page[moves]
    series -= (series.sum(axis=1) / of_page.sum(axis=1))[:, None]
    series *= of_page
    series /= np.sqrt((series * series).sum(axis=1))[:, None]
    return _Part(first + page[moves], word[moves], last[moves], series.astype(np.float32), n_showing)
