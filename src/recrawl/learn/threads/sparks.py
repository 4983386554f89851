"""Words that bring on answers: a question is answered sooner than thanks are.

For every word and every part of speech it is counted how many posts with it were followed by another, and how
many of those were to be expected by then from the times alone. The few for which the two differ most surely
are kept, each with the logarithm of their ratio, drawn towards none by a hundred posts. What a post brings on
goes up or down by half of what its words say together, since they say much the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.speech import TAGS
from recrawl.model import Floats, Ints

_N_KEPT = 10
_FEWEST = 30  # posts with a word, in
_AMONG = 20  # threads at least: what only one of them speaks of says nothing of others
_WEIGHT = 100.0  # posts that say that a word says nothing
_PART = 0.5
_MOST = 1.0  # a post counts for no more than e times another


@dataclass(frozen=True, slots=True)
class Sparks:
    term: Ints  # parts of speech by their number, then words by theirs; rising
    score: Floats


def sparks(threads: Threads, due: Floats) -> Sparks:
    """`due` is what was to be expected from each post to the next one of its thread; NaN: it is the last."""
    post, term = _terms(threads)
    known = np.isfinite(due)
    followed = known[post]
    post, term = post[followed], term[followed]
    n = np.bincount(term)
    among = np.bincount(
        np.unique(threads.row[post] * max(len(n), 1) + term) % max(len(n), 1), minlength=len(n)
    )
    expected = np.bincount(term, due[post], len(n)) / max(due[known].mean(), 1e-9) if len(post) else n
    sure = np.where((n >= _FEWEST) & (among >= _AMONG), np.abs(n - expected) / np.sqrt(np.maximum(n, 1)), 0.0)
    best = np.sort(np.argsort(-sure, kind="stable")[:_N_KEPT])
    best = best[sure[best] > 0.0]
    return Sparks(best, np.log((n[best] + _WEIGHT) / (expected[best] + _WEIGHT)))


def heat(threads: Threads, known: Sparks) -> Floats:
    """By which factor more than another each post brings on."""
    post, term = _terms(threads)
    if not len(known.term) or not len(post):
        return np.ones(len(threads.at))
    place = np.minimum(np.searchsorted(known.term, term), len(known.term) - 1)
    told = known.term[place] == term
    score = np.bincount(post[told], known.score[place[told]], len(threads.at))
    return np.asarray(np.exp(np.clip(_PART * score, -_MOST, _MOST)))


def _terms(threads: Threads) -> tuple[Ints, Ints]:
    """Which posts have which terms."""
    posts, terms = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for bags, begin in ((threads.tags, 0), (threads.bags, len(TAGS))):
        if bags is not None:
            posts.append(bags.row)
            terms.append(bags.word + begin)
    return np.concatenate(posts), np.concatenate(terms)
