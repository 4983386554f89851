"""Kin by each of the paper's ways, chosen on the first training window alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recrawl.evaluate.radinsky.steps import Shown
from recrawl.learn.kin import Kin
from recrawl.learn.kin.candidates import likely
from recrawl.learn.kin.content import alike
from recrawl.learn.kin.correlation import LAGS, correlated
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.graph import linked
from recrawl.learn.kin.warping import warped
from recrawl.model import Bags, Floats, Ints

WAYS = ("graph", "content", "cross_correlation", "dtw")
MAIN = "cross_correlation"
_FEW = 400  # pages: up to so many, all are compared with all
_EVERYWHERE = 0.5  # a word that as many pages show tells nothing


def chosen(shown: Shown, t: int, k: int, n_words: int, ways: Sequence[str] = WAYS) -> dict[str, Kin | None]:
    """From what was shown up to step t; None where the corpus cannot say."""
    at = shown.at[:, : t + 1]
    few = _compared(shown.bags, at, n_words)
    dynamics = Dynamics.of(few, at)
    among = None if len(at) <= _FEW else likely(dynamics)
    found: dict[str, Kin | None] = {}
    if "graph" in ways:
        found["graph"] = None if shown.links is None else linked(*shown.links, len(at), k)
    if "content" in ways:
        last = np.where(at[:, -1] >= 0, at[:, -1], len(few))
        found["content"] = alike(_with_nothing(few).pick(last), k)
    if "cross_correlation" in ways:  # the paper's lags are from 1 up: kin are those that lead
        found["cross_correlation"] = correlated(dynamics, k, range(1, LAGS + 1), among=among)
    if "dtw" in ways:
        found["dtw"] = warped(dynamics, k, among=among)
    return found


def nobody(n_pages: int) -> Kin:
    return Kin(np.full((n_pages, 1), -1, dtype=np.int64), np.zeros((n_pages, 1)))


def share_true(kin: Kin, family: Ints) -> Floats:
    """Of each page that has kin in truth: the share of those among the nearest, of as many as it has."""
    n_true = np.bincount(family, minlength=int(family.max(initial=0)) + 1)[family] - 1
    theirs = np.where(kin.of >= 0, family[np.maximum(kin.of, 0)], -1)
    counted = np.arange(kin.of.shape[1]) < n_true[:, None]
    hits = ((theirs == family[:, None]) & counted).sum(axis=1)
    return np.asarray(hits / np.minimum(np.maximum(n_true, 1), kin.of.shape[1]))[n_true > 0]


def _compared(bags: Bags, at: Ints, n_words: int) -> Bags:
    """With the commonest words alone that not everybody shows, as far as these steps tell."""
    rows = np.unique(at[at >= 0])
    some = bags.pick(rows)
    page = np.full(len(bags), -1, dtype=np.int64)
    page[at[at >= 0]] = np.nonzero(at >= 0)[0]
    pair = np.unique(some.word * len(at) + page[rows][some.row])
    n_pages = np.bincount(pair // len(at), minlength=int(bags.word.max(initial=-1)) + 1)
    told = np.bincount(some.word, minlength=len(n_pages))
    telling = (n_pages > 1) & (n_pages <= max(_EVERYWHERE * len(at), 2))
    best = np.sort(np.argsort(-np.where(telling, told, 0), kind="stable")[:n_words])
    number = np.full(len(n_pages), -1, dtype=np.int64)
    best = best[telling[best]]
    number[best] = np.arange(len(best))
    kept = number[bags.word] >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return Bags(before[bags.bounds], number[bags.word[kept]], bags.count[kept])


def _with_nothing(bags: Bags) -> Bags:
    """And an empty bag at the end."""
    return Bags(np.append(bags.bounds, bags.bounds[-1]), bags.word, bags.count)
