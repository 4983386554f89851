"""From a thread as it was fetched to the moments that its visit tells of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import isnan, nan, nextafter

import pytest
from tests.unit.paged import page_of
from tests.unit.paged import url as paged_url

from recrawl.detect.choose import detector_name
from recrawl.detect.thread import Thread
from recrawl.live import moments
from recrawl.live.asking import request_for
from recrawl.live.judgement import Judgement, judged
from recrawl.model import (
    DAY_S,
    Changed,
    Effective,
    Failure,
    Fetch,
    Kind,
    Lease,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Version,
)
from recrawl.parse import threads

URL = "http://forum.example/t/7.json"
NOW = 1_800_000_000.0
SINCE = NOW - 3 * DAY_S
JSON = "application/json"


def page(times: Sequence[float], *, first: int = 0, words: str = "words") -> bytes:
    posts = [
        {
            "id": n,
            "post_number": n + 1,
            "username": "ada",
            "created_at": datetime.fromtimestamp(at, UTC).isoformat(),
            "cooked": f"<p>{words} of {n}</p>",
        }
        for n, at in enumerate(times, first)
    ]
    return json.dumps({"id": 7, "title": "T", "post_stream": {"posts": posts}}).encode()


def fetched(body: bytes, media_type: str = JSON, failure: Failure | None = None) -> Fetch:
    return Fetch(
        request=Request(url=URL),
        outcome=Outcome.OK,
        url=URL,
        started_at=NOW - 0.5,
        ended_at=NOW,
        status=200,
        headers=(("Content-Type", media_type),),
        body=body,
        wire=body,
        failure=failure,
    )


def lease(version: Version | None = None) -> Lease:
    effective = Effective(kind=Kind.THREAD)
    return Lease(
        resource=Resource(id=7, url=URL, host_id=1, host="forum.example", added_at=0.0, effective=effective),
        standing=Standing(since_at=nan if version is None else SINCE, version=version, sight_at=1.0),
        token=1,
        claimed_at=NOW - 1.0,
        until_at=NOW + 100.0,
    )


def looked(body: bytes, before: bytes | None = None, **said: object) -> Judgement:
    """The first copy, or one after another."""

    def judge(held: Version | None, fetch: Fetch) -> Judgement:
        return judged(
            lease(held),
            fetch,
            fetch_id="f",
            detectors={"thread": Thread()},
            choose=detector_name,
            load=lambda _: Snapshot(body=before or b"", media_type=JSON, url=URL, at=SINCE),
        )

    held = None if before is None else judge(None, fetched(before)).version
    return judge(held, fetched(body, **said))  # type: ignore[arg-type]


def test_a_first_visit_tells_of_all_that_was_said() -> None:
    times = [NOW - 90 * DAY_S, NOW - 3 * DAY_S, NOW - 600.0]
    visit = looked(page(times)).visit
    assert visit.moments == tuple(times)
    assert visit.evidence == "the first copy; 3 posts since 2026-10-17"
    assert (visit.changed, isnan(visit.event_at), visit.teaches) == (Changed.UNKNOWN, True, True)


def test_a_later_one_tells_of_what_is_new() -> None:
    old = [SINCE - 9 * DAY_S, SINCE - DAY_S]
    visit = looked(page([*old, SINCE + 60.0, NOW - 5.0]), page(old)).visit
    assert visit.moments == (SINCE + 60.0, NOW - 5.0)
    assert (visit.changed, visit.event_at) == (Changed.YES, NOW - 5.0)


def test_a_new_post_is_significant_however_little_was_said() -> None:
    """The words of a whole page hardly differ for it; who follows a thread wants to know all the same."""
    before = [SINCE - k * DAY_S for k in range(20, 0, -1)]
    visit = looked(page([*before, NOW - DAY_S]), page(before)).visit
    assert (visit.changed, visit.significant) == (Changed.YES, True)


def test_an_edit_is_a_change_without_a_moment() -> None:
    times = [SINCE - 9 * DAY_S, SINCE - DAY_S]
    visit = looked(page(times, words="other words"), page(times)).visit
    assert (visit.changed, visit.moments, isnan(visit.event_at)) == (Changed.YES, (), True)


@pytest.mark.parametrize(
    ("said_at", "moment"),
    [
        (SINCE - 30.0, nextafter(SINCE, NOW)),  # told to the minute
        (NOW + 20.0, NOW),  # by a clock that is ahead of ours
        (SINCE - DAY_S, None),  # let through late, or told wrongly
    ],
)
def test_what_is_new_was_said_in_the_gap_or_nobody_knows_when(said_at: float, moment: float | None) -> None:
    old, sure = SINCE - 9 * DAY_S, NOW - 600.0
    visit = looked(page([old, sure, said_at]), page([old])).visit
    assert visit.moments == tuple(sorted({sure} if moment is None else {sure, moment}))


def test_where_nobody_knows_when_the_newest_was_said_there_are_no_moments() -> None:
    """Else everything after the newest that is known would be taken for silence."""
    said_at = NOW + 3_600.0
    old = [NOW - 90 * DAY_S, NOW - 60 * DAY_S, NOW - 50 * DAY_S, NOW - 40 * DAY_S]
    first = looked(page([*old, said_at])).visit
    assert (first.moments, first.evidence) == (
        (),
        "the first copy; 5 posts, and nobody knows when the newest was said",
    )
    later = looked(page([*old, NOW - 600.0, said_at]), page(old)).visit
    assert (later.changed, later.moments, isnan(later.event_at)) == (Changed.YES, (), True)


def test_a_post_without_a_time_hides_none_of_those_it_stands_between() -> None:
    times = [NOW - 90 * DAY_S, NOW + DAY_S, NOW - 3 * DAY_S]
    assert looked(page(times)).visit.moments == (times[0], times[2])
    # Where the newest stand first, or nothing tells in which order they stand, it may be the newest.
    assert looked(page([NOW + DAY_S, NOW - 3 * DAY_S])).visit.moments == ()
    assert looked(page([NOW + DAY_S, NOW - 3 * DAY_S, NOW - 90 * DAY_S])).visit.moments == ()


def leaf(number: int, times: Sequence[float]) -> threads.Page:
    """One page of four of a thread in XenForo's markup."""
    items = "".join(
        f'<article class="message" data-author="Ada" data-content="post-{10 * number + i}">'
        f'<time datetime="{datetime.fromtimestamp(at, UTC).isoformat()}">then</time>'
        f'<div class="bbWrapper">Words of {number}, {i}.</div></article>'
        for i, at in enumerate(times)
    )
    nav = "".join(
        f'<li class="pageNav-page{" pageNav-page--current" if p == number else ""}">'
        f'<a href="http://forum.example/t/7/page-{p}">{p}</a></li>'
        for p in (1, 2, 3, 4)
    )
    body = f'<html id="XF"><body><ul class="pageNav-main">{nav}</ul>{items}</body></html>'.encode()
    address = f"http://forum.example/t/7/page-{number}"
    return threads.Page(url=address, body=body, media_type="text/html", charset="utf-8")


def on_pages(*pages: tuple[int, Sequence[float]]) -> tuple[float, ...]:
    """The moments of a first visit that sees these pages, by number and times."""
    media_type, body = threads.bundled([leaf(number, times) for number, times in pages])
    return looked(body, media_type=media_type).visit.moments


def test_of_pages_that_were_left_out_nobody_knows_the_moments() -> None:
    """Of a long thread a first visit sees the first page and the last."""
    times = {n: [NOW - (50 - 10 * n - i) * DAY_S for i in range(3)] for n in (1, 2, 3, 4)}
    assert on_pages((1, times[1]), (3, times[3]), (4, times[4])) == (*times[3], *times[4])
    assert on_pages((1, times[1]), (2, times[2]), (3, times[3])) == (*times[1], *times[2], *times[3])


def test_the_last_pages_tell_of_moments_or_none_do() -> None:
    """Else a thread whose newest posts have no time would seem to have ended on its first page."""
    before = [NOW - 90 * DAY_S, NOW - 80 * DAY_S]
    ahead = [NOW + DAY_S, NOW + 2 * DAY_S]
    assert on_pages((1, before), (3, [NOW - DAY_S, NOW - 60.0]), (4, ahead)) == ()
    assert on_pages((1, before), (4, ahead)) == ()
    # The newest first: what follows on them was left out.
    assert on_pages((1, [NOW - 60.0, NOW - DAY_S]), (4, before[::-1])) == ()


def test_a_visit_that_did_not_come_to_the_end_tells_of_no_moments() -> None:
    stopped = Failure(reason="paging", detail="20 pages were read")
    times = [SINCE - DAY_S, NOW - 600.0]
    assert looked(page(times), failure=stopped).visit.moments == ()
    later = looked(page(times), page(times[:1]), failure=stopped).visit
    assert (later.changed, later.moments) == (Changed.YES, ())


def test_where_the_next_page_could_not_be_read_nobody_knows_whether_anything_is_new() -> None:
    stopped = Failure(reason="paging", detail="the next page could not be read, 503")
    times = [SINCE - DAY_S, SINCE - 600.0]
    for body in (page(times), page(times).replace(b'"T"', b'"Another title"')):
        visit = looked(body, page(times), failure=stopped).visit
        assert (visit.outcome, visit.changed, visit.teaches) == (Outcome.OK, Changed.UNKNOWN, False)
        assert visit.evidence.endswith("(the next page could not be read, 503)")


def walked(pages: range, n_pages: int, per_page: int = 5) -> bytes:
    """So many pages of a long thread, each leading on to the next."""
    parts = [page_of(range(per_page * (n - 1), per_page * n), page=n, n_pages=n_pages) for n in pages]
    urls = [paged_url(n) for n in pages]
    bundle = [
        threads.Page(url=one, body=part, media_type="text/html", charset="utf-8")
        for one, part in zip(urls, parts, strict=True)
    ]
    return threads.bundled(bundle)[1]


def gone_on(
    before: bytes,
    after: bytes,
    *,
    failure: Failure | None = None,
    n_changes: int = 0,
    since_at: float = SINCE,
) -> Judgement:
    """The visit after one that had brought `before`, which may not have come to the end."""
    detector = Thread()
    kept = {"media_type": "multipart/mixed", "url": URL, "at": since_at}
    print_ = detector.fingerprint(Snapshot(body=before, **kept))  # type: ignore[arg-type]
    held = Version(resource_id=7, seq=1, at=since_at, digest="d", fingerprint=print_, detector="thread")
    stands = replace(
        lease(held), standing=replace(lease(held).standing, n_changes=n_changes, since_at=since_at)
    )
    return judged(
        stands,
        fetched(after, "multipart/mixed", failure),
        fetch_id="f",
        detectors={"thread": detector},
        choose=detector_name,
        load=lambda _: Snapshot(body=before, **kept),  # type: ignore[arg-type]
    )


def test_what_was_there_before_on_pages_that_nobody_had_come_to_is_no_change() -> None:
    stopped = Failure(reason="paging", detail="20 pages were read; the next visit goes on there")
    found = gone_on(walked(range(1, 4), 9), walked(range(3, 7), 9), failure=stopped)
    assert (found.visit.changed, found.visit.moments, found.visit.teaches) == (Changed.UNKNOWN, (), False)
    assert found.visit.evidence.startswith("15 older posts: +Ada: Words of post 15.")
    assert found.visit.outcome is Outcome.OK
    assert found.version is not None  # the next visit goes on from there
    assert found.version.flag == ""


def test_the_visit_that_comes_to_the_end_of_a_long_thread_brings_its_past() -> None:
    found = gone_on(walked(range(3, 7), 9), walked(range(6, 10), 9)).visit
    times = [datetime(2026, 1, 1, n // 60, n % 60, tzinfo=UTC).timestamp() for n in range(10, 45)]
    assert found.moments == tuple(times)
    assert (isnan(found.since_at), found.teaches, found.changed) == (True, True, Changed.UNKNOWN)
    assert found.evidence.endswith("; 35 posts since 2026-01-01")


def test_the_past_of_a_thread_that_was_learned_from_is_not_told_again() -> None:
    """More was said since the last visit than one visit reads; that there was a change is known by now."""
    found = gone_on(walked(range(3, 7), 9), walked(range(6, 10), 9), n_changes=1).visit
    assert (found.changed, found.moments, found.since_at, found.teaches) == (
        Changed.UNKNOWN,
        (),
        SINCE,
        False,
    )


def test_what_was_said_since_is_new_on_whichever_page_it_is() -> None:
    said_at = datetime(2026, 1, 1, 0, 36, tzinfo=UTC).timestamp()  # before it, there are 37 posts
    found = gone_on(walked(range(3, 7), 9), walked(range(6, 10), 9), since_at=said_at, n_changes=1).visit
    assert found.changed is Changed.YES
    assert found.evidence.startswith("11 new posts, 4 older posts: +")
    assert found.moments[0] > said_at - 120.0
    assert found.moments[-1] == said_at + 8 * 60.0


def test_of_a_thread_that_was_not_read_in_full_the_first_visit_says_so() -> None:
    times = {n: [NOW - (50 - 10 * n - i) * DAY_S for i in range(3)] for n in (1, 4)}
    media_type, body = threads.bundled([leaf(number, some) for number, some in times.items()])
    found = looked(body, media_type=media_type).visit
    assert found.evidence == "the first copy; 4 pages, of which the last have 3 posts since 2027-01-05"


def test_of_very_many_posts_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "MOST_MOMENTS", 30)
    times = [NOW - 60.0 * n for n in range(50, 0, -1)]
    assert looked(page(times)).visit.moments == tuple(times[20:])


def test_a_thread_is_asked_for_where_it_was_read_up_to() -> None:
    held = Version(resource_id=7, seq=1, at=SINCE, digest="d", url="http://forum.example/t/7?page=3")

    def asked(one: Lease) -> str:
        return request_for(one, allow_private=False, access=None, tail_s=1.0).resume_url

    assert asked(lease(held)) == held.url
    assert asked(lease()) == ""
    assert asked(lease(replace(held, gone=True))) == ""
    page_like = replace(lease(held).resource, effective=Effective(kind=Kind.PAGE))
    assert asked(replace(lease(held), resource=page_like)) == ""
