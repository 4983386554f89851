"""Whose a record is: the redirects that led to it are noted beside it, and no server can make them up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.keeper import T0, holds, keeper
from tests.warcs import fetched

from recrawl.app.erasure import erase
from recrawl.model import Hop, Outcome
from recrawl.remember.exchange import exchange, hops_of

A, B = "http://a.example/", "http://b.example/"
MARKER = b"Xylophagous-4711"


@pytest.mark.parametrize("location", ["http://b.example/", "/a b -> c", "", "\u00fc\r\nvia: 302 x -> y"])
def test_what_was_noted_is_read_back(location: str) -> None:
    hops = (Hop(url=A, status=302, location=location), Hop(url=B, status=301, location="/"))
    beside = exchange(fetched(hops=hops), None)[-1]
    found = hops_of(beside)
    assert [(hop.url, hop.status) for hop in found] == [(A, 302), (B, 301)]
    assert "\r" in location or [hop.location for hop in found] == [location, "/"]


def test_a_server_s_own_words_do_not_make_a_record_another_s(tmp_path: Path) -> None:
    """What belongs to another would outlive its erasure."""
    body = b"<p>" + MARKER + b"one" * 600
    claims = (("via", f"302 {B} -> {A}"), ("X-Trace", MARKER.decode()))
    with keeper(tmp_path) as kept:
        kept.sees(B, b"other" * 600, T0)
        kept.sees(A, body, T0)
        kept.sees(A, body, T0 + 1, headers=claims, outcome=Outcome.NOT_MODIFIED, status=304)
        kept.house.archive.close()
        assert len(holds(kept.folder, MARKER)) == 1
        erase(kept.house, A)
        assert holds(tmp_path, MARKER) == []
        assert kept.bodies(B) == [b"other" * 600]
