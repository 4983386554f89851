"""The words of a text and how often each occurs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

MOST_WORDS = 2_000  # different ones: the commonest stand for the text
LONGEST = 64  # characters of a word that count

# Marks that belong to the letter before them but are no letters themselves, and whole scripts that need them.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff"
_WORD = re.compile(rf"[\w{_MARKS}]+")
# Scripts without spaces between words: every character stands for itself.
_ALONE = re.compile(
    "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
# A number, or one with what it counts or orders: 12, 30s, 1st, 10am, 12h30.
_NUMBER = re.compile(r"\d++(?:[^\W\d]{1,2}\d*+)?")
_TOKEN = re.compile(r"[0-9a-f]{16,}")  # where not all are letters: a hash or the number of a session


def bag(text: str) -> dict[str, int]:
    """In lower case; letters and digits alone make words. At most `MOST_WORDS` different ones.

    >>> bag("To be or not to be: 3 words")
    {'to': 2, 'be': 2, 'or': 1, 'not': 1, '3': 1, 'words': 1}
    """
    return most(counted(text))


def counted(text: str) -> dict[str, int]:
    """As `bag`, with all words, however many."""
    lowered = text.lower().replace("_", " ")
    if not lowered.isascii():
        lowered = _ALONE.sub(r" \g<0> ", lowered)
    counts = dict(Counter(_WORD.findall(lowered)))
    for word in [word for word in counts if len(word) > LONGEST]:
        cut, n = word[:LONGEST], counts.pop(word)
        counts[cut] = counts.get(cut, 0) + n
    return counts


def most(counts: Mapping[str, int]) -> dict[str, int]:
    """The commonest of these words and, of equally common ones, the first in the alphabet."""
    if len(counts) <= MOST_WORDS:
        return dict(counts)
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_WORDS])


def noisy(word: str) -> bool:
    """Whether it is a number, a part of a time or date, a counter or a token: what changes without meaning.

    >>> [word for word in ("12", "30s", "1st", "12h30", "mp3", "word") if noisy(word)]
    ['12', '30s', '1st', '12h30']
    """
    return (
        word[:1].isalnum() and not word.isalpha() and bool(_NUMBER.fullmatch(word) or _TOKEN.fullmatch(word))
    )


def telling(counts: Mapping[str, int]) -> dict[str, int]:
    """Without the noisy words."""
    return {word: n for word, n in counts.items() if not noisy(word)}


@lru_cache(maxsize=1 << 16)
def word_number(word: str) -> int:
    """63 bits that stand for a word, the same in every run and on every machine.

    >>> word_number("word")
    2689325812509034314
    """
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1


def numbered(counts: Mapping[str, int]) -> dict[int, int]:
    """The same bag with its words' numbers."""
    return {word_number(word): n for word, n in counts.items()}
