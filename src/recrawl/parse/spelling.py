"""What readers cannot tell apart, in one spelling."""

from __future__ import annotations

import re
import unicodedata

# Where a line may break or which way it runs, not what is read. The joiners (U+200C, U+200D) stay: in
# Persian, in Indian scripts and in emoji they are seen.
_UNSEEN = re.compile("[\u00ad\u034f\u061c\u200b\u200e\u200f\u2060\ufeff]")
_LONGEST_WORD = 1_000  # characters; putting marks in order takes the square of how many follow each other


def plain(text: str) -> str:
    """Without what is not seen, and with composed letters (NFC). Lines stay lines.

    >>> plain("soft\\u00adware cafe\\u0301") == "software caf\\u00e9"
    True
    """
    if text.isascii():
        return text
    text = _UNSEEN.sub("", text)
    if max(map(len, text.split()), default=0) > _LONGEST_WORD:
        return re.sub(r"\S+", _composed, text)
    return unicodedata.normalize("NFC", text)


def _composed(word: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", word[0]) if len(word[0]) <= _LONGEST_WORD else word[0]
