"""Small documents that are made to keep a judge busy. None of them may: a judge's thread cannot be killed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from recrawl.contracts import Detector
from recrawl.detect import masks as shapes
from recrawl.detect.json import Json
from recrawl.detect.table import Tables
from recrawl.detect.text import Text
from recrawl.live.snapshots import snapshot_of
from recrawl.model import CLEAR, Fetch, Lens, Mask, Outcome, Request, Snapshot

LIMIT_S = 4.0  # of this process; what is slow takes minutes or for ever


@contextmanager
def soon() -> Iterator[None]:
    begun = time.process_time()
    yield
    assert time.process_time() - begun < LIMIT_S


def codes(letter: str, last: str) -> str:
    return " ".join([*(f"{letter}{i:02d}" * 7 for i in range(80)), last])


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (shapes.shape(codes("a", "end"), codes("b", "end")), codes("c", "other")),
        (shapes.shape("7 " + "{word}" * 300, "8 " + "{word}" * 300), "9 " + "x" * 1_900 + " y"),
        (shapes.shape("7 " + "{…} a " * 300, "8 " + "{…} a " * 300), "9 " + "a " * 900 + "b"),
        ("{…} " * 300 + "b", "a " * 900),
        ("{number} " * 400 + "{code}", "1 " * 400 + "a"),
    ],
)
def test_a_shape_that_does_not_fit_is_found_out_at_once(shape: str, value: str) -> None:
    with soon():
        assert not shapes.fits(shape, value)


COLUMNS = ",".join(f"{i:x}" for i in range(9_000))


def cells(value: str) -> bytes:
    return f"{COLUMNS}\n{','.join(value * 9_000)}\n".encode()


@pytest.mark.parametrize(
    ("detector", "media_type", "before", "after"),
    [
        pytest.param(
            Json(),
            "application/json",
            b"{%s}" % b",".join([b'"a":1'] * 5_000),
            b"{%s}" % b",".join([b'"a":2'] * 5_000),
            id="one name for all members",
        ),
        pytest.param(Tables(), "text/csv", cells("1"), cells("2"), id="columns and no rows"),
        pytest.param(
            Tables(),
            "text/csv",
            cells("1"),
            cells("1").upper().replace(b"A", b"Z"),
            id="columns of other names",
        ),
        pytest.param(
            Text(),
            "text/plain",
            b"\n".join(b"at %d:00 %d" % (i, i) for i in range(30_000)),
            b"\n".join(b"at %d:01 %d" % (i, i) for i in range(30_000)),
            id="every line differs",
        ),
        pytest.param(
            Text(),
            "text/plain",
            b"\n".join(b"x 1 " * 400 + b"%d" % i for i in range(1_000)),
            b"\n".join(b"y 2 " * 400 + b"%d" % i for i in range(1_000)),
            id="long lines differ",
        ),
    ],
)
def test_documents_of_tame_size_are_judged_soon(
    detector: Detector, media_type: str, before: bytes, after: bytes
) -> None:
    old, new = (Snapshot(body=body, media_type=media_type) for body in (before, after))
    with soon():
        detector.fingerprint(new)
        detector.compare(old, new)
        detector.differing(old, new)


def test_a_page_is_not_held_against_its_masks_for_ever() -> None:
    masks = tuple(Mask(place="text", shape=f"{{word}} {{number}} {{word}} a{i}") for i in range(64))
    body = b"\n".join(b"x %d y b%d" % (i, i) for i in range(170_000))
    with soon():
        assert Text().fingerprint(Snapshot(body=body, media_type="text/plain", lens=Lens(masks=masks)))


def test_a_header_of_many_parameters_is_read_soon() -> None:
    fetch = Fetch(
        request=Request(url="http://example.org/"),
        outcome=Outcome.OK,
        url="http://example.org/",
        started_at=0.0,
        ended_at=0.0,
        headers=(("Content-Type", "text/html" + ';a="b' * 100_000 + "; charset=latin-1"),),
    )
    with soon():
        assert snapshot_of(fetch, CLEAR).charset == "latin-1"
