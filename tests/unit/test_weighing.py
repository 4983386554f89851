"""Change, noise, flapping and walls, told apart over a resource's whole story."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from tests.unit.stories import NO, UNKNOWN, VISITOR, YES, Server, Story, counter, page

from recrawl.model import Manner, Outcome


def test_a_counter_is_found_out_at_its_first_difference_and_news_is_still_news() -> None:
    story, foot = Story(), counter(VISITOR)
    rain, sun = page("Rain.", foot), page("Sun.", foot)
    assert story.changed(rain, rain, rain, sun, sun, sun) == [UNKNOWN, NO, NO, YES, NO, NO]
    assert [mask.shape for mask in story.standing.noise.masks] == ["You are visitor {number}."]


def test_a_second_look_costs_little_where_there_is_no_noise() -> None:
    story = Story()
    pages = [page(f"News of day {chr(65 + i)}.", lambda: "foot") for i in range(16)]
    assert story.changed(*pages) == [UNKNOWN, *([YES] * 15)]
    assert story.n_repeats == 3  # of 15 changes in a row
    assert not story.standing.noise.masks


def test_noise_and_a_real_change_in_one_visit_are_told_apart() -> None:
    story, foot = Story(), counter(VISITOR)
    assert story.changed(page("Rain.", foot), page("Sun.", foot)) == [UNKNOWN, YES]
    assert story.changed(page("Sun.", foot)) == [NO]


def test_a_part_that_is_masked_and_then_says_something_else_is_a_change() -> None:
    story, foot = Story(), counter(VISITOR)
    rain = page("Rain.", foot)
    assert story.changed(rain, rain, rain) == [UNKNOWN, NO, NO]
    assert story.changed(page("Rain.", lambda: "This site closes tomorrow.")) == [YES]


def test_a_change_that_came_between_two_looks_is_unlearned() -> None:
    story = Story()
    prices = iter(["price 1", "price 2", *["price 3"] * 9, "price 4", "price 4", "price 4"])
    price = page("Rain.", lambda: next(prices))
    story.changed(price, price)  # the second visit looked twice and saw 2, then 3
    assert story.n_masks == 1
    story.changed(price, price, price)
    assert story.n_masks == 0
    assert story.changed(*[page("Rain.", lambda: "price 4")] * 2) == [YES, NO]


def test_a_clock_to_the_hour_is_learned_from_the_history() -> None:
    story = Story()
    pages = [page("Rain.", lambda i=i: f"Made at {10 + i}:00") for i in range(10)]  # type: ignore[misc]
    assert story.changed(*pages)[-5:] == [NO] * 5


def test_nothing_is_masked_where_the_owner_says_so() -> None:
    foot = counter(VISITOR)
    story = Story(manner=Manner(mask=False))
    rain = page("Rain.", foot)
    assert story.changed(rain, rain, rain) == [UNKNOWN, YES, YES]
    assert story.n_repeats == 0


def test_a_mask_that_is_undone_counts_again_and_is_not_learned_anew() -> None:
    foot = counter(VISITOR)
    rain = page("Rain.", foot)
    story = Story()
    assert story.changed(rain, rain) == [UNKNOWN, NO]
    story.manner = Manner(unmask=(story.standing.noise.masks[0].place,))
    n_repeats = story.n_repeats
    assert story.changed(rain, rain, rain) == [YES, YES, YES]
    assert story.n_repeats == n_repeats  # there would be nothing to learn


def test_json_and_tables_have_their_noise_too() -> None:
    numbers = count(7)
    story = Story(media_type="application/json")

    def document(price: int) -> Server:
        return lambda: b'{"price": %d, "request": "%08x-%d"}' % (price, next(numbers) * 7919, next(numbers))

    assert story.changed(*[document(1)] * 3, document(2), document(2)) == [UNKNOWN, NO, NO, YES, NO]
    story = Story(media_type="text/csv")

    def table(price: int) -> Server:
        return lambda: b"id,price,made\n1,%d,%d\n2,5,%d\n" % (price, n := next(numbers), n)

    assert story.changed(*[table(1)] * 3, table(2), table(2)) == [UNKNOWN, NO, NO, YES, NO]


def test_a_server_that_gives_two_contents_in_turn_is_found_out() -> None:
    turns = count()
    both = [page("Layout one, of old.", lambda: "a"), page("The new layout!", lambda: "b")]
    story = Story()

    def flapping() -> bytes:
        return both[next(turns) % 2]()

    said = story.changed(*[flapping] * 8)
    assert said[-5:] == [NO] * 5
    assert len(story.standing.noise.twins) == 2
    assert story.changed(page("Real news.", lambda: "a")) == [YES]


def test_a_content_that_comes_back_for_good_is_a_change() -> None:
    one, two = page("One.", lambda: "a"), page("Two.", lambda: "a")
    story = Story()
    assert story.changed(one, two, one, two) == [UNKNOWN, YES, YES, YES]
    assert "back" in story.visit(one).visit.evidence
    assert not story.standing.noise.twins


WALLS = {
    "soft-404": b"<title>Page not found</title><h1>Page not found</h1><p>Sorry, this page does not exist.",
    "login": b"<title>Sign in</title><h1>Sign in</h1><form action=/login>User <input name=user> Password "
    b"<input type=password name=password><button>Sign in</button></form>",
    "challenge": b"<title>Just a moment...</title><h1>Checking your browser</h1><script src=/c.js></script>",
    "consent": b"<title>Before you continue</title><h1>Before you continue</h1><p>We use cookies."
    b"<button>Accept all</button><button>Reject all</button>",
    "empty": b"<html><div id=root></div><script src=app.js></script></html>",
}
STRONG = WALLS["challenge"] + b"<p>We are checking your browser. Ray ID: 1"
ARTICLE = page(
    "The council met on Monday and agreed on a budget for the new library. " * 8, lambda: "Imprint"
)


@pytest.mark.parametrize("flag", WALLS)
def test_a_wall_is_kept_with_its_flag_and_counts_only_once_it_has_stood_for_hours(flag: str) -> None:
    story = Story()
    wall = WALLS[flag]
    story.visit(ARTICLE)
    held = story.standing.version
    doubted = story.visit(lambda: wall)
    assert (doubted.visit.outcome, doubted.visit.changed) == (Outcome.SUSPECT, UNKNOWN)
    assert doubted.version is not None
    assert doubted.version.flag == flag
    assert (story.standing.version, story.standing.since_at) == (held, 3_600.0)
    outcomes = {story.visit(lambda: wall).visit.outcome for _ in range(5)}  # one an hour
    assert outcomes == {Outcome.SUSPECT}
    confirmed = story.visit(lambda: wall)
    assert (confirmed.visit.outcome, confirmed.visit.changed) == (Outcome.OK, YES)
    assert "not for the first time" in confirmed.visit.evidence
    assert confirmed.version is not None
    assert not confirmed.version.flag
    assert story.visit(lambda: wall).visit.changed is NO


@pytest.mark.parametrize("flag", WALLS)
def test_a_wall_that_is_gone_at_the_next_visit_was_no_change(flag: str) -> None:
    story = Story()
    story.visit(ARTICLE)
    story.visit(lambda: WALLS[flag])
    assert story.changed(ARTICLE) == [NO]
    outcomes = [story.visit(lambda: WALLS[flag]).visit.outcome for _ in range(6)]  # doubted afresh
    assert outcomes == [Outcome.SUSPECT] * 6


def test_walls_of_different_kinds_are_not_doubted_for_ever() -> None:
    story = Story()
    story.visit(ARTICLE)
    walls = [WALLS["login"], WALLS["challenge"]] * 4
    assert story.changed(*[lambda wall=wall: wall for wall in walls])[:7] == [UNKNOWN] * 6 + [YES]


def test_a_resource_that_always_was_a_login_page_has_its_first_copy_at_the_second_visit() -> None:
    story = Story()
    first, second = (story.visit(lambda: STRONG) for _ in range(2))
    assert (first.visit.outcome, second.visit.outcome) == (Outcome.SUSPECT, Outcome.OK)
    assert story.standing.version is not None


def test_a_second_look_that_fails_leaves_the_first_as_it_is() -> None:
    foot = counter(VISITOR)
    story = Story()
    story.visit(page("Rain.", foot))
    first = story._fetched(page("Rain.", foot), ())
    failed = replace(first, outcome=Outcome.NET_ERROR, body=b"", status=None)
    assert story._judged(first, failed).visit.changed is YES
