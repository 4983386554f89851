"""Adding from the web face: what would be added is shown first; no files of this machine, nothing private."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from lxml.html import fromstring
from tests.web.conftest import Served

from recrawl.model import GLOBAL, NewResource, Settings

FILES: dict[str, tuple[bytes | str, str]] = {
    "urls.txt": ("https://a.example/1\nhttps://a.example/2\n", "text/plain"),
    "urls.csv": ("name,url\none,https://a.example/1\ntwo,https://a.example/2\n", "text/csv"),
    "s.xml": (
        "<urlset><url><loc>https://a.example/1</loc></url><url><loc>https://a.example/2</loc></url></urlset>",
        "application/xml",
    ),
    "feeds.opml": (
        '<opml><body><outline xmlUrl="https://a.example/1"/><outline xmlUrl="https://a.example/2"/></body></opml>',
        "text/x-opml",
    ),
}


class _Lists(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = b""
        if self.path == "/sitemap.xml":
            self.server.go_on.wait(20.0)
            places = "".join(f"<url><loc>https://b.example/{n}</loc></url>" for n in range(3))
            body = f"<urlset>{places}<url><loc>file:///etc/passwd</loc></url></urlset>".encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
        """Nothing is logged."""


@contextmanager
def lists() -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Lists)
    server.asked, server.go_on = [], Event()
    server.go_on.set()
    with server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def begun(client: httpx.Client, **fields: Any) -> tuple[str, str]:
    """Where it is shown, and how."""
    answer = client.post("/add", data=fields.pop("data", fields), files=fields.get("files"))
    assert answer.status_code == 303, answer.text
    place = answer.headers["location"]
    return place, client.get(place).text


def read(html: str) -> Any:
    """A page as a tree; the stubs know too little of those."""
    return fromstring(html)


def n_watched(served: Served) -> int:
    with served.house() as house:
        return house.store.counts(0.0)["resources"]


def test_nothing_is_added_before_somebody_says_yes(served: Served) -> None:
    text = "https://a.example/1\nexample.org\nhttp://192.168.0.1/\nfile:///etc/passwd\n"
    with served.client() as client:
        place, shown = begun(client, text=text, tags="news, late", weight="2", max_gap="7d", kind="page")
        assert "Add 1 resource<" in shown
        for reason in (
            "did you mean https://example.org?",
            "on this machine or network",
            "a file of this machine",
        ):
            assert reason in shown.replace("&#39;", "'"), reason
        assert n_watched(served) == 0
        assert client.post(place).status_code == 303
        assert "Added 1 resource" in client.get(place).text
        assert client.post(place).status_code == 303  # once is enough
        assert n_watched(served) == 1
        added = client.get("/api/v1/resources/1").json()
        assert (added["url"], added["tags"], added["weight"]) == (
            "https://a.example/1",
            ["late", "news"],
            2.0,
        )
        assert (added["kind"], added["max_gap_s"]) == ("page", 7 * 86_400.0)
        _, again = begun(client, text=text)
        assert "all of it is watched already" in again


def test_a_private_address_that_is_watched_is_listed_as_such(served: Served) -> None:
    """Whoever runs this machine added it; to say that it cannot be watched would be wrong."""
    mine, other = "http://192.168.0.1/mine", "http://192.168.0.1/other"
    near = Settings(allow_private=True)
    with served.house() as house:
        house.store.add([NewResource(url=mine, host="192.168.0.1", settings=near)], served.clock.now())
    with served.client() as client:
        place, shown = begun(client, text=f"{mine}\n{other}\n{other}\n", tags="home")
        known, refused = shown.split("Cannot be watched: 1")
        assert "Watched already: 1" in known
        assert mine in known
        assert mine not in refused
        assert other in refused
        assert client.post(place).status_code == 303
        assert n_watched(served) == 1
        assert client.get("/api/v1/resources/1").json()["tags"] == ["home"]


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_whatever_it_is(name: str, served: Served) -> None:
    with served.client() as client:
        files = {"file": (name, *FILES[name])}
        _, shown = begun(client, data={"tags": ""}, files=files)
        assert "Add 2 resources" in shown


def test_what_is_missing_or_wrong_is_told(served: Served) -> None:
    with served.client() as client:
        for fields in (
            {},
            {"text": " "},
            {"text": "https://a.example/", "weight": "x"},
            {"text": "x", "kind": "y"},
        ):
            assert client.post("/add", data=fields).status_code == 400, fields
        big = {"file": ("big.txt", b"https://a.example/\n" * 70_000)}
        assert client.post("/add", data={"tags": ""}, files=big).status_code == 413
        assert client.get("/add/no-such-draft").status_code == 404
        assert n_watched(served) == 0


def test_a_form_that_is_refused_comes_back_with_what_was_typed(served: Served) -> None:
    said = {
        "text": "https://a.example/?a&b\n<b>",
        "address": "https://a.example/s.xml",
        "tags": "news, late",
        "kind": "feed",
        "changes": "significant",
        "weight": "much",
        "min_gap": "2d",
        "max_gap": "soon",
    }
    with served.client() as client:
        answer = client.post("/add", data=said, files={"file": ("l.txt", b"https://a.example/3")})
        assert answer.status_code == 400
        page = read(answer.text)
        (area,) = page.findall(".//textarea")
        assert area.text_content().splitlines() == said["text"].splitlines()
        fields = {one.get("name"): one for one in page.findall(".//form[@action='/add']//input")}
        for name in ("address", "tags", "weight", "min_gap", "max_gap"):
            assert fields[name].get("value") == said[name], name
        assert [one.get("value") or one.text for one in page.findall(".//option[@selected]")] == [
            "feed",
            "significant",
        ]
        assert [name for name, one in fields.items() if one.get("aria-invalid")] == [
            "file",
            "weight",
            "max_gap",
        ]
        told = {one.get("id"): one.text_content() for one in page.findall(".//label/span[@class='wrong']")}
        assert "is no number" in told["wrong-weight"]
        assert "soon" in told["wrong-max_gap"]
        assert "again" in told["wrong-file"]
        assert n_watched(served) == 0
        mended = {**said, "weight": "2", "max_gap": "3d"}
        for wrong, field, status in (
            ({"max_gap": "1d"}, "max_gap", 409),
            ({"weight": "-1"}, "weight", 400),
            ({"kind": "y"}, "kind", 400),
            ({"tags": "x" * 501}, "tags", 422),
            ({"text": "", "address": ""}, "text", 400),
        ):
            answer = client.post("/add", data={**mended, **wrong})
            assert (answer.status_code, f'id="wrong-{field}"' in answer.text) == (status, True), wrong
        assert client.post("/add", data=mended).status_code == 303


def test_an_address_on_this_machine_is_not_asked_unless_that_is_allowed(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "s.xml").write_text(str(FILES["s.xml"][0]))
    with served.client() as client, lists() as server:
        address = f"http://127.0.0.1:{server.server_port}/sitemap.xml"
        for wrong in (address, str(tmp_path / "s.xml"), (tmp_path / "s.xml").as_uri(), "gopher://a.example/"):
            _, shown = begun(client, address=wrong)
            assert "There is nothing to add here" in shown, wrong
        assert server.asked == []
        with served.house() as house:
            house.store.say(GLOBAL, Settings(allow_private=True), served.clock.now())
        place, shown = begun(client, address=address)
        for _ in range(100):
            if "Reading" not in shown:
                break
            time.sleep(0.2)
            shown = client.get(place).text
        assert "Add 3 resources" in shown
        assert "a file of this machine" in shown
        assert "/robots.txt" in server.asked  # as politely as any visit


def test_whoever_reads_slowly_keeps_nobody_waiting(served: Served) -> None:
    with served.house() as house:
        house.store.say(GLOBAL, Settings(allow_private=True), served.clock.now())
    with served.client() as client, lists() as server:
        server.go_on.clear()
        address = f"http://127.0.0.1:{server.server_port}/sitemap.xml"
        asked = client.post("/api/v1/resources", json={"sitemap": address, "tags": ["s"]})
        assert (asked.status_code, asked.json()["stage"]) == (202, "reading")
        key = asked.json()["key"]
        assert "Reading" in client.get(f"/add/{key}").text
        assert client.get(f"/add/{key}", headers={"X-Part": "1"}).status_code == 503  # it is asked again
        assert client.get("/resources").status_code == 200
        server.go_on.set()
        for _ in range(100):
            told = client.get(f"/api/v1/intakes/{key}")
            if told.status_code == 200:
                break
            time.sleep(0.2)
        found = told.json()
        assert (found["stage"], found["n_new"], found["n_refused"]) == ("done", 3, 1)
        part = client.get(f"/add/{key}", headers={"X-Part": "1"})
        assert (part.status_code, "<html" in part.text, "Added 3 resources" in part.text) == (
            200,
            False,
            True,
        )
        assert client.get("/api/v1/tags").json() == {"s": 3}


def n_tagged(client: httpx.Client, tag: str) -> int:
    """A list that is being worked out is asked for again."""
    for _ in range(60):
        answer = client.get("/api/v1/resources", params={"tag": tag})
        if answer.status_code != 202:
            break
        time.sleep(0.5)
    return int(answer.json()["n_found"])


def test_programs_add_at_once_or_try(served: Served) -> None:
    with served.client() as client:
        urls = [
            "https://a.example/1",
            "HTTPS://A.example/1",
            "nonsense",
            "https://a.example/2\nhttps://x.example/",
        ]
        tried = client.post("/api/v1/resources", json={"urls": urls, "try_only": True}).json()
        assert (tried["stage"], tried["n_new"], tried["n_refused"]) == ("ready", 1, 2)
        assert n_watched(served) == 0
        done = client.post(f"/api/v1/intakes/{tried['key']}").json()
        assert (done["stage"], done["n_new"], done["n_known"]) == ("done", 1, 0)
        again = client.post("/api/v1/resources", json={"urls": urls[:1], "tags": ["x"]}).json()
        assert (again["stage"], again["n_new"], again["n_known"]) == ("done", 0, 1)
        assert n_tagged(client, "x") == 1
        nothings: list[dict[str, object]] = [{}, {"urls": []}]
        for nothing in nothings:
            none = client.post("/api/v1/resources", json=nothing).json()
            assert (none["stage"], none["n_new"], none["n_refused"]) == ("done", 0, 0)
        unfit: list[dict[str, object]] = [
            {"urls": ["https://a.example/"], "min_gap": "soon"},
            {"urls": "x"},
        ]
        for wrong in unfit:
            assert client.post("/api/v1/resources", json=wrong).status_code in (400, 422), wrong


def test_only_so_many_lists_are_kept(served: Served) -> None:
    with served.client() as client:
        places = [begun(client, text=f"https://a.example/{n}")[0] for n in range(10)]
        kept = [client.get(place).status_code for place in places]
        assert kept == [404, 404, *[200] * 8]
        assert all(re.fullmatch(r"/add/[\w-]{16}", place) for place in places)
