"""SPARQL endpoints that do what they are told to do, and a visitor for them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qs

from recrawl.checks.fetcher import Site, said, site
from recrawl.contracts import Clock, Premises
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Kind, Manner, Outcome, Request
from recrawl.observe.http import HttpFetcher
from recrawl.observe.limits import Limits
from recrawl.observe.query import query_url
from recrawl.observe.route import Route
from recrawl.observe.sparql import SparqlHandler

SELECT = "SELECT ?x { ?x ?p ?o } ORDER BY ?x"
RESULTS = "application/sparql-results+json"


def route(
    clock: Clock, *, max_bytes: int = 2**20, min_delay_s: float = 0.0, first_byte_s: float = 30.0
) -> Route:
    web = HttpFetcher(
        clock=clock,
        user_agent="recrawl/1",
        min_delay_s=min_delay_s,
        limits=Limits(first_byte_s=first_byte_s),
    )
    handler = SparqlHandler(Premises(clock=clock, max_bytes=max_bytes, total_s=20.0))
    return Route(web, {"sparql": handler}, clock=clock)


def asked(url: str, *, page_rows: int | None = None, etag: str | None = None, held: str = "") -> Request:
    return Request(
        url=url,
        kind=Kind.SPARQL,
        allow_private=True,
        etag=etag,
        media_type=held,
        manner=Manner(page_rows=page_rows),
    )


def told(fetch: Fetch) -> tuple[Outcome, str]:
    return fetch.outcome, fetch.failure.reason if fetch.failure else ""


def document(values: list[int]) -> bytes:
    rows = [{"x": {"type": "literal", "value": str(value)}} for value in values]
    return json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": rows}}).encode()


class Endpoint(Mapping[str, bytes]):
    """Has `n` rows, gives at most `cap` at a time, and answers `trouble` to the request of that number."""

    def __init__(self, n: int, *, cap: int = 10_000, trouble: dict[int, bytes] | None = None) -> None:
        self.n, self.cap, self.trouble = n, cap, trouble or {}
        self.windows: list[tuple[int, int]] = []

    def __getitem__(self, target: str) -> bytes:
        if target == "/robots.txt":
            raise KeyError(target)
        query = parse_qs(target.partition("?")[2])["query"][0]
        found = re.search(r"LIMIT (\d+) OFFSET (\d+)$", query)
        limit, offset = (int(found[1]), int(found[2])) if found else (self.n, 0)
        self.windows.append((limit, offset))
        if len(self.windows) in self.trouble:
            return self.trouble[len(self.windows)]
        rows = list(range(self.n))[offset : offset + min(limit, self.cap)]
        return said("200 OK", document(rows), Content_Type=RESULTS)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def visited(
    replies: Mapping[str, bytes], query: str = SELECT, *, page_rows: int | None = None, max_bytes: int = 2**20
) -> tuple[Fetch, Site]:
    async def run() -> tuple[Fetch, Site]:
        async with site(replies) as here, route(WallClock(), max_bytes=max_bytes) as fetcher:
            url = query_url(f"{here.url}/sparql", query)
            return await fetcher.fetch(asked(url, page_rows=page_rows)), here

    return asyncio.run(run())


def values(fetch: Fetch) -> list[int]:
    rows = json.loads(bytes(fetch.body))["results"]["bindings"]
    return [int(row["x"]["value"]) for row in rows]


class Answer(Endpoint):
    """Gives this answer to everything."""

    def __init__(self, reply: bytes) -> None:
        super().__init__(0)
        self.reply = reply

    def __getitem__(self, target: str) -> bytes:
        if target == "/robots.txt":
            raise KeyError(target)
        return self.reply
