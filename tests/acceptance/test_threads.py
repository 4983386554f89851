"""A live forum is followed end to end: three markups, pages, edits, removals, counters, boards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from itertools import pairwise
from math import isnan
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from tests.acceptance.conftest import Cli
from warcio.archiveiterator import ArchiveIterator

from recrawl.app.build import House, open_house
from recrawl.app.config import Config, Fetching, Gaps, Schedule
from recrawl.app.health import verify
from recrawl.live.clock import WallClock
from recrawl.livingweb import (
    Document,
    Form,
    Host,
    LivingWeb,
    Markup,
    Noise,
    Redirect,
    Robots,
    Script,
    Trouble,
    Validators,
    serving,
    violations,
)
from recrawl.livingweb.standstill import Standstill
from recrawl.model import DAY_S, HOUR_S, Changed, Kind, NewResource, Settings, Signal, Version, Visit
from recrawl.simulate.processes import Bursty, Never, Poisson, Process
from recrawl.urls import host_key

START_AT = datetime(2026, 1, 5, tzinfo=UTC).timestamp()
DAYS, PER_DAY = 2.5, 80.0
MIN_DELAY_S = 2.0
GRAIN_S = {Markup.PHPBB: 60.0, Markup.XENFORO: 1.0, Markup.DISCOURSE: 0.001}  # to which times are told


def thread(markup: Markup, path: str, process: Process, validators: Validators) -> Document:
    return Document(
        host=f"{markup}.localhost",
        path=path,
        form=Form.THREAD,
        markup=markup,
        process=process,
        edits=Poisson(2.0),
        removals=Poisson(0.5),
        posts_per_page=5,
        noise=Noise.VISIBLE,
        validators=validators,
    )


def board(markup: Markup) -> Document:
    path = "/latest.json" if markup is Markup.DISCOURSE else "/"
    return Document(
        host=f"{markup}.localhost", path=path, form=Form.BOARD, markup=markup, noise=Noise.VISIBLE
    )


THREADS = [
    thread(Markup.PHPBB, "/topic1.html", Bursty(6.0, 0.7, 2 * HOUR_S), Validators.NONE),
    thread(Markup.XENFORO, "/threads/1/", Poisson(6.0), Validators.ETAG),
    thread(Markup.DISCOURSE, "/t/topic/1.json", Bursty(6.0, 0.7, 2 * HOUR_S), Validators.NONE),
]
BOARDS = [board(markup) for markup in GRAIN_S]
HOSTS = (
    Host(name="phpbb.localhost", robots=Robots(crawl_delay_s=7.0)),
    Host(
        name="discourse.localhost",
        troubles=(Trouble(status=503, starts=Poisson(0.7), lasts_s=2 * HOUR_S, retry_after_s=600.0),),
    ),
)


@dataclass(frozen=True)
class Followed:
    """What was seen of a thread, or of a board, oldest first."""

    visits: Sequence[Visit]  # that told something
    versions: Sequence[Version]
    signals: Sequence[Signal]


@dataclass(frozen=True)
class Life:
    home: Path
    web: LivingWeb
    of: dict[str, Followed]

    def thread(self, document: Document) -> Followed:
        return self.of[self.web.url(document)]


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    clock = Standstill(START_AT)
    return clock.run(_lived(tmp_path_factory.mktemp("forum") / "home", clock))


async def _lived(home: Path, clock: Standstill) -> Life:
    config = Config.model_construct(
        schedule=Schedule(budget=f"{PER_DAY:g}/day", goal="prompt", reprice_every=DAY_S / 4),  # type: ignore[call-arg]
        gaps=Gaps(min_gap=600.0, max_gap=DAY_S, weight=1.0),
        fetching=Fetching(contact="test@recrawl.invalid", min_delay=MIN_DELAY_S),  # type: ignore[call-arg]
    )
    house = House(home, config, clock)
    script = Script((*THREADS, *BOARDS), described=HOSTS)
    try:
        async with LivingWeb(script, clock=clock, seed=3, born_at=START_AT - 2 * DAY_S) as web:
            watched = {
                **{web.url(one): Settings(kind=Kind.THREAD, allow_private=True) for one in THREADS},
                **{
                    web.url(one): Settings(kind=Kind.BOARD, allow_private=True, max_gap_s=2 * HOUR_S)
                    for one in BOARDS
                },
            }
            new = [NewResource(url=url, host=host_key(url), settings=said) for url, said in watched.items()]
            house.store.add(new, START_AT)
            async with house.fetcher() as fetcher:
                runner = house.runner(house.loop(), fetcher)
                await runner.run(until_at=START_AT + DAYS * DAY_S)
                await runner.aclose()
        of = {}
        for url in watched:
            resource = house.store.find(url)
            assert resource is not None
            of[url] = Followed(
                [visit for visit in reversed(list(house.store.visits(resource.id))) if visit.informative],
                list(reversed(list(house.store.versions(resource.id)))),
                list(reversed(list(house.store.signals(resource.id)))),
            )
    finally:
        house.close()
    return Life(home, web, of)


@pytest.mark.parametrize("document", THREADS, ids=lambda one: f"{one.markup}{one.path}")
def test_every_post_is_known_by_its_time_and_none_twice(life: Life, document: Document) -> None:
    url, followed = life.web.url(document), life.thread(document)
    visits = followed.visits
    assert len(visits) > 15
    assert visits[0].changed is Changed.UNKNOWN
    n_found = 0
    for before, visit in pairwise(visits):
        there = {post.i for post in life.web.posts(url, before.at)}
        new = [post.at for post in life.web.posts(url, visit.at) if post.i not in there]
        assert len(visit.moments) == len(new), (visit, new)
        grain_s = GRAIN_S[document.markup]
        assert all(
            abs(told_at - truly_at) <= grain_s for told_at, truly_at in zip(visit.moments, new, strict=True)
        )
        assert all(before.at < at <= visit.at for at in visit.moments)
        n_found += len(new)
    removed_early = (
        len(life.web.posts_at(url, visits[-1].at)) - len(life.web.posts_at(url, visits[0].at)) - n_found
    )
    assert 0 <= removed_early <= 2
    assert n_found > 8


@pytest.mark.parametrize("document", THREADS, ids=lambda one: f"{one.markup}{one.path}")
def test_pages_are_crossed_and_each_visit_begins_where_the_last_one_stopped(
    life: Life, document: Document
) -> None:
    followed = life.thread(document)
    stops = list(dict.fromkeys(version.url for version in followed.versions))
    assert len(stops) >= 3
    asked = [served for served in life.web.log if served.host == document.host]
    n_first = sum(served.target == document.path for served in asked)
    assert n_first < len(followed.visits) / 4  # not from the beginning each time


def test_counters_make_no_change_and_edits_make_one_without_a_new_post(life: Life) -> None:
    n_calm = n_edits = 0
    for document in THREADS:
        url, followed = life.web.url(document), life.thread(document)
        for before, visit in pairwise(followed.visits):
            was, now = life.web.posts(url, before.at), life.web.posts(url, visit.at)
            if was == now:
                n_calm += 1
                assert visit.changed is Changed.NO, (url, visit)
                continue
            if {post.i for post in now} - {post.i for post in was}:
                assert visit.changed is Changed.YES, (url, visit)
            elif len(now) == len(was) and visit.changed is Changed.YES:
                n_edits += 1
                assert "edited" in visit.evidence
                assert visit.moments == ()
    assert n_calm > 10
    assert n_edits >= 3


def test_boards_tell_of_threads_and_those_are_visited_soon(life: Life) -> None:
    waits_s, gaps_s = [], []
    for document in THREADS:
        followed = life.thread(document)
        at = [visit.at for visit in followed.visits]
        gaps_s += list(np.diff(at))
        waits_s += [
            min(later for later in at if later >= told.at) - told.at
            for told in followed.signals
            if at[-1] >= told.at
        ]
        assert followed.signals, document.path
        for told in followed.signals:
            posts_at = life.web.posts_at(life.web.url(document), told.at)
            assert isnan(told.event_at) or min(abs(posts_at - told.event_at)) <= GRAIN_S[document.markup]
    assert median(waits_s) < median(gaps_s) / 2
    for document, said in zip(BOARDS, THREADS, strict=True):
        for before, visit in pairwise(life.thread(document).visits):
            was, now = (life.web.posts(life.web.url(said), at) for at in (before.at, visit.at))
            if {post.i for post in now} - {post.i for post in was}:
                assert visit.changed is Changed.YES, (document.host, visit)
            elif len(was) == len(now):  # an edit is no news to a board
                assert visit.changed is Changed.NO, (document.host, visit)


def test_the_forum_was_asked_politely(life: Life) -> None:
    assert violations(life.web.log, life.web.script, delay_s=MIN_DELAY_S) == []
    assert {served.status for served in life.web.log} >= {200, 304, 503}


def test_what_was_said_can_be_read_afterwards(life: Life, cli: Cli, tmp_path: Path) -> None:
    cli = Cli(life.home, {**cli.env, "RECRAWL_HOME": str(life.home)})
    url = life.web.url(THREADS[0])
    rows = [json.loads(line) for line in cli("history", url, "--json").stdout.splitlines()]
    assert any("new post" in row["evidence"] for row in rows)
    diff = cli("diff", url, code=1).stdout  # they differ
    assert any(line.startswith(("+ ", "- ", "[")) for line in diff.splitlines()[2:]), diff
    with open_house(life.home, config=Config(), reading=True) as house:
        assert list(verify(house)) == []
    cli("export", "warc", str(tmp_path / "copy"))
    bundles = [body for path in sorted((tmp_path / "copy").rglob("*.warc.gz")) for body in _bundles(path)]
    assert bundles
    for bundle in bundles:
        parts = [part for part in bundle.walk() if not part.is_multipart()]
        assert len(parts) >= 2
        assert all(part["Content-Location"].startswith("http://") for part in parts)
        assert all(part.get_payload(decode=True) for part in parts)


def _bundles(path: Path) -> Iterator[Message]:
    """Bodies of several pages, as others read WARC files and MIME."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            kind = record.http_headers.get_header("Content-Type", "") if record.rec_type == "response" else ""
            if kind.startswith("multipart/mixed"):
                yield message_from_bytes(
                    f"Content-Type: {kind}\r\n\r\n".encode() + record.content_stream().read()
                )


def test_threads_and_boards_are_watched_on_the_command_line(cli: Cli) -> None:
    threads = [replace(one, process=Never(), edits=Never(), removals=Never()) for one in THREADS]
    old = Redirect(host="phpbb.localhost", path="/viewtopic", to=threads[0].place)
    with serving(Script((*threads, old, *BOARDS)), clock=WallClock()) as web:
        urls = [*(web.url(one) for one in threads[1:]), web.url(old)]
        cli("add", "--kind", "thread", "--allow-private", *urls)
        cli("add", "--kind", "board", "--allow-private", web.url(BOARDS[1]))
        rows = [json.loads(line) for line in cli("run", "--once", "--json").stdout.splitlines()]
        assert {row["outcome"] for row in rows} == {"ok"}
        assert len(rows) == 4
        assert sum("1 post since" in row["evidence"] for row in rows) == 3
        web.touch(web.url(old))
        found = json.loads(cli("visit", web.url(old), "--json").stdout)
    assert found["changed"] is True
    assert found["evidence"].startswith("1 new post: +")


def test_the_forums_of_the_living_web_have_a_size_of_their_own(cli: Cli) -> None:
    assert "leave out --resources" in cli("livingweb", "--forums", "--resources", "5", code=2).stderr
