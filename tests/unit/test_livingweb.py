"""Every form of document, served over a real socket, tells the truth at the right moment."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Callable
from http.client import HTTPConnection

import aiohttp
import numpy as np
import pytest
from defusedxml.ElementTree import fromstring
from selectolax.lexbor import LexborHTMLParser
from yarl import URL

from recrawl.errors import BadInputError, BadSettingError, BadUrlError
from recrawl.live.clock import FastClock
from recrawl.livingweb import (
    Document,
    Form,
    LivingWeb,
    Noise,
    Query,
    Redirect,
    Script,
    Trouble,
    serve_forever,
    serving,
)
from recrawl.livingweb.script import POSTS_PER_PAGE
from recrawl.model import DAY_S
from recrawl.simulate.processes import Bursty, Given, Poisson

BORN_AT = 1_750_000_000.0


class HandClock:
    """Stands still until it is set."""

    speed = 1.0

    def __init__(self, at: float = BORN_AT) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


def fetched(url: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    asked = URL(url)
    connection = HTTPConnection("127.0.0.1", asked.port or 0, timeout=10)
    sent = {"Host": f"{asked.host}:{asked.port}", **{k.replace("_", "-"): v for k, v in headers.items()}}
    connection.request("GET", asked.raw_path_qs, headers=sent)
    response = connection.getresponse()
    try:
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def page_text(body: bytes) -> object:
    tree = LexborHTMLParser(body.decode())
    tree.strip_tags(["script", "style"])
    return tree.text(separator=" ", strip=True)


def xml_text(body: bytes) -> object:
    return [(e.tag, e.text, sorted(e.attrib.items())) for e in fromstring(body).iter()]


READ: dict[Form, Callable[[bytes], object]] = {
    Form.PAGE: page_text,
    Form.THREAD: page_text,
    Form.BOARD: page_text,
    Form.JSON: json.loads,
    Form.SPARQL: json.loads,
    Form.CSV: lambda body: list(csv.reader(io.StringIO(body.decode(), newline=""))),
    Form.TURTLE: lambda body: [line for line in body.decode().splitlines() if not line.startswith("#")],
    Form.RSS: xml_text,
    Form.ATOM: xml_text,
    Form.SITEMAP: xml_text,
    Form.SITEMAP_INDEX: xml_text,
    Form.OPML: xml_text,
}

FLICKER = Trouble(status=404, starts=Poisson(0.1), lasts_s=1.5 * DAY_S)
EVERYTHING = Script(
    (
        Document(host="a.localhost", path="/", process=Poisson(2.0)),
        Document(host="a.localhost", path="/flicker", process=Poisson(1.0), troubles=(FLICKER,)),
        Document(host="a.localhost", path="/j", form=Form.JSON, process=Poisson(2.0)),
        Document(host="a.localhost", path="/c", form=Form.CSV, process=Poisson(2.0)),
        Document(host="a.localhost", path="/t", form=Form.TURTLE, process=Poisson(2.0)),
        *(
            Document(host="a.localhost", path="/q", form=Form.SPARQL, query=query, process=Poisson(2.0))
            for query in (Query.ITEMS, Query.COUNT, Query.EVEN)
        ),
        Document(host="b.localhost", path="/t/1", form=Form.THREAD, process=Bursty(3.0)),
        Document(
            host="b.localhost", path="/t/2", form=Form.THREAD, process=Poisson(1.0), troubles=(FLICKER,)
        ),
        Document(host="b.localhost", path="/t/", form=Form.BOARD),
        Document(host="b.localhost", path="/rss", form=Form.RSS, process=Poisson(2.0)),
        Document(host="b.localhost", path="/atom", form=Form.ATOM, process=Poisson(2.0)),
        Document(host="a.localhost", path="/sitemap.xml", form=Form.SITEMAP),
        Document(host="a.localhost", path="/index.xml", form=Form.SITEMAP_INDEX),
        Document(host="b.localhost", path="/feeds.opml", form=Form.OPML),
        Redirect(host="c.localhost", path="/moved", to=("a.localhost", "/")),
    )
)


@pytest.mark.parametrize("entry", EVERYTHING.entries, ids=lambda e: f"{e.host}{e.target}"[:40])
def test_what_is_read_changes_exactly_at_the_true_times(entry: Document | Redirect) -> None:
    clock = HandClock()
    with serving(EVERYTHING, clock=clock, seed=3, born_at=BORN_AT) as web:
        url = web.url(entry)

        def meaning(at: float) -> object:
            clock.at = at
            status, headers, body = fetched(url)
            if status == 301:
                status, headers, body = fetched(headers["Location"])
            return READ[EVERYTHING.destination(entry).form](body) if status == 200 else status

        truth_at = web.truth(BORN_AT, BORN_AT + 20 * DAY_S).changed_at[url]
        assert (len(truth_at) > 5) == (entry.path != "/feeds.opml")
        before = meaning(BORN_AT)
        for n, at in enumerate(truth_at, start=1):
            assert meaning(float(np.nextafter(at, 0.0))) == before
            after = meaning(float(at))
            assert after != before
            assert web.version_at(url, float(at)) == n
            before = after
        assert meaning(BORN_AT + 20 * DAY_S) == before


def test_truth_depends_on_the_seed_and_not_on_the_start_nor_on_who_looked_first() -> None:
    script = Script((Document(host="a.localhost", path="/", process=Poisson(2.0)),))
    early = LivingWeb(script, clock=HandClock(), seed=3, born_at=BORN_AT)
    late = LivingWeb(script, clock=HandClock(), seed=3, born_at=BORN_AT + 100 * DAY_S)
    other = LivingWeb(script, clock=HandClock(), seed=4, born_at=BORN_AT)
    url = early.urls()[0]
    early.truth(BORN_AT, BORN_AT + DAY_S)
    window = (BORN_AT + 150 * DAY_S, BORN_AT + 400 * DAY_S)
    seen = early.truth(*window)
    assert np.array_equal(seen.changed_at[url], late.truth(*window).changed_at[url])
    assert not np.array_equal(seen.changed_at[url], other.truth(*window).changed_at[url])
    assert seen.n_changes(url, *window) == len(seen.changed_at[url]) == pytest.approx(500, abs=80)


def test_the_same_seed_says_the_same_words() -> None:
    bodies = []
    for seed in (1, 1, 2):
        with serving(EVERYTHING, clock=HandClock(BORN_AT + DAY_S), seed=seed, born_at=BORN_AT) as web:
            bodies.append(fetched(web.url(EVERYTHING.entries[3]))[2])
    assert bodies[0] == bodies[1] != bodies[2]


def test_without_a_birthday_versions_are_counted_from_the_beginning_of_the_year() -> None:
    web = LivingWeb(EVERYTHING, clock=HandClock(at=1_750_000_000.0))
    assert web.born_at == 1_735_689_600.0  # 2025-01-01


def test_a_thread_fills_its_pages_and_tells_on_the_first_how_many_posts_there_are() -> None:
    times_at = tuple(BORN_AT + 60.0 * i for i in range(1, 2 * POSTS_PER_PAGE + 5))
    thread = Document(host="f.localhost", path="/t/1", form=Form.THREAD, process=Given(times_at))
    clock = HandClock(at=BORN_AT + DAY_S)
    with serving(Script((thread,)), clock=clock, born_at=BORN_AT) as web:
        url = web.url(thread)
        pages = [LexborHTMLParser(fetched(f"{url}?page={p}")[2].decode()) for p in (1, 2, 3)]
        posts = [len(page.css("article.post")) for page in pages]
        assert posts == [POSTS_PER_PAGE, POSTS_PER_PAGE, 5]
        assert f"{len(times_at)} replies" in str(page_text(fetched(url)[2]))
        assert fetched(f"{url}?page=4")[0] == fetched(f"{url}?page=x")[0] == 404


def test_a_sitemap_lists_its_folder_and_a_board_its_threads() -> None:
    clock = HandClock()
    with serving(EVERYTHING, clock=clock, seed=3, born_at=BORN_AT) as web:
        listed = [
            e.text for e in fromstring(fetched(web.url(EVERYTHING.entries[13]))[2]).iterfind(".//{*}loc")
        ]
        assert sorted(filter(None, listed)) == sorted(u for u in web.urls()[:8])
        board = LexborHTMLParser(fetched(web.url(EVERYTHING.entries[10]))[2].decode())
        assert sorted(a.attributes["href"] or "" for a in board.css("td a")) == sorted(web.urls()[8:10])


def test_an_endpoint_answers_its_own_queries_and_refuses_others() -> None:
    with serving(EVERYTHING, clock=HandClock(), born_at=BORN_AT) as web:
        url = f"http://a.localhost:{web.port}/q"
        status, headers, body = fetched(web.url(EVERYTHING.entries[6]))
        assert (status, headers["Content-Type"]) == (200, "application/sparql-results+json")
        assert json.loads(body)["results"]["bindings"][0]["n"]["value"] == "5"
        assert fetched(url)[0] == 400
        status, _, body = fetched(f"{url}?query=SELECT%20*%20WHERE%20%7B%3Fs%20%3Fp%20%3Fo%7D")
        assert (status, Query.COUNT in body.decode()) == (400, True)


def test_unknown_hosts_and_paths_are_not_found() -> None:
    with serving(EVERYTHING, clock=HandClock(), born_at=BORN_AT) as web:
        assert fetched(f"http://nobody.localhost:{web.port}/")[0] == 404
        assert fetched(f"http://a.localhost:{web.port}/nothing")[0] == 404


def test_touch_changes_a_resource_now_and_all_that_lists_it() -> None:
    page = Document(host="a.localhost", path="/p")
    sitemap = Document(host="a.localhost", path="/sitemap.xml", form=Form.SITEMAP)
    moved = Redirect(host="b.localhost", path="/", to=page.place)
    clock = HandClock()
    with serving(Script((page, sitemap, moved)), clock=clock, born_at=BORN_AT) as web:
        before = fetched(web.url(page))[2]
        clock.at += 5.0
        assert web.touch(web.url(moved)) == clock.at
        assert fetched(web.url(page))[2] != before
        truth = web.truth(BORN_AT, clock.at)
        assert [times_at.tolist() for times_at in truth.changed_at.values()] == [[clock.at]] * 3
        with pytest.raises(BadInputError, match="touch something that it lists"):
            web.touch(web.url(sitemap))
        with pytest.raises(BadUrlError, match="urls"):
            web.touch(f"http://a.localhost:{web.port}/nothing")


def test_a_fast_clock_lets_days_pass_within_a_second() -> None:
    page = Document(host="a.localhost", path="/", process=Poisson(20.0), noise=Noise.VISIBLE)

    async def visit() -> None:
        clock = FastClock(start_at=BORN_AT, speed=20 * DAY_S)
        async with (
            LivingWeb(Script((page,)), clock=clock, seed=1, born_at=BORN_AT) as web,
            aiohttp.ClientSession() as session,
        ):
            bodies: list[str] = []
            for _ in range(5):
                async with session.get(
                    f"http://127.0.0.1:{web.port}/", headers={"Host": f"a.localhost:{web.port}"}
                ) as response:
                    bodies.append(await response.text())
                await clock.sleep(DAY_S)
            served = web.log
            assert [s.status for s in served] == [200] * 5
            assert served[-1].started_at - served[0].ended_at >= 4 * DAY_S
            assert 0.2 <= served[-1].started_s - served[0].ended_s < 20
            versions = [web.version_at(web.url(page), s.ended_at) for s in served]
            assert len(set(bodies)) == len(set(versions)) == 5

    asyncio.run(visit())


def test_serving_forever_ends_cleanly_when_cancelled_and_frees_its_port() -> None:
    async def cancelled() -> int:
        up: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(
            serve_forever(EVERYTHING, HandClock(), 0, announce=lambda web: up.set_result(web.port))
        )
        port = await up
        assert (await asyncio.to_thread(fetched, f"http://a.localhost:{port}/"))[0] == 200
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return port

    with pytest.raises(ConnectionRefusedError):
        fetched(f"http://a.localhost:{asyncio.run(cancelled())}/")


def test_a_port_in_use_is_refused_with_what_to_do() -> None:
    with (
        serving(EVERYTHING, clock=HandClock()) as web,
        pytest.raises(BadSettingError, match="choose another"),
        serving(EVERYTHING, clock=HandClock(), port=web.port),
    ):
        pass


def test_scripts_that_could_not_be_kept_are_refused() -> None:
    page = Document(host="a.localhost", path="/")
    with pytest.raises(BadSettingError, match="twice"):
        Script((page, page))
    with pytest.raises(BadSettingError, match="not there"):
        Script((Redirect(host="a.localhost", path="/x", to=("a.localhost", "/y")),))
    with pytest.raises(BadSettingError, match="itself"):
        Script((Redirect(host="a.localhost", path="/x", to=("a.localhost", "/x")),))
    with pytest.raises(BadSettingError, match="process"):
        Document(host="a.localhost", path="/s", form=Form.BOARD, process=Poisson(1.0))
    with pytest.raises(BadSettingError, match="visible noise"):
        Document(host="a.localhost", path="/c", form=Form.SITEMAP, noise=Noise.VISIBLE)
    with pytest.raises(BadSettingError, match="query"):
        Document(host="a.localhost", path="/q", form=Form.SPARQL)
