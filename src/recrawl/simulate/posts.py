"""What is said in generated threads, and by whom: every version of a resource is a post."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Floats, Ints
from recrawl.simulate.recipes import Talk
from recrawl.simulate.texts import lexicon, ranks

_STREAM = (1 << 32) + 2  # another stream than any block's events and any resource's texts
_OWN = 60  # words that are a thread's subject
_P_OWN = 0.4  # of a post's words that belong to it
_ASKING = 12  # words that ask: the first of the lexicon, which nobody uses otherwise
_P_ASKING = 0.2  # of the words of a post that asks
_P_AGAIN = 0.5  # that somebody speaks who spoke before


@dataclass(frozen=True, slots=True)
class Said:
    """The posts of one thread: post i has words bounds[i] to bounds[i + 1]."""

    author: Ints  # of the host's
    bounds: Ints
    word: Ints

    def texts(self, talk: Talk) -> list[str]:
        spelt = lexicon(talk.n_known)
        words = [spelt[word] for word in self.word.tolist()]
        return [" ".join(words[i:j]) for i, j in zip(self.bounds[:-1], self.bounds[1:], strict=True)]


def said(talk: Talk, at: Floats, resource: int, seed: int) -> Said:
    """In the thread with posts at these times. `resource` is its number in the world: what is said depends on
    that, the seed and its own times alone."""
    rng = np.random.default_rng([seed, _STREAM, resource])
    gap_s = np.append(np.diff(at), np.inf)
    asks = rng.random(len(at)) < np.where(gap_s <= talk.quick_s, talk.p_asked, talk.p_else)
    n = 5 + rng.poisson(talk.n_words - 5, len(at))
    bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
    shape = (int(bounds[-1]),)
    n_plain = talk.n_known - _ASKING
    special = (int(rng.integers(n_plain)) + ranks(_OWN, shape, rng)) % n_plain
    plain = np.where(rng.random(shape) < _P_OWN, special, ranks(n_plain, shape, rng))
    asking = np.repeat(asks, n) & (rng.random(shape) < _P_ASKING)
    word = np.where(asking, rng.integers(_ASKING, size=shape), _ASKING + plain)
    return Said(_authors(talk, len(at), rng), bounds, word.astype(np.int64))


def _authors(talk: Talk, n: int, rng: np.random.Generator) -> Ints:
    drawn = ranks(talk.n_authors, (n, 3), rng)  # three at once: one of them is not who spoke last
    again = rng.random((n, 2))
    spoke: list[int] = []
    for post in range(n):
        last = spoke[-1] if spoke else -1
        who = spoke[int(again[post, 1] * post)] if post and again[post, 0] < _P_AGAIN else last
        if who == last:
            others = [one for one in drawn[post].tolist() if one != last]
            who = others[0] if others else (last + 1) % talk.n_authors
        spoke.append(who)
    return np.array(spoke, dtype=np.int64)
