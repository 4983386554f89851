"""SPARQL endpoints: whole results or none, by the page, whatever the endpoint does."""

from __future__ import annotations

import asyncio

import pytest
from tests.hostile.endpoint import (
    RESULTS,
    SELECT,
    Answer,
    Endpoint,
    asked,
    document,
    route,
    told,
    values,
    visited,
)

from recrawl.checks.fetcher import said
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Outcome

# -- one answer ----------------------------------------------------------------------------------------


def test_a_result_comes_back_as_it_was_sent() -> None:
    body = document([3, 1, 2])
    fetch, here = visited(Answer(said("200 OK", body, Content_Type=RESULTS)))
    assert (fetch.outcome, fetch.body, fetch.media_type) == (Outcome.OK, body, RESULTS)
    assert here.asked[-1].headers["accept"] == f"{RESULTS}, application/json;q=0.5"


@pytest.mark.parametrize(
    ("query", "media_type", "body"),
    [
        ("ASK {}", RESULTS, b'{"head": {}, "boolean": true}'),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples", b"<a:a> <a:b> <a:c> .\n"),
        ("DESCRIBE <http://x/>", "text/turtle", b"<http://x/> a <http://y/> ."),
        (SELECT, "text/csv", b"x\r\n1\r\n"),
    ],
)
def test_each_form_of_query_has_its_forms_of_result(query: str, media_type: str, body: bytes) -> None:
    fetch, here = visited(Answer(said("200 OK", body, Content_Type=media_type)), query)
    assert (fetch.outcome, fetch.body) == (Outcome.OK, body)
    graph = query.startswith(("CONSTRUCT", "DESCRIBE"))
    assert ("application/n-triples" in here.asked[-1].headers["accept"]) is graph


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (said("200 OK", b"<h1>Query</h1>", Content_Type="text/html"), (Outcome.UNREADABLE, "media-type")),
        (said("200 OK", document([1])[:-2], Content_Type=RESULTS), (Outcome.UNREADABLE, "result")),
        (
            said("200 OK", document([1]) + b"\nTimeoutException", Content_Type=RESULTS),
            (Outcome.UNREADABLE, "result"),
        ),
        (
            said("200 OK", document([1]), Content_Type=RESULTS, X_SQL_State="S1TAT"),
            (Outcome.TRUNCATED, "time"),
        ),
        (said("400 Bad Request", b"parse error"), (Outcome.HTTP_ERROR, "http-400")),
        (said("404 Not Found"), (Outcome.GONE, "")),
    ],
)
def test_what_is_no_whole_result_never_counts_as_one(reply: bytes, expected: tuple[Outcome, str]) -> None:
    assert told(visited(Answer(reply))[0]) == expected
    outcome, reason = told(visited(Answer(reply), page_rows=10)[0])
    assert (outcome, reason) == expected


def test_a_graph_in_html_is_no_graph() -> None:
    reply = said("200 OK", b"<table>", Content_Type="text/html")
    assert told(visited(Answer(reply), "CONSTRUCT WHERE { ?s ?p ?o }")[0]) == (
        Outcome.UNREADABLE,
        "media-type",
    )


def test_a_url_without_a_query_is_blocked_with_the_remedy() -> None:
    async def run() -> Fetch:
        async with route(WallClock()) as fetcher:
            return await fetcher.fetch(asked("http://127.0.0.1:9/sparql"))

    fetch = asyncio.run(run())
    assert told(fetch) == (Outcome.BLOCKED, "query")
    assert fetch.failure is not None
    assert "--sparql" in fetch.failure.detail


# -- by the page ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "windows"),
    [
        (0, [(4, 0)]),
        (3, [(4, 0), (3, 3)]),  # a short first page might be all that the endpoint gives at a time
        (4, [(4, 0), (4, 4)]),
        (10, [(4, 0), (4, 4), (4, 8)]),
        (12, [(4, 0), (4, 4), (4, 8), (4, 12)]),
    ],
)
def test_pages_are_asked_for_until_a_short_one_and_become_one_result(
    n: int, windows: list[tuple[int, int]]
) -> None:
    endpoint = Endpoint(n)
    fetch, _ = visited(endpoint, page_rows=4)
    assert endpoint.windows == windows
    assert (fetch.outcome, fetch.status, fetch.media_type) == (Outcome.OK, 200, RESULTS)
    assert values(fetch) == list(range(n))
    assert fetch.header("x-crawler-pages") == str(len(windows))
    assert fetch.url == fetch.request.url


def test_an_endpoint_that_gives_fewer_rows_than_it_is_asked_for_is_read_to_its_end() -> None:
    endpoint = Endpoint(10, cap=4)
    fetch, _ = visited(endpoint, page_rows=1000)
    assert values(fetch) == list(range(10))
    assert endpoint.windows == [(1000, 0), (4, 4), (4, 8)]


def test_the_same_rows_are_the_same_bytes_however_they_were_paged() -> None:
    bodies = {bytes(visited(Endpoint(10), page_rows=rows)[0].body) for rows in (3, 4, 100)}
    assert len(bodies) == 1


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (said("429 Slow Down", Retry_After="120"), (Outcome.HTTP_ERROR, "http-429")),
        (said("503 Busy"), (Outcome.HTTP_ERROR, "http-503")),
        (said("404 Not Found"), (Outcome.HTTP_ERROR, "http-404")),  # it was there a moment ago
        (said("200 OK", b"half", Content_Length="8"), (Outcome.TRUNCATED, "disconnect")),
        (said("200 OK", document([1])[:-2], Content_Type=RESULTS), (Outcome.UNREADABLE, "result")),
        (said("200 OK", b"x\r\n1\r\n", Content_Type="text/csv"), (Outcome.UNREADABLE, "paging")),
        (said("200 OK", document(list(range(9))), Content_Type=RESULTS), (Outcome.UNREADABLE, "paging")),
        (
            said("200 OK", b'{"head":{"vars":["y"]},"results":{"bindings":[]}}', Content_Type=RESULTS),
            (Outcome.UNREADABLE, "paging"),
        ),
    ],
)
def test_a_failure_in_the_middle_is_the_failure_of_the_whole_visit(
    trouble: bytes, expected: tuple[Outcome, str]
) -> None:
    endpoint = Endpoint(10, trouble={2: trouble})
    fetch, _ = visited(endpoint, page_rows=4)
    assert told(fetch) == expected
    assert len(endpoint.windows) == 2
    assert not fetch.outcome.informative
    if b"429" in trouble:
        assert fetch.wait_s >= 120.0


def test_a_result_without_end_is_cut_and_told() -> None:
    assert told(visited(Endpoint(1_000), page_rows=10, max_bytes=2_000)[0]) == (Outcome.TRUNCATED, "length")


@pytest.mark.parametrize("query", [f"{SELECT} LIMIT 5", "ASK {}"])
def test_a_query_that_cannot_be_paged_is_asked_once(query: str) -> None:
    body = document([1]) if query != "ASK {}" else b'{"head": {}, "boolean": true}'
    fetch, here = visited(Answer(said("200 OK", body, Content_Type=RESULTS)), query, page_rows=2)
    assert fetch.outcome is Outcome.OK
    assert len([path for path in here.paths() if path != "/robots.txt"]) == 1
