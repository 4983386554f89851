"""Texts as bags of words."""

from __future__ import annotations

import pytest

from recrawl.parse.bags import LONGEST, MOST_WORDS, bag, noisy, numbered, telling, word_number


def test_letters_and_digits_in_lower_case_are_words_and_all_else_parts_them() -> None:
    assert bag("To be, or NOT to be: that's 2_3") == {
        "to": 2,
        "be": 2,
        "or": 1,
        "not": 1,
        "that": 1,
        "s": 1,
        "2": 1,
        "3": 1,
    }
    assert bag(" \n.,;") == {}


def test_words_of_other_scripts_are_words() -> None:
    assert bag("Größe ÉTÉ Ёлка नमस्ते שָׁלוֹם") == dict.fromkeys(["größe", "été", "ёлка", "नमस्ते", "שָׁלוֹם"], 1)
    assert bag("東京都の東") == {"東": 2, "京": 1, "都": 1, "の": 1}  # without spaces, each for itself


def test_of_too_many_words_the_commonest_are_kept() -> None:
    kept = bag(" ".join([f"w{i}" for i in range(3 * MOST_WORDS)] + ["often", "often"]))
    assert len(kept) == MOST_WORDS
    assert kept["often"] == 2
    words = sorted(f"w{i}" for i in range(3 * MOST_WORDS))
    assert bag(" ".join(reversed(words))).keys() == set(words[:MOST_WORDS])  # of equals, the first there are


def test_a_word_is_cut_where_it_is_none() -> None:
    assert bag("x" * 1000 + " " + "x" * LONGEST) == {"x" * LONGEST: 2}


@pytest.mark.parametrize(
    "word", ["7", "2024", "30s", "1st", "10am", "12h30", "٣٤", "0123456789abcdef", "deadbeef00112233"]
)
def test_numbers_times_and_tokens_are_noisy(word: str) -> None:
    assert noisy(word)


@pytest.mark.parametrize("word", ["word", "mp3", "b2b", "covid19", "deadbeef", "3dimensional", "größe", "漢"])
def test_words_are_not_noisy(word: str) -> None:
    assert not noisy(word)
    assert telling({word: 2, "12": 1}) == {word: 2}


def test_a_words_number_is_the_same_everywhere() -> None:
    assert word_number("word") == 2689325812509034314
    assert 0 <= word_number("größe") < 2**63
    assert numbered({"word": 3}) == {2689325812509034314: 3}
    assert len({word_number(f"w{i}") for i in range(5_000)}) == 5_000
