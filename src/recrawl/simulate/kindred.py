"""Pages with subjects and stories, some of which other pages tell after a while: what kin are found in.

Every page has a subject, which is a set of words, and some words that stay. A story is a few of the subject's
words, shown for some steps. The pages of a family tell the same stories, each a fixed lag after the first of
them, and each tells stories of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Bags, Floats, Ints


@dataclass(frozen=True, slots=True)
class Kindred:
    bags: Bags
    at: Ints  # (n_pages, n_steps) rows of `bags`
    family: Ints  # of each page
    lag: Ints  # of each page: how many steps after the first of its family it tells a story


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    n_pages: int = 50_000
    n_steps: int = 50
    n_words: int = 1_000
    n_subjects: int = 200
    n_subject_words: int = 80
    family: int = 5  # pages
    n_lags: int = 7  # up to which pages of a family are apart
    n_staying: float = 8.0  # words of a page that stay; means, like those below
    n_stories: float = 12.0  # of a family
    n_own: float = 8.0  # stories that only one page tells
    lasts: float = 12.0  # steps
    n_told: int = 4  # words of a story


def kindred(telling: Telling, rng: np.random.Generator) -> Kindred:
    n = telling.n_pages
    family = rng.permutation(np.arange(n) // telling.family)
    lag = rng.integers(0, telling.n_lags + 1, n)
    n_families = int(family.max(initial=-1)) + 1
    common = 1.0 / np.sqrt(1.0 + np.arange(telling.n_words))
    common /= common.sum()
    words = _drawn(common, telling.n_subjects, telling.n_subject_words, rng)
    subject = rng.integers(0, telling.n_subjects, n_families)
    # stories of families reach all their pages, stories of pages only them
    shared = _stories(rng.poisson(telling.n_stories, n_families), subject, words, telling, rng)
    members = np.argsort(family, kind="stable")
    first = np.searchsorted(family[members], np.arange(n_families + 1))
    n_each = np.diff(first)[shared.teller]
    story = np.repeat(np.arange(len(shared.teller)), n_each)
    within = np.arange(len(story)) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    page = members[first[shared.teller[story]] + within]
    own = _stories(rng.poisson(telling.n_own, n), subject[family], words, telling, rng)
    staying = rng.poisson(telling.n_staying, n)
    stays = np.repeat(np.arange(n), staying)
    bags, at = _shown(
        telling,
        page=np.concatenate([page, own.teller, stays]),
        start=np.concatenate([shared.start[story] + lag[page], own.start, np.zeros_like(stays)]),
        lasts=np.concatenate([shared.lasts[story], own.lasts, np.full_like(stays, telling.n_steps)]),
        word=np.concatenate(
            [shared.word[story], own.word, rng.choice(telling.n_words, len(stays), p=common)]
        ),
        count=np.concatenate([shared.count[story], own.count, rng.integers(1, 4, len(stays))]),
    )
    return Kindred(bags, at, family, lag)


@dataclass(frozen=True, slots=True)
class _Stories:
    teller: Ints  # one row for each word of a story
    start: Ints
    lasts: Ints
    word: Ints
    count: Ints


def _stories(
    n_each: Ints, subject: Ints, words: Ints, telling: Telling, rng: np.random.Generator
) -> _Stories:
    n, told = int(n_each.sum()), telling.n_told
    start = rng.integers(-telling.n_lags, telling.n_steps, n)
    lasts = rng.geometric(1.0 / telling.lasts, n)
    teller = np.repeat(np.arange(len(n_each)), n_each)
    which = rng.random((n, words.shape[1])).argpartition(told, axis=1)[:, :told]
    word = words[subject[teller][:, None], which]
    return _Stories(
        np.repeat(teller, told),
        np.repeat(start, told),
        np.repeat(lasts, told),
        word.ravel(),
        rng.integers(1, 4, n * told),
    )


def _drawn(p: Floats, n: int, each: int, rng: np.random.Generator) -> Ints:
    """`n` rows of different words, the likely ones oftener."""
    order = np.argsort(np.log(rng.random((n, len(p)))) / p, axis=1)
    return np.asarray(order[:, ::-1][:, :each], dtype=np.int64)


def _shown(
    telling: Telling, *, page: Ints, start: Ints, lasts: Ints, word: Ints, count: Ints
) -> tuple[Bags, Ints]:
    """A version for each stretch of steps in which a page stays as it is."""
    first, end = np.clip(start, 0, telling.n_steps), np.clip(start + lasts, 0, telling.n_steps)
    begins = np.zeros((telling.n_pages, telling.n_steps + 1), dtype=np.bool_)
    begins[:, 0] = True
    begins[page, first] = True
    begins[page, end] = True
    at = (np.cumsum(begins[:, :-1]) - 1).reshape(telling.n_pages, telling.n_steps)
    seen = end > first
    page, first, end, word, count = page[seen], first[seen], end[seen], word[seen], count[seen]
    row = at[page, first]
    n = at[page, end - 1] - row + 1
    row = np.repeat(row, n) + np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    key, place = np.unique(row * telling.n_words + np.repeat(word, n), return_inverse=True)
    bounds = np.searchsorted(key, np.arange(at[-1, -1] + 2) * telling.n_words)
    total = np.bincount(place, weights=np.repeat(count, n)).astype(np.float64)
    return Bags(bounds, key % telling.n_words, total), at
