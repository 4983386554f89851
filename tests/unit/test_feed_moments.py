"""When the entries of a feed were published: what a visit learns of it, and where it learns nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import formatdate
from math import isnan

import pytest

from recrawl.detect.choose import detector_name
from recrawl.detect.feed import Feed
from recrawl.detect.thread import Thread
from recrawl.live.judgement import judged
from recrawl.model import (
    DAY_S,
    Changed,
    Effective,
    Fetch,
    Kind,
    Lease,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Version,
    Visit,
)

URL = "http://news.example/feed"
NOW = 1_800_000_000.0
SINCE = NOW - 2 * DAY_S


@dataclass(frozen=True)
class Entry:
    n: int
    at: float
    words: str = "words"


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def rss(entries: Sequence[Entry]) -> bytes:
    items = "".join(
        f"<item><guid>{one.n}</guid><title>Entry {one.n}</title><description>{one.words}</description>"
        f"<pubDate>{formatdate(one.at, usegmt=True)}</pubDate></item>"
        for one in entries
    )
    return f'<rss version="2.0"><channel><title>T</title>{items}</channel></rss>'.encode()


def atom(entries: Sequence[Entry], named: str = "published") -> bytes:
    items = "".join(
        f"<entry><id>{one.n}</id><title>Entry {one.n}</title><summary>{one.words}</summary>"
        f"<{named}>{iso(one.at)}</{named}></entry>"
        for one in entries
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>{items}</feed>'.encode()


def json_feed(entries: Sequence[Entry]) -> bytes:
    items = [
        {
            "id": str(one.n),
            "title": f"Entry {one.n}",
            "content_text": one.words,
            "date_published": iso(one.at),
        }
        for one in entries
    ]
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}).encode()


FORMS = (rss, atom, json_feed)
OLD = [Entry(n, SINCE - (9 - n) * DAY_S) for n in range(5, 0, -1)]  # the newest first
NEW = [Entry(7, NOW - 600.0), Entry(6, SINCE + 60.0)]


def looked(body: bytes, before: bytes | None = None, kind: Kind = Kind.FEED) -> Visit:
    def judge(held: Version | None, body: bytes) -> tuple[Visit, Version | None]:
        since_at = float("nan") if held is None else SINCE
        resource = Resource(
            id=7, url=URL, host_id=1, host="news.example", added_at=0.0, effective=Effective(kind=kind)
        )
        standing = Standing(since_at=since_at, version=held, sight_at=1.0)
        lease = Lease(resource=resource, standing=standing, token=1, claimed_at=NOW, until_at=NOW + 9.0)
        fetch = Fetch(
            request=Request(url=URL),
            outcome=Outcome.OK,
            url=URL,
            started_at=NOW - 0.5,
            ended_at=NOW,
            status=200,
            headers=(("Content-Type", "application/xml"),),
            body=body,
        )
        found = judged(
            lease,
            fetch,
            fetch_id="f",
            detectors={"feed": Feed(), "thread": Thread()},
            choose=detector_name,
            load=lambda _: Snapshot(body=before or b"", media_type="application/xml", url=URL, at=SINCE),
        )
        return found.visit, found.version

    held = None if before is None else judge(None, before)[1]
    return judge(held, body)[0]


Form = Callable[[Sequence[Entry]], bytes]


@pytest.mark.parametrize("form", FORMS)
def test_a_first_visit_tells_of_all_entries(form: Form) -> None:
    visit = looked(form(OLD))
    assert visit.moments == tuple(sorted(one.at for one in OLD))
    assert visit.evidence == f"the first copy; 5 entries since {iso(SINCE - 8 * DAY_S)[:10]}"
    assert visit.teaches


@pytest.mark.parametrize("form", FORMS)
def test_a_later_one_tells_of_those_that_are_new(form: Form) -> None:
    visit = looked(form([*NEW, *OLD[:3]]), form(OLD))
    assert (visit.changed, visit.moments) == (Changed.YES, (SINCE + 60.0, NOW - 600.0))


@pytest.mark.parametrize(
    "after",
    [
        [*NEW, replace(OLD[0], words="other words"), *OLD[1:]],  # edited, who knows when
        [Entry(9, NOW - 60.0), *NEW],  # the feed is full of new ones: there may have been more
        [Entry(8, NOW + DAY_S), *NEW, *OLD],  # dated ahead
    ],
    ids=["edited", "turned over", "ahead"],
)
@pytest.mark.parametrize("form", FORMS)
def test_where_not_all_is_known_nothing_is_told_of_moments(form: Form, after: list[Entry]) -> None:
    visit = looked(form(after), form(OLD))
    assert (visit.changed, visit.moments) == (Changed.YES, ())


def test_a_feed_that_is_watched_as_a_thread_may_have_turned_over_too() -> None:
    full = looked(rss([Entry(9, NOW - 60.0), *NEW]), rss(OLD), Kind.THREAD)
    assert (full.changed, full.moments) == (Changed.YES, ())
    assert looked(rss([*NEW, *OLD]), rss(OLD), Kind.THREAD).moments == (SINCE + 60.0, NOW - 600.0)


def test_when_entries_were_last_updated_is_no_past() -> None:
    """A board's feed has an entry for each thread, with the time of its last post."""
    first = looked(atom(OLD, "updated"))
    assert (first.moments, first.evidence) == ((), "the first copy")
    bumped = looked(atom([replace(OLD[3], at=NOW - 60.0), *OLD[:3]], "updated"), atom(OLD, "updated"))
    assert (bumped.changed, bumped.moments, isnan(bumped.event_at)) == (Changed.YES, (), True)


@pytest.mark.parametrize("form", FORMS)
def test_what_programs_write_for_no_time_is_no_past(form: Form) -> None:
    assert looked(form([*OLD, Entry(9, 0.0)])).moments == ()


def test_the_pages_of_a_sitemap_are_no_entries() -> None:
    def sitemap(entries: Sequence[Entry]) -> bytes:
        rows = "".join(
            f"<url><loc>http://n.example/{e.n}</loc><lastmod>{iso(e.at)}</lastmod></url>" for e in entries
        )
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'.encode()

    assert looked(sitemap(OLD), kind=Kind.SITEMAP).moments == ()
    assert looked(sitemap([*NEW, *OLD]), sitemap(OLD), Kind.SITEMAP).moments == ()
