"""Pages that are not what they seem: nothing is taken for a new post that is none, and none is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from math import nan

import pytest
from tests.unit.discussions import POSTS, Said, messy, phpbb, xenforo

from recrawl.detect.choose import detector_name
from recrawl.detect.thread import Thread
from recrawl.live.judgement import Judgement, judged
from recrawl.model import (
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
)
from recrawl.parse import threads

URL = "https://forum.example/t/5"
NOW = datetime(2026, 2, 10, 12, 0, tzinfo=UTC).timestamp()
SINCE = datetime(2026, 2, 8, 12, 0, tzinfo=UTC).timestamp()  # the last post is of the day after
HTML = "text/html"
DOWN = b"<html><body><h1>Down for maintenance</h1><p>We are back soon.</p></body></html>"


Write = Callable[..., bytes]


def looked(body: bytes, before: bytes | None) -> Judgement:
    def judge(held: Version | None, body: bytes) -> Judgement:
        resource = Resource(
            id=7,
            url=URL,
            host_id=1,
            host="forum.example",
            added_at=0.0,
            effective=Effective(kind=Kind.THREAD),
        )
        standing = Standing(since_at=nan if held is None else SINCE, version=held, sight_at=1.0)
        fetch = Fetch(
            request=Request(url=URL),
            outcome=Outcome.OK,
            url=URL,
            started_at=NOW - 0.5,
            ended_at=NOW,
            status=200,
            headers=(("Content-Type", "text/html; charset=utf-8"),),
            body=body,
        )
        return judged(
            Lease(resource=resource, standing=standing, token=1, claimed_at=NOW, until_at=NOW + 9.0),
            fetch,
            fetch_id="f",
            detectors={"thread": Thread()},
            choose=detector_name,
            load=lambda _: Snapshot(body=before or b"", media_type=HTML, charset="utf-8", url=URL, at=SINCE),
        )

    held = None if before is None else judge(None, before).version
    return judge(held, body)


@pytest.mark.parametrize("write", [xenforo, phpbb, messy])
def test_what_stands_in_place_of_a_thread_is_no_change_of_it(write: Write) -> None:
    found = looked(DOWN, write(POSTS[:3]))
    assert (found.visit.outcome, found.visit.changed) == (Outcome.UNREADABLE, Changed.UNKNOWN)
    assert found.version is not None
    assert found.version.flag == "unreadable"


@pytest.mark.parametrize("write", [xenforo, phpbb, messy])
def test_posts_that_come_back_after_it_are_not_new(write: Write) -> None:
    """It has stood for so long that it took the thread's place."""
    visit = looked(write(POSTS), DOWN).visit
    assert visit.evidence.startswith("1 new post, 3 older posts: +Ada: Thank you both.")
    same = looked(write(POSTS[:3]), DOWN).visit
    assert (same.changed, same.evidence[:13]) == (Changed.UNKNOWN, "3 older posts")
    assert len(same.moments) == 3  # the past, as nobody has told of it yet


@pytest.mark.parametrize("write", [xenforo, phpbb, messy])
@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def test_a_page_that_breaks_off_tells_nothing_of_what_is_gone_or_new(write: Write, share: float) -> None:
    whole = write(POSTS)
    found = looked(whole[: int(share * len(whole))], whole)
    later = looked(whole[: int(share * len(whole))], write(POSTS[:3]))
    # What there is of it may say the same.
    assert {found.visit.changed, later.visit.changed} <= {Changed.UNKNOWN, Changed.NO}


@pytest.mark.parametrize("write", [xenforo, phpbb, messy])
def test_the_newest_may_come_first(write: Write) -> None:
    visit = looked(write(POSTS[::-1]), write(POSTS[2::-1])).visit
    assert visit.evidence == "1 new post: +Ada: Thank you both."
    assert visit.moments == (POSTS[3].at_s,)
    gone = looked(write((POSTS[2], POSTS[0])), write(POSTS[2::-1])).visit
    assert gone.evidence.startswith("1 gone: −Bob: ")
    assert gone.moments == ()


def pages(*bodies: bytes) -> tuple[str, bytes]:
    return threads.bundled(
        [
            threads.Page(url=f"{URL}?page={n}", body=body, media_type=HTML, charset="utf-8")
            for n, body in enumerate(bodies, 1)
        ]
    )


@pytest.mark.parametrize("write", [xenforo, phpbb])
def test_a_first_post_that_stands_on_every_page_is_said_once(write: Write) -> None:
    def thread(n_posts: int, at: float) -> Snapshot:
        first, *others = POSTS[:n_posts]
        n_pages = (len(others) + 1) // 2
        bodies = [write((first, *others[2 * i : 2 * i + 2]), i + 1, n_pages) for i in range(n_pages)]
        media_type, body = pages(*bodies)
        return Snapshot(body=body, media_type=media_type.partition(";")[0], url=URL, at=at)

    verdict = Thread().compare(thread(3, SINCE), thread(4, NOW))
    assert [post.text for post in verdict.posts] == ["Thank you both."]
    assert verdict.evidence.startswith("1 new post: ")


QUOTE = (
    '<blockquote class="quote"><div>Ada wrote on <time datetime="2026-02-01T13:00:00Z">1 Feb 2026</time>: '
    "Has anybody seen the heron at the mill?</div></blockquote>"
)


def quoting(posts: tuple[Said, ...]) -> bytes:
    """Comments in a markup of somebody's own, the last of which quotes the first with its time."""
    rows = "".join(
        f'<div class="remark" id="r{post.n}"><b class="author">{post.who}</b> '
        f'<time datetime="{post.at:%Y-%m-%dT%H:%M:%SZ}">then</time>'
        f'<div class="words">{QUOTE if post.n == 107 else ""}<p>{post.words.replace("&", "&amp;")} '
        f"And so on, for some more words.</p></div></div>"
        for post in posts
    )
    return f"<html><body><h1>Heron</h1>{rows}</body></html>".encode()


def test_the_time_of_a_quote_is_not_that_of_the_post_that_quotes() -> None:
    leaf = threads.leaf(quoting(POSTS), HTML, "utf-8", URL, NOW)
    assert [(post.key, post.author, post.at) for post in leaf.posts] == [
        (f"r{post.n}", post.who, post.at_s) for post in POSTS
    ]
    visit = looked(quoting(POSTS), quoting(POSTS[:3])).visit
    assert visit.moments == (POSTS[3].at_s,)
    told = xenforo(POSTS).replace(b"Thank you both.", f"{QUOTE}Thank you both.".encode())
    assert [post.at for post in threads.leaf(told, HTML, "utf-8", URL, NOW).posts] == [
        post.at_s for post in POSTS
    ]


@pytest.mark.parametrize("write", [xenforo, phpbb, messy])
def test_a_post_from_the_future_is_new_and_nobody_knows_when_it_was_said(write: Write) -> None:
    ahead = replace(POSTS[3], at=datetime(2026, 2, 12, tzinfo=UTC))
    visit = looked(write((*POSTS[:3], ahead)), write(POSTS[:3])).visit
    assert (visit.changed, visit.evidence, visit.moments) == (
        Changed.YES,
        "1 new post: +Ada: Thank you both.",
        (),
    )
    assert looked(write((*POSTS[:3], ahead)), write((*POSTS[:3], ahead))).visit.changed is Changed.NO


@pytest.mark.parametrize(
    "none", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "1970-01-01T00:00:00Z"]
)
def test_what_programs_write_for_no_time_is_not_when_a_thread_began(none: str) -> None:
    """Else it would have been silent for two thousand years before anybody answered."""
    first = f"{POSTS[0].at:%Y-%m-%dT%H:%M:%SZ}"
    body = quoting(POSTS[:3]).replace(first.encode(), none.encode())
    visit = looked(body, None).visit
    assert visit.moments == tuple(post.at_s for post in POSTS[1:3])
    assert visit.evidence == "the first copy; 2 posts since 2026-02-01"


def ago(*said: str) -> bytes:
    """Remarks that tell how long ago they were made."""
    rows = "".join(
        f'<div class="remark" id="r{n}"><b class="author">Ada{n}</b> <span class="when">{one}</span>'
        f'<div class="words"><p>The heron was seen at the mill, remark {n}.</p></div></div>'
        for n, one in enumerate(said)
    )
    return f"<html><body><h1>Heron</h1>{rows}</body></html>".encode()


def test_what_was_said_in_one_month_was_not_said_at_once() -> None:
    recent = ("3 hours ago", "20 minutes ago")
    at = (NOW - 3 * 3_600.0, NOW - 1_200.0)
    months = ("2 years ago", "2 years ago", "3 months ago", "3 months ago", "3 weeks ago")
    first = looked(ago(*months, *recent), None).visit
    assert (first.moments, first.evidence) == (at, "the first copy; 2 posts since 2026-02-10")
    assert looked(ago(*reversed(recent), *reversed(months)), None).visit.moments == at
    assert looked(ago(*months), None).visit.moments == ()
    # Let through late: it tells that something is new, and not when.
    later = looked(ago(*months, *recent), ago(*months[:4])).visit
    assert (later.changed, later.moments) == (Changed.YES, ())
    assert looked(ago(*months, *recent), ago(*months)).visit.moments == at
