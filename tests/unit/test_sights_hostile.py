"""Sights of what messy, broken and hostile servers send."""

from __future__ import annotations

from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.test_all_lines import PIECES
from tests.unit.test_sights import HTML, NOW, URL, seen

from recrawl.model import FEATURES
from recrawl.parse import dates, html
from recrawl.parse.pool import ParseFailed, Pool
from recrawl.parse.sights import looked, page_sight


def test_messy_pages_are_read_as_browsers_read_them() -> None:
    found = seen("<p>a<li><a href=x>b<a href=y>c<table><td><table><tr><td><img><p>12.03.2026")
    assert (found["links"], found["tables"], found["list_items"], found["images"]) == (2, 2, 1, 1)
    assert found["newest_days"] == 8.5
    found = seen(
        "<a href='" + "x" * 20_000 + "'>b</a>\0\0<p onclick='<img>'>c<!-- <img> --><![CDATA[<img>]]>"
    )
    assert (found["links"], found["images"]) == (1, 0)
    assert seen("<a>no address</a><a href>an empty one</a>")["links"] == 1


def test_a_wrong_charset_changes_letters_and_nothing_else() -> None:
    page = "<p>5. März 2026, ¿qué?</p><a href=/é>x</a>"
    for charset, sent in (("utf-8", "latin-1"), ("utf-16", "utf-8"), ("klingon", "utf-8"), (None, "cp1252")):
        seen(page.encode(sent), charset=charset)
    assert seen(page.encode("latin-1"), charset="latin-1")["newest_days"] == 15.5


def test_broken_metadata_is_read_without_minding_its_syntax() -> None:
    found = seen(
        '<script type="application/LD+json">{"@type":"Event" "dateModified" : "2026-03-18", </script>'
        "<p itemprop=datePublished content=2026-03-17><meta name=date content='last week'>"
    )
    assert (found["schema_event"], found["revised_days"], found["published_days"]) == (1, 2.5, 3.5)


def test_hostile_numbers_of_dates_links_and_addresses_are_bounded() -> None:
    assert len(list(dates.in_text("12 March 2024 " * 20_000))) == dates.MOST_DATES
    assert list(dates.in_text("2024 " * 60_000 + "12 March 2024")) == []  # it gave up before that
    many = seen(f"<a href=/x>y</a><a href='mailto:{'a@b.example,' * 50_000}'>z</a><p>{'a@b.co ' * 9_000}" * 2)
    assert (many["links"], many["emails"]) == (4, 2)
    odd = "@" * 50_000 + "a@" * 50_000 + ("x@" + "a" * 62 + ".") * 2_000
    types = '"@type":[' * 50_000
    assert seen(f"<script type=application/ld+json>{types}</script><p>{odd}")["emails"] == 0
    headers = {"Cache-Control": "max-age=" * 50_000, "Last-Modified": "(" * 50_000, "Expires": "1 " * 50_000}
    assert isnan(seen(headers=HTML | headers)["max_age_s"])
    assert seen(url="https://a.org/" + "a/" * 50_000)["url_segments"] == 50_000


def test_a_page_that_takes_too_long_is_given_up_and_the_next_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Pool(n_workers=1, limit_s=1.0) as pool:
        monkeypatch.setattr("recrawl.parse.sights.shared", lambda: pool)
        failed = page_sight(b"<div>" * 200_000, None, URL, HTML, NOW)
        assert isinstance(failed, ParseFailed)
        assert failed.reason == "time"
        assert seen("<p>x" * 2_000)["elements"] == 2_003


def test_a_page_larger_than_any_page_is_refused_but_data_of_that_size_is_not() -> None:
    large = b" " * (html.MOST_BYTES + 1)
    failed = page_sight(large, None, URL, HTML, NOW)
    assert isinstance(failed, ParseFailed)
    assert failed.reason == "size"
    assert seen(large, {"Content-Type": "application/json"})["bytes"] == len(large)


MORE = [
    "<time datetime=2026-03-19>",
    "<meta name=date content=x>",
    "<a href='http://[::1'>",
    "<base href=//x>",
]
MORE += ["a@b.example ", "19.03.2026", "<i itemtype='https://schema.org/Event'>", "<html lang=>", "<a href>"]


@given(st.lists(st.sampled_from([*PIECES, *MORE]), max_size=30).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_page_gives_numbers_that_are_true_to_their_names(document: str) -> None:
    found = looked(document.encode(), None, URL, NOW)[0]
    assert set(found) <= {feature.name for feature in FEATURES}
    assert all(value >= 0 or isnan(value) for value in found.values())
    assert found["words"] == len(html.visible(document.encode(), None).split())
    assert found["internal_links"] + found["external_links"] <= found["links"] <= found["elements"]


@given(
    st.binary(max_size=300), st.sampled_from([*HTML.values(), "", "application/json"]), st.text(max_size=40)
)
@settings(max_examples=200, deadline=None)
def test_any_bytes_and_any_address_give_a_sight(body: bytes, content_type: str, url: str) -> None:
    values = page_sight(body, None, url, {"Content-Type": content_type, "Last-Modified": url}, NOW)
    assert isinstance(values, tuple)
    assert len(values) == len(FEATURES)
