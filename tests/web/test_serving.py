"""The socket that the face answers on."""

from __future__ import annotations

import socket
import statistics
import time

import pytest
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


def test_answers_are_sent_at_once(served: Served) -> None:
    """A kernel that waits for more to send waits 40 ms with every answer; the quickest ones tell."""
    taken = []
    with served.client() as client:
        for _ in range(30):
            began = time.perf_counter()
            assert client.get("/api").status_code == 200
            taken.append(time.perf_counter() - began)
    assert statistics.quantiles(taken, n=4)[0] < 0.038
