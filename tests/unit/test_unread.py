"""A page that cannot be read: the visit says why, and a starved machine is no reason."""

from __future__ import annotations

from math import nan

import pytest

from recrawl.contracts import Detector
from recrawl.detect.choose import detector_name
from recrawl.detect.json import Json
from recrawl.detect.text import Text
from recrawl.errors import DamagedError
from recrawl.live.judgement import judged
from recrawl.model import (
    Effective,
    Fetch,
    Kind,
    Lease,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Version,
    Visit,
)
from recrawl.parse import pool

URL = "http://example.org/"
DETECTORS: dict[str, Detector] = {"json": Json(), "text": Text()}


def seen(body: bytes, media_type: str, kind: Kind = Kind.AUTO) -> Visit:
    def nothing(_: Version) -> Snapshot:
        raise DamagedError

    fetch = Fetch(
        request=Request(url=URL),
        outcome=Outcome.OK,
        url=URL,
        started_at=99.0,
        ended_at=100.0,
        status=200,
        headers=(("Content-Type", media_type),),
        body=body,
        wire=body,
    )
    resource = Resource(
        id=7, url=URL, host_id=1, host="example.org", added_at=0.0, effective=Effective(kind=kind)
    )
    standing = Standing(since_at=nan, due_at=99.0)
    lease = Lease(resource=resource, standing=standing, token=1, claimed_at=99.0, until_at=200.0)
    return judged(lease, fetch, fetch_id="f", detectors=DETECTORS, choose=detector_name, load=nothing).visit


def test_a_visit_tells_why_its_page_could_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with pool.Pool(n_workers=1, limit_s=0.3) as short:
        monkeypatch.setattr(pool, "_shared", short)
        visit = seen(b"<div>" * 100_000, "text/html")
    assert visit.outcome is Outcome.UNREADABLE
    assert visit.evidence == "its content could not be read: more than 0.3 s of CPU time"


def test_a_visit_tells_why_its_data_could_not_be_read() -> None:
    visit = seen(b'{"a": ', "application/json", Kind.JSON)
    assert visit.outcome is Outcome.UNREADABLE
    assert visit.evidence.startswith("its content could not be read: ")
    assert visit.evidence != "its content could not be read: "
