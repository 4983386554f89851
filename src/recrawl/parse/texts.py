"""What the words of a page tell of it, wherever they were read: in its markup, or kept as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from recrawl.parse import answers, dates

# It begins where a word begins and every part of it is bounded, so that no text takes more than linear time.
_EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@((?:[\w-]{1,63}\.){1,5}[^\W\d_]{2,24})(?![\w-])")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif)\Z", re.IGNORECASE)  # logo@2x.png is no address


def text_features(
    text: str, emails: AbstractSet[str], instants: Sequence[float], now: float
) -> dict[str, float]:
    """What the words of a page tell, with one space between them, and the addresses and times that stand
    elsewhere in it."""
    words = text.split(" ") if text else []
    named = list(dates.in_text(text))
    return {
        "emails": float(len(emails | _addresses(words))),
        "text_bytes": float(len(text.encode("utf-8", "replace"))),
        "words": float(len(words)),
        "dates": float(len(named)),
        **answers.dated_features([*named, *instants], now),
    }


def _addresses(words: Iterable[str]) -> set[str]:
    found = (found for word in words if "@" in word for found in _EMAIL.finditer(word))
    return {one[0].lower() for one in found if not _PICTURE.search(one[1])}
