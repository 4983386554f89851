"""Discourse topics as a corpus of threads: out of files, and asked of a forum."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from tests.importers import T0, same, taken, taken_in_parts

from recrawl.corpora.importers.threads.discourse import Discourse
from recrawl.errors import BadInputError


def post(n: int, at: int, text: str = "Hello", **said: Any) -> dict[str, Any]:
    moment = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.123Z")
    return {"id": n, "created_at": moment, "username": f"user{n % 3}", "cooked": f"<p>{text}</p>", **said}


def topic(n: int, posts: list[Any], stream: list[int] | None = None) -> dict[str, Any]:
    ids = stream or [one["id"] for one in posts if isinstance(one, dict) and "id" in one]
    return {
        "id": n,
        "title": f"Topic {n}",
        "category_id": 7,
        "post_stream": {"posts": posts, "stream": ids},
    }


def test_a_topic_is_a_resource_and_every_post_an_event_with_its_text(tmp_path: Path) -> None:
    path = tmp_path / "12.json"
    posts = [
        post(1, T0, "One <b>two</b><br>three &amp; four"),
        post(2, T0 + 60),
        post(3, T0 + 70, post_type=3),  # "closed"
        post(2, T0 + 60),
    ]
    path.write_text(json.dumps(topic(12, posts, stream=[1, 2, 3, 4, 5])))
    found = taken(Discourse(base="https://forum.example.org/"), path, tmp_path / "out", strict=True)
    url = "https://forum.example.org/t/12"
    assert found.events == {url: [(T0, "1"), (T0 + 60, "2")]}
    row = found.facts[url]
    assert (row["host"], row["board"], row["forum"], row["title"]) == (
        "forum.example.org", "forum.example.org", "7", "Topic 12",
    )  # fmt: skip
    assert found.threads["Topic 12"]["posts"][0] == {
        "at": T0, "user": "user1", "text": "One two\nthree & four",
    }  # fmt: skip
    assert found.result.left_out == {
        "posts that come twice": 1,
        "notes of the forum's own (closed, moved …)": 1,
        "posts that a topic names and its file does not hold": 2,
    }
    assert found.corpus.about.kind == "thread"


def test_folders_of_files_and_lines_are_read_and_what_is_wrong_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "forum"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps([topic(1, [post(1, T0)]), topic(2, [post(2, T0)])]))
    rows = [
        json.dumps(topic(3, [post(3, T0), post(4, T0, created_at="soon"), "odd"])),
        "",
        "{broken",
        json.dumps({"id": 9, "post_stream": None}),
        "[" * 100_000,
        json.dumps(topic(4, [post(5, T0, cooked=None, raw="raw")])),
    ]
    (folder / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    (folder / "c.json").write_text("no JSON")
    found = taken(Discourse(), folder, tmp_path / "out")
    assert set(found.events) == {"t/1", "t/2", "t/3", "t/4"}
    assert found.threads["Topic 4"]["posts"][0]["text"] == "raw"
    assert found.facts["t/1"]["host"] == "forum"
    assert found.result.examples == {
        "the time cannot be read": ["b.jsonl.gz:1, post 2"],
        "not a post": ["b.jsonl.gz:1, post 3"],
        "not JSON": ["b.jsonl.gz:3", "b.jsonl.gz:5", "c.json:1"],
        "not a topic (an object with post_stream.posts)": ["b.jsonl.gz:4"],
    }
    with pytest.raises(BadInputError, match=r"b\.jsonl\.gz:1, post 2: the time cannot be read"):
        taken(Discourse(), folder, tmp_path / "strict", strict=True)


def test_an_import_that_was_cut_off_goes_on_with_the_next_file(tmp_path: Path) -> None:
    folder = tmp_path / "forum"
    folder.mkdir()
    for n in range(12):
        (folder / f"{n:02}.json").write_text(
            json.dumps(topic(n, [post(9 * n + k, T0 + k) for k in range(9)]))
        )
    whole = taken(Discourse(), folder, tmp_path / "whole")
    parts = taken_in_parts(Discourse, folder, tmp_path / "parts", 5)
    assert parts.result.went_on
    same(whole, parts)
    assert whole.threads == parts.threads


class Forum(BaseHTTPRequestHandler):
    """A forum with 45 topics of which number 3 has 50 posts and number 5 is private."""

    asked: list[str]
    busy: set[str]

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        path, query = urlsplit(self.path).path, parse_qsl(urlsplit(self.path).query)
        if path in self.busy:
            type(self).busy.discard(path)
            self.send_response(429)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        found = self._answer(path, query)
        body = json.dumps(found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer(self, path: str, query: list[tuple[str, str]]) -> Any:
        if path == "/latest.json":
            page = int(dict(query)["page"])
            topics = [{"id": n} for n in range(45, 0, -1)][page * 30 : page * 30 + 30]
            more = {"more_topics_url": "/latest?page=1"} if page == 0 else {}
            return {"topic_list": {"topics": topics, **more}}
        if path == "/t/3/posts.json":
            ids = [int(value) for name, value in query if name == "post_ids[]"]
            return {"post_stream": {"posts": [post(n, T0 + n) for n in ids]}} if len(ids) <= 20 else None
        name = path.removeprefix("/t/").removesuffix(".json")
        if name == "3":
            return topic(3, [post(n, T0 + n) for n in range(20)], list(range(50)))
        return None if name == "5" else topic(int(name), [post(1, T0 + int(name))])

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def forum(*busy: str) -> Iterator[tuple[str, type[Forum]]]:
    handler = type("Handler", (Forum,), {"asked": [], "busy": set(busy)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", handler
        finally:
            server.shutdown()
            thread.join()


def test_a_forum_is_asked_for_topics_and_for_the_posts_that_do_not_come_with_them(tmp_path: Path) -> None:
    with forum("/t/3.json") as (base, handler):
        found = taken(Discourse(topics=["3", "5", "4"]), base, tmp_path / "out")
        one = taken(Discourse(), f"{base}/t/some-words/4/2", tmp_path / "one")
    assert [at - T0 for at, _ in found.events[f"{base}/t/3"]] == list(range(50))
    assert found.result.skipped == {"the topic cannot be had": 1}
    assert list(one.events) == [f"{base}/t/4"]
    assert [path.partition("?")[0] for path in handler.asked] == [
        "/t/3.json", "/t/3.json", "/t/3/posts.json", "/t/3/posts.json", "/t/5.json", "/t/4.json", "/t/4.json",
    ]  # fmt: skip


def test_the_latest_topics_are_listed_page_by_page_and_an_import_goes_on_with_the_rest(
    tmp_path: Path,
) -> None:
    with forum() as (base, handler):
        found = taken_in_parts(Discourse, base, tmp_path / "out", 20, latest=44)
    assert set(found.events) == {f"{base}/t/{n}" for n in range(2, 46)} - {f"{base}/t/5"}
    assert [path for path in handler.asked if "latest" in path] == [
        "/latest.json?page=0",
        "/latest.json?page=1",
    ]
    assert len([path for path in handler.asked if path == "/t/45.json"]) == 1


def test_what_cannot_be_asked_for_is_said(tmp_path: Path) -> None:
    with forum() as (base, _):
        for importer, source, said in (
            (Discourse(), base, "Say which topics"),
            (Discourse(topics=["5"]), base, "answered with status 404"),
            (Discourse(latest=3), tmp_path, "say what to ask a forum for"),
        ):
            with pytest.raises(BadInputError, match=said):
                taken(importer, source, tmp_path / f"out-{said[:3]}")
    with pytest.raises(BadInputError, match="topics' numbers"):
        Discourse(topics=["../x"])
