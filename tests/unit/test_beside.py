"""Two texts set side by side: lines that stayed, went and came, and the words that differ in them."""

from __future__ import annotations

import pytest

from recrawl.app import comparison
from recrawl.app.comparison import Pair, beside


def text(pieces: comparison.Pieces) -> str:
    return " ".join(words for words, _ in pieces)


def lines(stretches: list[list[Pair]]) -> list[tuple[int, int]]:
    return [(pair.before, pair.after) for stretch in stretches for pair in stretch]


def test_a_changed_line_stands_beside_its_other_self_with_its_words_marked() -> None:
    (stretch,), whole = beside("one\nthe price is 3 euro\nend", "one\nthe price is 4 euro\nend")
    assert whole
    assert [pair.same for pair in stretch] == [True, False, True]
    assert stretch[1].old == (("the price is", False), ("3", True), ("euro", False))
    assert stretch[1].new == (("the price is", False), ("4", True), ("euro", False))


def test_lines_with_little_in_common_went_and_came() -> None:
    (stretch,), _ = beside("same\nold words all of them", "same\nnothing like it here now")
    assert lines([stretch]) == [(1, 1), (2, 0), (0, 2)]
    assert stretch[1].old == (("old words all of them", True),)
    assert stretch[2].new == (("nothing like it here now", True),)


def test_what_is_far_from_any_difference_is_left_out() -> None:
    old = [f"line {i}" for i in range(100)]
    new = [*old[:20], "put in", *old[20:80], *old[81:]]
    stretches, whole = beside("\n".join(old), "\n".join(new))
    assert whole
    assert len(stretches) == 2
    assert (0, 21) in lines(stretches[:1])
    assert (81, 0) in lines(stretches[1:])
    assert all(len(stretch) == 2 * comparison.N_CONTEXT + 1 for stretch in stretches)


def test_numbers_and_words_are_those_of_both_texts() -> None:
    old, new = "a b c\nd\ne f g h", "a x c\ne f g i\nj"
    stretches, _ = beside(old, new)
    for pair in stretches[0]:
        if pair.before:
            assert text(pair.old) == old.splitlines()[pair.before - 1]
        if pair.after:
            assert text(pair.new) == new.splitlines()[pair.after - 1]


def test_no_more_is_shown_than_a_page_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "\n".join(f"new {i}" for i in range(5_000))
    stretches, whole = beside("", many)
    assert not whole
    assert sum(map(len, stretches)) == comparison.N_PAIRS
    (stretch,), whole = beside("", "x" * 5_000_000)
    assert whole
    assert len(text(stretch[0].new)) == comparison.N_OF_LINE
    monkeypatch.setattr(comparison, "N_CHARACTERS", 10)
    assert beside("", many)[1] is False
