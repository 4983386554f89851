from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.app.comparison import compared
from recrawl.detect import edits
from recrawl.detect.masks import Masks
from recrawl.detect.spots import N_PARTS, Placed, parts, unmasked
from recrawl.model import Mask

words = st.lists(st.sampled_from("abcde"), max_size=30)


@given(words, words)
def test_edits_lead_from_the_old_text_to_the_new_one(old: list[str], new: list[str]) -> None:
    found = edits.edits(old, new)
    assert found is not None
    made, at = [], 0
    for edit in found:
        made += [*old[at : edit.i1], *new[edit.j1 : edit.j2]]
        at = edit.i2
    assert [*made, *old[at:]] == new
    assert all(edit.i2 > edit.i1 or edit.j2 > edit.j1 for edit in found)
    assert all(one.i2 < other.i1 or one.j2 < other.j1 for one, other in pairwise(found))


def test_too_many_words_to_align_are_not_aligned() -> None:
    assert edits.edits([f"a{i}" for i in range(20_000)], [f"b{i}" for i in range(20_000)]) is None


def test_a_difference_by_words_marks_what_came_and_went_in_its_line() -> None:
    old = "Opening hours\nWe open at nine on weekdays.\nCome in"
    new = "Opening hours\nWe open at ten on weekdays.\nCome in\nBring a friend"
    assert compared(old, new, "v1", "v2", True) == [
        *("--- v1", "+++ v2", "@@ -1,3 +1,4 @@", "Opening hours"),
        *("We open at [-nine-] {+ten+} on weekdays.", "Come in", "{+Bring a friend+}"),
    ]


def test_lines_with_little_in_common_are_not_torn_to_shreds() -> None:
    lines = compared("The sun shines on the hill", "A letter of the king was read", "1", "2", True)
    assert lines[3:] == ["[-The sun shines on the hill-]", "{+A letter of the king was read+}"]


def test_marks_end_with_their_line() -> None:
    lines = compared("a b c d e f\ng\nh i j k l", "a b c d e h i j k l", "1", "2", True)
    assert lines[3:] == ["a b c d e [-f-]", "[-g-]", "h i j k l"]


@settings(max_examples=50)
@given(st.lists(st.text("ab ", max_size=8), max_size=8), st.lists(st.text("ab ", max_size=8), max_size=8))
def test_without_the_marks_both_texts_can_be_read(old: list[str], new: list[str]) -> None:
    """Whatever stands in no mark, with what went or with what came, makes up the words of either."""
    lines = "\n".join(compared("\n".join(old), "\n".join(new), "1", "2", True)[2:])
    shown = re.sub(r"^@@ .*$", "", lines, flags=re.MULTILINE)
    before = re.sub(r"\[-(.*?)-\]", r"\1", re.sub(r"\{\+.*?\+\}", "", shown))
    after = re.sub(r"\{\+(.*?)\+\}", r"\1", re.sub(r"\[-.*?-\]", "", shown))
    if "\n".join(old).splitlines() != "\n".join(new).splitlines() and max(len(old), len(new)) <= 4:
        assert before.split() == " ".join(old).split()
        assert after.split() == " ".join(new).split()


def placed(*lines: tuple[str, str]) -> Placed:
    return Placed([line for _, line in lines], [place for place, _ in lines])


def test_a_line_that_differs_is_a_part_at_its_place() -> None:
    before = placed(("title", "News"), ("main>p", "one"), ("main>p", "two"), ("footer>p", "made at 1"))
    after = placed(("title", "News"), ("main>p", "one"), ("main>p", "2"), ("footer>p", "made at 2"))
    assert [(part.place, part.before, part.after, part.spot) for part in parts(before, after)] == [
        ("main>p", "two", "2", 'main>p after "one"'),
        ("footer>p", "made at 1", "made at 2", ""),
    ]


def test_what_is_put_in_above_moves_no_place() -> None:
    before = placed(("main>p", "one"), ("footer>p", "made at 1"))
    after = placed(("main>p", "zero"), ("main>p", "one"), ("footer>p", "made at 2"))
    found = parts(before, after)
    assert [(part.before, part.after) for part in found] == [(None, "zero"), ("made at 1", "made at 2")]
    assert [part.spot for part in found] == ["main>p after nothing", ""]


def test_a_spot_is_named_by_the_neighbour_that_stays() -> None:
    before = placed(("p", "x1"), ("p", "y1"), ("p", "end"), ("p", "z"))
    after = placed(("p", "x2"), ("p", "y2"), ("p", "end"), ("p", "z"))
    assert [part.spot for part in parts(before, after)] == ["p after nothing", 'p before "end"']


def test_pages_that_differ_everywhere_have_no_parts() -> None:
    before, after = (placed(*(("p", f"{name} {i}") for i in range(N_PARTS + 1))) for name in "ab")
    assert parts(before, after) == ()
    assert len(parts(placed(*(("p", f"a {i}") for i in range(N_PARTS))), placed())) == N_PARTS


@pytest.mark.parametrize("spot", ['p after "one"', 'p before "three"'])
def test_a_mask_on_a_spot_leaves_its_neighbours_alone(spot: str) -> None:
    masks = Masks([Mask(place=spot, shape="{…}")])
    assert list(unmasked(placed(("p", "one"), ("p", "two"), ("p", "three")), masks)) == ["one", "three"]
    assert list(unmasked(placed(("p", "two"), ("p", "three?")), masks)) == ["two", "three?"]


def test_a_mask_with_a_shape_lets_the_rest_of_the_line_count() -> None:
    masks = Masks([Mask(place="p", shape="at {number} o'clock")])
    lines = placed(("p", "at 7 o'clock"), ("p", "at noon"), ("q", "at 8 o'clock"))
    assert list(unmasked(lines, masks)) == ["at {number} o'clock", "at noon", "at 8 o'clock"]
