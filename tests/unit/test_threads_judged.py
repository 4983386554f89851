"""Two looks at a thread: what is new, what was edited, what is gone, and what nobody can know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.unit.discussions import AT, POSTS, ROOT, Said, atom, day, discourse, messy, phpbb, xenforo

from recrawl.checks import detector as detector_checks
from recrawl.contracts import Detector
from recrawl.detect import noise
from recrawl.detect.board import Board
from recrawl.detect.choose import detector_name
from recrawl.detect.thread import Thread
from recrawl.model import Changed, Kind, Lens, Noise, Snapshot
from recrawl.parse import html
from recrawl.parse.threads import Page, bundled, pages

URL = f"{ROOT}/threads/heron.5/"
THREAD = Thread()
NEW = Said(109, "Dan", day(10, 11), "I would like to see it too.")
LONG = tuple(
    Said(200 + i, "Ada" if i % 2 else "Bob", day(1, i), f"The words of post number {i}.") for i in range(20)
)


def seen(body: bytes, url: str = URL, media_type: str = "text/html", lens: Lens = Lens()) -> Snapshot:  # noqa: B008
    return Snapshot(body=body, media_type=media_type, charset="utf-8", url=url, at=AT, lens=lens)


def page(posts: tuple[Said, ...], number: int, n_pages: int) -> Page:
    url = f"{URL}page-{number}" if number > 1 else URL
    return Page(url=url, body=xenforo(posts, number, n_pages), media_type="text/html", charset="utf-8")


def several(*some: Page) -> Snapshot:
    if len(some) == 1:
        return seen(some[0].body, some[0].url)
    content_type, body = bundled(some)
    return seen(body, some[-1].url, content_type.partition(";")[0])


def edited(post: Said, words: str) -> Said:
    return replace(post, words=words, edited=day(10, 10))


# -- one page ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [phpbb, xenforo, messy])
def test_a_new_post_is_told_with_its_author_and_first_words(write: Callable[..., bytes]) -> None:
    verdict = THREAD.compare(seen(write(POSTS)), seen(write((*POSTS, NEW), seen=99)))
    assert verdict.changed is Changed.YES
    assert verdict.evidence == "1 new post: +Dan: I would like to see it too."
    assert [(post.author, post.at, post.text) for post in verdict.posts] == [("Dan", NEW.at_s, NEW.words)]
    assert 0.0 < verdict.magnitude < 0.5


def test_what_is_around_the_posts_says_nothing() -> None:
    one, other = seen(phpbb(POSTS)), seen(phpbb(POSTS, seen=12_345))
    assert THREAD.fingerprint(one) == THREAD.fingerprint(other)
    verdict = THREAD.compare(one, other)
    assert (verdict.changed, verdict.magnitude, verdict.posts) == (Changed.NO, 0.0, ())


def test_posts_that_are_new_edited_and_gone_are_counted() -> None:
    later = (POSTS[0], edited(POSTS[1], "Three times, in the morning."), POSTS[3], NEW)
    verdict = THREAD.compare(seen(xenforo(POSTS)), seen(xenforo(later)))
    assert verdict.evidence == (
        "1 new post, 1 edited, 1 gone: +Dan: I would like to see it too.; "
        "[Bob]: Twice, in the morning. → Three times, in the morning.; "
        "−Cyd: It nests behind the weir & likes fish."
    )
    assert [post.key for post in verdict.posts] == ["109"]


def test_new_posts_are_listed_in_order_of_time_and_the_newest_is_shown_first() -> None:
    mixed = (POSTS[0], POSTS[3], POSTS[1], POSTS[2])
    verdict = THREAD.compare(seen(messy(POSTS[:2])), seen(messy(mixed)))
    assert [post.at for post in verdict.posts] == [POSTS[2].at_s, POSTS[3].at_s]
    assert verdict.evidence.startswith("2 new posts: +Ada: Thank you both.; +Cyd:")


def test_the_difference_for_people_shows_posts() -> None:
    later = (edited(POSTS[0], "Has anybody seen the heron?"), *POSTS[1:3], NEW)
    assert THREAD.listed(seen(xenforo(POSTS)), seen(xenforo(later))) == [
        "+ 2026-02-10 11:00 Dan: I would like to see it too.",
        "[Ada]: Has anybody seen the heron at the mill? → Has anybody seen the heron?",
        "- 2026-02-09 23:59 Ada: Thank you both.",
    ]
    assert THREAD.listed(seen(xenforo(POSTS)), seen(xenforo(POSTS, seen=8))) == []


def test_a_page_without_posts_is_no_news_and_one_that_lost_them_all_is_unknown() -> None:
    empty = seen(b"<html><body><h1>Log in</h1></body></html>")
    assert THREAD.compare(seen(xenforo(POSTS)), empty).changed is Changed.UNKNOWN
    assert THREAD.compare(empty, empty).changed is Changed.NO
    verdict = THREAD.compare(empty, seen(xenforo(POSTS)))
    assert (verdict.changed, len(verdict.older)) == (Changed.UNKNOWN, 4)  # they were there before
    assert THREAD.unmatched(empty) == "no posts are found in it; if it has none, say --kind page"
    assert THREAD.unmatched(seen(xenforo(POSTS))) == ""


def test_what_cannot_be_read_is_unknown() -> None:
    broken = seen(b'{"post_stream": ', media_type="application/json")
    assert THREAD.fingerprint(broken) == ""
    verdict = THREAD.compare(seen(discourse(POSTS), media_type="application/json"), broken)
    assert verdict.changed is Changed.UNKNOWN
    assert "the new copy cannot be read as thread" in verdict.evidence


def test_posts_that_are_numbered_anew_are_the_same_posts() -> None:
    anew = tuple(replace(post, n=post.n + 1_000) for post in POSTS)
    assert THREAD.compare(seen(xenforo(POSTS)), seen(xenforo(anew))).changed is Changed.NO


def test_the_same_words_at_another_time_are_another_post() -> None:
    bump, again = Said(120, "Dan", day(9, 1), "Bump!"), Said(130, "Dan", day(10, 1), "Bump!")
    verdict = THREAD.compare(seen(xenforo((*POSTS, bump))), seen(xenforo((*POSTS, again))))
    assert verdict.evidence == "1 new post, 1 gone: +Dan: Bump!; −Dan: Bump!"


def test_a_thread_of_many_posts_is_judged_where_it_can_be_killed() -> None:
    many = tuple(
        Said(n, f"User {n % 7}", day(1 + n % 9, n % 24), f"Words of number {n}. " * 9) for n in range(400)
    )
    one, other = seen(xenforo(many[:-1])), seen(xenforo(many))
    assert not html.tame(bytes(one.body))
    assert [post.key for post in THREAD.compare(one, other).posts] == ["399"]
    assert len(THREAD.listed(one, other)) == 1  # type: ignore[arg-type]


def test_relative_times_go_on_and_nothing_is_new() -> None:
    def comments(*ago: str) -> bytes:
        rows = "".join(
            f'<div class="c"><a href="/user/u{i}">u{i}</a> <span class="age">{when}</span><p>Words of '
            f"number {i}.</p></div>"
            for i, when in enumerate(ago)
        )
        return f"<html><body>{rows}</body></html>".encode()

    before = seen(comments("3 hours ago", "an hour ago", "5 minutes ago"))
    after = replace(
        seen(comments("6 hours ago", "4 hours ago", "3 hours ago", "just now")), at=AT + 3 * 3_600
    )
    verdict = THREAD.compare(before, after)
    assert verdict.evidence == "1 new post: +u3: Words of number 3."
    assert verdict.posts[0].at == AT + 3 * 3_600


# -- many pages ----------------------------------------------------------------------------------------------


def test_a_bundle_of_pages_is_read_back_as_it_came() -> None:
    some = [
        Page(url=f"{URL}{i}", body=body, media_type="text/html")
        for i, body in enumerate((b"\r\n--x\r\n", b"", b"a\n"))
    ]
    content_type, body = bundled(some)
    assert pages(body, content_type.partition(";")[0], None, "") == some
    assert bundled(some) == (content_type, body)
    assert pages(body[:-60], "multipart/mixed", None, "")[:1] == some[:1]
    assert pages(b"no bundle", "multipart/mixed", None, URL)[0].body == b"no bundle"


def test_a_new_page_brings_new_posts_and_the_page_where_we_stopped_none() -> None:
    before = several(page(LONG[10:15], 3, 3))
    both = several(page(LONG[10:16], 3, 4), page(LONG[16:18], 4, 4))
    verdict = THREAD.compare(before, both)
    assert [post.key for post in verdict.posts] == ["215", "216", "217"]
    # the next visit looks at the last page alone
    assert THREAD.compare(both, several(page(LONG[16:18], 4, 4))).changed is Changed.NO
    assert THREAD.listed(both, several(page(LONG[16:18], 4, 4))) == []
    verdict = THREAD.compare(both, several(page(LONG[16:19], 4, 4)))
    assert [post.key for post in verdict.posts] == ["218"]


def test_pages_before_those_that_were_known_bring_nothing_new() -> None:
    last = several(page(LONG[10:15], 3, 3))
    everything = several(page(LONG[:5], 1, 3), page(LONG[5:10], 2, 3), page(LONG[10:15], 3, 3))
    assert THREAD.compare(last, everything).changed is Changed.NO
    assert THREAD.compare(everything, last).changed is Changed.NO


def test_a_post_that_moved_to_another_page_is_neither_new_nor_gone() -> None:
    """The second post is removed: every later one moves up by a place."""
    before = several(page(LONG[:5], 1, 2), page(LONG[5:8], 2, 2))
    left = LONG[:1] + LONG[2:]
    verdict = THREAD.compare(before, several(page(left[:5], 1, 2), page(left[5:7], 2, 2)))
    assert verdict.evidence == "1 gone: −Ada: The words of post number 1."
    # Who looks at the last page alone cannot know where its first post has gone to.
    assert (
        THREAD.compare(several(page(LONG[5:8], 2, 2)), several(page(left[5:7], 2, 2))).changed is Changed.NO
    )
    # A page that was left out in between breaks the row again.
    ends = several(page(LONG[:5], 1, 4), page(LONG[15:18], 4, 4))
    assert THREAD.compare(ends, several(page(LONG[:5], 1, 4), page(LONG[16:18], 4, 4))).changed is Changed.NO


def test_what_falls_off_the_end_of_a_feed_is_not_gone() -> None:
    def told(some: tuple[Said, ...]) -> Snapshot:
        return seen(atom(some), f"{ROOT}/feed", "application/atom+xml")

    verdict = THREAD.compare(told(LONG[:5]), told(LONG[2:7]))
    assert verdict.evidence.startswith("2 new posts: ")
    verdict = THREAD.compare(told(LONG[:5]), told(LONG[1:3] + LONG[4:5]))
    assert verdict.evidence == "1 gone: −Ada: The words of post number 3."


def test_the_newest_post_can_be_gone() -> None:
    verdict = THREAD.compare(several(page(LONG[5:8], 2, 2)), several(page(LONG[5:7], 2, 2)))
    assert verdict.evidence == "1 gone: −Ada: The words of post number 7."


# -- lens ----------------------------------------------------------------------------------------------------


def test_a_lens_chooses_what_of_posts_counts() -> None:
    renamed = tuple(replace(post, who=f"{post.who} (away)") for post in POSTS)
    assert THREAD.compare(seen(phpbb(POSTS)), seen(phpbb(renamed))).evidence.startswith("4 edited")
    for lens in (
        Lens(ignore=("field:author",)),
        Lens(include=("field:text",)),
        Lens(include=("field:body",)),
    ):
        one, other = seen(phpbb(POSTS), lens=lens), seen(phpbb(renamed), lens=lens)
        assert THREAD.fingerprint(one) == THREAD.fingerprint(other)
        assert THREAD.compare(one, other).changed is Changed.NO
        assert THREAD.compare(one, seen(phpbb((*POSTS, NEW)), lens=lens)).changed is Changed.YES
    assert "nothing matches" in THREAD.unmatched(seen(phpbb(POSTS), lens=Lens(include=("field:price",))))


def test_noise_within_posts_is_found_and_masked() -> None:
    def with_ad(n: int) -> bytes:
        return phpbb(tuple(replace(post, words=f"{post.words} Ad {n}") for post in POSTS))

    one, other = seen(with_ad(17)), seen(with_ad(23))
    parts = THREAD.differing(one, other)
    assert parts
    lens = Lens(masks=noise.learned(Noise(), parts, 0.0).masks)
    assert THREAD.compare(one, other).changed is Changed.YES
    assert THREAD.compare(replace(one, lens=lens), replace(other, lens=lens)).changed is Changed.NO


def test_the_words_of_a_thread_are_those_of_its_posts() -> None:
    words = THREAD.words(seen(phpbb(POSTS)))
    assert words is not None
    assert words["heron"] == 1
    assert "guests" not in words


def test_only_who_says_so_has_a_thread() -> None:
    assert detector_name(Kind.THREAD, "text/html") == "thread"
    assert detector_name(Kind.BOARD, "application/json") == "board"
    assert detector_name(Kind.AUTO, "text/html", phpbb(POSTS)) == "text"


# -- a thread that became shorter ----------------------------------------------------------------------------


def test_posts_of_a_page_behind_which_the_thread_ends_now_are_gone() -> None:
    before = several(page(LONG[10:12], 3, 3))
    verdict = THREAD.compare(before, several(page(LONG[5:10], 2, 2)))
    assert (verdict.changed, verdict.posts) == (Changed.YES, ())
    assert verdict.evidence.startswith("2 gone")
    more = several(page(LONG[5:10], 2, 3))  # a page that was not looked at now
    assert THREAD.compare(before, more).changed is Changed.NO


def test_a_page_without_a_number_that_led_on_and_no_longer_does_is_the_end() -> None:
    def bare(posts: tuple[Said, ...], number: int, *, more: bool) -> Page:
        link = f'<link rel="next" href="pg{number + 1}.html">' if more else ""
        body = messy(posts).replace(b"<body>", f"<body>{link}".encode(), 1)
        return Page(url=f"{ROOT}/pg{number}.html", body=body, media_type="text/html", charset="utf-8")

    before = several(bare(LONG[:5], 1, more=True), bare(LONG[5:8], 2, more=False))
    verdict = THREAD.compare(before, several(bare(LONG[:5], 1, more=False)))
    assert verdict.evidence.startswith("3 gone: ")
    moved = several(bare((*LONG[:5], LONG[6]), 1, more=False))
    assert THREAD.compare(before, moved).evidence.startswith("2 gone: ")
    # One that was not looked at now, and one that never led on, tell nothing.
    assert THREAD.compare(before, several(bare(LONG[:5], 1, more=True))).changed is Changed.NO
    assert THREAD.compare(before, several(bare(LONG[5:8], 2, more=False))).changed is Changed.NO


def test_what_is_said_on_an_earlier_page_after_the_later_ones_were_removed_is_new() -> None:
    before = several(page(LONG[10:12], 3, 3))
    after = several(page(LONG[:5], 1, 2), page((*LONG[5:9], LONG[12]), 2, 2))
    verdict = THREAD.compare(before, after)
    assert [post.text for post in verdict.posts] == [LONG[12].words]
    assert verdict.evidence.startswith("1 new post, 2 gone")


@pytest.mark.parametrize("make", [Thread, Board])
@pytest.mark.parametrize("check", detector_checks.CHECKS, ids=lambda check: check.__name__)
def test_they_keep_the_contract_of_detectors(
    check: Callable[..., None], make: Callable[[], Detector]
) -> None:
    check(make)
