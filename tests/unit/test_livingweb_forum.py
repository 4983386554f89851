"""A forum on the living web: three markups, pages, edits, removals, boards; all at the true times."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta, timezone
from http.client import HTTPConnection
from itertools import pairwise

import numpy as np
import pytest
from defusedxml.ElementTree import fromstring
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

from recrawl.errors import BadSettingError
from recrawl.live.clock import FastClock, stopwatch
from recrawl.livingweb import Document, Form, LivingWeb, Markup, Noise, Script, forum, serving
from recrawl.model import DAY_S
from recrawl.parse import threads
from recrawl.simulate.processes import Given, Poisson
from recrawl.urls import canonical

BORN_AT = 1_750_000_020.0
END_AT = BORN_AT + DAY_S
POSTS_AT = tuple(BORN_AT + 1_000.5 + 3_000.0 * i for i in range(14))
EDITS_AT = tuple(BORN_AT + 10_000.0 * i for i in (1, 2, 3, 5))
REMOVALS_AT = tuple(BORN_AT + 10_000.0 * i + 500.0 for i in (0, 2, 4, 6, 7))  # nothing is there at the first
PATHS = {
    Markup.PHPBB: "/phpbb/topic12.html",
    Markup.XENFORO: "/xenforo/threads/12/",
    Markup.DISCOURSE: "/discourse/t/mill/12.json",
}
BOARDS = {
    Markup.PHPBB: "/phpbb/",
    Markup.XENFORO: "/xenforo/",
    Markup.DISCOURSE: "/discourse/latest.json",
}


class HandClock:
    """Stands still until it is set."""

    speed = 1.0

    def __init__(self) -> None:
        self.at = BORN_AT

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def thread(markup: Markup, noise: Noise = Noise.VISIBLE) -> Document:
    return Document(
        host="forum.localhost",
        path=PATHS[markup],
        form=Form.THREAD,
        markup=markup,
        noise=noise,
        posts_per_page=5,
        process=Given(POSTS_AT),
        edits=Given(EDITS_AT),
        removals=Given(REMOVALS_AT),
    )


def script(noise: Noise = Noise.VISIBLE) -> Script:
    boards = [
        Document(host="forum.localhost", path=BOARDS[m], form=Form.BOARD, markup=m, noise=noise)
        for m in PATHS
    ]
    feeds = [
        Document(host="forum.localhost", path=f"/{m}/atom.xml", form=Form.BOARD_FEED, markup=m) for m in PATHS
    ]
    return Script((*(thread(m, noise) for m in PATHS), *boards, *feeds))


def fetched(web: LivingWeb, target: str) -> tuple[int, str, bytes]:
    connection = HTTPConnection("127.0.0.1", web.port, timeout=10)
    connection.request("GET", target, headers={"Host": f"forum.localhost:{web.port}"})
    response = connection.getresponse()
    try:
        return response.status, response.headers.get("Location", ""), response.read()
    finally:
        connection.close()


Shown = tuple[str, float, str]  # number, time and text of a post


def at_of(phpbb: str) -> float:
    there = datetime.strptime(phpbb, "%a %b %d, %Y %I:%M %p").replace(tzinfo=timezone(timedelta(hours=2)))
    return there.timestamp()


def posts(markup: Markup, body: bytes) -> list[Shown]:
    """As somebody reads them who knows this markup and nothing else."""
    if markup is Markup.DISCOURSE:
        rows = json.loads(body)["post_stream"]["posts"]
        return [
            (str(p["id"]), datetime.fromisoformat(p["created_at"]).timestamp(), p["cooked"]) for p in rows
        ]
    tree = LexborHTMLParser(body.decode())
    if markup is Markup.PHPBB:
        assert "UTC+02:00" in body.decode()
        return [
            (
                str(post.id),
                at_of(post.css("p.author")[0].text().rpartition("»")[2].strip()),
                post.css(".content")[0].text(),
            )
            for post in tree.css(".post")
        ]
    return [
        (
            str(post.id),
            datetime.fromisoformat(str(post.css("time")[0].attributes["datetime"])).timestamp(),
            post.css(".message-body .bbWrapper")[0].text(),
        )
        for post in tree.css("article.message")
    ]


def next_target(markup: Markup, target: str, body: bytes) -> str:
    if markup is Markup.DISCOURSE:
        told = json.loads(body)
        page = int(URL(target).query.get("page", "1"))
        more = page * told["chunk_size"] < len(told["post_stream"]["stream"])
        return f"{PATHS[markup]}?page={page + 1}" if more else ""
    links = LexborHTMLParser(body.decode()).css("a[rel=next], a.pageNav-jump--next")
    return str(links[0].attributes["href"]) if links else ""


def whole(web: LivingWeb, markup: Markup) -> list[list[Shown]]:
    """All posts, page by page."""
    pages, target = [], PATHS[markup]
    while target:
        status, _, body = fetched(web, target)
        assert status == 200
        pages.append(posts(markup, body))
        target = next_target(markup, target, body)
    return pages


@pytest.mark.parametrize("markup", list(PATHS))
def test_a_thread_grows_is_edited_and_cut_at_the_true_times(markup: Markup) -> None:
    clock = HandClock()
    with serving(script(), clock=clock, seed=2, born_at=BORN_AT) as web:
        url = web.url(thread(markup))
        changed_at = web.truth(BORN_AT, END_AT).changed_at[url]
        posts_at = web.posts_at(url, END_AT)
        grain_s = 60.0 if markup is Markup.PHPBB else 1.0
        before = whole(web, markup)
        n_edits = n_removals = n_posts = 0
        for at in changed_at:
            clock.at = float(np.nextafter(at, 0.0))
            assert whole(web, markup) == before
            clock.at = float(at)
            after = whole(web, markup)
            old, new = ({p[0]: p for page in pages for p in page} for pages in (before, after))
            n_posts += len(new.keys() - old.keys())
            n_removals += len(old.keys() - new.keys())
            n_edits += sum(old[key] != new[key] for key in old.keys() & new.keys())
            assert [len(page) for page in after[:-1]] == [5] * (len(after) - 1)
            assert 1 <= len(after[-1]) <= 5
            said_at = [p[1] for page in after for p in page]
            assert said_at == sorted(said_at)
            assert any(abs(said_at[-1] - truly_at) <= grain_s for truly_at in [BORN_AT, *posts_at])
            before = after
        assert tuple(posts_at) == POSTS_AT
        assert (n_posts, n_edits, n_removals) == (14, 4, 4)
        assert len(changed_at) == 22


@pytest.mark.parametrize("markup", list(PATHS))
def test_counters_move_with_every_request_and_say_nothing(markup: Markup) -> None:
    with serving(script(), clock=HandClock(), born_at=BORN_AT) as web:
        bodies = [fetched(web, PATHS[markup])[2] for _ in range(4)]
        assert len(set(bodies)) == 4
        assert len({tuple(posts(markup, body)) for body in bodies}) == 1
        boards = [fetched(web, BOARDS[markup])[2] for _ in range(4)]
        assert len(set(boards)) == 4
    with serving(script(Noise.NONE), clock=HandClock(), born_at=BORN_AT) as web:
        assert len({fetched(web, PATHS[markup])[2] for _ in range(4)}) == 1


def test_a_page_that_is_not_there_is_not_found_or_leads_to_the_last() -> None:
    clock = HandClock()
    clock.at = END_AT
    with serving(script(), clock=clock, seed=2, born_at=BORN_AT) as web:
        assert fetched(web, f"{PATHS[Markup.PHPBB]}?start=500")[0] == 404
        assert fetched(web, f"{PATHS[Markup.PHPBB]}?start=3")[0] == 404
        assert fetched(web, f"{PATHS[Markup.DISCOURSE]}?page=100")[0] == 404
        status, location, _ = fetched(web, f"{PATHS[Markup.XENFORO]}page-100")
        last = len(whole(web, Markup.XENFORO))
        assert (status, URL(location).path) == (303, f"{PATHS[Markup.XENFORO]}page-{last}")
        assert fetched(web, f"{PATHS[Markup.PHPBB]}page-2")[0] == 404


@pytest.mark.parametrize("markup", list(PATHS))
def test_a_board_and_its_feed_tell_of_new_posts_and_of_removed_ones_but_not_of_edits(markup: Markup) -> None:
    clock = HandClock()
    with serving(script(Noise.NONE), clock=clock, seed=2, born_at=BORN_AT) as web:
        board = f"http://forum.localhost:{web.port}{BOARDS[markup]}"
        truth = web.truth(BORN_AT, END_AT).changed_at
        thread_at, board_at = truth[web.url(thread(markup))], truth[board]
        assert set(board_at) < set(thread_at)
        for at in thread_at:
            clock.at = float(np.nextafter(at, 0.0))
            before = [fetched(web, target)[2] for target in (BOARDS[markup], f"/{markup}/atom.xml")]
            clock.at = float(at)
            after = [fetched(web, target)[2] for target in (BOARDS[markup], f"/{markup}/atom.xml")]
            assert [a != b for a, b in pairwise((before[0], after[0]))] == [at in board_at]
            assert (before[1] != after[1]) == (at in board_at)
        n_replies = sum(len(page) for page in whole(web, markup)) - 1
        assert re.search(rf"\b{n_replies}\b", after[0].decode())
        entry = fromstring(after[1]).find("{*}entry")
        assert entry is not None
        assert entry.findtext("{*}id") == web.url(thread(markup))


@pytest.mark.parametrize("markup", list(PATHS))
def test_posts_tell_the_time_of_those_who_read_them(markup: Markup) -> None:
    """Where a day of the forum's is a minute of theirs, nothing was said in their future."""
    clock = FastClock(start_at=END_AT, speed=1_440.0)
    with serving(script(), clock=clock, seed=2, born_at=BORN_AT, told_at=clock.wall_at) as web:
        began = stopwatch()
        posts = [post for page in whole(web, markup) for post in page]
        read_at = END_AT + stopwatch() - began  # on the clock of whoever asked
        truth = web.posts(web.url(thread(markup)), END_AT)
        assert len(posts) == len(truth) > 5
        grain_s = 60.0 if markup is Markup.PHPBB else 1.0
        for (_, said_at, _), said in zip(posts, truth, strict=True):
            assert said_at <= read_at
            assert 0.0 <= END_AT - (END_AT - said.at) / 1_440.0 - said_at < grain_s
        board = fetched(web, BOARDS[markup])[2]
        topics = threads.topics(board, "", "utf-8", web.url(thread(markup)), read_at)
        last_at = {topic.url: topic.last_at for topic in topics}.popitem()[1]
        assert 0.0 <= clock.wall_at(truth[-1].at) - last_at < grain_s


def test_a_touch_is_one_more_post() -> None:
    calm = Script(
        tuple(Document(host="forum.localhost", path=PATHS[m], form=Form.THREAD, markup=m) for m in PATHS)
    )
    clock = HandClock()
    with serving(calm, clock=clock, born_at=BORN_AT) as web:
        for markup in PATHS:
            clock.at += 100.0
            web.touch(web.urls()[list(PATHS).index(markup)])
            assert len(whole(web, markup)[0]) == 2


def test_a_forum_that_could_not_be_kept_is_refused() -> None:
    with pytest.raises(BadSettingError, match="no part of a forum"):
        Document(host="f.localhost", path="/", markup=Markup.PHPBB)
    with pytest.raises(BadSettingError, match="markup of forum software"):
        Document(host="f.localhost", path="/", form=Form.THREAD, edits=Poisson(1.0))
    with pytest.raises(BadSettingError, match="slash"):
        Document(host="f.localhost", path="/t", form=Form.THREAD, markup=Markup.XENFORO, process=Given(()))


def test_the_forums_to_try_things_on_are_in_three_markups_and_live() -> None:
    web = LivingWeb(forum(), clock=HandClock(), seed=1, born_at=BORN_AT)
    documents = list(web.script.documents())
    assert {(one.markup, one.form) for one in documents} == {
        (markup, form) for markup in PATHS for form in (Form.THREAD, Form.BOARD, Form.BOARD_FEED)
    }
    assert all(canonical(url) == url for url in web.urls())
    changed_at = web.truth(BORN_AT, BORN_AT + 30 * DAY_S).changed_at
    assert all(len(changed_at[web.url(one)]) > 3 for one in documents)
