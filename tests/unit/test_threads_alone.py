"""A post that is alone on a page nobody has described: read as those of the page before it are."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.paged import ASKED, Forum, answered, url, visited

from recrawl.detect.thread import Thread
from recrawl.model import Changed, Fetch, Snapshot
from recrawl.parse import threads

AT = 1_800_000_000.0


def page(numbers: range, number: int, n_pages: int, *, calm: bool = True) -> bytes:
    """Comments in a markup of somebody's own, with an article and a list of other pages beside them."""
    comments = "".join(
        f'<div class="remark"><b class="who">Ada {n % 3}</b> <span>2026-01-01 {n % 24:02}:00</span>'
        f"<p>Remark number {n} says what nobody has said before it.</p></div>"
        for n in numbers
    )
    after = f'<a rel="next" href="{url(number + 1)}">Next</a>' if number < n_pages else ""
    others = "".join(f'<li><a href="/a/{i}">Another article, the {i}th</a></li>' for i in range(4))
    beside = "" if calm else "<p>Sorry, down for maintenance until 10:30.</p>"
    return f"<html><body><h1>Mill</h1><ul>{others}</ul>{beside}{comments}{after}</body></html>".encode()


def forum(n_posts: int) -> Forum:
    """Four remarks a page."""
    n_pages = -(-n_posts // 4)
    pages = {
        url(i): answered(page(range(4 * i - 4, min(4 * i, n_posts)), i, n_pages), at=url(i))
        for i in range(1, n_pages + 1)
    }
    return Forum(0, answers=pages)


def said(fetch: Fetch) -> list[str]:
    found = threads.pages(bytes(fetch.body), fetch.media_type, None, fetch.url)
    return [post.text.split()[2] for leaf in threads.leaves(found, AT) for post in leaf.posts]


def snapshot(fetch: Fetch) -> Snapshot:
    return Snapshot(body=fetch.body, media_type=fetch.media_type, url=fetch.url, at=fetch.ended_at)


def test_a_post_alone_on_the_next_page_is_read_and_the_visit_has_come_to_the_end() -> None:
    fetch = visited(forum(9))
    assert (said(fetch), fetch.failure) == ([str(n) for n in range(9)], None)
    assert fetch.header("etag") is None  # of a page that the next visit will not ask for
    assert fetch.url == url(2)


def test_the_next_visits_find_what_comes_beside_it_and_after_it() -> None:
    first = visited(forum(9))
    request = replace(ASKED, resume_url=first.url)
    same = visited(forum(9), request)
    assert Thread().compare(snapshot(first), snapshot(same)).changed is Changed.NO
    for n_posts, begins in ((10, url(3)), (13, url(3))):
        later = visited(forum(n_posts), request)
        verdict = Thread().compare(snapshot(first), snapshot(later))
        assert [post.text.split()[2] for post in verdict.posts] == [str(n) for n in range(9, n_posts)]
        assert (later.failure, later.url) == (None, begins)


def test_a_page_without_anything_like_a_post_is_no_end_of_the_thread() -> None:
    alone = forum(9)
    alone.answers[url(3)] = answered(page(range(0), 3, 3, calm=False), at=url(3))
    fetch = visited(alone)
    assert said(fetch) == [str(n) for n in range(8)]
    assert fetch.failure is not None
    assert fetch.url == url(2)


def test_one_post_alone_on_the_only_page_is_not_guessed_at() -> None:
    assert said(visited(forum(1))) == []
