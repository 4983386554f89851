"""What is learned to be noise, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect import masks as shapes
from recrawl.detect import noise as noises
from recrawl.detect import turns
from recrawl.model import SILENCE, Learned, Manner, Noise, Part, Standing

words = st.lists(
    st.sampled_from(["Rain", "today.", "10:15", "2026-01-31", "17", "4,000", "a3f9c2d1", "(soon)", "x"]),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(words, words)
def test_a_shape_fits_both_of_the_values_that_it_was_made_of(one: str, other: str) -> None:
    shape = shapes.shape(one, other)
    assert shapes.fits(shape, one)
    assert shapes.fits(shape, other)


@given(words, words, words)
def test_a_wider_shape_fits_whatever_the_narrow_ones_did(one: str, other: str, third: str) -> None:
    wide = shapes.merged(shapes.shape(one, other), shapes.shape(other, third))
    assert all(shapes.fits(wide, value) for value in (one, other, third))


@pytest.mark.parametrize(
    ("one", "other", "shape"),
    [
        ("You are visitor 7.", "You are visitor 12.", "You are visitor {number}."),
        ("Made 2026-01-31T10:15:00Z", "Made 2026-02-01T07:00:00Z", "Made {time}"),
        ("ref a3f9c2d1", "ref 00ffee12", "ref {code}"),
        ("by Ada", "by Grace", "by {word}"),
        ("Buy soap", "See the sea", "{…}"),
        ("Ad: buy soap now", "Ad: see the sea", "Ad: {…}"),
        ("1,234 views", "1,250 views", "{number} views"),
    ],
)
def test_a_shape_is_as_narrow_as_it_can_be(one: str, other: str, shape: str) -> None:
    assert shapes.shape(one, other) == shape


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        ("You are visitor {number}.", "You are customer 7."),
        ("You are visitor {number}.", "You are visitor seven."),
        ("Made {time}", "Made of wood"),
        ("Ad: {…}", "News: the sea"),
    ],
)
def test_a_mask_hides_no_other_words(shape: str, value: str) -> None:
    assert not shapes.fits(shape, value)


def test_a_long_value_is_masked_whole_and_at_once() -> None:
    long = "a1" * 100_000
    assert shapes.shape(long, long + "b") == shapes.REST
    assert shapes.fits(shapes.REST, long)
    assert not shapes.fits("{code} {code} {code} {word}", long)


def learned(*parts: Part) -> Noise:
    return noises.learned(SILENCE, parts, at=0.0)


def places(noise: Noise) -> list[tuple[str, str]]:
    return [(mask.place, mask.shape) for mask in noise.masks]


def test_what_differs_between_two_looks_is_masked_by_its_shape() -> None:
    noise = learned(Part("footer>p", "You are visitor 7", "You are visitor 8"))
    assert places(noise) == [("footer>p", "You are visitor {number}")]
    assert noise.masks[0].learned is Learned.REPEAT


def test_a_mask_for_anything_is_put_on_the_exact_spot_where_there_is_one() -> None:
    noise = learned(Part("main>p", "Buy soap", "See the sea", spot="main>p[3/9]"))
    assert places(noise) == [("main>p[3/9]", "{…}")]
    noise = learned(Part("main>p", "visitor 7", "visitor 8", spot="main>p[3/9]"))
    assert places(noise) == [("main>p", "visitor {number}")]


def test_a_mask_that_fits_already_is_not_learned_twice_and_a_like_one_becomes_wider() -> None:
    first = Part("p", "visitor 7", "visitor 8")
    noise = learned(first, Part("p", "visitor 9", "visitor 10"))
    assert len(noise.masks) == 1
    noise = learned(first, Part("p", "visitor 9", "visitor none"))
    assert places(noise) == [("p", "visitor {word}")]


def test_there_is_an_end_to_how_much_is_learned() -> None:
    noise = learned(*(Part(f"p{i}", "1", "2") for i in range(1000)))
    assert len(noise.masks) == noises.N_MASKS


def test_long_lines_leave_room_for_few_masks_and_none_for_turns() -> None:
    line = "word " * 380
    parts = [Part(f"p{i}", f"{line}1", f"{line}2") for i in range(64)]
    assert 10 < len(learned(*parts).masks) < 20
    assert not turns.alternating(SILENCE, parts, at=0.0).masks
    assert len(turns.alternating(SILENCE, [Part("p", "1", "2"), *parts], at=0.0).masks) == 1
    assert not learned(Part("p" * 400, "1", "2")).masks


def tracked(noise: Noise, values: Sequence[str], archived: str = "price 0") -> Noise:
    """After visits that found these values there, each of which differs from the archived one."""
    for value in values:
        noise = noises.tracked(noise, [Part("p", archived, value)], at=1.0)
    return noise


def test_a_mask_is_certain_once_visits_found_something_else_each_time() -> None:
    noise = learned(Part("p", "visitor 7", "visitor 8"))
    assert not noises.certain(noise.masks)
    assert noises.certain(tracked(noise, ["visitor 9", "visitor 12", "visitor 30"]).masks)


def test_a_change_that_came_between_two_looks_is_no_noise_and_its_mask_is_dropped() -> None:
    noise = learned(Part("p", "price 7", "price 8"))
    assert len(tracked(noise, ["price 8"]).masks) == 1
    assert not tracked(noise, ["price 8", "price 8"]).masks


def test_a_mask_is_dropped_too_where_the_archived_value_is_back_and_stays() -> None:
    noise = learned(Part("p", "price 7", "price 8"))
    for _ in range(3):
        noise = noises.tracked(noise, [], at=1.0)
    assert not noise.masks


def test_a_clock_is_learned_from_the_history_alone() -> None:
    noise = tracked(SILENCE, ["Made at 10:15", "Made at 11:20"], "Made at 9:00")
    assert not noise.masks
    noise = tracked(noise, ["Made at 12:40"], "Made at 9:00")
    assert places(noise) == [("p", "Made at {time}")]
    assert noise.masks[0].learned is Learned.HISTORY


def test_an_age_in_words_is_a_clock() -> None:
    noise = tracked(SILENCE, ["Seen 3 hours ago", "Seen 5 hours ago", "Seen 2 hours ago"], "Seen 9 hours ago")
    assert places(noise) == [("p", "Seen {number} hours ago")]


@pytest.mark.parametrize(
    "values",
    [
        ["price 7", "price 8", "price 9", "price 12"],
        ["Rain.", "Sun.", "Snow.", "Fog."],
        ["Made at 10:15", "Made at 10:15", "Made at 10:15"],
        ["Made at 10:15", "Made by Ada", "Made at 11:15", "Made by Grace"],
    ],
)
def test_news_is_not_taken_for_noise_by_its_history(values: list[str]) -> None:
    assert not tracked(SILENCE, values, archived=values[-1].replace("1", "2")).masks


def test_a_clock_that_stood_still_on_a_visit_begins_anew() -> None:
    noise = tracked(SILENCE, ["at 10:15", "at 10:20"])
    noise = noises.tracked(noise, [], at=1.0)
    assert not tracked(noise, ["at 10:30", "at 10:40"]).masks


def test_the_owner_s_word_stands_above_what_was_learned() -> None:
    noise = learned(Part("p", "1", "2"), Part("q", "1", "2"))
    assert len(noises.lens(Manner(), noise).masks) == 2
    assert [mask.place for mask in noises.lens(Manner(unmask=("p",)), noise).masks] == ["q"]
    assert not noises.lens(Manner(mask=False), noise).masks


def test_another_view_has_another_digest_and_an_open_one_has_none() -> None:
    noise = learned(Part("p", "1", "2"))
    lenses = [
        noises.lens(manner, noise)
        for manner in (Manner(), Manner(ignore=("nav",)), Manner(include=("nav",)), Manner(main=True))
    ]
    assert len({lens.digest for lens in lenses}) == 4
    assert noises.lens(Manner(mask=False), noise).digest == ""


COUNT = [Part("p", "1 view", "2 views")]
WORDS = [Part("p", "Rain.", "Sun.")]


def repeated(n_row: int, parts: list[Part], last: list[Part]) -> bool:
    noise = noises.changed(SILENCE, "a", last, returned=False)
    standing = Standing(n_changes=n_row, bits=(1 << n_row) - 1, noise=noise)
    return noises.worth_repeating(standing, parts, returned=False)


def test_a_first_change_is_looked_at_twice_where_it_is_in_figures() -> None:
    assert noises.worth_repeating(Standing(), COUNT, returned=False)
    assert not noises.worth_repeating(Standing(), WORDS, returned=False)
    assert not noises.worth_repeating(Standing(), [], returned=False)


def test_later_ones_are_at_each_doubling_of_a_row_of_changes_in_one_place() -> None:
    assert [n + 1 for n in range(1, 20) if repeated(n, WORDS, last=WORDS)] == [2, 4, 8, 16]
    elsewhere = [Part("q", "Rain.", "Sun.")]
    assert not any(repeated(n, WORDS, last=elsewhere) for n in range(1, 20))
    seldom = Standing(n_changes=5, bits=0b10000, noise=noises.changed(SILENCE, "a", COUNT, returned=False))
    assert not noises.worth_repeating(seldom, COUNT, returned=False)


def test_a_content_that_comes_back_is_looked_at_twice_but_not_for_ever() -> None:
    seldom = Standing(n_changes=5, bits=0b10000)
    assert noises.worth_repeating(seldom, (), returned=True)
    tired = replace(seldom, noise=Noise(n_returns=noises.N_RETURNS))
    assert not noises.worth_repeating(tired, (), returned=True)


def test_the_last_contents_are_remembered_each_once() -> None:
    noise = SILENCE
    for content in ["a", "b", "a", "c", "d", "e"]:
        noise = noises.changed(noise, f"sha256:{content}", (), returned=False)
    assert noise.recent == ("e", "d", "c", "a")
