"""The socket that the face answers on."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from pathlib import Path

import pytest
from tests.web import conftest
from tests.web import year as years
from tests.web.conftest import Served

from recrawl.web.face import serving


def test_who_never_ends_asking_is_hung_up_on(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEAD_S", 0.4)
    host, port = served.base.removeprefix("http://").split(":")
    for said in (b"", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /"):
        with socket.create_connection((host, int(port)), 10.0) as wire:
            wire.sendall(said)
            heard = b""
            while piece := wire.recv(65536):
                heard += piece
            assert heard.count(b"HTTP/1.1 401") == (1 if said.endswith(b"GET /") else 0)


def test_open_pages_do_not_keep_it_from_ending(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A browser listens for news as long as a page is open; it is told of the end, and not cut off."""
    with (
        conftest.serving(tmp_path / "home", years.NOW) as served,
        served.client() as client,
        client.stream("GET", "/live") as news,
    ):
        lines = news.iter_lines()
        assert next(lines).startswith("retry")
        stopping = threading.Thread(target=served.stop)
        begun = time.perf_counter()
        stopping.start()
        assert not [line for line in lines if line]
        assert time.perf_counter() - begun < serving.GRACE_S - 0.5
        stopping.join()
    assert "Traceback" not in capfd.readouterr().err


def test_answers_are_sent_at_once(served: Served) -> None:
    """A kernel that waits for more to send waits 40 ms with every answer; the quickest ones tell."""
    taken = []
    with served.client() as client:
        for _ in range(30):
            began = time.perf_counter()
            assert client.get("/api").status_code == 200
            taken.append(time.perf_counter() - began)
    assert statistics.quantiles(taken, n=4)[0] < 0.038
