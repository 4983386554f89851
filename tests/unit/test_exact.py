from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.checks.detector import CHECKS, MakeDetector
from recrawl.contracts import Detector
from recrawl.detect.choose import detector_name
from recrawl.detect.exact import Exact
from recrawl.model import Changed, Kind, Snapshot


@pytest.mark.parametrize("check", CHECKS)
def test_exact_is_a_detector(check: Callable[[MakeDetector], None]) -> None:
    def make() -> Detector:
        return Exact()

    check(make)


def test_the_evidence_says_where_and_how_much() -> None:
    verdict = Exact().compare(Snapshot(body=b"abcdef"), Snapshot(body=b"abXef"))
    assert verdict.evidence == "2 of 6 bytes differ, from byte 2 on; 6 bytes before, 5 now"
    assert verdict.magnitude == pytest.approx(2 / 6)


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_any_differing_byte_is_a_change(before: bytes, after: bytes) -> None:
    verdict = Exact().compare(Snapshot(body=before), Snapshot(body=after))
    assert verdict.changed is (Changed.YES if before != after else Changed.NO)
    assert (verdict.magnitude > 0.0) == (before != after)


@given(st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20))
def test_what_both_begin_and_end_with_does_not_count(head: bytes, middle: bytes, tail: bytes) -> None:
    verdict = Exact().compare(Snapshot(body=head + tail), Snapshot(body=head + middle + tail))
    assert verdict.magnitude <= len(middle) / max(1, len(head + middle + tail)) + 1e-12


@pytest.mark.parametrize(
    ("kind", "media_type", "name"),
    [
        (Kind.PAGE, "application/pdf", "text"),
        (Kind.FILE, "text/html", "exact"),
        (Kind.AUTO, "text/html", "text"),
        (Kind.AUTO, "application/xhtml+xml", "text"),
        (Kind.AUTO, "text/plain", "text"),
        (Kind.AUTO, "text/csv", "table"),
        (Kind.AUTO, "application/json", "json"),
        (Kind.AUTO, "application/geo+json", "json"),
        (Kind.AUTO, "application/ld+json", "rdf"),
        (Kind.AUTO, "text/turtle", "rdf"),
        (Kind.AUTO, "application/rss+xml", "feed"),
        (Kind.SPARQL, "text/html", "results"),
        (Kind.AUTO, "", "exact"),
    ],
)
def test_the_kind_and_the_media_type_choose_the_detector(kind: Kind, media_type: str, name: str) -> None:
    assert detector_name(kind, media_type) == name
