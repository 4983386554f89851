"""What is sent, to whom, through whom, and what is told of it afterwards."""

from __future__ import annotations

import asyncio
import gzip
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.origin import Origin, Replies, moved, serving

from recrawl.checks.fetcher import said
from recrawl.live.clock import WallClock
from recrawl.model import Access, Fetch, Manner, Outcome, Request
from recrawl.observe.http import HttpFetcher, Limits
from recrawl.observe.question import WITHHELD
from recrawl.parse import spool

CANARY = "canary-7f3a"
ACCESS = Access(
    headers=(("X-Key", f"{CANARY}1"),),
    cookies=(("sid", f"{CANARY}2"), ("theme", "dark")),
    basic=("anna", f"{CANARY}3"),
)
SECRET = ("x-key", "cookie", "authorization")
PAGE = said("200 OK", b"<p>here", Content_Type="text/html")


def fetcher(**settings: Any) -> HttpFetcher:
    return HttpFetcher(clock=WallClock(), user_agent="recrawl-test/1", min_delay_s=0.0, **settings)


def asked(
    replies: dict[str, Replies], path: str = "/", door: str = "plain", **request: Any
) -> tuple[Fetch, Origin]:
    async def run() -> tuple[Fetch, Origin]:
        async with serving(replies) as origin, fetcher() as here:
            url = origin.url("a-1", door) + path
            return await here.fetch(Request(**{"url": url, "allow_private": True, **request})), origin

    return asyncio.run(run())


# -- secrets ---------------------------------------------------------------------------------------------


def test_access_is_sent_to_the_page_and_not_to_robots_txt() -> None:
    _, origin = asked({"a": {"*": PAGE}}, access=ACCESS)
    robots, page = origin.asked["a-1"]
    assert (robots.path, page.path) == ("/robots.txt", "/")
    assert page.headers["x-key"] == f"{CANARY}1"
    assert page.headers["cookie"] == f"sid={CANARY}2; theme=dark"
    assert page.headers["authorization"] == f"Basic {b64encode(f'anna:{CANARY}3'.encode()).decode()}"
    assert not set(SECRET) & set(robots.headers)


def test_a_bearer_token_is_sent_as_one() -> None:
    _, origin = asked({"a": {"*": PAGE}}, access=Access(bearer=CANARY))
    assert origin.asked["a-1"][-1].headers["authorization"] == f"Bearer {CANARY}"


def test_nothing_secret_is_told_of() -> None:
    fetch, _ = asked({"a": {"*": PAGE}}, access=ACCESS)
    told = {name.lower(): value for name, value in fetch.request_headers}
    assert {told[name] for name in SECRET} == {WITHHELD}
    assert told["user-agent"] == "recrawl-test/1"
    assert CANARY not in repr(fetch)
    assert b64encode(f"anna:{CANARY}3".encode()).decode() not in repr(fetch)


def test_access_goes_along_with_a_redirect_on_the_same_host() -> None:
    fetch, origin = asked({"a": {"/": moved("/in"), "/in": PAGE}}, access=ACCESS)
    assert fetch.outcome is Outcome.OK
    assert [seen.headers.get("x-key") for seen in origin.asked["a-1"]] == [None, f"{CANARY}1", f"{CANARY}1"]


def test_access_is_dropped_on_the_way_to_another_host_and_not_given_back_behind_it() -> None:
    replies: dict[str, Replies] = {
        "a": {"/": moved("http://@OTHER@/"), "/back": PAGE},
        "a-b": {"/": "to be set"},  # type: ignore[dict-item]
    }

    async def run() -> tuple[Fetch, Origin]:
        async with serving(replies) as origin, fetcher() as here:
            replies["a-b"] = {"/": moved(f"{origin.url('a-1')}/back")}
            request = Request(url=f"{origin.url('a-1')}/", allow_private=True, access=ACCESS)
            return await here.fetch(request), origin

    fetch, origin = asyncio.run(run())
    assert fetch.outcome is Outcome.OK
    with_access = [seen.path for seen in origin.asked["a-1"] if "cookie" in seen.headers]
    assert with_access == ["/"]
    assert [seen.path for seen in origin.asked["a-1-b"]] == ["/robots.txt", "/"]
    assert not any(set(SECRET) & set(seen.headers) for seen in origin.asked["a-1-b"])


@pytest.mark.parametrize("door", ["plain", "good"])
def test_access_is_dropped_when_the_scheme_or_the_port_changes(door: str) -> None:
    other = {"plain": "good", "good": "plain"}[door]
    replies: dict[str, Replies] = {"a": {}}

    async def run() -> tuple[Fetch, Origin]:
        async with serving(replies) as origin, fetcher() as here:
            replies["a"] = {"/": moved(origin.url("a-1", other) + "/in"), "/in": PAGE}
            url = origin.url("a-1", door) + "/"
            manner = Manner(insecure=True)
            return await here.fetch(
                Request(url=url, allow_private=True, access=ACCESS, manner=manner)
            ), origin

    fetch, origin = asyncio.run(run())
    assert fetch.outcome is Outcome.OK
    assert {seen.path: "cookie" in seen.headers for seen in origin.asked["a-1"]} == {
        "/robots.txt": False,
        "/": True,
        "/in": False,
    }


@pytest.mark.parametrize(
    "access",
    [
        Access(headers=(("X-Key", f"{CANARY}\r\nX-More: 1"),)),
        Access(headers=(("X Key", CANARY),)),
        Access(headers=(("Host", CANARY),)),
        Access(headers=(("If-None-Match", CANARY),)),
        Access(cookies=(("sid", f"{CANARY}; other=1"),)),
        Access(basic=("an:na", CANARY)),
        Access(bearer=f"{CANARY}\n"),
        Access(proxy=f"socks5://u:{CANARY}@127.0.0.1"),
        Access(proxy=f"http://u:{CANARY}@127.0.0.1:99999"),
        Access(proxy=f"{CANARY}"),
    ],
)
def test_access_that_cannot_be_sent_is_refused_without_a_word_of_it(access: Access) -> None:
    fetch, origin = asked({"a": {"*": PAGE}}, access=access)
    assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.BLOCKED, "header")
    assert fetch.failure is not None
    assert "recrawl access set" in fetch.failure.detail
    assert CANARY not in repr(fetch.failure) or access.headers[:1] == (("X Key", CANARY),)
    assert not origin.asked


# -- manners ---------------------------------------------------------------------------------------------


def test_the_user_agent_of_a_resource_is_used_and_robots_txt_speaks_to_it() -> None:
    robots = said("200 OK", b"User-agent: other\nDisallow: /\n")
    replies: dict[str, Replies] = {"a": {"/robots.txt": robots, "*": PAGE}}
    fetch, origin = asked(replies, manner=Manner(user_agent="mine/2 (+https://a.example)"))
    assert fetch.outcome is Outcome.OK
    assert {seen.headers["user-agent"] for seen in origin.asked["a-1"]} == {"mine/2 (+https://a.example)"}
    fetch, origin = asked(replies, manner=Manner(user_agent="other/2"))
    assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.BLOCKED, "robots")


@pytest.mark.parametrize("agent", ["naïve/1", "a\nb", "/2"])
def test_a_user_agent_that_cannot_be_sent_is_refused(agent: str) -> None:
    fetch, origin = asked({"a": {"*": PAGE}}, manner=Manner(user_agent=agent))
    assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.BLOCKED, "header")
    assert not origin.asked


def test_what_the_request_accepts_is_asked_of_the_page() -> None:
    _, origin = asked({"a": {"*": PAGE}}, accept="text/turtle, */*;q=0.1")
    assert [seen.headers["accept"] for seen in origin.asked["a-1"]] == ["*/*", "text/turtle, */*;q=0.1"]


def test_the_limit_of_a_resource_takes_the_place_of_the_usual_one() -> None:
    limits = Limits(wire_bytes=1_000, body_bytes=2_000)

    async def run(max_bytes: int | None) -> Fetch:
        async with (
            serving({"a": {"*": said("200 OK", b"x" * 5_000)}}) as origin,
            fetcher(limits=limits) as here,
        ):
            manner = Manner(max_bytes=max_bytes)
            return await here.fetch(Request(url=f"{origin.url('a-1')}/", allow_private=True, manner=manner))

    fetches = [asyncio.run(run(most)) for most in (None, 5_000, 4_999, 100)]
    assert [len(fetch.body) for fetch in fetches] == [1_000, 5_000, 4_999, 100]
    assert [fetch.outcome for fetch in fetches] == [
        Outcome.TRUNCATED,
        Outcome.OK,
        Outcome.TRUNCATED,
        Outcome.TRUNCATED,
    ]


def test_no_limit_of_a_resource_is_above_a_gibibyte() -> None:
    limits = Limits(body_bytes=7)
    assert limits.wire_bytes_for(Manner(max_bytes=1 << 40)) == 1 << 30
    assert limits.body_bytes_for(Manner(max_bytes=1 << 40)) == 4 << 30
    assert limits.body_bytes_for(Manner()) == 7


@pytest.mark.parametrize("door", ["expired", "elsewhere", "alone", "good"])
def test_a_certificate_is_verified_unless_the_resource_says_otherwise_and_that_is_told(door: str) -> None:
    fetch, origin = asked({"a": {"*": PAGE}}, door=door)
    assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.NET_ERROR, "tls")
    assert not origin.asked
    fetch, origin = asked({"a": {"*": PAGE}}, door=door, manner=Manner(insecure=True))
    assert (fetch.outcome, fetch.unverified) == (Outcome.OK, True)


def test_one_fetch_without_verification_opens_no_door_to_the_next() -> None:
    async def run() -> list[Outcome]:
        async with serving({"a": {"*": PAGE}}) as origin, fetcher() as here:
            url = f"{origin.url('a-1', 'alone')}/"
            manners = [Manner(insecure=True), Manner(), Manner(insecure=False), Manner(insecure=True)]
            requests = [Request(url=url, allow_private=True, manner=manner) for manner in manners]
            return [(await here.fetch(request)).outcome for request in requests]

    failed = Outcome.NET_ERROR
    assert asyncio.run(run()) == [Outcome.OK, failed, failed, Outcome.OK]


def test_an_old_protocol_is_not_spoken_even_without_verification() -> None:
    fetch, _ = asked({"a": {"*": PAGE}}, door="old", manner=Manner(insecure=True))
    assert fetch.outcome is Outcome.NET_ERROR


def test_plain_http_has_no_certificate_to_speak_of() -> None:
    fetch, _ = asked({"a": {"*": PAGE}}, manner=Manner(insecure=True))
    assert (fetch.outcome, fetch.unverified) == (Outcome.OK, False)


# -- forms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kept"),
    [
        ("301 Moved", False),
        ("302 Found", False),
        ("303 See", False),
        ("307 Again", True),
        ("308 Moved", True),
    ],
)
def test_a_form_is_posted_and_some_redirects_ask_for_it_again(status: str, kept: bool) -> None:
    form = "query=SELECT+%2A"
    posted = {f"/ {form}": moved("/in", status), f"/in {form}": PAGE, "/in": PAGE}
    fetch, origin = asked({"a": posted}, form=form, etag='"v1"')
    first, last = origin.asked["a-1"][1:]
    assert fetch.outcome is Outcome.OK
    assert first.path == f"/ {form}"
    assert first.headers["content-type"] == "application/x-www-form-urlencoded"
    assert "if-none-match" not in first.headers
    assert last.path == (f"/in {form}" if kept else "/in")
    assert ("content-type" in last.headers) is kept
    assert fetch.form == (form if kept else None)


# -- time and room ---------------------------------------------------------------------------------------


def test_the_time_that_the_server_took_is_that_of_the_last_request() -> None:
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.3)
        writer.write(PAGE)

    fetch, _ = asked({"a": {"/": slow, "/robots.txt": said("404 None")}})
    assert 0.3 <= fetch.server_s < 2.0
    fetch, _ = asked({"a": {"/robots.txt": slow, "/": PAGE}})
    assert 0.0 < fetch.server_s < 0.3


def test_a_full_disk_is_our_trouble_and_not_the_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "_unnamed", full)
    for reply in (
        said("200 OK", bytes(3 << 20)),
        said("200 OK", gzip.compress(bytes(3 << 20)), Content_Encoding="gzip"),
    ):
        fetch, _ = asked({"a": {"*": reply}})
        assert (fetch.outcome, fetch.failure and fetch.failure.reason) == (Outcome.BLOCKED, "disk")
        assert fetch.failure is not None
        assert "make room" in fetch.failure.detail
