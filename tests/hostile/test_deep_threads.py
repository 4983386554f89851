"""Discussions nested as deep as nobody writes them: reading takes time in proportion to what there is."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from recrawl.parse import threads

N = 3_000
WHEN = '<time datetime="2026-01-01T00:00:00Z" itemprop="datePublished">then</time>'

THREADS = {
    "phpbb": '<div class="post" id="p{i}">' + WHEN + '<div class="content">word',
    "xenforo": '<article class="message" data-content="post-{i}">' + WHEN + '<div class="bbWrapper">word',
    "smf": '<div class="post_wrapper"><div class="inner">word',
    "hyperkitty": '<div class="email"><div class="email-body">word',
    "schema": '<div itemscope itemtype="http://schema.org/Comment">' + WHEN + '<div itemprop="text">word',
    "unknown": '<div class="c">' + WHEN + "words of {i}",
    "pager": '<div class="pagination"><div class="next"><a rel="x" href="?page={i}">',
}
BOARDS = {
    "phpbb": '<ul class="topics"><li class="row"><a class="topictitle" href="/{i}">T</a><b class="lastpost">',
    "xenforo": '<div class="structItem structItem--thread"><b class="structItem-title"><a href="/{i}">T</a>',
    "unknown": '<div class="c"><a href="/{i}">title of {i}</a>' + WHEN,
}  # fmt: skip


def nested(piece: str, n: int) -> bytes:
    return "".join(piece.format(i=i) for i in range(n)).encode()


def took_s(read: Callable[..., object], body: bytes) -> float:
    began = time.process_time()
    read(body, "text/html", "utf-8", "http://forum.example/t/1", 1.8e9)
    return time.process_time() - began


@pytest.mark.parametrize("name", THREADS)
def test_posts_within_posts_do_not_keep_their_reader_busy(name: str) -> None:
    assert took_s(threads.leaf, nested(THREADS[name], N)) < 3.0


@pytest.mark.parametrize("name", BOARDS)
def test_threads_within_threads_do_not_keep_their_reader_busy(name: str) -> None:
    assert took_s(threads.listed, nested(BOARDS[name], N)) < 3.0


@pytest.mark.parametrize("name", ["phpbb", "xenforo", "smf", "schema"])
def test_a_small_page_is_read_at_once_however_it_is_nested(name: str) -> None:
    """It is read where nobody can end it (`parse.html.tame`)."""
    assert took_s(threads.leaf, nested(THREADS[name], 240)) < 0.5


@pytest.mark.parametrize("name", ["phpbb", "xenforo", "schema"])
def test_a_post_within_a_post_is_another_one(name: str) -> None:
    leaf = threads.leaf(nested(THREADS[name], 3), "text/html", "utf-8", "http://forum.example/t/1", 1.8e9)
    assert [post.text for post in leaf.posts] == ["word"] * 3
