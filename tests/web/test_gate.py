"""Nobody comes in without a token, whatever is asked for; and nothing is changed by a page elsewhere."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Mount, Route
from tests.web import year as years
from tests.web.conftest import Served

from recrawl.app.tokens import May, Tokens
from recrawl.web.face import gate, live, sessions
from recrawl.web.face.api import API
from recrawl.web.face.app import API_PATH, create
from recrawl.web.face.gate import POLICY, local_path
from recrawl.web.face.pages import PAGES


def routes(app: FastAPI) -> list[tuple[str, str]]:
    """All there are: pages, API, what the framework adds, and what the gate itself answers."""
    mine = [(router, "") for router in (*PAGES, live.router)] + [(router, API_PATH) for router in API]
    some = [(route, prefix) for router, prefix in mine for route in router.routes]
    some += [(route, "") for route in app.routes]
    found = {("GET", "/enter"), ("POST", "/enter"), ("POST", "/leave"), ("GET", "/no-such-thing")}
    for route, prefix in some:
        if isinstance(route, Mount):
            found.add(("GET", f"{route.path}/face.js"))
        elif isinstance(route, Route):
            path = prefix + re.sub(r"{[^}]*}", "1", route.path)
            found |= {(method, path) for method in route.methods or {"GET"}}
    described = app.openapi()["paths"]
    assert {path for _, path in found} >= {re.sub(r"{[^}]*}", "1", path) for path in described}
    return sorted(found)


@contextmanager
def asking(served: Served, request: bytes) -> Iterator[socket.socket]:
    """Exactly these bytes, which no client would send."""
    host, port = served.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10.0) as wire:
        wire.sendall(request)
        yield wire


def test_every_route_is_closed_to_strangers(served: Served, tmp_path: Path) -> None:
    app = create(tmp_path, Tokens(tmp_path / "tokens.json"))
    app.state.desk.close()
    all_routes = routes(app)
    assert len(all_routes) > 5
    for headers in ({}, {"Authorization": "Bearer rc_wrong"}, {"Cookie": "recrawl=x.y.z.w"}):
        with httpx.Client(base_url=served.base, headers=headers) as stranger:
            for method, path in all_routes:
                answer = stranger.request(method, path)
                assert answer.status_code in (401, 403), (method, path, headers, answer.status_code)
                assert "recrawl/" not in answer.text
                assert "0.1.0" not in answer.text
                assert "Server" not in answer.headers


def test_a_token_for_reading_changes_nothing(served: Served, tmp_path: Path) -> None:
    app = create(tmp_path, Tokens(tmp_path / "tokens.json"))
    app.state.desk.close()
    secret = served.tokens.add("reader", May.READ, years.NOW)
    with served.client(secret) as reader:
        assert reader.get("/api").status_code == 200
        for method, path in routes(app):
            if method not in ("GET", "HEAD", "OPTIONS") and path not in ("/enter", "/leave"):
                assert reader.request(method, path).status_code == 403, (method, path)


def test_a_token_for_feeds_opens_nothing_else(served: Served) -> None:
    secret = served.tokens.add("feeds", May.FEED, years.NOW)
    with served.client(secret) as reader:
        assert reader.get("/api").status_code == 403
        assert reader.get("/api/v1/openapi.json").status_code == 403
    with served.client("") as stranger:
        assert stranger.get(f"/api?token={secret}").status_code == 401
        assert (
            stranger.get(f"/changes.atom?token={served.token}").status_code == 401
        )  # too good for an address


def test_a_removed_token_opens_nothing_and_ends_its_sessions(served: Served) -> None:
    secret = served.tokens.add("laptop", May.WRITE, years.NOW)
    with served.client("") as browser:
        assert browser.post("/enter", data={"token": secret}).status_code == 303
        assert browser.get("/api").status_code == 200
        served.tokens.remove("laptop")
        assert browser.get("/api").status_code == 401
    with served.client(secret) as program:
        assert program.get("/api").status_code == 401


def test_sessions_are_a_tokens_own(served: Served) -> None:
    """Another token of the same name does not bring them back, nor does another start of the server."""
    first = served.tokens.add("laptop", May.WRITE, years.NOW)
    with served.client("") as browser, served.client("") as starter:
        assert browser.post("/enter", data={"token": first}).status_code == 303
        assert starter.post("/enter", data={"token": served.token}).status_code == 303
        served.tokens.remove("laptop")
        served.tokens.add("laptop", May.WRITE, years.NOW)
        served.tokens.begin("rc_another-start", years.NOW)
        assert browser.get("/api").status_code == 401
        assert starter.get("/api").status_code == 401


def test_the_file_holds_no_token(served: Served) -> None:
    secret = served.tokens.add("laptop", May.WRITE, years.NOW)
    text = (served.home / "tokens.json").read_text()
    assert secret not in text
    assert secret[3:] not in text
    assert (served.home / "tokens.json").stat().st_mode & 0o077 == 0


def test_a_session_changes_something_only_with_its_word(served: Served) -> None:
    with served.client("") as browser:
        browser.post("/enter", data={"token": served.token})
        assert browser.post("/leave").status_code == 403
        assert browser.post("/leave", data={"csrf": "guessed"}).status_code == 403
        page = browser.get("/api").text
        found = re.search(r'name="csrf" value="([^"]+)"', page)
        assert found is not None
        for headers in (
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://["},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            assert browser.post("/leave", data={"csrf": found[1]}, headers=headers).status_code == 403
        assert browser.post("/leave", data={"csrf": found[1]}).status_code == 303
        assert browser.get("/api").status_code == 401


def test_entering_leads_to_a_path_of_ours(served: Served) -> None:
    with served.client("") as browser:
        for wanted, led in (
            ("/plan?x=1", "/plan?x=1"),
            ("//evil.example/", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example/", "/"),
            ("/x\r\nSet-Cookie: a=b", "/"),
        ):
            answer = browser.post("/enter", data={"token": served.token, "next": wanted})
            assert answer.headers["location"] == led
            cookie = answer.headers["set-cookie"].lower()
            assert "httponly" in cookie
            assert "samesite=lax" in cookie


@pytest.mark.parametrize(
    "name", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "a b", "", "[:::]", "[1.2]", "x@localhost"]
)
def test_it_answers_to_its_own_names_alone(served: Served, name: str) -> None:
    said = f"Host: {name}\r\n" if name else ""
    request = f"GET /api HTTP/1.0\r\n{said}Authorization: Bearer {served.token}\r\n\r\n"
    with asking(served, request.encode()) as wire:
        assert wire.recv(1000).split(b" ")[1] in (b"421", b"400")


def test_every_answer_keeps_others_out(served: Served) -> None:
    with served.client() as client:
        for path in ("/api", "/no-such-thing", "/static/face.js", "/api/v1/openapi.json"):
            headers = client.get(path).headers
            assert headers["content-security-policy"] == POLICY
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["cross-origin-resource-policy"] == "same-origin"
    with served.client("") as stranger:
        policy = stranger.get("/").headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")


def test_too_large_a_body_is_refused_before_it_is_read(served: Served) -> None:
    with served.client() as client:
        assert client.post("/api/v1/resources", content=b"x" * ((1 << 20) + 1)).status_code == 413
        pieces = (b"x" * 65536 for _ in range(20))
        assert client.post("/api/v1/resources", content=pieces).status_code == 413


def test_of_strangers_nothing_is_read_but_a_token(served: Served) -> None:
    """Whoever may not change anything is told so before a byte of what they send was waited for."""
    reader = served.tokens.add("reader", May.READ, years.NOW)
    for secret, path, status in (
        ("rc_wrong", "/api/v1/resources", b"401"),
        (reader, "/api/v1/resources", b"403"),
        ("", "/enter", b"413"),
    ):
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {secret}\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\n"
        )
        with asking(served, head.encode()) as wire:
            assert wire.recv(1000).split(b" ")[1] == status, path


def test_a_body_that_never_ends_is_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_S", 0.3)
    head = (
        f"POST /api/v1/resources HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    with asking(served, head.encode()) as wire:
        assert wire.recv(1000).split(b" ")[1] == b"408"


def test_a_cookie_costs_no_more_than_its_length(served: Served) -> None:
    """Quoted backslashes are bait for readers that look at all that follows, once for each."""
    for bait in ('x="' + "\\a" * 30_000 + '"', "recrawl=" + "." * 60_000, ";" * 60_000):
        with served.client("") as stranger:
            begun = time.perf_counter()
            assert stranger.get("/", headers={"Cookie": bait}).status_code == 401
            assert time.perf_counter() - begun < 2.0


def test_a_form_that_cannot_be_read_is_refused(served: Served) -> None:
    wrong = {"Content-Type": "multipart/form-data; boundary=x"}
    with served.client("") as browser:
        assert browser.post("/enter", content=b"--y\r\n\r\n", headers=wrong).status_code == 401
        assert browser.post("/enter", data={"token": served.token}).status_code == 303
        assert browser.post("/leave", content=b"--y\r\n\r\n", headers=wrong).status_code == 403


AROUND = (
    "//",
    "//changes.atom",
    "/changes.atom/",
    "/./resources",
    "/%2e%2e/tokens.json",
    "/static/../gate.py",
    "/static/%2e%2e/gate.py",
    "/static/..%2fgate.py",
    "/static/%2e%2e%2f%2e%2e%2fgate.py",
    "/static//etc/passwd",
    "/static/face.js%00.css",
    "/api/v1/../../tokens.json",
)


def test_no_path_leads_around(served: Served) -> None:
    feed = served.tokens.add("feeds", May.FEED, years.NOW)
    for path in AROUND:
        for secret, status in ((served.token, b"404"), (feed, b"403"), ("", b"401")):
            said = f"Authorization: Bearer {secret}\r\n" if secret else ""
            with asking(served, f"GET {path} HTTP/1.0\r\nHost: localhost\r\n{said}\r\n".encode()) as wire:
                assert wire.recv(1000).split(b" ")[1] == status, (path, secret)


def test_no_other_word_stands_for_a_method(served: Served) -> None:
    reader = served.tokens.add("reader", May.READ, years.NOW)
    with served.client(reader) as client:
        for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
            answer = client.get("/api/v1/budget", headers={name: "PUT"})
            assert answer.status_code == 200
            assert client.post("/api/v1/budget", headers={name: "GET"}).status_code == 403
        assert client.post("/api/v1/budget?_method=GET", data={"_method": "GET"}).status_code == 403


def test_what_breaks_inside_is_sealed_too(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.begin("rc_t", years.NOW)
    app = create(tmp_path, tokens)

    @app.get("/breaks")
    @app.get("/api/v1/breaks")
    def breaks() -> None:
        raise ValueError("with something of ours")

    async def asked() -> list[httpx.Response]:
        transport, token = httpx.ASGITransport(app), {"Authorization": "Bearer rc_t"}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=token
        ) as client:
            return [await client.get(path) for path in ("/breaks", "/api/v1/breaks")]

    page, row = asyncio.run(asked())
    app.state.desk.close()
    for answer in (page, row):
        assert answer.status_code == 500
        assert "something of ours" not in answer.text
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert set(row.json()) == {"error"}


def test_sessions_end(tmp_path: Path) -> None:
    key = b"k" * 32
    cookie = sessions.opened("d1ge57", key, 1000.0)
    assert sessions.holder(cookie, key, 1000.0) == "d1ge57"
    assert sessions.holder(cookie, key, 1000.0 + sessions.LASTS_S + 2.0) is None
    assert sessions.holder(cookie, b"x" * 32, 1000.0) is None
    assert sessions.holder(cookie[:-1] + ("A" if cookie[-1] != "A" else "B"), key, 1000.0) is None
    for junk in ("", ".", "a.b.c", "\N{SNOWMAN}", "9" * 1000, "1.2.3.4.5"):
        assert sessions.holder(junk, key, 0.0) is None
    assert sessions.word(cookie, key) != sessions.word(cookie, b"x" * 32)


def test_paths_of_ours_are_paths() -> None:
    assert local_path("/hosts/a%2Fb?x=%20") == "/hosts/a%2Fb?x=%20"
    assert local_path("/enter") == "/"
    assert local_path("javascript:alert(1)") == "/"
