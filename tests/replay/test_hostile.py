"""Archived answers and clients that mean harm."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.houses import DAY_AT, HTML, Past, seen
from tests.replay.serving import Client, replaying

from recrawl.parse import links
from recrawl.parse.pool import ParseFailed
from recrawl.web.content import original_headers

URL = "http://evil.example/"
STAMP = "20260101120000"


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    home = tmp_path_factory.mktemp("home")
    with Past(home) as past:
        headers = (
            HTML,
            ("Set-Cookie", "a=b"),
            ("Content-Security-Policy", "default-src *"),
            ("Access-Control-Allow-Origin", "*"),
            ("Location", "http://evil.example/elsewhere"),
            ("Refresh", "0; url=http://evil.example/"),
            ("Service-Worker-Allowed", "/"),
            ("Clear-Site-Data", '"*"'),
            ("X-Evil", "one\rSet-Cookie: two\nthree"),
            ("Caf\xc3\xa9", "x"),
            ("X-Name", "caf\xc3\xa9"),
        )
        past.visit(seen(URL, DAY_AT, b"<script>1</script>", *headers))
        past.visit(seen(f"{URL}a%3Eb%0D%0AX:1", DAY_AT + 60, b"x", ("Content-Type", "text/plain")))
        past.visit(seen(f"{URL}sw.js", DAY_AT + 120, b"1", ("Content-Type", "text/javascript")))
        past.visit(seen(f"{URL}doc.pdf", DAY_AT + 180, b"%PDF", ("Content-Type", "application/pdf")))
        odd = seen(f"{URL}odd", DAY_AT + 240, b"<script>1</script>", ("Content-Type", "text/html\r\nX: 1, b"))
        past.visit(odd)
    with replaying(home) as client:
        yield client


def told(client: Client, lines: bytes) -> bytes:
    """What comes back to exactly these bytes."""
    where = urlsplit(client.origin)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=60) as plain:
        plain.sendall(lines + b"\r\nConnection: close\r\n\r\n")
        found = b""
        while piece := plain.recv(65536):
            found += piece
    return found


def test_nothing_that_a_page_said_of_itself_is_obeyed(evil: Client) -> None:
    answer = evil(f"/memento/{STAMP}/{URL}")
    assert answer.status == 200
    for name in ("Set-Cookie", "Access-Control-Allow-Origin", "Location", "Refresh", "Clear-Site-Data"):
        assert not answer.has(name), name
    assert not answer.has("Service-Worker-Allowed")
    assert not answer.has("X-Evil")
    assert answer["X-Archive-Orig-X-Evil"].startswith("one")
    assert answer["X-Archive-Orig-Access-Control-Allow-Origin"] == "*"


def test_everything_is_sandboxed_and_never_sniffed_framed_or_kept(evil: Client) -> None:
    paths = ["/", "/nothing", f"/timegate/{URL}", f"/timemap/html/{URL}", f"/timegate/{URL}unknown"]
    paths += [f"/memento/{STAMP}/{URL}", f"/memento/{STAMP}id_/{URL}", "/memento/99/x"]
    for path in paths:
        answer = evil(path)
        policy = answer["Content-Security-Policy"]
        assert policy.startswith("sandbox"), path
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert not any(word in policy for word in ("allow-scripts", "allow-same-origin", "allow-popups"))
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["Referrer-Policy"] == "no-referrer"
        assert answer["Cache-Control"] == "no-store"


def test_only_what_reads_is_answered(evil: Client) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        answer = evil(f"/memento/{STAMP}/{URL}", method=method)
        assert (answer.status, answer["Allow"]) == (405, "GET, HEAD"), method


def test_a_service_worker_is_refused_and_so_is_every_name_that_is_not_this_machine_s(evil: Client) -> None:
    path = f"/memento/{STAMP}/{URL}sw.js"
    assert evil(path, Service_Worker="script").status == 403
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1"):
        assert evil(path, Host=host).status == 421, host
    for host in ("localhost:1", "a.localhost", "127.0.0.1", "[::1]:80"):
        assert evil(f"/timegate/{URL}", Host=host)["Location"].startswith(f"http://{host}/memento/")
    assert evil(path, Host='a"b').status == 400


def test_a_url_cannot_end_a_header_or_a_link(evil: Client) -> None:
    answer = evil(f"/timegate/{URL}a%3Eb%250d%250aX:1")
    assert answer.status == 404  # another URL: its percent sign is escaped
    answer = evil(f"/timegate/{URL}a%3Eb%0d%0aX:1")
    assert answer.status == 302
    assert not answer.has("X")
    assert "a%3Eb%0D%0AX:1" in answer["Location"]
    assert answer["Link"].count(">;") == answer["Link"].count("; rel=")


@pytest.mark.parametrize(
    "target",
    [
        b"/../../etc/passwd",
        b"/memento/20260101120000/file:///etc/passwd",
        b"/memento/20260101120000/../../../../etc/passwd",
        b"/timemap/link/" + b"a" * 5000,
        b"/timegate/http://[::1",
        b"/timegate/http://user:pass@evil.example/",
        b"/timegate/javascript:alert(1)",
        b"http://evil.example/",
        b"/memento/20260101120000/" + b"\xff\xfe",
        b"*",
        b"//evil.example/",
    ],
)
def test_odd_targets_find_nothing(evil: Client, target: bytes) -> None:
    answer = told(evil, b"GET " + target + b" HTTP/1.1\r\nHost: localhost")
    assert answer.split(b" ")[1] in (b"400", b"404"), answer[:200]
    assert b"root:" not in answer


def test_what_a_sandbox_cannot_show_is_saved_and_odd_types_are_none(evil: Client) -> None:
    assert evil(f"/memento/20260101120300/{URL}doc.pdf")["Content-Disposition"] == "attachment"
    odd = evil(f"/memento/20260101120400/{URL}odd")
    assert not odd.has("X")
    assert odd["Content-Type"] in ("text/html; charset=utf-8", "application/octet-stream")


def test_headers_of_other_tools_archives_cannot_begin_a_line() -> None:
    said = (
        ("A b", "x"),
        ("Ok", "one\r\nSet-Cookie: two"),
        ("Cookie", "x"),
        ("", "y"),
        ("X-Name", "caf\xc3\xa9"),
    )
    assert original_headers(said) == {
        "X-Archive-Orig-Ok": "one  Set-Cookie: two",
        "X-Archive-Orig-X-Name": "café",
    }


def test_a_page_that_no_parser_gets_through_is_shown_as_it_was(tmp_path: Path) -> None:
    deep = b"<b>" * 200_000 + b"<p>" * 200_000
    assert isinstance(links.page(deep, None, URL, "/m/"), str | ParseFailed)
    large = b"<p>x" * 5_000_000
    with Past(tmp_path) as past:
        past.visit(seen(URL, DAY_AT, large))
    with replaying(tmp_path) as client:
        answer = client(f"/memento/{STAMP}/{URL}")
        assert answer.body == large
        assert "as they were (size)" in answer["X-Recrawl-Note"]
        assert answer["Content-Security-Policy"].startswith("sandbox")


def test_a_client_that_leaves_in_the_middle_troubles_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Past(tmp_path) as past:
        past.visit(seen(URL, DAY_AT, b"\0" * 40_000_000, ("Content-Type", "image/png")))
    with replaying(tmp_path) as client:
        where = urlsplit(client.origin)
        for rude in (False, True, False, True):
            with socket.create_connection((where.hostname or "", where.port or 0), timeout=60) as plain:
                if rude:  # a reset instead of a farewell, once the server waits for the line to clear
                    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                plain.sendall(f"GET /memento/{STAMP}/{URL} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                assert plain.recv(1000).startswith(b"HTTP/1.1 200")
                time.sleep(0.3 * rude)
        assert len(client(f"/memento/{STAMP}/{URL}").body) == 40_000_000
    assert caplog.records == []


def test_a_damaged_copy_is_not_shown(tmp_path: Path) -> None:
    with Past(tmp_path) as past:
        version = past.visit(seen(URL, DAY_AT, b"x" * 1000))
    path = tmp_path / "archive" / version.file
    whole = bytearray(path.read_bytes())
    whole[version.offset + version.length // 2] ^= 1
    path.write_bytes(bytes(whole))
    with replaying(tmp_path) as client:
        answer = client(f"/memento/{STAMP}/{URL}")
        assert answer.status == 503
        assert str(tmp_path).encode() not in answer.body
        assert client("/").status == 200


def test_a_style_sheet_that_tries_to_take_for_ever_does_not() -> None:
    for hostile in (b"url(" * 500_000, b"url(" + b" " * 2_000_000, b'url("' * 400_000, b"@import " * 250_000):
        assert isinstance(links.sheet(hostile, None, URL, "/m/"), str)
