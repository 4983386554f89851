"""Our archive in a real pywb: as a folder of WARC files with our index, and as a WACZ."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path

import pytest
from tests.houses import DAY_AT, Past, seen
from tests.replay.collection import Collection, digest_of, undone

from recrawl.app.build import open_house
from recrawl.app.collection import Wanted, write_wacz, write_warc
from recrawl.model import DAY_S, Outcome
from recrawl.remember.cdx import cdxj

PYWB = Path(__file__).parents[2] / ".venv-pywb" / "bin"
PATIENCE_S = 120.0
URL = "http://news.example/page?a=1"
PAGE = b"<!doctype html><title>News</title><p>Nothing new today.<a href='/other'>other</a>"

pytestmark = pytest.mark.skipif(
    not (PYWB / "wayback").exists(), reason="pywb is not installed: run `scripts/setup pywb`"
)


class Wayback:
    def __init__(self, port: int) -> None:
        self._port = port

    def __call__(self, path: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def body(self, at: float, url: str) -> bytes:
        """The bytes as they were, their coding undone, once it is sure that they are of this moment."""
        status, headers, payload = self(f"/ours/{stamp(at)}id_/{url}")
        assert status == 200, (url, payload[:200])
        assert headers["Memento-Datetime"] == formatdate(int(at), usegmt=True)
        return undone(payload, headers["Content-Encoding"])


def stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%d%H%M%S}"


@contextmanager
def wayback(folder: Path) -> Iterator[Wayback]:
    """pywb on the collections in this folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [PYWB / "wayback", "-b", "127.0.0.1", "-p", str(port), "-d", folder, "-t", "4"],
            stdout=log,
            stderr=log,
            env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        )
        try:
            until = time.monotonic() + PATIENCE_S
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                    break
                except OSError:
                    assert process.poll() is None, (folder / "log").read_text()
                    assert time.monotonic() < until, (folder / "log").read_text()
                    time.sleep(0.05)
            yield Wayback(port)
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def managed(folder: Path, *words: str | Path) -> None:
    done = subprocess.run(
        [PYWB / "wb-manager", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def placed(folder: Path, archive: Path, index: Path) -> None:
    """A collection by hand: the files where they are, and the index that we wrote."""
    ours = folder / "collections" / "ours"
    (ours / "indexes").mkdir(parents=True)
    (ours / "archive").symlink_to(archive)
    (ours / "indexes" / "index.cdxj").symlink_to(index)


def test_ten_thousand_visits_are_found_again_by_our_index(collection: Collection, tmp_path: Path) -> None:
    index = tmp_path / "index.cdxj"
    index.write_text("".join(f"{line}\n" for line in cdxj(collection.folder)))
    placed(tmp_path, collection.folder, index)
    chosen = [kept for kept in collection.kept if kept.kind == "large"][:2]
    for kind in ("page", "coded", "json", "table", "graph", "bytes", "empty", "same", "unchanged"):
        of_kind = [kept for kept in collection.kept if kept.kind == kind]
        chosen += of_kind[:: max(1, len(of_kind) // 12)]
    with wayback(tmp_path) as replayed:
        for kept in chosen:
            assert digest_of(replayed.body(kept.at, kept.url)) == kept.digest, kept
    assert len(chosen) > 100


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    with Past(home) as past:
        past.visit(seen(URL, DAY_AT, PAGE))
        past.visit(seen(URL, DAY_AT + DAY_S, PAGE))
        unchanged = {"status": 304, "http_reason": "Not Modified", "outcome": Outcome.NOT_MODIFIED}
        past.visit(seen(URL, DAY_AT + 2 * DAY_S, b"", ("ETag", '"1"'), **unchanged))
        past.visit(seen(URL, DAY_AT + 3 * DAY_S, b"<p>changed"))
    return home


def check(replayed: Wayback) -> None:
    for days in range(3):  # the page, the same payload again, and what the server said had not changed
        assert replayed.body(DAY_AT + days * DAY_S, URL) == PAGE
    assert replayed.body(DAY_AT + 3 * DAY_S, URL) == b"<p>changed"
    status, _, shown = replayed(f"/ours/{stamp(DAY_AT)}mp_/{URL}")
    assert status == 200
    assert b"Nothing new today." in shown
    assert f"/ours/{stamp(DAY_AT)}mp_/http://news.example/other".encode() in shown


def test_a_copy_of_the_archive_is_replayed(home: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    with open_house(home, reading=True) as house:
        write_warc(house.store, house.archive, Wanted(), copy)
    placed(tmp_path, copy, copy / "index.cdxj")
    with wayback(tmp_path) as replayed:
        check(replayed)


def test_a_wacz_is_replayed(home: Path, tmp_path: Path) -> None:
    package = tmp_path / "all.wacz"
    with open_house(home, reading=True) as house:
        write_wacz(house.store, house.archive, Wanted(urls=(URL,)), package, now=DAY_AT)
    managed(tmp_path, "init", "ours")
    managed(tmp_path, "add", "--unpack-wacz", "ours", package)
    with wayback(tmp_path) as replayed:
        check(replayed)
