"""Text that changes: the words of every content of a generated resource."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from recrawl.model import Ints
from recrawl.simulate.blocks import Piece
from recrawl.simulate.recipes import Text

_EVEN = 1.5  # how alike the shares of words that change are: the sum of their Beta distribution's parameters
_OWN = 300  # words that make a resource's subject
_P_OWN = 0.4  # of a text's words that belong to its subject
_FLATTER = 2.7  # Zipf's law with Mandelbrot's shift: the rank's weight is 1 / (rank + this)
_STREAM = 1 << 32  # a resource's words come from another stream than any block's events
_STORIES = _STREAM + 1
_TOPIC = 24  # words that stories of one leader are made of
_SAID = 10  # times that a story says each of its words: one of less weight would change little
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


def words_of(text: Text, piece: Piece, row: int, resource: int, seed: int) -> Ints:
    """The words of each content of the piece's resource `row`, as numbers: one line per content.

    `resource` is its number in the world: its words depend on that, the seed and its own changes alone.
    """
    rng = np.random.default_rng([seed, _STREAM, resource])
    own = slice(piece.traces.bounds[row], piece.traces.bounds[row + 1])
    content, noise = piece.content[own], piece.noise[own]
    n_contents = int(np.max(content, initial=0)) + 1
    small = np.zeros(n_contents, dtype=bool)
    small[content[noise]] = True
    mean = text.changed * _EVEN
    share = np.where(small, 0.0, rng.beta(mean, _EVEN - mean, n_contents))
    anew = rng.random((n_contents, text.n_words)) < share[:, None]
    anew[0] = True
    drawn = _drawn(text, anew.shape, rng)
    # Each place holds what was last drawn for it.
    since = np.maximum.accumulate(np.where(anew, np.arange(n_contents)[:, None], 0), axis=0)
    words: Ints = drawn[since, np.arange(text.n_words)]
    if text.n_told:
        words[:, text.n_words - text.n_told :] = _stories(text, piece, row, resource, seed, n_contents)
    words[:, 0] = (
        np.arange(n_contents) % text.n_known
    )  # like an edition's number: no two in a row are the same
    return words


def _stories(text: Text, piece: Piece, row: int, resource: int, seed: int, n_contents: int) -> Ints:
    """What each content tells: that depends on whose stories they are and when they were first told."""
    own = slice(piece.traces.bounds[row], piece.traces.bounds[row + 1])
    leader = resource if piece.follows[row] < 0 else int(piece.follows[row])
    subject = int(np.random.default_rng([seed, _STORIES, leader]).integers(text.n_known))
    first_at = np.full(n_contents, piece.traces.born_at[row])
    first_at[piece.content[own][::-1]] = piece.traces.at[own][::-1]  # of several moments the earliest stays
    told = np.empty((n_contents, text.n_told), dtype=np.int64)
    for content, at in enumerate((first_at - piece.lag_s[row]).astype(np.int64).tolist()):
        rng = np.random.default_rng([seed, _STORIES, leader, at])
        some = rng.choice(_TOPIC, min(_TOPIC, -(-text.n_told // _SAID)), replace=False)
        told[content] = np.resize(np.repeat((subject + some) % text.n_known, _SAID), text.n_told)
    return told


def counts_of(words: Ints, content: Ints) -> Iterator[tuple[Ints, Ints]]:
    """For the content of each version: the words in it, in order, and how often each occurs."""
    counted: dict[int, tuple[Ints, Ints]] = {}
    for number in content.tolist():
        if number not in counted:
            term, count = np.unique(words[number], return_counts=True)
            counted[number] = term, count.astype(np.int64)
        yield counted[number]


@cache
def lexicon(n_known: int) -> tuple[str, ...]:
    """How each word is spelt; nobody uses any of them."""
    return tuple(_word(number) for number in range(n_known))


def _drawn(text: Text, shape: tuple[int, ...], rng: np.random.Generator) -> Ints:
    subject = int(rng.integers(text.n_known))
    common = ranks(text.n_known, shape, rng)
    special = (subject + ranks(_OWN, shape, rng)) % text.n_known
    return np.where(rng.random(shape) < _P_OWN, special, common)


def ranks(n: int, shape: tuple[int, ...], rng: np.random.Generator) -> Ints:
    """Numbers below n, the low ones oftener."""
    weight = np.cumsum(1 / (np.arange(n) + _FLATTER))
    rank: Ints = np.searchsorted(weight, weight[-1] * rng.random(shape), "right")
    return rank


def _word(number: int) -> str:
    letters = []
    number += len(_CONSONANTS) * len(_VOWELS)  # so that every word has two syllables at least
    while number:
        number, syllable = divmod(number, len(_CONSONANTS) * len(_VOWELS))
        consonant, vowel = divmod(syllable, len(_VOWELS))
        letters.append(_CONSONANTS[consonant] + _VOWELS[vowel])
    return "".join(reversed(letters))
