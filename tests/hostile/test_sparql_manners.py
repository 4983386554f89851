"""Queries are asked as politely as everything else, and long ones by the form."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise

import pytest
from tests.hostile.endpoint import RESULTS, asked, route

from recrawl.checks.fetcher import said, site
from recrawl.live.clock import FastClock, WallClock
from recrawl.livingweb import Document, Form, Host, LivingWeb, Query, Robots, Script, violations
from recrawl.model import Fetch, Outcome, Request
from recrawl.observe.query import query_url

ALL = Document(host="g.localhost", path="/sparql", form=Form.SPARQL, query=Query.ALL, max_rows=2)
COUNT = Document(host="g.localhost", path="/sparql", form=Form.SPARQL, query=Query.COUNT)


def test_pages_keep_their_distance_and_all_of_them_obey_robots_txt() -> None:
    async def run() -> tuple[Fetch, Fetch, LivingWeb]:
        clock = FastClock(start_at=1_800_000_000.0, speed=20.0)
        shut = Host(name="shut.localhost", robots=Robots(disallow=("/sparql",)))
        closed = Document(host="shut.localhost", path="/sparql", form=Form.SPARQL, query=Query.COUNT)
        slow = Host(name="g.localhost", robots=Robots(crawl_delay_s=4.0))
        async with LivingWeb(Script((ALL, closed), described=(shut, slow)), clock=clock) as web:
            async with route(clock, min_delay_s=1.0) as fetcher:
                paged = await fetcher.fetch(asked(web.url(ALL), page_rows=2))
                refused = await fetcher.fetch(asked(web.url(closed)))
            return paged, refused, web

    paged, refused, web = asyncio.run(run())
    assert len(json.loads(bytes(paged.body))["results"]["bindings"]) == 5
    starts = [(one.started_at, one.ended_at) for one in web.log if one.host == "g.localhost"][1:]
    assert len(starts) == 3
    assert all(later[0] - earlier[1] >= 4.0 for earlier, later in pairwise(starts))
    assert violations(web.log, web.script, delay_s=1.0) == []
    assert refused.outcome is Outcome.BLOCKED


@pytest.mark.parametrize("page_rows", [None, 2])
def test_a_long_query_is_posted(page_rows: int | None) -> None:
    async def run() -> tuple[Fetch, LivingWeb]:
        clock = WallClock()
        async with LivingWeb(Script((ALL,)), clock=clock) as web, route(clock) as fetcher:
            # white space is nothing to the endpoint, and makes a long URL
            url = query_url(f"http://g.localhost:{web.port}/sparql", f"{Query.ALL}".replace(" ", " " * 300))
            return await fetcher.fetch(asked(url, page_rows=page_rows, etag='"old"')), web

    fetch, web = asyncio.run(run())
    assert (fetch.outcome, fetch.status) == (Outcome.OK, 200)
    rows = json.loads(bytes(fetch.body))["results"]["bindings"]
    assert len(rows) == (5 if page_rows else 2)
    posted = [one for one in web.log if one.path == "/sparql"]
    assert {(one.method, one.target, one.conditional) for one in posted} == {("POST", "/sparql", False)}


def test_a_short_query_is_asked_with_the_validator_of_the_copy() -> None:
    async def run() -> LivingWeb:
        clock = WallClock()
        async with LivingWeb(Script((COUNT,)), clock=clock) as web, route(clock) as fetcher:
            await fetcher.fetch(asked(web.url(COUNT), etag='"old"'))
            return web

    log = asyncio.run(run()).log
    assert [(one.method, one.conditional) for one in log if one.path == "/sparql"] == [("GET", True)]


def test_a_query_may_take_longer_to_begin_its_answer_than_a_page() -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        writer.write(said("200 OK", b'{"head": {}, "boolean": true}', Content_Type=RESULTS))

    async def run() -> list[Outcome]:
        target = "/sparql?query=ASK+%7B%7D"
        quick = route(WallClock(), first_byte_s=0.1)
        async with site({target: late, "/page": late}) as here, quick as fetcher:
            query = await fetcher.fetch(asked(query_url(f"{here.url}/sparql", "ASK {}")))
            page = await fetcher.fetch(Request(url=f"{here.url}/page", allow_private=True))
            return [query.outcome, page.outcome]

    assert asyncio.run(run()) == [Outcome.OK, Outcome.NET_ERROR]
