"""The fast ways of reading a page give what the careful ones give."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.test_all_lines import PIECES

from recrawl.detect import disguise
from recrawl.detect.text import Text, count_outside
from recrawl.model import Snapshot
from recrawl.parse import page, sketch
from recrawl.parse.words import MOST_BYTES, Words, told

MORE = [
    *("<nav>", "</nav>", "<header>", "</header>", "<FOOTER>", "</footer>", "<aside role=banner>", "</aside>"),
    *("<div role=navigation>", "<div id=cookie-wall>", "<p id='c&#111;okie-wall'>", "<div class=cookiewall>"),
    *("<div id=sp&lowbar;message&lowbar;container-1>", "<i class='h-CAPTCHA'>", "<i id='ch&#x61;llenge-x'>"),
    *("<form action=/a>", "</form>", "<input type=Password>", "<script src=a.js></script>", "<h2>", "</h2>"),
    *("one two three", "soft\u00adware cafe\u0301 \u200b x", "\u00a0", "\u6771\u4eac\u90fd", "<span>"),
]
documents = st.lists(st.sampled_from([*PIECES, *MORE]), max_size=30).map("".join)


@given(documents)
@settings(max_examples=400, deadline=None)
@example("<p>a</p>\n<p>b <b>c</b> d</p>")
@example("<p>a</p><p>b</p><b>c</b>d")
@example("<svg><text>a<![CDATA[b c]]>d</svg>")
def test_the_words_of_a_page_are_those_of_its_lines(document: str) -> None:
    body = document.encode()
    lines = page.reading(body, "utf-8", page.View()).lines
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recrawl.parse.words._FEWEST", 0)  # in so short a page nobody would count
        found = told(body, "utf-8", True)
    assert found.text == " ".join(" ".join(lines).split())
    assert found.n_outside <= sketch.drawn(body, "utf-8").n_words


@given(documents)
@settings(max_examples=400, deadline=None)
@example("<p id='c&#111;okie-wall'>one two three")
@example("<div id=sp&lowbar;message&lowbar;container-1>one two three")
@example("<i id='ch&#x61;llenge-x'>")
@example("<head><title>a</title></head><svg><head><title>b")
def test_a_sketch_misses_nothing_that_the_source_names_in_another_way(document: str) -> None:
    body = document.encode()
    fast = sketch.drawn(body, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_NAMED", "_NAMING_AROUND", "_NAMING_SIGNS", "_NAMING_INPUTS", "_NAMING_HEADINGS"):
            patch.setattr(sketch, name, (re.compile(b""),))  # it is in every source
        assert sketch.drawn(body, "utf-8") == fast


def test_what_stands_around_does_not_count_as_outside() -> None:
    body = f"<nav>{'menu ' * 40}</nav><p>{'word ' * 800}</p><footer>{'end ' * 5}</footer>".encode()
    assert told(body, None, True) == Words(f"{'menu ' * 40}{'word ' * 800}{'end ' * 5}".strip(), 800)
    nested = ("<nav>" * 60 + "menu " * 40 + "</nav>" * 60 + "word " * 700).encode()
    assert told(nested, None, True).n_outside == 0  # nobody knows, and nobody takes the time to find out


def test_a_page_with_much_to_read_is_no_wall_and_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def likeness(n_words: int) -> str:
        body = f"<title>Sign in</title><form><input type=password></form>{'word ' * n_words}".encode()
        snapshot = Snapshot(body=body, media_type="text/html", charset="utf-8", memo={})
        count_outside(snapshot)
        Text().fingerprint(snapshot)
        url = "http://a.example/x"
        return disguise.disguise(
            fetch_url=url, requested_url=url, hops=(), status=200, headers=(), snapshot=snapshot, before=None
        )

    assert likeness(20) == "login"
    monkeypatch.setattr(disguise, "sketch", None)
    assert likeness(700) == ""


def test_a_document_too_large_for_the_fast_way_has_the_same_fingerprint() -> None:
    small = b"<p>a b</p>" + b"<!-- -->" * 10
    large = b"<p>a b</p>" + b"<!-- -->" * (MOST_BYTES // 8)
    one, other = (Snapshot(body=body, media_type="text/html", charset="utf-8") for body in (small, large))
    assert Text().fingerprint(one) == Text().fingerprint(other)
