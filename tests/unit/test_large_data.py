"""What is too large to be read is judged by its bytes, and whoever judges knows it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recrawl.contracts import Detector
from recrawl.detect.exact import Exact
from recrawl.detect.json import Json
from recrawl.detect.text import Text
from recrawl.model import Body, Changed, Snapshot
from recrawl.parse.spool import Spool, Spooled


def spooled(data: bytes) -> Body:
    spool = Spool()
    spool.write(data)
    body = spool.body()
    assert isinstance(body, Spooled)
    return body


def words(n_bytes: int, last: bytes = b"end") -> bytes:
    return (b"word " * (n_bytes // 5))[: -len(last)] + last


def text(body: Body, media_type: str = "text/plain") -> Snapshot:
    return Snapshot(body=body, media_type=media_type, charset="utf-8")


@pytest.mark.parametrize("form", [bytes, spooled])
def test_bytes_are_compared_alike_wherever_they_lie(form: Callable[[bytes], Body]) -> None:
    data = bytes(range(256)) * 12_000
    longer, changed = data[:500] + b"more" + data[500:], data[:2_000_000] + b"x" + data[2_000_001:]
    for other in (data, longer, changed, data[:-1], data[1:], data + data):
        here = Exact().compare(text(form(data)), text(form(other)))
        assert here == Exact().compare(text(data), text(other))
    assert Exact().compare(text(form(data)), text(form(changed))).evidence == (
        "1 of 3,072,000 bytes differ, from byte 2,000,000 on"
    )


def test_text_on_the_disk_is_read_as_text() -> None:
    before, after = spooled(words(2 << 20)), spooled(words(2 << 20).replace(b" ", b"\n"))
    assert Text().fingerprint(text(before)) == Text().fingerprint(text(after))
    assert Text().fingerprint(text(after)) != Exact().fingerprint(text(after))
    page, other = (b"<html><p>%s</html>" % bytes(body) for body in (before, after))
    verdict = Text().compare(text(spooled(page), "text/html"), text(spooled(other), "text/html"))
    assert verdict.changed is Changed.NO


@pytest.mark.parametrize("detector", [Text(), Json()])
def test_what_nobody_could_read_is_judged_by_its_bytes(detector: Detector) -> None:
    media_type = "text/plain" if detector.name == "text" else "application/json"
    before, after = (text(spooled(words(17 << 20, last)), media_type) for last in (b"one", b"two"))
    assert detector.fingerprint(before) == Exact().fingerprint(before)
    assert detector.compare(before, after).evidence.startswith("3 of 17,825,790 bytes differ")


def test_data_on_the_disk_is_read_where_it_can_be_killed() -> None:
    rows = b",".join(b'{"a": %d}' % n for n in range(200_000))
    before, after = spooled(b"[%s]" % rows), spooled(b"[ %s]" % rows)
    assert Json().fingerprint(text(before, "application/json")) != ""
    assert (
        Json().compare(text(before, "application/json"), text(after, "application/json")).changed
        is Changed.NO
    )
