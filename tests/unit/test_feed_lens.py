"""Entries of feeds and sitemaps: equal meaning is never a change, every real edit is one; with a lens too."""

from __future__ import annotations

from html import escape
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.detect import noise
from recrawl.detect.feed import Feed
from recrawl.model import Changed, Lens, Noise, Part, Snapshot
from recrawl.parse.feed import moment

WORDS = st.text("abc <&é", min_size=1, max_size=5).map(lambda text: f"w{' '.join(text.split())}")
FIELDS = ("title", "link", "content", "published", "updated", "author", "categories", "files")
ENTRIES = st.lists(st.fixed_dictionaries(dict.fromkeys(FIELDS, WORDS)), min_size=1, max_size=5)


def atom(entries: list[dict[str, str]], **rules: Any) -> Snapshot:
    inner = "".join(
        f"<entry><id>{entry.get('id', i)}</id><title>{escape(entry['title'])}</title>"
        f'<link href="{escape(entry["link"])}"/><content>{escape(entry["content"])}</content>'
        f"<updated>{escape(entry['updated'])}</updated>"
        f"<published>{escape(entry['published'])}</published>"
        f"<category term='{escape(entry['categories'])}'/>"
        f"<link rel='enclosure' href='{escape(entry['files'])}'/>"
        f"<author><name>{escape(entry['author'])}</name></author></entry>"
        for i, entry in enumerate(entries)
    )
    return Snapshot(body=f"<feed>{inner}</feed>".encode(), lens=Lens(**rules))


def sitemap(*rows: str, **rules: Any) -> Snapshot:
    return Snapshot(
        body=f"<urlset>{''.join(f'<url>{row}</url>' for row in rows)}</urlset>".encode(), lens=Lens(**rules)
    )


@settings(max_examples=50, deadline=None)
@given(ENTRIES, st.data(), st.randoms(use_true_random=False))
def test_an_edit_is_a_change_unless_its_field_does_not_count(
    entries: list[dict[str, str]], data: st.DataObject, rng: Random
) -> None:
    named = [{**entry, "id": f"e{i}"} for i, entry in enumerate(entries)]
    shuffled = list(named)
    rng.shuffle(shuffled)
    assert Feed().compare(atom(named), atom(shuffled)).changed is Changed.NO
    field = data.draw(st.sampled_from(FIELDS))
    other = data.draw(st.sampled_from([name for name in FIELDS if name != field]))
    at = data.draw(st.integers(0, len(named) - 1))
    edited = [{**entry, field: entry[field] + "!"} if i == at else entry for i, entry in enumerate(named)]

    def changed(**rules: Any) -> Changed:
        return Feed().compare(atom(named, **rules), atom(edited, **rules)).changed

    assert changed() is Changed.YES
    assert changed(ignore=(f"field:{field}",)) is Changed.NO
    assert changed(ignore=(f"field:{other}", "column:title")) is Changed.YES
    assert changed(include=(f"field:{field}",)) is Changed.YES
    assert changed(include=(f"field:{other}",)) is Changed.NO
    assert Feed().compare(atom(named), atom(named[1:])).changed is Changed.YES


@pytest.mark.parametrize(
    "field",
    [
        "<title>%s</title>",
        "<pubDate>Sat, 31 Jan 2026 12:00:%s0 GMT</pubDate>",
        "<dc:creator xmlns:dc='x'>%s</dc:creator>",
        "<category>%s</category>",
        "<enclosure url='http://e/%s.mp3'/>",
        "<description>&lt;p>%s&lt;/p></description>",
    ],
)
def test_every_field_of_rss_counts(field: str) -> None:
    def rss(value: str) -> Snapshot:
        return Snapshot(
            body=f"<rss><channel><item><guid>1</guid>{field % value}</item></channel></rss>".encode()
        )

    assert Feed().compare(rss("1"), rss("2")).changed is Changed.YES
    assert Feed().compare(rss("1"), rss("1")).changed is Changed.NO


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00"),
        ("Sat, 31 Jan 2026 12:00:00 GMT", "2026-01-31T12:00:00+00:00"),
        ("Sat, 31 Jan 2026 12:00:00 GMT", "31 Jan 2026 14:00:00 +0200"),
    ],
)
def test_an_instant_is_one_whatever_its_spelling(one: str, other: str) -> None:
    assert moment(one) == moment(other)
    assert moment(one) != moment(one.replace("12:00", "12:01"))


@pytest.mark.parametrize(
    "odd", ["", "never", "2026-01-31", "2026", "9999-12-31T23:59:59-23:00", "Mon, 99 Foo", "x" * 100_000]
)
def test_what_is_no_instant_stays_as_it_is(odd: str) -> None:
    assert moment(odd) == odd


def test_sitemaps_have_names_of_their_own_for_fields() -> None:
    before = "<loc>http://e/1</loc><lastmod>2026-01-01</lastmod><changefreq>daily</changefreq>"
    later = before.replace("2026-01-01", "2026-01-02")
    hint = before.replace("daily", "weekly")
    assert Feed().compare(sitemap(before), sitemap(later)).changed is Changed.YES
    assert Feed().compare(sitemap(before), sitemap(hint)).changed is Changed.NO
    rule = {"ignore": ("field:lastmod",)}
    assert Feed().compare(sitemap(before, **rule), sitemap(later, **rule)).changed is Changed.NO
    rule = {"include": ("field:changefreq",)}
    assert Feed().compare(sitemap(before, **rule), sitemap(hint, **rule)).changed is Changed.YES
    picture = before + "<image><loc>http://e/1.jpg</loc></image>"
    assert Feed().compare(sitemap(before), sitemap(picture)).changed is Changed.YES


def test_masks_and_parts_speak_of_fields() -> None:
    one = [dict.fromkeys(FIELDS, "x") | {"id": i, "content": f"{i} readers"} for i in ("1", "2")]
    other = [{**entry, "content": f"7{entry['content']}"} for entry in one]
    parts = Feed().differing(atom(one), atom(other))
    assert parts == (Part("field:content", "1 readers", "71 readers"),)
    masks = noise.learned(Noise(), parts, 0.0).masks
    assert Feed().compare(atom(one, masks=masks), atom(other, masks=masks)).changed is Changed.NO
    news = [{**entry, "content": "Rain."} for entry in other]
    assert Feed().compare(atom(one, masks=masks), atom(news, masks=masks)).changed is Changed.YES
    single = [one[0], other[1]]
    parts = Feed().differing(atom(one), atom(single))
    assert [part.place for part in parts] == ["field:content entry:2"]
    masks = noise.learned(Noise(), parts, 0.0).masks
    assert [mask.place for mask in masks] == ["field:content entry:2"]
    assert Feed().compare(atom(one, masks=masks), atom(single, masks=masks)).changed is Changed.NO


def test_every_difference_has_a_line() -> None:
    one = dict.fromkeys(FIELDS, "") | {"id": "1", "title": "First", "link": "http://e/1", "content": "Rain."}
    two = {**one, "id": "2", "title": "Second", "link": "http://e/2"}
    assert Feed().listed(atom([one]), atom([{**one, "content": "Sun."}, two])) == [
        "[First (http://e/1)].content: Rain. → Sun.",
        "+ Second (http://e/2)",
    ]
