"""Masks: what a part that differs on every fetch looks like, and how it is left out.

A shape is the text of a part, word by word, with placeholders for what comes and goes:

    Made at {time} for visitor {number}.
    {…}

The rest of a shape still counts: where it changes, the mask no longer fits and the change is seen.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile

from recrawl.model import Mask

REST = "{…}"  # any words, any number of them
OR = " {or} "  # between contents that a server gives in turn
_KINDS = ("{time}", "{number}", "{code}", "{word}")  # from the narrow to the wide
_ANY = _KINDS[-1]
_FREE_WORDS = 3  # so many in a row that differ are free text, of any length next time
_OPENING, _CLOSING = "\"'([<", "\"')]>.,;:!?"
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAYS = r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*"
_TIME = (
    r"\d{4}-\d{2}(?:-\d{2})?(?:[Tt ]?\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?"
    # 3.12.10 is a version of something: of dates with dots all figures must be there.
    r"|\d{1,2}/\d{1,2}/\d{2,4}|\d{1,2}\.\d{1,2}\.\d{4}|\d{4}[./]\d{2}[./]\d{2}"
    r"|\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[ap]m)?"
    rf"|{_MONTHS}|{_DAYS}"
)
_NUMBER = r"[+-]?[$€£]?\d[\d.,'\u00a0\u202f]*(?:[%€$£]|st|nd|rd|th|ms|s|m|h|d|k|M|[kKMG]B)?"
_CODE = r"(?=\S*\d)[0-9A-Za-z+/=_.:%&?#-]{6,}|[0-9A-Za-z+/_-]{20,}={0,2}"
_PATTERNS = {
    "{time}": f"(?:{_TIME})",
    "{number}": f"(?:{_NUMBER})",
    "{code}": f"(?:{_CODE})",
    "{word}": r"\S+?",
}
_WHOLE = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _PATTERNS.items()}
_MASKED = re.compile(
    rf"([{re.escape(_OPENING)}]*)({'|'.join(map(re.escape, _KINDS))})([{re.escape(_CLOSING)}]*)"
)
_MOST_CHARACTERS = 2_000  # of a part; a longer one is masked as a whole: no shape of it would be short


def shape(before: str, after: str) -> str:
    """What two values of one part have in common, with placeholders for the rest.

    >>> shape("Made at 10:15 for visitor 7.", "Made at 10:16 for visitor 12.")
    'Made at {time} for visitor {number}.'
    >>> shape("At 10:15: buy soap", "At 10:16: see the sea")
    'At {time}: {…}'
    >>> shape("Buy soap", "See the sea")
    '{…}'
    """
    if max(len(before), len(after)) > _MOST_CHARACTERS:
        return REST
    old, new = before.split(), after.split()
    if len(old) == len(new):
        words = [_between(one, other) for one, other in zip(old, new, strict=True)]
        free = " ".join([_ANY] * _FREE_WORDS)
        fitting = " ".join(words)
        if any(word != _ANY for word in words) and free not in fitting and words.count(REST) <= 1:
            return fitting
    head = _alike(old, new)
    tail = _alike(old[len(head) :][::-1], new[len(head) :][::-1])
    return " ".join([*head, REST, *tail[::-1]])


def merged(one: str, other: str) -> str:
    """The narrowest shape that fits whatever either fits.

    >>> merged("at {time} by {word}", "at {number} by {code}")
    'at {word} by {word}'
    """
    return one if one == other else shape(one, other)


def either(*values: str) -> str:
    """The shape of a part in which one of these values stands, and nothing else.

    >>> fits(either("Buy soap.", "See the sea."), "See the sea.")
    True
    """
    return OR.join(dict.fromkeys(" ".join(value.split()) for value in values))


def fits(shape: str, value: str) -> bool:
    if OR in shape:
        return " ".join(value.split()) in shape.split(OR)
    if shape == REST or len(value) > _MOST_CHARACTERS:
        return shape == REST
    return _fit(shape.split(), value.split())


def _fit(shape: Sequence[str], words: Sequence[str]) -> bool:
    """Word by word: one pattern for a whole line could take for ever to find that it does not match."""
    if REST not in shape:
        return len(shape) == len(words) and all(map(_stands_for, shape, words))
    n_head = shape.index(REST)
    n_tail = shape[::-1].index(REST)
    if n_head + n_tail > len(words):
        return False
    ends = zip(
        [*shape[:n_head], *shape[len(shape) - n_tail :]],
        [*words[:n_head], *words[len(words) - n_tail :]],
        strict=True,
    )
    return all(_stands_for(mask, word) for mask, word in ends)


def _stands_for(mask: str, word: str) -> bool:
    pattern = _pattern(mask)
    return mask == word if pattern is None else pattern.fullmatch(word) is not None


def kinds(shape: str) -> set[str]:
    """The placeholders in a shape."""
    return set(re.findall(r"\{(?:time|number|code|word|…)\}", shape))


def says_something(shape: str) -> bool:
    """Whether there is anything in it beside placeholders."""
    return any(letter.isalnum() for letter in re.sub(r"\{[a-z…]+\}", "", shape))


def standing_for(kind: str, shape: str, value: str) -> list[str]:
    """The words of a value that fits a shape for which a placeholder of this kind stands, without the
    punctuation around them.

    >>> standing_for("{code}", "ref {code}, {…}", "ref a3f9c2d1, as ever")
    ['a3f9c2d1']
    """
    masks, words = shape.split(), value.split()
    if REST in masks:
        n_head, n_tail = masks.index(REST), masks[::-1].index(REST)
        masks = masks[:n_head] + masks[len(masks) - n_tail :]
        words = words[:n_head] + words[len(words) - n_tail :]
    return [_edges(word)[1] for mask, word in zip(masks, words, strict=False) if kind in mask]


class Masks:
    """The masks of a lens, by place, for reading a snapshot through them."""

    def __init__(self, masks: Iterable[Mask]) -> None:
        shapes: dict[str, list[str]] = defaultdict(list)
        for mask in masks:
            shapes[mask.place].append(mask.shape)
        self._shapes = dict(shapes)

    def __bool__(self) -> bool:
        return bool(self._shapes)

    @property
    def places(self) -> Sequence[str]:
        return list(self._shapes)

    def n_at(self, place: str) -> int:
        """How many there are for this very place."""
        return len(self._shapes.get(place, ()))

    def seen(self, place: str, value: str) -> str:
        """The value as it counts: the shape of a mask that fits it there, else itself."""
        return next((shape for shape in self._shapes.get(place, ()) if fits(shape, value)), value)


def _alike(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """The words that both begin with: equal, or of one narrow kind."""
    pairs = (_between(a, b) for a, b in zip(one, other, strict=False))
    return list(takewhile(lambda word: word not in (_ANY, REST), pairs))


def _between(one: str, other: str) -> str:
    """One word for two: themselves where they are equal, else the narrowest placeholder, punctuation kept."""
    if one == other or REST in (one, other):
        return one if one == other else REST
    head, inner, tail = _edges(one)
    other_head, other_inner, other_tail = _edges(other)
    if (head, tail) != (other_head, other_tail) or not inner or not other_inner:
        return _ANY
    return f"{head}{_kind(inner, other_inner)}{tail}"


def _edges(word: str) -> tuple[str, str, str]:
    """A word and the punctuation around it."""
    rest = word.lstrip(_OPENING)
    inner = rest.rstrip(_CLOSING)
    return word[: len(word) - len(rest)], inner, rest[len(inner) :]


def _kind(*values: str) -> str:
    return next(
        (kind for kind in _KINDS if all(v == kind or _WHOLE[kind].fullmatch(v) for v in values)), _ANY
    )


@lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str] | None:
    """Of a word of a shape with a placeholder in it; None: it stands for itself."""
    found = _MASKED.fullmatch(word)
    if found is None:
        return None
    head, kind, tail = found.groups()
    return re.compile(f"{re.escape(head)}{_PATTERNS[kind]}{re.escape(tail)}", re.IGNORECASE)
