"""Looks at the result of a SPARQL query, over the SPARQL protocol."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from urllib.parse import urlencode

from yarl import URL

from recrawl.contracts import Fetcher, Premises
from recrawl.errors import BadInputError
from recrawl.model import Body, Failure, Fetch, Kind, Outcome, Request
from recrawl.observe.negotiate import GRAPH, RDF, RESULTS, wanted
from recrawl.observe.query import Query, asked_by
from recrawl.parse.pool import ParseFailed
from recrawl.parse.results import BETWEEN, CLOSING, MAX_PARSED_BYTES, Rows, opening, rows
from recrawl.parse.spool import Spool

MAX_GET_BYTES = 2_000  # of a URL; servers and what stands before them cut longer ones
MAX_ROWS = 1_000_000
MAX_PAGES = 1_000
QUERY_S = 60.0  # what public endpoints allow a query
_PROTOCOL = ("default-graph-uri", "named-graph-uri")  # what belongs to a query wherever that is sent
_JSON = frozenset(RESULTS)
_TABLES = _JSON | {"application/sparql-results+xml", "text/csv", "text/tab-separated-values"}
_GRAPHS = frozenset(RDF) | {"text/plain"}  # N-Triples of old
_PARTIAL = "S1TAT"  # how Virtuoso says that time ran out in the middle of its answer


class SparqlHandler:
    """A resource is an endpoint with its query: `http://endpoint/sparql?query=…`.

    A result counts only if it is whole: one that breaks off, or an error page with a 200 before it, is
    unreadable. With `manner.page_rows` a SELECT without bounds of its own is asked for in windows, and all of
    them together are one visit: if one fails, the visit failed.
    """

    schemes: frozenset[str] = frozenset()
    kinds = frozenset({Kind.SPARQL})
    media_types: frozenset[str] = frozenset()

    def __init__(self, premises: Premises) -> None:
        self._clock = premises.clock
        self._max_bytes = premises.max_bytes
        self._spool = premises.spool

    async def aclose(self) -> None:
        """Nothing is open."""

    async def fetch(self, request: Request, web: Fetcher) -> Fetch:
        try:
            endpoint, query = asked_by(request.url)
        except BadInputError as problem:
            now = self._clock.now()
            return Fetch(
                request=request,
                outcome=Outcome.BLOCKED,
                url=request.url,
                started_at=now,
                ended_at=now,
                failure=Failure(reason="query", detail=str(problem)),
            )
        if request.manner.page_rows and query.pageable:
            return await self._paged(request, endpoint, query, request.manner.page_rows, web)
        fetch = await web.fetch(_whole(request, endpoint, query))
        return (await _read(query, fetch, page=1))[0]

    async def _paged(
        self, request: Request, endpoint: URL, query: Query, n_asked: int, web: Fetcher
    ) -> Fetch:
        max_bytes = request.manner.max_bytes or self._max_bytes
        document = Spool(self._spool)
        variables: tuple[str, ...] = ()
        n_rows = 0
        sure = False  # that the endpoint gives as many rows as it is asked for
        started_at, wait_s = self._clock.now(), 0.0
        for page in range(1, MAX_PAGES + 1):
            fetch = await web.fetch(_window(request, endpoint, query, n_asked, n_rows))
            wait_s = max(wait_s, fetch.wait_s)
            fetch, found = await _read(query, fetch, page=page)
            # The redirects of a page lead to that page, not to the whole.
            fetch = replace(
                fetch, request=request, url=request.url, started_at=started_at, wait_s=wait_s, hops=()
            )
            if found is None:
                return _failed(fetch, page, n_rows)
            if page == 1:
                variables = found.variables
                document.write(opening(variables))
            if found.n_rows > n_asked or found.variables != variables:
                return _spoilt(fetch, "paging", f"page {page} does not fit the others: is LIMIT ignored?")
            if found.text:
                await asyncio.to_thread(document.write, BETWEEN + found.text if n_rows else found.text)
            n_rows += found.n_rows
            if len(document) > max_bytes or n_rows > MAX_ROWS:
                return _cut(fetch, f"cut after {n_rows:,} rows, {len(document):,} bytes")
            if found.n_rows == 0 or (found.n_rows < n_asked and sure):
                document.write(CLOSING)
                return _together(fetch, document.body(), page)
            # A first page that is short may be all there is, or all that this endpoint gives at a time:
            # the next one tells.
            n_asked, sure = found.n_rows, True
        return _cut(fetch, f"cut after {MAX_PAGES:,} pages; raise --page-rows")


# -- what is asked -------------------------------------------------------------------------------------


def _whole(request: Request, endpoint: URL, query: Query) -> Request:
    if len(request.url) <= MAX_GET_BYTES:
        return _asking(request, query)
    return _posted(request, endpoint, query, query.text)


def _window(request: Request, endpoint: URL, query: Query, n_rows: int, offset: int) -> Request:
    text = query.window(n_rows, offset)
    url = str(endpoint.extend_query({"query": text}))
    if len(url) > MAX_GET_BYTES:
        return _posted(request, endpoint, query, text)
    # The validators are those of the whole; no page has them.
    return replace(_asking(request, query), url=url, etag=None, last_modified=None)


def _posted(request: Request, endpoint: URL, query: Query, text: str) -> Request:
    said = [(name, value) for name in _PROTOCOL for value in endpoint.query.getall(name, [])]
    return replace(
        _asking(request, query),
        url=str(endpoint.without_query_params(*_PROTOCOL)),
        form=urlencode([("query", text), *said]),
        etag=None,  # a POST with a validator is one that is to be refused if it fits
        last_modified=None,
    )


def _asking(request: Request, query: Query) -> Request:
    family = GRAPH if query.form.makes_graph else RESULTS
    return replace(request, accept=wanted(family, request.media_type), first_byte_s=QUERY_S)


# -- what came back ------------------------------------------------------------------------------------


async def _read(query: Query, fetch: Fetch, *, page: int) -> tuple[Fetch, Rows | None]:
    """The fetch, its outcome put right where it is no whole result; and its rows where they are JSON."""
    if fetch.outcome is not Outcome.OK:
        return fetch, None
    if fetch.header("x-sql-state") == _PARTIAL:
        failure = Failure(reason="time", detail="the endpoint ran out of time: this is a part of the result")
        return replace(fetch, outcome=Outcome.TRUNCATED, failure=failure), None
    expected = _GRAPHS if query.form.makes_graph else _TABLES
    if fetch.media_type not in expected:
        what = fetch.media_type or "something without a media type"
        return _spoilt(fetch, "media-type", f"the endpoint answered {what}, which is no result"), None
    if fetch.media_type not in _JSON:
        return fetch, None
    if len(fetch.body) > MAX_PARSED_BYTES:  # too much to read it all; that it breaks off would still show
        ended = fetch.body[len(fetch.body) - 64 :].rstrip().endswith(b"}")
        found: Rows | ParseFailed | None = None if ended else ParseFailed("error", "it breaks off")
    else:
        found = await asyncio.to_thread(rows, bytes(fetch.body), page)
    if isinstance(found, ParseFailed):
        return _spoilt(fetch, "result", f"the result cannot be read: {found.detail}"), None
    return fetch, found


def _failed(fetch: Fetch, page: int, n_rows: int) -> Fetch:
    """What becomes of all pages when one gives no rows."""
    if fetch.outcome is Outcome.OK:
        return _spoilt(fetch, "paging", f"pages are read as JSON, and this one is {fetch.media_type}")
    if page == 1:
        return fetch
    failure = fetch.failure or Failure(reason=f"http-{fetch.status}")
    failure = replace(failure, detail=f"on page {page}, after {n_rows:,} rows: {failure.detail}".rstrip(": "))
    # One that was there a moment ago has not gone; it is in trouble.
    outcome = Outcome.HTTP_ERROR if fetch.outcome is Outcome.GONE else fetch.outcome
    return replace(fetch, outcome=outcome, failure=failure)


def _spoilt(fetch: Fetch, reason: str, detail: str) -> Fetch:
    return replace(fetch, outcome=Outcome.UNREADABLE, failure=Failure(reason=reason, detail=detail))


def _cut(fetch: Fetch, detail: str) -> Fetch:
    return replace(fetch, outcome=Outcome.TRUNCATED, failure=Failure(reason="length", detail=detail))


def _together(last: Fetch, body: Body, n_pages: int) -> Fetch:
    headers = (
        ("Content-Type", "application/sparql-results+json"),
        ("Content-Length", str(len(body))),
        ("X-Crawler-Pages", str(n_pages)),  # no server sent this document: it was put together here
    )
    return replace(last, headers=headers, body=body, wire=b"")
