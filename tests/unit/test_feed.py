"""Feeds and sitemaps: entries count, the rest does not."""

from __future__ import annotations

import json

import pytest

from recrawl.checks import detector as detector_checks
from recrawl.detect.feed import Feed
from recrawl.model import Changed, Snapshot

Items = list[tuple[str, str, str]]
ITEMS: Items = [("1", "First", "Rain."), ("2", "Second", "Sun.")]


def rss(items: Items, built: str = "Mon, 05 Jan 2026 00:00:00 GMT") -> bytes:
    inner = "".join(
        f"<item><guid>{i}</guid><title>{t}</title><link>http://e/{i}</link><description>{d}</description></item>"
        for i, t, d in items
    )
    head = f"<title>T</title><lastBuildDate>{built}</lastBuildDate>"
    return f"<rss><channel>{head}{inner}</channel></rss>".encode()


def atom(items: Items, built: str = "2026-01-05T00:00:00Z") -> bytes:
    inner = "".join(
        f"<entry><id>{i}</id><title>{t}</title><link href='http://e/{i}'/><summary>{d}</summary></entry>"
        for i, t, d in items
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><updated>{built}</updated>{inner}</feed>'.encode()


def json_feed(items: Items, built: str = "1") -> bytes:
    entries = [{"id": i, "title": t, "url": f"http://e/{i}", "content_text": d} for i, t, d in items]
    return json.dumps({"version": built, "items": entries}).encode()


def sitemap(items: Items, built: str = "x") -> bytes:
    inner = "".join(
        f"<url><loc>http://e/{i}</loc><lastmod>{d}</lastmod><priority>{len(built) / 10}</priority></url>"
        for i, _, d in items
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{inner}</urlset>'.encode()


FORMS = [rss, atom, json_feed, sitemap]


def changed(before: bytes, after: bytes) -> Changed:
    return Feed().compare(Snapshot(body=before), Snapshot(body=after)).changed


@pytest.mark.parametrize("check", detector_checks.CHECKS)
def test_the_feed_detector_keeps_the_contract(check: object) -> None:
    check(Feed)  # type: ignore[operator]


@pytest.mark.parametrize("form", FORMS)
def test_order_and_the_time_of_building_are_no_change(form: object) -> None:
    assert callable(form)
    assert changed(form(ITEMS), form(ITEMS[::-1], built="another time")) is Changed.NO


@pytest.mark.parametrize("form", FORMS)
def test_an_entry_more_or_another_content_is_a_change(form: object) -> None:
    assert callable(form)
    assert changed(form(ITEMS), form([*ITEMS, ("3", "Third", "Fog.")])) is Changed.YES
    assert changed(form(ITEMS), form([ITEMS[0], ("2", "Second", "Snow.")])) is Changed.YES
    assert changed(form(ITEMS), form(ITEMS[:1])) is Changed.YES


def test_the_evidence_names_the_new_entry() -> None:
    before, after = Snapshot(body=rss(ITEMS)), Snapshot(body=rss([("3", "Third", "Fog."), *ITEMS]))
    assert Feed().compare(before, after).evidence == "1 entry added: +Third"


@pytest.mark.parametrize(
    "broken",
    [b"", b"<rss>", b"<html/>", b"{}", b"<!DOCTYPE rss [<!ENTITY a 'b'>]><rss><channel/></rss>", b"\xff"],
)
def test_what_is_no_feed_is_unknown(broken: bytes) -> None:
    assert changed(rss(ITEMS), broken) is Changed.UNKNOWN
