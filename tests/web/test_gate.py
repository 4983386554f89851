"""Nobody comes in without a token, whatever is asked for; and nothing is changed by a page elsewhere."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Mount, Route
from tests.web import year as years
from tests.web.conftest import Served

from recrawl.app.tokens import May, Tokens
from recrawl.web.face import live, sessions
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


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "a b", ""])
def test_it_answers_to_its_own_names_alone(served: Served, name: str) -> None:
    host, port = served.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10.0) as wire:
        said = f"Host: {name}\r\n" if name else ""
        wire.sendall(f"GET /api HTTP/1.0\r\n{said}Authorization: Bearer {served.token}\r\n\r\n".encode())
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


def test_sessions_end(tmp_path: Path) -> None:
    key = b"k" * 32
    cookie = sessions.opened("ada \N{SNOWMAN}", key, 1000.0)
    assert sessions.holder(cookie, key, 1000.0) == "ada \N{SNOWMAN}"
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
