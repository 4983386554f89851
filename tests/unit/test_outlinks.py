"""The links of a page, for whoever follows them."""

from __future__ import annotations

import pytest

from recrawl.parse import outlinks as module
from recrawl.parse.html import MOST_BYTES
from recrawl.parse.outlinks import MOST_LINKS, Outlink, forbids, outlinks, resolved
from recrawl.parse.pool import ParseFailed, Pool

BASE = "http://e.example/d/p.html"


def read(text: str, *headers: tuple[str, str]) -> list[Outlink]:
    found = outlinks(f"<!doctype html>{text}".encode(), None, BASE, headers)
    assert not isinstance(found, ParseFailed)
    return list(found)


def urls(text: str, *headers: tuple[str, str]) -> list[str]:
    return [link.url for link in read(text, *headers)]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("<a href=c>x</a>", "http://e.example/d/c"),
        ("<a href='../c?x=1&amp;y=2#f'>x</a>", "http://e.example/c?x=1&y=2"),
        ("<a href='  //O.example/&#10;z&#9; '>x</a>", "http://o.example/z"),
        ("<a href='HTTPS://o.example:443'>x</a>", "https://o.example/"),
        ("<a href='a b.html'>x</a>", "http://e.example/d/a%20b.html"),
        (r"<a href='\f\g?h=\'>x</a>", "http://e.example/f/g?h=%5C"),
        (r"<a href='\f\g'>x</a>", "http://e.example/f/g"),
        ("<a href='/ä'>x</a>", "http://e.example/%C3%A4"),
        ("<a href='?page=2'>x</a>", "http://e.example/d/p.html?page=2"),
        ("<map><area href=m></map>", "http://e.example/d/m"),
        ("<iframe src=i></iframe>", "http://e.example/d/i"),
        ("<frameset><frame src=f></frameset>", "http://e.example/d/f"),
        ("<base href=/other/><a href=c>x</a>", "http://e.example/other/c"),
        ("<base href=http://o.example/q/r><a href=c>x</a>", "http://o.example/q/c"),
        ("<base href=javascript:1><a href=c>x</a>", "http://e.example/d/c"),
        ("<a href=#top>x</a>", None),
        ("<a href=' #top'>x</a>", None),
        ("<a href=''>x</a>", None),
        ("<a>x</a>", None),
        ("<a href=mailto:a@b.example>x</a>", None),
        ("<a href=javascript:void(0)>x</a>", None),
        ("<a href='java&#10;script:1'>x</a>", None),
        ("<a href=ftp://o.example/>x</a>", None),
        ("<a href=file:///etc/passwd>x</a>", None),
        ("<a href=http://u:p@o.example/>x</a>", None),
        ("<a href=http://[bad>x</a>", None),
        (f"<a href=/{'l' * 4_096}>x</a>", None),
        ("<link rel=next href=n><img src=i><script src=s></script><form action=f></form>", None),
        ("<!-- <a href=c>x</a> --><script>'<a href=c>x</a>'</script>", None),
    ],
)
def test_a_link_leads_where_a_browser_would_go(text: str, url: str | None) -> None:
    assert urls(text) == ([] if url is None else [url])


def test_links_come_in_order_once_each() -> None:
    text = "<a href=b>Bee  <b>two</b></a><a href=a>A</a><a href=./b#x>again</a><area href=c alt=Sea>"
    assert read(text) == [
        Outlink("http://e.example/d/b"),
        Outlink("http://e.example/d/a"),
        Outlink("http://e.example/d/c"),
    ]


def test_a_link_may_be_followed_if_one_of_those_to_the_same_place_may() -> None:
    refused = "<a href=b rel='noopener NOFOLLOW'>x</a>"
    assert [link.nofollow for link in read(refused)] == [True]
    assert read(f"{refused}<a href=b>y</a>") == [Outlink("http://e.example/d/b", False)]
    assert read(f"<a href=b>y</a>{refused}") == [Outlink("http://e.example/d/b", False)]


@pytest.mark.parametrize(
    ("name", "content", "asked"),
    [
        ("robots", "noindex, NoFollow", True),
        ("ROBOTS", "none", True),
        ("recrawl", "nofollow", True),
        ("otherbot", "nofollow", False),
        ("robots", "noindex, follow", False),
        ("description", "nofollow", False),
    ],
)
def test_a_page_may_ask_that_none_is_followed(name: str, content: str, asked: bool) -> None:
    text = f"<head><meta name='{name}' content='{content}'></head><a href=b>x</a>"
    assert [link.nofollow for link in read(text)] == [asked]


@pytest.mark.parametrize(
    ("value", "asked"),
    [
        ("nofollow", True),
        ("noindex,NONE", True),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", True),
        ("recrawl: nofollow", True),
        ("otherbot: noindex, nofollow", False),
        ("otherbot: noindex, recrawl: nofollow", True),
        ("noindex", False),
    ],
)
def test_an_answer_may_ask_that_none_is_followed(value: str, asked: bool) -> None:
    assert forbids([("X-Robots-Tag", value)], "recrawl") is asked
    assert [link.nofollow for link in read("<a href=b>x</a>", ("x-robots-tag", value))] == [asked]


def test_of_a_page_with_very_many_links_the_first_are_read() -> None:
    found = urls("".join(f"<a href=/{n}>{n}</a>" for n in range(MOST_LINKS + 50)))
    assert found == [f"http://e.example/{n}" for n in range(MOST_LINKS)]


def test_only_so_many_elements_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ELEMENTS", 3)
    assert urls("<a href=a></a><a href=a></a><a href=#b></a><a href=c></a>") == ["http://e.example/d/a"]


def test_a_page_that_cannot_be_parsed_in_time_is_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    with Pool(limit_s=0.5) as pool:
        monkeypatch.setattr(module, "shared", lambda: pool)
        found = outlinks(b"<a href=x><b>" * 100_000, None, BASE)
    assert isinstance(found, ParseFailed)
    assert found.reason == "time"


def test_a_page_that_is_too_large_is_not_parsed() -> None:
    assert isinstance(outlinks(b"x" * (MOST_BYTES + 1), None, BASE), ParseFailed)


@pytest.mark.parametrize(
    "base", ["", "/deep/er/", "//other.example:8080/x", "HTTP://A.example/y", "http://a.example:80"]
)
def test_plain_links_lead_where_they_would_the_long_way(base: str) -> None:
    place = "https://a.example/b/c?d"
    paths = ["/", "/a", "/A-b_c/", "/a.html", "/a/.b", "/../a", "/a/../b", "/a//b", "//a", "/%7Ea", "/~a"]
    links = [*paths, "a", "./a", "?x", "/a?", "/ä", "/a#b", "/a.", "/..", "/a..b", "/a b", "/-", "/a;b", ""]
    whole = [f"{start}{path}" for start in ("https://a.example", "http://A.example:80") for path in paths]
    for link in links + whole:
        page = f'<base href="{base}">' * bool(base) + f'<a href="{link}">x</a>'
        by_page = module.found(page.encode(), "utf-8", place, "recrawl", False)
        assert resolved([link], place, base) == tuple(one.url for one in by_page if one.url != place), link
