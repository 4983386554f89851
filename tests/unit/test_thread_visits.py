"""One visit to a thread: the page where the last one stopped, what has come after it, and no more."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.unit.paged import (
    ASKED,
    HOST,
    THREAD,
    Forum,
    answered,
    numbers,
    page_of,
    refusal,
    resumed,
    url,
    visited,
)

from recrawl.live.sights import sight_of
from recrawl.model import FEATURES, Access, Fetch, Hop, Leaf, Lease, Manner, Outcome, Post, Resource, Standing
from recrawl.observe import threads as observed
from recrawl.observe.threads import PAGES_HEADER
from recrawl.parse import threads
from recrawl.parse.html import MOST_BYTES


def test_one_page_comes_as_it_is() -> None:
    forum = Forum(3, etag=True)
    fetch = visited(forum)
    assert (fetch.body, fetch.url, fetch.media_type) == (forum.body(1), THREAD, "text/html")
    assert fetch.header("etag")
    assert (fetch.request, fetch.wait_s, fetch.failure) == (ASKED, 3.0, None)
    assert forum.pages_asked == [1]


def test_a_first_visit_reads_all_pages_into_one_body_that_ends_where_the_next_begins() -> None:
    forum = Forum(23, etag=True)
    fetch = visited(forum)
    assert fetch.media_type == "multipart/mixed"
    assert numbers(fetch) == list(range(23))
    parts = threads.pages(bytes(fetch.body), fetch.media_type, None, fetch.url)
    assert [part.url for part in parts] == [url(page) for page in range(1, 6)]
    assert [part.body for part in parts] == [forum.body(page) for page in range(1, 6)]
    assert (fetch.url, fetch.header("etag"), fetch.header(PAGES_HEADER)) == (url(5), forum.tag(5), "5")
    assert (fetch.header("Content-Length"), fetch.wire, fetch.hops) == (str(len(fetch.body)), b"", ())
    assert fetch.ended_at - fetch.started_at == len(forum.asked)
    assert bytes(visited(Forum(23, etag=True)).body) == bytes(fetch.body)


def test_the_next_visit_begins_where_the_last_one_stopped() -> None:
    forum = Forum(33)
    fetch = visited(forum, resumed(5))
    assert forum.pages_asked == [5, 6, 7]
    assert (numbers(fetch), fetch.url) == (list(range(20, 33)), url(7))
    assert forum.asked[0].resume_url == ""
    alone = Forum(25)
    assert visited(alone, resumed(5)).body == alone.body(5)
    assert alone.pages_asked == [5]


def test_a_thread_of_one_page_that_has_grown_is_walked_however_long_it_is() -> None:
    forum = Forum(5 * 30)
    fetch = visited(forum, resumed(1))
    assert forum.pages_asked == list(range(1, observed.MAX_PAGES + 1))
    assert fetch.url == url(observed.MAX_PAGES)


def test_of_a_very_long_thread_the_first_visit_takes_the_first_page_and_the_last() -> None:
    forum = Forum(5 * 10_000 - 2)
    fetch = visited(forum)
    assert forum.pages_asked == [1, 10_000]
    assert numbers(fetch) == [*range(5), *range(49_995, 49_998)]
    assert (fetch.url, fetch.failure) == (url(10_000), None)


def test_a_visit_stops_after_so_many_pages_and_the_next_goes_on_so_that_nothing_is_lost() -> None:
    forum = Forum(5 * 50, etag=True)
    said: list[int] = []
    request = resumed(2)
    for _ in range(4):
        fetch = visited(forum, request)
        said += numbers(fetch)
        request = replace(ASKED, resume_url=fetch.url, etag=fetch.header("etag"))
        if fetch.url != url(50):
            assert fetch.header("etag") is None  # else the next visit might be told that nothing is new
            assert fetch.failure is not None
            assert "the next visit goes on there" in fetch.failure.detail
    assert set(said) == set(range(5, 250))
    assert max(map(forum.pages_asked.count, range(1, 51))) == 2
    assert fetch.failure is None


def test_validators_go_with_the_page_where_it_stopped_and_with_no_other() -> None:
    forum = Forum(23, etag=True)
    first = visited(forum)
    held = replace(ASKED, resume_url=first.url, etag=first.header("etag"), last_modified="yesterday")
    forum.asked.clear()
    assert visited(forum, held).outcome is Outcome.NOT_MODIFIED
    assert forum.pages_asked == [5]
    forum.n_posts, forum.asked = 32, []
    assert visited(forum, held).outcome is Outcome.OK
    assert [(one.etag, one.last_modified) for one in forum.asked] == [
        (held.etag, held.last_modified),
        (None, None),
        (None, None),
    ]


@pytest.mark.parametrize(
    "lost",
    [refusal(404), refusal(410), refusal(403), refusal(0, Outcome.BLOCKED, "robots")],
    ids=["404", "410", "403", "robots"],
)
def test_where_the_page_is_not_to_be_had_any_more_the_thread_is_read_from_its_beginning(lost: Fetch) -> None:
    forum = Forum(9, answers={url(4): lost})
    fetch = visited(forum, resumed(4, etag='"4"'))
    assert forum.pages_asked == [4, 1, 2]
    assert (fetch.outcome, fetch.url, numbers(fetch)) == (Outcome.OK, url(2), list(range(9)))
    assert [one.etag for one in forum.asked] == ['"4"', None, None]


@pytest.mark.parametrize(
    "trouble",
    [refusal(503, wait_s=60.0), refusal(429, wait_s=60.0), refusal(0, Outcome.NET_ERROR, "timeout", 60.0)],
)
def test_a_host_in_trouble_is_not_asked_twice(trouble: Fetch) -> None:
    forum = Forum(30, answers={url(4): trouble})
    fetch = visited(forum, resumed(4))
    assert (fetch.outcome, fetch.wait_s, forum.pages_asked) == (trouble.outcome, 60.0, [4])


def test_a_thread_that_is_gone_is_gone() -> None:
    forum = Forum(0, answers={THREAD: refusal(404), url(4): refusal(404)})
    assert visited(forum, resumed(4)).outcome is Outcome.GONE
    assert forum.pages_asked == [4, 1]


def test_if_a_later_page_fails_what_came_before_it_counts_and_the_next_visit_tries_again() -> None:
    forum = Forum(33, etag=True, answers={url(6): refusal(503, wait_s=60.0)})
    fetch = visited(forum, resumed(4))
    assert (fetch.outcome, numbers(fetch), fetch.url) == (Outcome.OK, list(range(15, 25)), url(5))
    assert (fetch.wait_s, fetch.header("etag")) == (60.0, None)
    assert fetch.failure is not None
    assert "503" in fetch.failure.detail
    del forum.answers[url(6)]
    assert numbers(visited(forum, replace(ASKED, resume_url=fetch.url))) == list(range(20, 33))


def test_a_pager_that_leads_back_elsewhere_or_on_for_ever_is_not_followed() -> None:
    def led_to(next_url: str) -> Forum:
        return Forum(
            10,
            answers={
                url(2): answered(page_of(range(5, 10), page=2, n_pages=2, next_url=next_url), at=url(2))
            },
        )

    for next_url in (
        THREAD,
        f"{THREAD}#top",
        url(2),
        "http://other.example/threads/7/page-3",
        "http://[",
        "file:///x",
    ):
        forum = led_to(next_url)
        assert numbers(visited(forum)) == list(range(10))
        assert forum.pages_asked == [1, 2]
    again = led_to(url(3))  # the same posts, under ever new numbers
    again.answers[url(3)] = answered(page_of(range(5, 10), page=3, n_pages=2, next_url=url(4)), at=url(3))
    fetch = visited(again)
    assert (again.pages_asked, fetch.url, fetch.failure) == ([1, 2, 3], url(2), None)


def test_another_host_is_not_asked_whoever_says_that_the_thread_goes_on_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away = "http://other.example/threads/7/page-{}"
    led = Leaf(url=THREAD, posts=(Post(key="1"),), next_url=away.format(2), last_url=away.format(9))
    monkeypatch.setattr(threads, "leaf", lambda *_: led)
    forum = Forum(3)
    assert visited(forum).body == forum.body(1)
    assert forum.pages_asked == [1]


AWAY = "http://other.example/threads/7/page-{}"


def taken_away(page: int, n_pages: int) -> Fetch:
    """A page whose address is the forum's, and which is redirected to another host."""
    first = 5 * (page - 1)
    hops = (Hop(url=url(page), status=302, location=AWAY.format(page)),)
    body = page_of(range(first, first + 5), page=page, n_pages=n_pages)
    return answered(body, at=AWAY.format(page), hops=hops)


def test_a_further_page_that_is_redirected_to_another_host_does_not_take_the_thread_over() -> None:
    forum = Forum(15, answers={url(2): taken_away(2, 3)})
    fetch = visited(forum, resumed(1))
    assert (fetch.url, fetch.body, forum.pages_asked) == (THREAD, forum.body(1), [1, 2])
    assert fetch.failure is not None
    assert (fetch.failure.reason, "another host" in fetch.failure.detail) == ("paging", True)
    long = Forum(5 * 50, answers={url(50): taken_away(50, 50)})
    assert visited(long).url == url(observed.MAX_PAGES)


def test_where_the_page_where_it_stopped_has_left_its_host_the_thread_is_read_from_its_address() -> None:
    forum = Forum(15, answers={url(3): taken_away(3, 3)})
    fetch = visited(forum, resumed(3))
    assert fetch.url == url(2)
    assert fetch.failure is not None
    new = f"{THREAD.replace('forum', 'moved')}"
    hops = (Hop(url=THREAD, status=301, location=new),)
    moved = answered(page_of(range(3), page=1, n_pages=1), at=new, hops=hops)
    fetch = visited(Forum(0, answers={THREAD: moved, url(3): taken_away(3, 3)}), resumed(3))
    assert (fetch.url, fetch.hops, fetch.failure) == (new, hops, None)


def test_a_further_page_without_posts_is_no_end_of_the_thread() -> None:
    down = answered(b"<html><body>Down for maintenance</body></html>", at=url(3))
    forum = Forum(15, etag=True, answers={url(3): down})
    fetch = visited(forum, resumed(2))
    assert (fetch.url, numbers(fetch), fetch.header("etag")) == (url(2), list(range(5, 10)), None)
    assert fetch.failure is not None
    assert (fetch.failure.reason, "no posts" in fetch.failure.detail) == ("paging", True)
    del forum.answers[url(3)]
    assert visited(forum, resumed(2)).failure is None


def test_a_first_visit_asks_for_no_page_twice() -> None:
    forum = Forum(23)
    assert numbers(visited(forum)) == list(range(23))
    assert sorted(forum.pages_asked) == [1, 2, 3, 4, 5]


def test_a_page_without_posts_leads_nowhere() -> None:
    wall = f'<html><body>Sign in <a rel="next" href="{url(2)}">Next</a></body></html>'.encode()
    forum = Forum(10, answers={THREAD: answered(wall)})
    assert visited(forum).body == wall
    assert forum.pages_asked == [1]


def test_a_page_that_is_too_large_to_be_read_leads_nowhere() -> None:
    large = page_of(range(5), page=1, n_pages=2) + b" " * MOST_BYTES
    forum = Forum(10, answers={THREAD: answered(large)})
    assert len(visited(forum, max_bytes=2**26).body) == len(large)
    assert forum.pages_asked == [1]


def test_all_pages_together_stay_below_the_largest_body() -> None:
    forum = Forum(50)
    size = len(forum.body(5))
    fetch = visited(forum, resumed(5), max_bytes=3 * size + 100)
    assert (fetch.url, numbers(fetch), fetch.outcome) == (url(7), list(range(20, 35)), Outcome.OK)
    own = replace(resumed(5), manner=Manner(max_bytes=2 * size + 100))
    assert visited(forum, own).url == url(6)
    stuck = visited(forum, resumed(5), max_bytes=size + 100)  # it would never come further
    assert stuck.outcome is Outcome.TRUNCATED
    assert stuck.failure is not None
    assert (stuck.failure.reason, "--max-bytes" in stuck.failure.detail) == ("length", True)


def test_a_thread_that_has_moved_is_read_where_it_is_and_only_its_own_move_counts() -> None:
    new = f"{HOST}/threads/new.7/"
    hops = (Hop(url=THREAD, status=301, location=new),)
    moved = answered(page_of(range(3), page=1, n_pages=1), at=new, hops=hops)
    fetch = visited(Forum(0, answers={THREAD: moved}))
    assert (fetch.url, fetch.hops) == (new, hops)
    later = answered(page_of(range(5, 8), page=2, n_pages=2), at=f"{new}page-2", hops=hops)
    assert visited(Forum(0, answers={url(2): later}), resumed(2)).hops == ()
    login = replace(later, hops=(Hop(url=url(2), status=302, location="/login"),))
    assert visited(Forum(0, answers={url(2): login}), resumed(2)).hops == login.hops


def test_what_opens_the_door_is_shown_to_no_other_host() -> None:
    access = Access(bearer="secret")
    forum = Forum(12)
    visited(forum, replace(ASKED, access=access))
    assert {one.access for one in forum.asked} == {access}
    strange = "https://forum.example/threads/7/page-2"
    forum = Forum(12, answers={strange: answered(page_of(range(5, 8), page=2, n_pages=2), at=strange)})
    visited(forum, replace(ASKED, access=access, resume_url=strange))
    assert [one.access for one in forum.asked] == [None]


def test_the_sight_of_several_pages_is_that_of_the_first() -> None:
    resource = Resource(id=1, url=THREAD, host_id=1, host="forum.example", added_at=0.0)
    lease = Lease(resource=resource, standing=Standing(), token=1, claimed_at=0.0, until_at=1.0)
    forum = Forum(23)
    several, links = sight_of(lease, visited(forum))
    alone, its_links = sight_of(lease, asyncio.run(forum.fetch(ASKED)))
    assert several is not None
    assert alone is not None
    named = [feature.name for feature in FEATURES]
    assert several.values[named.index("bytes")] == len(forum.body(1))
    assert several.values[named.index("words")] == alone.values[named.index("words")] > 0
    assert links == its_links != ()
