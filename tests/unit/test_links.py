"""Links of archived pages and style sheets lead to the same moment."""

from __future__ import annotations

import pytest

from recrawl.parse import links

BASE, PREFIX = "http://e.example/d/p.html", "/m/"


def led(text: str) -> str:
    found = links.page(f"<!doctype html><body>{text}".encode(), None, BASE, PREFIX)
    assert isinstance(found, str)
    return found.removeprefix("<!DOCTYPE html><html><head></head><body>").removesuffix("</body></html>")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<a href=c>x</a>", '<a href="/m/http://e.example/d/c">x</a>'),
        ("<a href='/c?x=1&amp;y=2#f'>x</a>", '<a href="/m/http://e.example/c?x=1&amp;y=2#f">x</a>'),
        ("<a href=' //o.example/&#10;z '>x</a>", '<a href="/m/http://o.example/z">x</a>'),
        ("<a href=https://o.example/ target=_blank ping=/p>x</a>", '<a href="/m/https://o.example/">x</a>'),
        ("<a href=#top>x</a>", '<a href="#top">x</a>'),
        ("<a href=mailto:a@b.example>x</a>", '<a href="mailto:a@b.example">x</a>'),
        ("<img src=data:image/png;base64,AA>", '<img src="data:image/png;base64,AA">'),
        ("<a href=http://[bad>x</a>", '<a href="http://[bad">x</a>'),
        (
            "<img src=i.png srcset='a.png 1x, /b.png 2x' crossorigin integrity=x>",
            '<img src="/m/http://e.example/d/i.png" '
            'srcset="/m/http://e.example/d/a.png 1x, /m/http://e.example/b.png 2x">',
        ),
        (
            """<p style="background: url('z.png')">x</p>""",
            '<p style="background: url(&quot;/m/http://e.example/d/z.png&quot;)">x</p>',
        ),
        (
            "<video poster=a.png><source src=v.mp4></video>",
            '<video poster="/m/http://e.example/d/a.png"><source src="/m/http://e.example/d/v.mp4"></video>',
        ),
    ],
)
def test_each_kind_of_link_in_a_page(before: str, after: str) -> None:
    assert led(before) == after


def test_a_base_is_obeyed_and_gone_and_so_is_what_speaks_to_the_browser() -> None:
    page = b"""<head><base href=/b/><meta http-equiv=refresh content="0;url=/x">
    <link rel="preconnect" href=//o>
    <link rel=stylesheet href=s.css><style>@import 'i.css'; p { background: url( "a b.png" ) }</style>"""
    found = links.page(page, None, BASE, PREFIX)
    assert isinstance(found, str)
    assert "<base" not in found
    assert "refresh" not in found
    assert "preconnect" not in found
    assert 'href="/m/http://e.example/b/s.css"' in found
    assert '@import "/m/http://e.example/b/i.css"; ' in found
    assert 'url("/m/http://e.example/b/a%20b.png")' in found


def test_links_of_a_style_sheet() -> None:
    sheet = b"@import url(x.css); a { src: url(#f), url(data:x), url('/q.woff') }"
    assert links.sheet(sheet, None, "http://e.example/c/s.css", PREFIX) == (
        '@import url("/m/http://e.example/c/x.css"); '
        'a { src: url(#f), url(data:x), url("/m/http://e.example/q.woff") }'
    )


def test_a_page_in_another_charset_keeps_its_characters() -> None:
    found = links.page("<p>čaj<a href=č>".encode("iso8859-2"), "iso-8859-2", BASE, PREFIX)
    assert isinstance(found, str)
    assert "čaj" in found
    assert "/m/http://e.example/d/%C4%8D" in found
