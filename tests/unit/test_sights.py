"""What the first visit shows of a page and of other content."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan

import pytest

from recrawl.model import FEATURES, column
from recrawl.parse import dates, html
from recrawl.parse.addresses import external, url_features
from recrawl.parse.pool import ParseFailed
from recrawl.parse.sights import page_look, page_sight

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC).timestamp()
URL = "https://www.example.org/news/2026/03/spring-sale.html?id=42&page=2"
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = """<!DOCTYPE html>
<html lang="en-GB"><head><title>Spring sale</title>
<base href="https://example.org/shop/">
<link rel="alternate" type="application/rss+xml" href="/feed"><link rel=canonical href="/news">
<meta name=viewport content="width=device-width"><meta name=generator content="WordPress 6">
<meta property="article:published_time" content="2026-03-01T12:00:00Z">
<meta property="article:modified_time" content="2026-03-10T13:00:00+01:00">
<script type="application/ld+json">{"@type": ["NewsArticle", "Thing"], "author": {"@type":"Person"},}</script>
<script>var dates = "2026-03-19 a@hidden.example";</script></head>
<body><h1>Spring sale</h1><h2>All of it</h2>
<p>From 12 March 2026 until March 30, 2026. Write to shop@example.org or <b>press@example.org</b>.</p>
<ul><li><a href="mailto:shop@example.org?subject=Sale">Mail</a><li><a href="/a">One</a>
<li><a href=b.html>Two</a><li><a href="//shop.example.org/c">Three</a><li><a href="#top">Top</a></ul>
<a href="https://elsewhere.example/">Away</a> <a name=top>no link</a> <img src=logo@2x.png><img src=b.png>
<time datetime="2026-03-15">lately</time>
<table><tr><td><form><input name=q><select></select><textarea></textarea></form></table>
<iframe src=/ad></iframe><div id=comments itemscope itemtype="https://schema.org/Offer"></div>
</body></html>"""


def seen(
    body: bytes | str = PAGE,
    headers: dict[str, str] | None = None,
    url: str = URL,
    charset: str | None = None,
) -> dict[str, float]:
    whole = body if isinstance(body, bytes) else body.encode()
    values = page_sight(whole, charset, url, HTML if headers is None else headers, NOW)
    assert not isinstance(values, ParseFailed)
    assert len(values) == len(FEATURES)
    return {feature.name: value for feature, value in zip(FEATURES, values, strict=True)}


def test_the_seven_features_of_the_paper_come_first_and_the_graph_last() -> None:
    names = [feature.name for feature in FEATURES]
    assert names[:7] == ["links", "emails", "last_modified", "text_bytes", "images", "depth", "level"]
    assert names[-2:] == ["in_links", "page_rank"]
    assert len(set(names)) == len(names)
    assert all(feature.meaning for feature in FEATURES)
    assert column("level") == 6


def test_the_seven_features_of_the_paper_are_counted() -> None:
    found = seen(headers=HTML | {"Last-Modified": "Tue, 10 Mar 2026 12:00:00 GMT"})
    assert found["links"] == 6
    assert found["emails"] == 2  # one of them in a link and in the text
    assert found["last_modified"] == 1
    text = html.text(PAGE.encode(), "utf-8")
    assert isinstance(text, str)
    assert found["text_bytes"] == len(" ".join(text.split()).encode())
    assert found["images"] == 2
    assert isnan(found["depth"])  # nobody collected it
    assert found["level"] == 4
    assert seen(headers=HTML)["last_modified"] == 0


def test_what_a_page_is_made_of_is_counted() -> None:
    found = seen()
    expected = {"html": 1, "json": 0, "scripts": 2, "forms": 1, "iframes": 1, "tables": 1, "headings": 2}
    expected |= {"list_items": 5, "inputs": 3, "media": 0, "bytes": len(PAGE.encode())}
    expected |= {"words": len(html.visible(PAGE.encode(), None).split()), "language": 1, "english": 1}
    expected |= {"internal_links": 3, "external_links": 1}
    expected |= {"feed_link": 1, "canonical": 1, "viewport": 1, "generator": 1, "refresh": 0, "comments": 1}
    expected |= {"schema_types": 4, "schema_article": 1, "schema_product": 1, "schema_event": 0}
    expected |= {"schema_body": 1}
    assert {name: found[name] for name in expected} == expected
    assert found["external_share"] == 0.25
    assert found["text_share"] == found["text_bytes"] / len(PAGE.encode())


def test_a_page_tells_how_old_its_dates_are_and_those_to_come_are_no_news() -> None:
    found = seen()
    assert found["dates"] == 2  # what stands in a script is not read
    assert found["newest_days"] == 5.5  # the time element: 30 March lies ahead
    assert found["published_days"] == 19
    assert found["revised_days"] == 10
    ahead = seen("<p>until 21 March 2026")
    assert ahead["dates"] == 1
    assert isnan(ahead["newest_days"])


@pytest.mark.parametrize(
    "written",
    [
        *("2024-03-12", "2024-03-12T23:59", "12 March 2024", "12th of March, 2024", "March 12, 2024"),
        *("Mar. 12 2024", "12.03.2024", "12. 3. 2024", "12-Mar-2024", "12. März 2024", "12 de marzo de 2024"),
        *("2024/3/12", "2024年3月12日", "LAST UPDATED:MARCH 12,2024", "12 mars 2024", "2024 年 3月 12 日"),
    ],
)
def test_a_date_is_read_in_many_spellings(written: str) -> None:
    expected = [datetime(2024, 3, 12, tzinfo=UTC).timestamp()]
    assert list(dates.in_text(f"of {written} and")) == expected


@pytest.mark.parametrize(
    "written",
    ["31.02.2024", "12 people 2024", "1.2.3.2024", "2024", "12 March 12024", "2024-13-01", "v2024-1"],
)
def test_what_only_looks_like_a_date_is_none(written: str) -> None:
    assert list(dates.in_text(written)) == []


def test_days_and_months_between_slashes_are_a_date_only_where_one_reading_is() -> None:
    day = datetime(2024, 3, 15, tzinfo=UTC).timestamp()
    assert list(dates.in_text("15/03/2024, 03/15/2024, 03/12/2024, 15/15/2024, 9/15/03/2024")) == [day, day]


def test_headers_tell_how_long_an_answer_may_be_kept() -> None:
    found = seen(
        headers={
            "CONTENT-TYPE": "text/html",
            "Cache-Control": "public, max-age=600, no-cache",
            "Date": "Fri, 20 Mar 2026 11:00:00 GMT",
            "Expires": "Fri, 20 Mar 2026 12:00:00 GMT",
            "ETag": '"a"',
            "Age": " 30 ",
            "Set-Cookie": "a=b",
            "Last-Modified": "Wed, 18 Mar 2026 12:00:00 GMT",
        }
    )
    names = ("max_age_s", "uncached", "expires_s", "etag", "age_s", "cookies", "modified_days")
    assert [found[name] for name in names] == [600, 1, 3600, 1, 30, 1, 2]


def test_what_headers_do_not_say_is_not_known_and_without_headers_nothing_is() -> None:
    found = seen(headers=HTML | {"Expires": "0", "Age": "soon", "Last-Modified": "never"})
    assert [found[name] for name in ("uncached", "expires_s", "etag", "cookies")] == [0, 0, 0, 0]
    assert found["last_modified"] == 1
    assert all(isnan(found[name]) for name in ("max_age_s", "age_s", "modified_days"))
    unknown = seen(headers={})
    assert unknown["html"] == 1  # its beginning says so
    headers = ("last_modified", "max_age_s", "uncached", "expires_s", "etag", "age_s", "cookies")
    assert all(isnan(unknown[name]) for name in (*headers, "modified_days"))


def test_a_last_modified_ahead_of_our_clock_is_new_but_one_of_next_year_tells_nothing() -> None:
    ahead = {"Last-Modified": "Fri, 20 Mar 2026 13:00:00 GMT"}
    assert seen(headers=HTML | ahead)["modified_days"] == 0
    assert isnan(seen(headers=HTML | {"Last-Modified": "Sat, 20 Mar 2027 12:00:00 GMT"})["modified_days"])


def test_collecting_and_sitemaps_add_what_they_know() -> None:
    told = page_look(b"", None, URL, HTML, NOW, depth=3, changefreq="weekly", lastmod_at=NOW - 86_400)
    assert not isinstance(told, ParseFailed)
    assert [told.values[column(name)] for name in ("depth", "changefreq", "lastmod_days")] == [3, 3, 1]
    odd = page_look(b"", None, URL, HTML, NOW, changefreq="sometimes")
    assert not isinstance(odd, ParseFailed)
    assert isnan(odd.values[column("changefreq")])


def links(body: str, headers: dict[str, str] = HTML) -> list[str]:
    look = page_look(body.encode(), None, URL, headers, NOW)
    assert not isinstance(look, ParseFailed)
    return list(look.links)


def test_a_look_gives_the_links_within_the_site_that_may_be_followed() -> None:
    a, b, c = "https://example.org/a", "https://example.org/shop/b.html", "https://shop.example.org/c"
    assert links(PAGE) == [a, b, c]
    assert links(PAGE.replace("<a href=b.html>", '<a rel="me nofollow" href=b.html>')) == [a, c]
    assert links(f'<a href="{URL}#x">here</a> <a href="http://EXAMPLE.org/%7Ea?">a</a>') == [
        "http://example.org/~a"
    ]
    assert links(PAGE.replace("<meta", "<meta name=robots content='noindex, NoFollow'><meta", 1)) == []
    assert links(PAGE, HTML | {"X-Robots-Tag": "otherbot: none, nofollow"}) == links(PAGE)
    assert links(PAGE, HTML | {"X-Robots-Tag": "nofollow"}) == []


def test_a_url_tells_what_it_names() -> None:
    found = url_features(URL)
    expected = {"url_segments": 4, "url_digits": 9, "url_dated": 1, "url_parameters": 2, "url_page": 1}
    assert {name: found[name] for name in expected} == expected
    assert found["url_length"] == len(URL)
    assert found["url_news"] == 1
    assert found["url_legal"] == found["url_forum"] == found["url_data"] == 0
    assert url_features("https://blog.example.org/")["url_blog"] == 1
    assert url_features("https://blog.org/")["url_blog"] == 0  # a name, not a part of a site
    assert url_features("https://a.org/TermsOfService")["url_legal"] == 1
    assert url_features("https://a.org/OurPrivacy")["url_legal"] == 1
    assert url_features("https://a.org/stage/")["url_listing"] == 0
    assert url_features("https://a.org/data.JSON?x=1")["url_data"] == 1
    assert isnan(url_features("file:///data/a.csv")["level"])
    assert url_features("") == url_features("https://[::1/") == {}


def test_links_are_external_by_the_site_they_lead_to() -> None:
    links = (
        "?q",
        "HTTPS://A.org:443/",
        "//www.a.org",
        "http://user@en.a.org",
        "https://nota.org",
        "http:\\\\x",
    )
    assert [external(link, "a.org", "a.org") for link in links] == [False, False, False, False, True, None]
    assert external("/x", "a.org", "b.org") is True  # as the page's base says
    assert seen("<base href=//other.example><a href=/x>y</a>")["external_links"] == 1
    assert seen("<p>logo@big.png, me@example.org")["emails"] == 1
    no_site = seen(url="")
    assert no_site["links"] == 6
    assert isnan(no_site["internal_links"])
    assert isnan(no_site["external_share"])


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("application/json", b'{"at": "2026-03-19"}', "json"),
        ("application/ld+json", b"{}", "xml"),
        ("text/turtle", b"<a> <b> <c> .", "xml"),
        ("application/xml", b"<?xml version='1.0'?><rss version='2.0'>", "feed"),
        ("application/xml", b"<?xml version='1.0'?><catalogue/>", "xml"),
        ("text/csv", b"a,b\n1,2", "csv"),
        ("text/plain", b"<html>not a page", "plain"),
        ("", b"  <!doctype html><p>x", "html"),
        ("", b"\xef\xbb\xbf{}", "json"),
        ("", b"just words", "plain"),
        ("", b"# baseURI: http://a.example/\n\n# more\n@prefix : <http://a.example/> .", "xml"),
        ("", b"<urn:a> <urn:b> <urn:c> .", "xml"),
        ("", b"PREFIX a: <urn:a>\na:b a a:c .", "xml"),
        ("", b"# A heading\n\nPrefix: a word", "plain"),
        ("", b"BASE <http://a.example/>\n<b> a <c> .", "xml"),
        ("", b"<#a> a <urn:b> .", "xml"),
        ("", b'<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel/></rdf:RDF>', "feed"),
        ("", b"<fb:like></fb:like><div>words</div>", "html"),
        ("", b"<custom:tag", "html"),
        ("", b"<custom-tag>", "html"),
        ("application/pdf", b"%PDF-1.7 2026-03-19", None),
        ("", b"\x89PNG\0\0", None),
    ],
)
def test_every_kind_of_content_gives_a_sight(content_type: str, body: bytes, kind: str | None) -> None:
    found = seen(body, {"Content-Type": content_type, "ETag": "a"})
    kinds = ("html", "feed", "json", "xml", "csv", "plain")
    assert [name for name in kinds if found[name]] == ([kind] if kind else [])
    assert found["bytes"] == len(body)
    assert found["etag"] == found["url_news"] == 1
    assert isnan(found["links"]) == (kind != "html")


def test_data_is_searched_for_dates_as_far_as_that_is_cheap_from_both_ends() -> None:
    first, middle, last = b'[{"at": "2026-03-17T10:00:00"}]', b"2026-03-19 ", b"2026-03-18"
    found = seen(first + b" " * 90_000 + middle + b" " * 90_000 + last, {})
    assert (found["dates"], found["newest_days"]) == (2, 2.5)
    assert seen(first + middle + last, {})["dates"] == 3
    assert isnan(seen(b"%PDF 2026-03-19", {"Content-Type": "application/pdf"})["dates"])


@pytest.mark.parametrize("content_type", ["text/html", "application/json", "text/plain"])
def test_what_lists_its_news_by_date_tells_how_often_there_was_some(content_type: str) -> None:
    days = "2026-03-20, 2026-03-20, 20 March 2026, 2026-02-19, 2026-02-18, 2025-03-21, 2025-03-20, 2026-03-21"
    found = seen(f"<p>{days}", {"Content-Type": content_type})
    assert found["dates"] == 8
    assert (found["dates_month"], found["dates_year"]) == (
        2,
        4,
    )  # a day counts once, the one to come not at all
    never = seen("<p>1 May 2026", {"Content-Type": content_type})
    assert isnan(never["dates_month"])
    assert isnan(never["dates_year"])


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("n_more", range(4))
def test_dates_at_both_ends_are_read_wherever_the_middle_is_cut(codec: str, n_more: int) -> None:
    text = "2026年3月18日 " + "x" * n_more + "語" * 60_000 + " 2026年3月17日"
    charset = None if codec in ("utf-8", "utf-16") else codec
    found = seen(text.encode(codec), {"Content-Type": "text/plain"}, charset=charset)
    assert (found["dates"], found["newest_days"]) == (2, 2.5)


@pytest.mark.parametrize("n_read", range(10))
def test_a_date_that_is_cut_is_no_other_one(n_read: int) -> None:
    half, date, rest = html.TAME_BYTES // 2, b"2026-03-19", b" " * 90_000
    first, last = b" " * (half - n_read) + date + rest, rest + date + b" " * (half - n_read)
    for body in (first, last):
        assert seen(body, {"Content-Type": "text/plain"})["dates"] == 0


def test_an_empty_body_is_an_empty_page_where_the_header_says_page() -> None:
    page, nothing = seen(b""), seen(b"", {})
    assert (page["html"], page["links"], page["words"], page["bytes"]) == (1, 0, 0, 0)
    assert isnan(page["text_share"])
    assert isnan(nothing["html"])
    assert isnan(nothing["links"])
    assert nothing["bytes"] == 0
