"""Stems of English words, by Porter's algorithm (1980): endings come off step by step, as long as what is
left is long enough. Its measure m is how often a consonant follows a vowel."""

from __future__ import annotations

# Of each step the ending, and what takes its place. The longest that fits is tried, and no other.
_SECOND = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
_THIRD = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_DROPPED = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
_FOURTH = dict.fromkeys(_DROPPED.split(), "")


def stem(word: str) -> str:
    """Of a word in small letters. One of another alphabet, or of two letters, stays as it is."""
    if len(word) < 3 or not word.isascii():
        return word
    word = _participle(_plural(word))
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _SECOND, 0)
    word = _replaced(word, _THIRD, 0)
    word = _replaced(word, _FOURTH, 1)
    return _trimmed(word)


def _shape(word: str) -> str:
    """Vowels and consonants; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _doubled(word: str) -> bool:
    """Does it end with the same consonant twice?"""
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _short(word: str) -> bool:
    """Does it end with consonant, vowel, consonant, the last being none of w, x and y?"""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _participle(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    n = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    if not n or "v" not in _shape(word[:-n]):
        return word
    word = word[:-n]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _doubled(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _short(word) else word


def _replaced(word: str, endings: dict[str, str], m: int) -> str:
    for start in range(len(word)):
        ending = word[start:]
        if ending in endings:
            left = word[:start]
            fits = _measure(left) > m and (ending != "ion" or left.endswith(("s", "t")))
            return left + endings[ending] if fits else word
    return word


def _trimmed(word: str) -> str:
    if word.endswith("e"):
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
