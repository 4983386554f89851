"""Boards: which threads they list, and which of them moved."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from math import isnan

import pytest
from tests.unit.discussions import AT, ROOT, day

from recrawl.detect.board import Board
from recrawl.model import Changed, Lens, Snapshot, Telling, Topic
from recrawl.parse.threads import topics

BOARD = Board()


@dataclass(frozen=True)
class Thread:
    n: int
    title: str
    last_at: datetime
    n_replies: int


HERON = Thread(5, "The heron at the mill", day(9, 23, 59), 3)
OWL = Thread(6, "An owl in the tower", day(8, 10), 0)
SWAN = Thread(7, "Swans on the canal", day(3, 9, 30), 1_234)
THREADS = (HERON, OWL, SWAN)


def phpbb(threads: tuple[Thread, ...]) -> bytes:
    rows = "".join(
        f'<li class="row bg1"><dl><dt><a href="./viewtopic.php?f=2&amp;t={one.n}&amp;sid={"0f" * 16}" '
        f'class="topictitle">'
        f'{one.title}</a> by <a class="username">Ada</a> &raquo; Mon Feb 01, 2026 1:00 pm</dt>'
        f'<dd class="posts">{one.n_replies} <dfn>Replies</dfn></dd><dd class="views">345 Views</dd><dd '
        f'class="lastpost">'
        f'<span>Last post by <a class="username">Bob</a> <br>{one.last_at:%a %b %d, %Y %I:%M %p}</span>'
        f"</dd></dl></li>"
        for one in threads
    )
    return (
        f'<html><body><ul class="topiclist topics">{rows}</ul><p>All times are UTC</p></body></html>'.encode()
    )


def xenforo(threads: tuple[Thread, ...]) -> bytes:
    rows = "".join(
        f'<div class="structItem structItem--thread"><div class="structItem-title"><a class="labelLink" '
        f'href="?prefix_id=1">News</a>'
        f'<a href="/threads/a-{one.n}.{one.n}/" data-tp-primary="on">{one.title}</a></div><ul '
        f'class="structItem-parts"><li><time '
        f'datetime="2026-01-01T00:00:00Z">x</time></li></ul><div class="structItem-cell '
        f'structItem-cell--meta">'
        f"<dl><dt>Replies</dt><dd>{one.n_replies}</dd></dl><dl><dt>Views</dt><dd>99K</dd></dl></div>"
        f'<div class="structItem-cell structItem-cell--latest"><a '
        f'href="/threads/a-{one.n}.{one.n}/latest"><time '
        f'datetime="{one.last_at:%Y-%m-%dT%H:%M:%SZ}">x</time></a></div></div>'
        for one in threads
    )
    return f"<html><body>{rows}</body></html>".encode()


def vbulletin(threads: tuple[Thread, ...]) -> bytes:
    rows = "".join(
        f'<li class="threadbit" id="thread_{one.n}"><a class="title" href="showthread.php?t={one.n}" '
        f'id="thread_title_{one.n}">'
        f'{one.title}</a><ul class="threadstats"><li>Replies: {one.n_replies:,}</li><li>Views: 99</li></ul>'
        f'<dl class="threadlastpost"><dd>by Bob</dd><dd>{one.last_at:%m-%d-%Y}, <em class="time">'
        f"{one.last_at:%I:%M %p}</em></dd></dl></li>"
        for one in threads
    )
    return (
        f"<html><body><ol>{rows}</ol><p>All times are GMT. The time now is 12:00 PM.</p></body></html>"
    ).encode()


def discourse(threads: tuple[Thread, ...]) -> bytes:
    rows = [
        {
            "id": one.n,
            "slug": f"a-{one.n}",
            "title": one.title,
            "posts_count": one.n_replies + 1,
            "last_posted_at": f"{one.last_at:%Y-%m-%dT%H:%M:%S.000Z}",
            "views": 99,
        }
        for one in threads
    ]
    return json.dumps({"users": [{"id": 1, "username": "ada"}], "topic_list": {"topics": rows}}).encode()


def issues(threads: tuple[Thread, ...]) -> bytes:
    rows = [
        {
            "url": f"{ROOT}/api/{one.n}",
            "html_url": f"{ROOT}/issues/{one.n}",
            "title": one.title,
            "milestone": {"html_url": f"{ROOT}/m/1", "title": "Spring", "updated_at": "2026-01-01T00:00:00Z"},
            "user": {"login": "ada"},
            "comments": one.n_replies,
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": f"{one.last_at:%Y-%m-%dT%H:%M:%SZ}",
        }
        for one in threads
    ]
    return json.dumps(rows).encode()


def atom(threads: tuple[Thread, ...]) -> bytes:
    rows = "".join(
        f'<entry><id>{one.n}</id><title>{one.title}</title><link href="/t/{one.n}"/><updated>'
        f"{one.last_at:%Y-%m-%dT%H:%M:%SZ}</updated></entry>"
        for one in threads
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{rows}</feed>'.encode()


def unknown(threads: tuple[Thread, ...]) -> bytes:
    """A list that nobody has described: the title in one row, all else in the next."""
    rows = "".join(
        f'<tr class="top"><td>{i}.</td><td><a href="item?id={one.n}">{one.title}</a></td></tr><tr><td>'
        f'</td><td class="sub">'
        f'7 points by <a href="user?id=u{one.n}">u{one.n}</a> <span class="age">'
        f"{one.last_at:%b %d, %Y %H:%M}</span> | "
        f'<a href="item?id={one.n}">{one.n_replies}&nbsp;comments</a></td></tr><tr class="spacer"></tr>'
        for i, one in enumerate(threads, 1)
    )
    return f'<html><body><nav><a href="/">Home</a></nav><table>{rows}</table></body></html>'.encode()


HTML, JSON = "text/html", "application/json"
URLS: dict[str, tuple[Callable[[tuple[Thread, ...]], bytes], str, str, str]] = {
    "phpbb": (phpbb, HTML, "/viewforum.php?f=2", "/viewtopic.php?f=2&t={}"),
    "xenforo": (xenforo, HTML, "/forums/birds.2/", "/threads/a-{0}.{0}/"),
    "vbulletin": (vbulletin, HTML, "/forumdisplay.php?f=2", "/showthread.php?t={}"),
    "discourse": (discourse, JSON, "/latest.json", "/t/a-{0}/{0}"),
    "discourse in a folder": (discourse, JSON, "/talk/c/birds/4.json", "/talk/t/a-{0}/{0}"),
    "issues": (issues, JSON, "/api/issues", "/issues/{}"),
    "atom": (atom, "application/atom+xml", "/feed", "/t/{}"),
    "unknown": (unknown, HTML, "/newest", "/item?id={}"),
}


def told(name: str, threads: tuple[Thread, ...]) -> tuple[Topic, ...]:
    write, media_type, path, _ = URLS[name]
    return topics(write(threads), media_type, "utf-8", ROOT + path, AT)


@pytest.mark.parametrize("name", URLS)
def test_a_board_lists_threads_with_their_last_post(name: str) -> None:
    found = told(name, THREADS)
    assert [topic.url for topic in found] == [ROOT + URLS[name][3].format(one.n) for one in THREADS]
    assert [topic.title for topic in found] == [one.title for one in THREADS]
    assert [topic.last_at for topic in found] == [one.last_at.timestamp() for one in THREADS]
    if name != "atom":
        assert [topic.n_posts for topic in found] == [4, 1, 1_235]


def seen(name: str, threads: tuple[Thread, ...], at: float = AT, lens: Lens = Lens()) -> Snapshot:  # noqa: B008
    write, media_type, path, _ = URLS[name]
    return Snapshot(
        body=write(threads), media_type=media_type, charset="utf-8", url=ROOT + path, at=at, lens=lens
    )


@pytest.mark.parametrize("name", URLS)
def test_a_board_tells_of_the_threads_that_moved(name: str) -> None:
    moved = replace(OWL, last_at=day(10, 11), n_replies=1)
    fresh = Thread(9, "A kite above the hill", day(10, 10), 0)
    before, after = seen(name, THREADS), seen(name, (moved, fresh, HERON))  # the swans fell off
    found = BOARD.told_of(before, after)
    url = ROOT + URLS[name][3]
    assert Telling(url.format(6), day(10, 11).timestamp()) in found
    assert Telling(url.format(9), day(10, 10).timestamp()) in found
    assert not any(one.url == url.format(n) for one in found for n in (5, 7))
    verdict = BOARD.compare(before, after)
    assert verdict.evidence == (
        "1 thread new, 1 thread with new posts: +A kite above the hill; in An owl in the tower"
    )
    assert BOARD.told_of(before, before) == ()
    assert BOARD.compare(before, seen(name, THREADS[::-1])).changed is Changed.NO


def test_threads_are_told_of_under_every_address_that_they_may_be_watched_at() -> None:
    moved = replace(HERON, last_at=day(10, 11), n_replies=4)
    found = BOARD.told_of(seen("discourse", THREADS), seen("discourse", (moved, OWL, SWAN)))
    assert [one.url.removeprefix(ROOT) for one in found] == ["/t/a-5/5", "/t/5", "/t/a-5/5.json", "/t/5.json"]
    found = BOARD.told_of(seen("phpbb", THREADS), seen("phpbb", (moved, OWL, SWAN)))
    assert [one.url.removeprefix(ROOT) for one in found] == ["/viewtopic.php?f=2&t=5", "/viewtopic.php?t=5"]


def test_a_thread_that_comes_up_where_another_was_taken_away_is_not_new() -> None:
    older = Thread(2, "Ducks", day(1, 1), 9)
    assert (
        BOARD.compare(seen("xenforo", THREADS), seen("xenforo", (HERON, SWAN, older))).changed is Changed.NO
    )
    assert BOARD.listed(seen("xenforo", THREADS), seen("xenforo", (HERON, SWAN, older))) == []


def test_times_that_are_counted_back_move_a_thread_only_by_more_than_their_unit() -> None:
    def listed(*ago: str, at: float = AT) -> Snapshot:
        rows = "".join(
            f'<li class="t"><a href="/thread/{i}">Thread number {i}</a> <span>{when}</span></li>'
            for i, when in enumerate(ago)
        )
        body = f"<html><body><ul>{rows}</ul></body></html>".encode()
        return Snapshot(body=body, media_type=HTML, charset="utf-8", url=f"{ROOT}/", at=at)

    before = listed("3 hours ago", "2 hours ago", "1 day ago")
    same = listed("3 hours ago", "3 hours ago", "1 day ago", at=AT + 2_400.0)
    assert BOARD.compare(before, same).changed is Changed.NO
    assert BOARD.told_of(before, same) == ()
    moved = listed("5 minutes ago", "3 hours ago", "1 day ago", at=AT + 2_400.0)
    assert BOARD.told_of(before, moved) == (Telling(f"{ROOT}/thread/0", AT + 2_100.0),)


def test_a_lens_chooses_what_of_threads_counts() -> None:
    moved = seen("xenforo", (replace(HERON, last_at=day(10, 1), n_replies=4), OWL, SWAN))
    for lens, changed in (
        (Lens(include=("field:title",)), Changed.NO),
        (Lens(ignore=("field:replies",)), Changed.YES),
    ):
        before = seen("xenforo", THREADS, lens=lens)
        assert BOARD.compare(before, replace(moved, lens=lens)).changed is changed
    renamed = seen("xenforo", (replace(HERON, title="The heron is back"), OWL, SWAN))
    assert BOARD.compare(seen("xenforo", THREADS), renamed).evidence == (
        "1 thread renamed: title: The heron at the mill → The heron is back"
    )


def test_a_board_without_threads_is_unknown_and_said_so() -> None:
    empty = Snapshot(body=b"<html><body><p>Come in</p></body></html>", media_type=HTML, url=f"{ROOT}/", at=AT)
    assert BOARD.compare(seen("phpbb", THREADS), empty).changed is Changed.UNKNOWN
    assert BOARD.unmatched(empty) == "no threads are found in it; if it has none, say --kind page"
    assert topics(b"[]", JSON, None, ROOT, AT) == ()


def test_a_thread_of_which_nothing_but_the_title_is_known_has_no_time() -> None:
    found = topics(
        b'<ul class="topics"><li class="row"><a class="topictitle" href="/t/1">One</a></li></ul>',
        HTML,
        None,
        ROOT,
        AT,
    )
    assert (found[0].title, found[0].n_posts, isnan(found[0].last_at)) == ("One", -1, True)


def test_times_and_numbers_of_a_busy_board_are_never_taken_for_noise() -> None:
    talked, renamed = replace(HERON, n_replies=4, last_at=day(10, 10)), replace(HERON, title="Gone")
    assert BOARD.differing(seen("phpbb", (HERON,)), seen("phpbb", (talked,))) == ()
    assert len(BOARD.differing(seen("phpbb", (HERON,)), seen("phpbb", (renamed,)))) == 1


def test_the_months_of_a_mailing_list_are_its_threads() -> None:
    def archive(*months: str) -> Snapshot:
        rows = "".join(
            f'<tr><td>{month}:</td><td><A href="{month}/thread.html">[ Thread ]</a>'
            f'<A href="{month}/date.html">[ Date ]</a></td>'
            f'<td><A href="{month}.txt.gz">[ Text 12 KB ]</a></td></tr>'
            for month in months
        )
        page = f"<HTML><BODY><h1>The Birds Archives</h1><table>{rows}</table></BODY></HTML>".encode()
        return Snapshot(body=page, media_type="text/html", url=f"{ROOT}/pipermail/birds/", at=AT)

    before, after = archive("2026-January"), archive("2026-February", "2026-January")
    verdict = BOARD.compare(before, after)
    assert (verdict.changed, verdict.evidence) == (Changed.YES, "1 thread new: +February 2026")
    found = topics(bytes(after.body), "text/html", None, after.url, AT)
    assert [one.url for one in found] == [
        f"{ROOT}/pipermail/birds/2026-{month}/thread.html" for month in ("February", "January")
    ]
    assert BOARD.compare(after, after).changed is Changed.NO


def test_a_link_to_the_last_page_of_a_thread_is_one_to_the_thread() -> None:
    rows = "".join(
        f'<li class="t"><a href="/threads/a.{i}/latest">Thread number {i}</a> <i>Feb {i}, 2026</i></li>'
        for i in (1, 2)
    )
    found = topics(f"<html><body><ul>{rows}</ul></body></html>".encode(), HTML, None, f"{ROOT}/", AT)
    assert [topic.url for topic in found] == [f"{ROOT}/threads/a.1/", f"{ROOT}/threads/a.2/"]
