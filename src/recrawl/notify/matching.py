"""Whether what came or went has words in it that somebody waits for.

A pattern may take for ever on some text, so whoever calls `matched` does so where it can be ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from recrawl.errors import BadInputError

MOST_CHARS = 500  # of a pattern


class Side(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    EITHER = "either"


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Any of the words, or the pattern, within a line; capitals are the same as small letters."""

    words: tuple[str, ...] = ()
    pattern: str = ""
    side: Side = Side.EITHER


def checked(match: Match) -> Match:
    if any(not word.strip() for word in match.words):
        raise BadInputError("Words to wait for must have letters in them; write --match 'sold out'.")
    if len(match.pattern) > MOST_CHARS:
        raise BadInputError(f"A pattern may have {MOST_CHARS} characters; write a shorter one.")
    try:
        re.compile(match.pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise BadInputError(f"--pattern is no regular expression ({problem}); mend it.") from None
    return match


def matched(match: Match, added: Sequence[str], removed: Sequence[str]) -> bool:
    """
    >>> matched(Match(words=("sold out",), side=Side.ADDED), ["Now SOLD  out!"], [])
    True
    """
    lines = [
        *(added if match.side is not Side.REMOVED else ()),
        *(removed if match.side is not Side.ADDED else ()),
    ]
    words = [_plain(word) for word in match.words]
    if any(word in _plain(line) for line in lines for word in words):
        return True
    pattern = re.compile(match.pattern, re.IGNORECASE) if match.pattern else None
    return pattern is not None and any(pattern.search(line) for line in lines)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
