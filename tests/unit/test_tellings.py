"""What a sitemap or a feed tells of other resources, from its bytes to the verdict on a visit."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isnan, nan

import pytest
from tests.unit.stories import Story

from recrawl.detect import feed as module
from recrawl.detect.choose import detector_name
from recrawl.detect.feed import Feed
from recrawl.live.judgement import Judgement, judged
from recrawl.model import (
    Changed,
    Effective,
    Fetch,
    Kind,
    Lease,
    Lens,
    Manner,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Telling,
    Version,
)

HERE = "https://e.example/list"
NOON, NOON_AT = "2026-01-31T12:00:00Z", 1_769_860_800.0
EARLIER = "2026-01-30T13:00:00+01:00"


def sitemap(**lastmod: str) -> bytes:
    inner = "".join(
        f"<url><loc>https://e.example/{name}</loc><lastmod>{at}</lastmod></url>"
        for name, at in lastmod.items()
    )
    return f"<urlset>{inner}</urlset>".encode()


def told(before: bytes, after: bytes, *, url: str = HERE, lens: Lens | None = None) -> dict[str, float]:
    one, other = (Snapshot(body=body, url=url, lens=lens or Lens()) for body in (before, after))
    return {telling.url: telling.event_at for telling in Feed().told_of(one, other)}


def test_a_sitemap_tells_of_what_is_new_and_what_was_modified() -> None:
    before = sitemap(a=EARLIER, b=EARLIER, gone=EARLIER)
    after = sitemap(c="2026-01-31", b=NOON, a=EARLIER)
    found = told(before, after)
    assert list(found) == ["https://e.example/c", "https://e.example/b"]
    assert found["https://e.example/b"] == NOON_AT
    assert isnan(found["https://e.example/c"])  # a day is no moment


def test_the_same_moment_spelled_otherwise_and_advice_for_crawlers_tell_nothing() -> None:
    before = sitemap(a="2026-01-31T13:00:00+01:00")
    assert told(before, sitemap(a=NOON)) == {}
    advised = sitemap(a=NOON).replace(b"</url>", b"<priority>0.9</priority></url>")
    assert told(before, advised) == {}


def test_a_sitemap_index_tells_of_sitemaps() -> None:
    def index(body: bytes) -> bytes:
        return body.replace(b"urlset", b"sitemapindex").replace(b"url>", b"sitemap>")

    found = told(index(sitemap(a=EARLIER, b=NOON)), index(sitemap(a=NOON, b=NOON)))
    assert found == {"https://e.example/a": NOON_AT}


def rss(*items: str) -> bytes:
    link = "<atom:link xmlns:atom='http://www.w3.org/2005/Atom' href='https://e.example/list' rel='self'/>"
    return f"<rss><channel>{link}<link>https://e.example</link>{''.join(items)}</channel></rss>".encode()


def item(name: str, text: str = "", published: str = "Sat, 31 Jan 2026 13:00:00 +0100") -> str:
    return (
        f"<item><guid>{name}</guid><link>/{name}</link><description>{text}</description>"
        f"<pubDate>{published}</pubDate></item>"
    )


def test_rss_tells_of_new_and_edited_items_and_of_its_home_page() -> None:
    before, after = rss(item("a"), item("b")), rss(item("c"), item("a"), item("b", "edited"))
    names = ["", "c", "b"]
    assert told(before, after) == {f"https://e.example/{name}": NOON_AT for name in names}


def test_rss_tells_of_its_home_page_alone_when_an_item_went() -> None:
    found = told(rss(item("a"), item("b")), rss(item("a")))
    assert list(found) == ["https://e.example/"]
    assert isnan(found["https://e.example/"])


def test_the_oldest_rss_has_a_home_page_too() -> None:
    body = b"<RDF><channel><link>http://e.example/</link></channel>%s</RDF>"
    entry = b"<item><link>http://e.example/a</link><title>%s</title></item>"
    found = told(body % (entry % b"one"), body % (entry % b"two"))
    assert list(found) == ["http://e.example/", "http://e.example/a"]


def test_an_item_without_a_link_is_where_its_permanent_name_says() -> None:
    before = rss()
    after = rss("<item><guid>https://e.example/a#top</guid></item><item><guid>tag:7</guid></item>")
    assert list(told(before, after)) == ["https://e.example/", "https://e.example/a"]


def test_atom_tells_of_entries_and_of_what_it_is_the_feed_of() -> None:
    def atom(updated: str) -> bytes:
        entry = f"<entry><id>1</id><link href='a/b'/><updated>{updated}</updated></entry>"
        links = "<link rel='self' href='/list'/><link href='https://other.example/home'/>"
        return f"<feed xmlns='http://www.w3.org/2005/Atom'>{links}{entry}</feed>".encode()

    found = told(atom(EARLIER), atom(NOON), url="https://e.example/feeds/x")
    assert found == {"https://other.example/home": NOON_AT, "https://e.example/feeds/a/b": NOON_AT}


def test_a_json_feed_tells_of_items_and_of_its_home_page() -> None:
    def body(*items: object) -> bytes:
        return json.dumps({"home_page_url": "https://e.example/", "items": items}).encode()

    new = {"id": 2, "url": "https://e.example/2", "date_modified": NOON}
    assert told(body({"id": 1}), body(new, {"id": 1})) == {
        "https://e.example/": NOON_AT,
        "https://e.example/2": NOON_AT,
    }


def test_addresses_are_spelled_as_the_watchlist_spells_them() -> None:
    body = "<urlset><url><loc> HTTPS://E.Example:443/a/../%s#part </loc></url></urlset>"
    assert list(told(b"<urlset/>", (body % "b").encode())) == ["https://e.example/b"]


def test_entries_of_one_address_tell_of_it_once_with_the_newest_time() -> None:
    rows = [("x#1", EARLIER), ("x#2", NOON), ("x#3", ""), ("x#4", EARLIER)]
    inner = "".join(f"<url><loc>http://e/{name}</loc><lastmod>{at}</lastmod></url>" for name, at in rows)
    assert told(b"<urlset/>", f"<urlset>{inner}</urlset>".encode()) == {"http://e/x": NOON_AT}


def test_what_does_not_count_tells_nothing() -> None:
    before, after = rss(item("a", "one")), rss(item("a", "two"))
    assert "https://e.example/a" in told(before, after)
    assert told(before, after, lens=Lens(ignore=("field:content",))) == {}


@pytest.mark.parametrize(
    "link",
    [
        "",
        "http://",
        "javascript:alert(1)",
        "mailto:x@e.example",
        "file:///etc/passwd",
        "http://u:p@e.example/",
    ],
)
def test_what_is_no_address_of_the_web_is_passed_over(link: str) -> None:
    body = f"<urlset><url><loc>{link}</loc></url><url><loc>http://e.example/a</loc></url></urlset>"
    assert "http://e.example/a" in (found := told(b"<urlset/>", body.encode()))
    assert all(url.startswith(("http://", "https://")) and "passwd" not in url for url in found)


def test_however_many_it_lists_it_tells_of_no_more_than_a_sitemap_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_TOLD", 7)
    assert len(told(b"<urlset/>", sitemap(**{f"n{i}": NOON for i in range(40)}))) == 7


def test_a_large_one_is_read_where_it_can_be_killed() -> None:
    names = {f"n{i}": EARLIER for i in range(2_000)}
    assert told(sitemap(**names), sitemap(**{**names, "n9": NOON})) == {"https://e.example/n9": NOON_AT}
    bomb = b"<urlset>" + b"<a>" * 60_000
    assert told(sitemap(**names), bomb) == {}


def test_what_cannot_be_read_tells_nothing() -> None:
    assert told(b"<urlset/>", b"<html>no</html>") == told(b"<urlset/>", b"<!DOCTYPE x><urlset/>") == {}


# -- on a visit ----------------------------------------------------------------------------------------


def looked(
    before: bytes | None, after: bytes, *, at: float = NOON_AT, manner: Manner | None = None
) -> Judgement:
    media = (("Content-Type", "application/xml"),)
    fetch = Fetch(
        request=Request(url=HERE), outcome=Outcome.OK, url=HERE, started_at=at - 1.0, ended_at=at, status=200,
        headers=media, body=after, wire=after,
    )  # fmt: skip
    effective = Effective(kind=Kind.SITEMAP, manner=manner or Manner(mask=False))
    resource = Resource(id=7, url=HERE, host_id=1, host="e.example", added_at=0.0, effective=effective)

    def lease(version: Version | None) -> Lease:
        standing = Standing(since_at=nan if version is None else 50.0, version=version)
        return Lease(resource=resource, standing=standing, token=1, claimed_at=99.0, until_at=200.0)

    def judge(version: Version | None, fetch: Fetch) -> Judgement:
        return judged(
            lease(version),
            fetch,
            fetch_id="f",
            detectors={"feed": Feed()},
            choose=detector_name,
            load=lambda _: Snapshot(body=before or b"", media_type="application/xml", url=HERE),
        )

    if before is None:
        return judge(None, fetch)
    return judge(judge(None, replace(fetch, body=before, wire=before)).version, fetch)


def test_a_first_visit_tells_nothing() -> None:
    judgement = looked(None, sitemap(a=NOON))
    assert (judgement.visit.changed, judgement.tells) == (Changed.UNKNOWN, ())


def test_a_visit_that_finds_a_change_tells_of_it() -> None:
    judgement = looked(sitemap(a=EARLIER, b=EARLIER), sitemap(a=NOON, b=EARLIER))
    assert judgement.visit.changed is Changed.YES
    assert judgement.tells == (Telling("https://e.example/a", NOON_AT),)


def test_a_visit_that_finds_none_tells_nothing() -> None:
    judgement = looked(sitemap(a=EARLIER, b=NOON), sitemap(b=NOON, a=EARLIER))
    assert (judgement.visit.changed, judgement.tells) == (Changed.NO, ())


def test_nothing_changed_in_a_time_that_is_still_to_come() -> None:
    (telling,) = looked(sitemap(a=EARLIER), sitemap(a=NOON), at=NOON_AT - 60.0).tells
    assert telling.url == "https://e.example/a"
    assert isnan(telling.event_at)


def test_a_time_that_moves_on_every_visit_still_tells_of_what_it_is_the_time_of() -> None:
    """It is masked as a clock, since the list says nothing else: whether it is one, the visits will show."""
    story = Story(media_type="application/xml")

    def visit(n: int, at: str) -> Judgement:
        rows = {"home": f"1970-01-01T{n:02}:{at}:00Z", "rest": EARLIER}
        return story.visit(lambda: sitemap(**rows))

    told = [visit(n, "30") for n in range(8)]  # each half an hour before the visit
    assert story.n_masks == 1
    assert [judgement.visit.changed for judgement in told[-3:]] == [Changed.NO] * 3
    assert all([one.url for one in judgement.tells] == ["https://e.example/home"] for judgement in told[1:])
    # of what was told of on the last visit nothing is news
    assert visit(7, "30").tells == visit(7, "45").tells == ()
