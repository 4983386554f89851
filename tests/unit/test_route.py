"""Every request goes to whoever knows how to look at such a resource."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from recrawl.app.build import open_house
from recrawl.app.config import Config
from recrawl.checks import handler as checks
from recrawl.checks.handler import TroubledWeb
from recrawl.contracts import Fetcher, Handler, Premises
from recrawl.errors import PluginError
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Kind, Manner, Outcome, Request
from recrawl.observe.browser import Browser
from recrawl.observe.files import FileHandler
from recrawl.observe.negotiate import accept
from recrawl.observe.route import Route
from recrawl.observe.sparql import SparqlHandler
from recrawl.observe.threads import ThreadHandler


class ClosableWeb(TroubledWeb):
    closed = False

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class Own:
    """Somebody's plug-in."""

    kinds: frozenset[Kind] = frozenset()
    schemes: frozenset[str] = frozenset()
    media_types: frozenset[str] = frozenset()
    asked: list[Request] = field(default_factory=list)
    broken: bool = False
    closed: bool = False

    async def fetch(self, request: Request, web: Fetcher) -> Fetch:
        if self.broken:
            raise KeyError("oh")
        self.asked.append(request)
        return await web.fetch(request)

    async def aclose(self) -> None:
        self.closed = True


def ours() -> dict[str, Handler]:
    premises = Premises(clock=WallClock(), max_bytes=1024, total_s=5.0)
    return {
        "files": FileHandler(premises),
        "sparql": SparqlHandler(premises),
        "threads": ThreadHandler(premises),
    }


def route(**others: Handler) -> Route:
    return Route(ClosableWeb(), {**others, **ours()}, clock=WallClock())


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (Request(url="http://h/"), None),
        (Request(url="http://h/", kind=Kind.RDF), None),
        (Request(url="http://h/", kind=Kind.SPARQL), SparqlHandler),
        (Request(url="http://h/", kind=Kind.THREAD), ThreadHandler),
        (Request(url="http://h/", kind=Kind.BOARD), None),
        (Request(url="http://h/", media_type="application/sparql-results+json"), None),
        (Request(url="file:///a"), FileHandler),
        (Request(url="FILE:///a", kind=Kind.SPARQL), FileHandler),
        (Request(url="ftp://h/"), None),
    ],
)
def test_the_scheme_comes_before_the_kind_and_most_go_to_the_web(
    request_: Request, expected: type | None
) -> None:
    found = route().handler(request_)
    assert (found if found is None else type(found)) is expected


def test_what_is_held_decides_only_where_the_kind_is_not_said() -> None:
    own = Own(media_types=frozenset({"application/geo+json"}))
    routed = route(own=own)
    held = {"url": "http://h/", "media_type": "application/geo+json"}
    assert routed.handler(Request(**held)) is own  # type: ignore[arg-type]
    assert routed.handler(Request(**held, kind=Kind.FILE)) is None  # type: ignore[arg-type]


def test_a_page_goes_to_the_browser_only_if_its_manner_asks_for_it() -> None:
    browser = Browser(clock=WallClock(), user_agent="recrawl/1")
    routed = Route(ClosableWeb(), ours(), clock=WallClock(), browser=browser)
    rendered = Manner(render=True)
    assert routed.handler(Request(url="http://h/", manner=rendered)) is browser
    assert routed.handler(Request(url="http://h/")) is None
    assert isinstance(
        routed.handler(Request(url="http://h/", manner=rendered, kind=Kind.SPARQL)), SparqlHandler
    )


def test_a_plug_in_takes_the_place_of_ours_and_two_of_them_are_refused() -> None:
    own = Own(kinds=frozenset({Kind.SPARQL}))
    assert route(own=own).handler(Request(url="http://h/", kind=Kind.SPARQL)) is own
    with pytest.raises(PluginError, match="'own' and 'third' both claim the kind 'sparql'"):
        route(own=own, third=Own(kinds=frozenset({Kind.SPARQL})))


@pytest.mark.parametrize("own", [Own(schemes=frozenset({"https"})), Own(kinds=frozenset({Kind.AUTO}))])
def test_nobody_claims_the_whole_web(own: Own) -> None:
    with pytest.raises(PluginError, match="whole web"):
        route(own=own)


def test_a_request_to_the_web_carries_what_its_kind_accepts() -> None:
    web = ClosableWeb()

    async def asked() -> list[str]:
        async with Route(web, ours(), clock=WallClock()) as routed:
            await routed.fetch(Request(url="http://h/", kind=Kind.CSV))
            await routed.fetch(Request(url="http://h/"))
        return [request.accept for request in web.asked]

    assert asyncio.run(asked()) == [accept(Kind.CSV), "*/*"]
    assert web.closed


def test_a_broken_plug_in_is_a_failure_of_one_visit() -> None:
    own = Own(kinds=frozenset({Kind.FEED}), broken=True)
    fetch = asyncio.run(route(own=own).fetch(Request(url="http://h/", kind=Kind.FEED)))
    assert fetch.outcome is Outcome.NET_ERROR
    assert fetch.failure is not None
    assert fetch.failure.reason == "unexpected"


def test_handlers_are_closed_with_the_route() -> None:
    own = Own(kinds=frozenset({Kind.FEED}))
    asyncio.run(route(own=own).aclose())
    assert own.closed


def test_the_house_finds_handlers_by_their_entry_points(tmp_path: Path) -> None:
    async def found() -> Handler | None:
        with open_house(tmp_path, config=Config()) as house:
            async with house.fetcher() as routed:
                return routed.handler(Request(url="http://h/", kind=Kind.SPARQL))

    assert isinstance(asyncio.run(found()), SparqlHandler)


Check = Callable[[Callable[[Premises], Handler], Request], Coroutine[None, None, None]]
SPARQL = Request(url="http://h/sparql?query=ASK%7B%7D", kind=Kind.SPARQL)
PAGED = Request(url="http://h/?query=SELECT*%7B%7D", kind=Kind.SPARQL, manner=Manner(page_rows=5))
LONG = Request(url="http://h/?query=ASK%7B%7D%23" + "x" * 3000, kind=Kind.SPARQL)


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    ("make", "request_"),
    [
        (SparqlHandler, SPARQL),
        (SparqlHandler, PAGED),
        (SparqlHandler, LONG),
        (FileHandler, Request(url="file:///a")),
        (ThreadHandler, Request(url="http://h/t/1", kind=Kind.THREAD)),
        (ThreadHandler, Request(url="http://h/t/1", kind=Kind.THREAD, resume_url="http://h/t/1?page=2")),
    ],
    ids=["sparql", "paged", "posted", "files", "thread", "resumed"],
)
def test_our_handlers_keep_the_contract(
    check: Check, make: Callable[[Premises], Handler], request_: Request
) -> None:
    asyncio.run(check(make, request_))


class Careless(SparqlHandler):
    """Lets everything be visited, and takes trouble for an empty result."""

    async def fetch(self, request: Request, web: Fetcher) -> Fetch:
        found = await web.fetch(Request(url=request.url, allow_private=True))
        return Fetch(request=request, outcome=Outcome.OK, url=found.url, started_at=1.0, ended_at=1.0)


def test_the_checks_catch_a_careless_handler() -> None:
    caught = []
    for check in checks.CHECKS:
        try:
            asyncio.run(check(Careless, SPARQL))
        except AssertionError:
            caught.append(check)
    assert caught == [
        checks.check_trouble_on_the_web_comes_back_as_a_failure,
        checks.check_permissions_are_passed_on_as_they_are,
        checks.check_nonsense_is_a_value,
    ]
