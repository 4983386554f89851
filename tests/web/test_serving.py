"""The socket that the face answers on."""

from __future__ import annotations

import statistics
import time

from tests.web.conftest import Served


def test_answers_are_sent_at_once(served: Served) -> None:
    """A kernel that waits for more to send waits 40 ms with every answer; the quickest ones tell."""
    taken = []
    with served.client() as client:
        for _ in range(30):
            began = time.perf_counter()
            assert client.get("/api").status_code == 200
            taken.append(time.perf_counter() - began)
    assert statistics.quantiles(taken, n=4)[0] < 0.038
