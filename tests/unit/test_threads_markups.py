"""Threads in the markups of many programs: the same posts, whoever wrote them down."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from math import isnan

import pytest
from tests.unit.discussions import (
    AT,
    POSTS,
    ROOT,
    Said,
    atom,
    day,
    discourse,
    issue,
    linked,
    mbox,
    messy,
    microdata,
    phpbb,
    vbulletin,
    xenforo,
)

from recrawl.model import Leaf
from recrawl.parse.threads import leaf

HTML, JSON = "text/html", "application/json"
URL = f"{ROOT}/t/heron/5"


def read(body: bytes, media_type: str = HTML, url: str = URL, at: float = AT) -> Leaf:
    return leaf(body, media_type, "utf-8", url, at)


Write = Callable[[tuple[Said, ...]], bytes]
MARKUPS: dict[str, tuple[Write, str]] = {
    "phpbb": (phpbb, HTML),
    "xenforo": (xenforo, HTML),
    "vbulletin": (vbulletin, HTML),
    "discourse": (discourse, JSON),
    "issue": (issue, JSON),
    "microdata": (microdata, HTML),
    "json-ld": (linked, HTML),
    "atom": (atom, "application/atom+xml"),
    "mbox": (mbox, "text/plain"),
    "messy": (messy, HTML),
}


@pytest.mark.parametrize("name", MARKUPS)
def test_posts_are_read_with_author_time_and_words(name: str) -> None:
    write, media_type = MARKUPS[name]
    found = sorted(read(write(POSTS), media_type).posts, key=lambda post: post.at)
    assert [(post.author, post.at) for post in found] == [(post.who, post.at_s) for post in POSTS]
    quoted = {"messy": {102: "Eve wrote on Jan 5, 2026 10:00:\nI saw an owl.\n"}}.get(name, {})
    assert [post.text for post in found] == [quoted.get(post.n, "") + post.words for post in POSTS]
    assert [re.findall(r"[0-9]+", post.key)[-1 if name == "json-ld" else 0] for post in found] == [
        "101",
        "102",
        "105",
        "107",
    ]


@pytest.mark.parametrize("name", ["phpbb", "xenforo", "discourse", "issue", "microdata", "json-ld", "atom"])
def test_posts_say_when_they_were_edited(name: str) -> None:
    write, media_type = MARKUPS[name]
    found = {post.author + post.text[:3]: post.edited_at for post in read(write(POSTS), media_type).posts}
    assert found.pop("BobTwi") == day(1, 15).timestamp()
    assert all(map(isnan, found.values()))


@pytest.mark.parametrize("name", MARKUPS)
def test_neither_the_order_of_attributes_nor_white_space_counts(name: str) -> None:
    write, media_type = MARKUPS[name]
    body = write(POSTS)
    if media_type == HTML:
        page = re.sub(r"<(\w+)((?: [\w-]+=\"[^\"]*\")+)>", _shuffled, body.decode())
        body = re.sub(r"(?<=>)(?=<(?:div|li|p|ul|article|dl|header))", "\n\t ", page).encode()
    assert read(body, media_type).posts == read(write(POSTS), media_type).posts


def _shuffled(tag: re.Match[str]) -> str:
    attributes = re.findall(r"[\w-]+=\"[^\"]*\"", tag[2])
    random.Random(7).shuffle(attributes)
    return f"<{tag[1]}\n {'  '.join(attributes)} >"


@pytest.mark.parametrize("name", MARKUPS)
def test_counters_and_signatures_are_no_part_of_a_post(name: str) -> None:
    write, media_type = MARKUPS[name]
    if name in ("phpbb", "xenforo", "discourse", "messy"):
        more: bytes = write(POSTS, seen=12_345)  # type: ignore[call-arg]
        assert read(more, media_type).posts == read(write(POSTS), media_type).posts
    assert not any(
        "birds" in post.text or "clubs" in post.text for post in read(write(POSTS), media_type).posts
    )


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"<html><body><h1>Birds</h1><p>All about herons, since May 3, 2021.</p></body></html>", HTML),
        (b"", HTML),
        (b"<html></html>", ""),
        (b"[]", JSON),
        (b'{"posts": []}', JSON),
        (b"<rss><channel><title>x</title></channel></rss>", "application/rss+xml"),
        (b"words", "text/plain"),
        (b"\x00\xff\xfe", "application/octet-stream"),
    ],
)
def test_what_has_no_posts_is_an_empty_page(body: bytes, media_type: str) -> None:
    assert read(body, media_type).posts == ()


# -- pages ---------------------------------------------------------------------------------------------------

FIRST, LAST = POSTS[:2], POSTS[2:]


def test_pages_of_phpbb_lead_on_without_the_number_of_a_session() -> None:
    url = f"{ROOT}/viewtopic.php?t=5"
    page = read(phpbb(FIRST, 1, 3), url=url)
    assert (page.number, page.next_url, page.last_url) == (1, f"{url}&start=10", f"{url}&start=20")
    page = read(phpbb(LAST, 3, 3), url=f"{url}&start=20")
    assert (page.number, page.next_url, page.last_url) == (3, "", f"{url}&start=20")
    assert page.title == "Heron"


def test_pages_of_xenforo_lead_on() -> None:
    url = f"{ROOT}/threads/heron.5/"
    page = read(xenforo(FIRST, 1, 4), url=url)
    assert (page.number, page.next_url, page.last_url) == (1, f"{url}page-2", f"{url}page-4")
    assert [post.number for post in page.posts] == [1, 2]
    page = read(xenforo(LAST, 4, 4), url=f"{url}page-4")
    assert (page.number, page.next_url, page.last_url) == (4, "", f"{url}page-4")


def test_pages_of_discourse_follow_from_how_many_posts_there_are() -> None:
    url = f"{ROOT}/t/heron/5.json"
    page = read(discourse(FIRST, 5), JSON, url)
    assert (page.number, page.next_url, page.last_url) == (1, f"{url}?page=2", f"{url}?page=3")
    page = read(discourse(LAST, 5), JSON, f"{url}?page=3")
    assert (page.number, page.next_url, page.last_url) == (3, "", f"{url}?page=3")
    assert read(discourse(POSTS, 5), JSON, f"{ROOT}/t/5/posts.json?post_ids[]=1").next_url == ""


def test_a_page_without_any_way_on_is_the_only_one() -> None:
    page = read(messy(POSTS))
    assert (page.number, page.next_url, page.last_url) == (1, "", URL)


def test_the_way_on_stays_on_its_host() -> None:
    page = b'<link rel="next" href="https://elsewhere.example/2">' + vbulletin(POSTS)
    assert read(page).next_url == ""


# -- posts that were taken back ------------------------------------------------------------------------------


def test_what_is_left_of_a_deleted_post_is_none() -> None:
    taken = discourse(POSTS).replace(b'"post_number": 3', b'"post_number": 3, "user_deleted": true')
    assert [post.key for post in read(taken, JSON).posts] == ["101", "102", "107"]
    taken = xenforo(POSTS).replace(
        b'message--post" data-author="Cyd"', b'message--deleted" data-author="Cyd"'
    )
    assert [post.key for post in read(taken).posts] == ["101", "102", "107"]
