"""Real changes that could be taken for something else, and are not lost."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from tests.unit.stories import NO, UNKNOWN, VISITOR, YES, Server, Story, counter, page

from recrawl.detect import noise as noises
from recrawl.detect.text import Text
from recrawl.model import Changed, Manner, Outcome, Snapshot, Verdict

RSS = b"<rss><channel><item><guid>1</guid><title>Rain</title></item></channel></rss>"


def still(news: str, foot: str = "foot") -> Server:
    return page(news, lambda: foot)


def in_turn(*servers: Server) -> Server:
    turns = count()
    return lambda: servers[next(turns) % len(servers)]()


def test_what_came_back_otherwise_is_a_change_when_it_becomes_what_it_was() -> None:
    story, foot = Story(), counter(VISITOR)
    rain = page("Rain.", foot)
    assert story.changed(rain, rain, rain) == [UNKNOWN, NO, NO]  # a counter is masked by now
    assert story.visit(rain, status=404).visit.changed is YES
    assert story.changed(page("Sun.", foot), rain) == [YES, YES]


def test_a_wall_in_place_of_the_second_look_says_nothing_of_noise() -> None:
    wall = b"<title>Just a moment...</title><h1>Checking your browser</h1><script src=/c.js></script>"
    looks = in_turn(still("It costs 8."), lambda: wall)
    story = Story()
    assert story.changed(still("It costs 7."), looks) == [UNKNOWN, YES]
    assert (story.n_repeats, story.n_masks) == (1, 0)


def test_another_page_in_place_of_the_second_look_says_nothing_of_noise() -> None:
    busy = b"<title>Oh</title><h1>We are busy</h1><p>Come back in a minute, would you?"
    story = Story()
    assert story.changed(still("It costs 7."), in_turn(still("It costs 8."), lambda: busy)) == [UNKNOWN, YES]
    assert (story.n_repeats, story.n_masks) == (1, 0)


def test_a_new_content_that_at_first_came_in_turn_with_the_old_one_is_a_change_once_it_stays() -> None:
    story, old, new = Story(), still("It costs 7."), still("It costs 8.")
    # Half of the servers have it already: the second look is answered by one that has not.
    assert story.changed(old, in_turn(new, old)) == [UNKNOWN, NO]
    assert story.standing.noise.twins
    said = story.changed(*[new] * 14)
    assert said.count(YES) == 1
    assert said[-4:] == [NO] * 4
    assert not story.standing.noise.twins
    assert story.n_masks == 0
    assert story.changed(old) == [YES]


def test_contents_that_go_on_coming_in_turn_are_no_changes() -> None:
    one, two = still("It costs 7."), still("It costs 8.")
    story = Story()
    assert story.changed(one, in_turn(two, one)) == [UNKNOWN, NO]
    assert story.changed(*[two, two, one, one, one, two] * 8) == [NO] * 48


def test_what_cannot_be_judged_anew_is_not_taken_for_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    foot = counter(VISITOR)
    story = Story()
    story.visit(page("Rain.", foot))
    since_at = story.standing.since_at
    told = Text.compare

    def out_of_time(self: Text, before: Snapshot, after: Snapshot) -> Verdict:
        if after.lens.masks:
            return Verdict(changed=Changed.UNKNOWN, evidence="not done within 10 s")
        return told(self, before, after)

    monkeypatch.setattr(Text, "compare", out_of_time)
    judgement = story.visit(page("Sun.", foot))
    assert (story.n_repeats, judgement.visit.outcome) == (1, Outcome.UNREADABLE)
    assert story.standing.since_at == since_at
    monkeypatch.undo()
    assert story.changed(page("Sun.", foot)) == [YES]


@pytest.mark.parametrize(
    ("was", "before", "now", "after"),
    [
        ("application/pdf", b"%PDF-1.7 \xff\xfe", "application/json", b'{"a": 1}'),
        ("text/csv", b"id,price\n1,5\n", "application/json", b'{"a": 1}'),
        ("application/json", b'{"a": 1}', "text/csv", b"id,price\n1,5\n"),
        ("application/json", b'{"a": 1}', "application/pdf", b"%PDF-1.7 \xff\xfe"),
        ("text/html", b"<p>Rain.", "application/json", b'{"a": 1}'),
    ],
)
def test_what_becomes_another_kind_of_thing_has_changed(
    was: str, before: bytes, now: str, after: bytes
) -> None:
    story = Story(media_type=was)
    story.visit(lambda: before)
    story.media_type = now
    judgement = story.visit(lambda: after)
    assert (judgement.visit.outcome, judgement.visit.changed) == (Outcome.OK, YES)
    assert story.changed(lambda: after) == [NO]


@pytest.mark.parametrize(
    "text",
    [
        "Python 3.12.{} is out.",
        "Get v1.12.{}!",
        "MariaDB 10.11.{}",
        "Newest: CVE-2026-1234{}",
        "Ticket ABC-1234{}",
        "Sold for {} dollars.",
        "Il y a {} places.",
        "EUR/USD=1.08{}",
    ],
)
def test_releases_and_prices_are_news_on_visit_after_visit(text: str) -> None:
    story = Story()
    pages = [still("Rain.", text.format(n)) for n in range(11, 23)]
    assert story.changed(*pages) == [UNKNOWN, *([YES] * 11)]


@pytest.mark.parametrize(
    "text",
    ["Made at {:02d}:00", "Seen {} hours ago", "Vor {} Stunden", "il y a {} minutes", "Build 9f{:02d}c3d7a1"],
)
def test_clocks_ages_and_nonces_are_learned_all_the_same(text: str) -> None:
    story = Story()
    pages = [still("Rain.", text.format(n)) for n in range(11, 23)]
    assert story.changed(*pages)[-6:] == [NO] * 6


def test_a_part_in_other_letters_is_a_change_behind_a_mask_too() -> None:
    story, foot = Story(), counter(VISITOR)
    rain = page("Rain.", foot)
    assert story.changed(rain, rain, rain) == [UNKNOWN, NO, NO]
    assert story.changed(page("Rain.", counter(VISITOR.upper()))) == [YES]


def test_an_unreadable_second_look_and_an_unreadable_old_copy_are_no_turns() -> None:
    story = Story(media_type="text/plain")
    story.visit(lambda: b"It costs 7.")
    story.media_type = "application/json"
    story.changed(in_turn(lambda: b'{"price": 8}', lambda: b"oops"))
    assert not story.standing.noise.twins


def adverts(n: int) -> Callable[[], bytes]:
    """Lines without a word in common, in the midst of others that stay and stand in the like place."""
    words = iter(f"w{i:03d}xyz" for i in range(10_000))

    def serve() -> bytes:
        lines = ["Home.", *(f"{next(words)} {next(words)}" for _ in range(n)), "Contact."]
        return "".join(f"<p>{line}</p>" for line in lines).encode()

    return serve


def test_several_lines_of_noise_side_by_side_are_learned() -> None:
    story, serve = Story(), adverts(5)
    assert story.changed(*[serve] * 8)[-4:] == [NO] * 4


def test_noise_in_hundreds_of_lines_is_learned() -> None:
    story, views = Story(), count(1_000)

    def serve() -> bytes:
        rows = "".join(f"<tr><td>File {chr(65 + i % 26)}<td>{next(views)} views" for i in range(300))
        return f"<h1>Files</h1><table>{rows}</table>".encode()

    assert story.changed(*[serve] * 5)[-3:] == [NO] * 3


def test_what_is_known_of_noise_stays_small_whatever_the_server_sends() -> None:
    long = "x" * 100_000

    def lines(n: int) -> Server:
        return lambda: "".join(f"<{long[:5_000]}{i}>{long} {n} {i}" for i in range(30)).encode()

    story = Story()
    story.changed(lines(1), in_turn(lines(2), lines(3)), in_turn(lines(4), lines(3)), lines(5), lines(6))
    assert len(repr(story.standing.noise)) < noises.MOST_CHARACTERS + 20_000


@pytest.mark.parametrize(
    ("media_type", "wrong", "right", "body"),
    [
        ("text/html", "h3", "h1", b"<h1>News</h1><p>Rain."),
        ("application/json", "$.items[*].pirce", "$.items[*].price", b'{"items": [{"price": 1}]}'),
        ("text/csv", "column:pirce", "column:price", b"id,price\n1,5\n"),
        ("application/rss+xml", "field:titel", "field:title", RSS),
    ],
)
def test_a_selector_that_finds_nothing_is_told_of_at_the_first_copy(
    media_type: str, wrong: str, right: str, body: bytes
) -> None:
    said = [
        Story(media_type=media_type, manner=Manner(include=include)).visit(lambda: body).visit.evidence
        for include in ((), (right,), (wrong,))
    ]
    assert said == ["the first copy", "the first copy", f"the first copy; nothing matches {wrong}"]


def test_rows_without_a_column_that_counts_are_nothing_that_counts() -> None:
    story = Story(media_type="text/csv", manner=Manner(include=("column:pirce",)))
    assert story.changed(lambda: b"id,price\n1,5\n", lambda: b"id,price\n1,5\n2,6\n") == [UNKNOWN, NO]


def test_a_page_without_a_type_is_a_page() -> None:
    nonces = count()

    def serve() -> bytes:
        return b"<!DOCTYPE html><html><script>%d</script><p>Rain." % next(nonces)

    assert Story(media_type="").changed(serve, serve) == [UNKNOWN, NO]


def test_an_earlier_copy_that_is_lost_does_not_keep_what_follows_from_being_judged() -> None:
    story = Story()
    story.visit(still("Rain."))
    story.lose()
    story.manner = Manner(ignore=("footer",))  # so that its fingerprint does not help either
    *tries, given_up = (story.visit(still("Sun.")).visit for _ in range(4))
    assert [visit.outcome for visit in tries] == [Outcome.UNREADABLE] * 3  # it may have been out of reach
    assert (given_up.outcome, given_up.changed) == (Outcome.OK, UNKNOWN)
    assert "takes its place" in given_up.evidence
    assert story.changed(still("Sun."), still("Snow.")) == [NO, YES]


def test_an_earlier_copy_that_can_no_longer_be_read_is_given_up_after_some_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def out_of_time(*_: object) -> Verdict:
        return Verdict(changed=Changed.UNKNOWN, evidence="not done within 10 s")

    story = Story()
    story.visit(still("Rain."))
    story.manner = Manner(ignore=("footer",))
    monkeypatch.setattr(Text, "compare", out_of_time)
    outcomes = [story.visit(still("Sun.")).visit.outcome for _ in range(4)]
    assert outcomes == [*([Outcome.UNREADABLE] * 3), Outcome.OK]
    assert story.changed(still("Snow.")) == [YES]  # the fingerprints alone say so
