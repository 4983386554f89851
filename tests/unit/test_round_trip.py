"""Whatever is brought home comes back byte for byte: shown, exported, and imported into another home."""

from __future__ import annotations

import gzip
from dataclasses import dataclass

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.foreign import URL, day

from recrawl.app import collection, imports
from recrawl.app import versions as kept
from recrawl.app.build import House, open_house
from recrawl.app.collection import Wanted
from recrawl.app.imports import Choice
from recrawl.app.pasts import Imported
from recrawl.detect.choose import detector_name
from recrawl.live.ground import Ground
from recrawl.model import (
    Changed,
    Failure,
    Fetch,
    Hop,
    Kind,
    NewResource,
    Outcome,
    Request,
    Settings,
    Visit,
    pieces,
)


@dataclass(frozen=True)
class Step:
    """One answer: a body, or none where it is gone, not modified or cut."""

    outcome: Outcome
    body: bytes = b""
    coding: str = ""
    moved: bool = False


BODIES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [b"", b"\r\n\r\n", b"WARC/1.1\r\n", b"\x1f\x8b\x08", b"0\r\n\r\n", b"a" * 700, b"b" * 700]
    ),
    st.text(max_size=30).map(str.encode),
)
STEPS = st.one_of(
    st.builds(Step, st.just(Outcome.OK), BODIES, st.sampled_from(["", "gzip", "br"]), st.booleans()),
    st.builds(Step, st.just(Outcome.OK), st.sampled_from([b"one" * 300, b"two" * 300])),
    st.builds(Step, st.sampled_from([Outcome.GONE, Outcome.NOT_MODIFIED, Outcome.TRUNCATED]), BODIES),
)
STATUS = {Outcome.GONE: 404, Outcome.NOT_MODIFIED: 304}


def fetched(step: Step, at: float) -> Fetch:
    wire = {"": bytes, "gzip": gzip.compress, "br": brotli.compress}[step.coding](step.body)
    headers = [("Content-Type", "application/octet-stream"), ("X-Odd", "\u00fc\u00ff")]
    hops = (Hop(url=URL, status=301, location=f"{URL}new"),) if step.moved else ()
    return Fetch(
        request=Request(url=URL),
        outcome=step.outcome,
        url=f"{URL}new" if step.moved else URL,
        started_at=at,
        ended_at=at,
        status=STATUS.get(step.outcome, 200),
        http_reason="As It Is",
        headers=tuple(headers + [("Content-Encoding", step.coding)] * bool(step.coding)),
        body=b"" if step.outcome is Outcome.NOT_MODIFIED else step.body,
        wire=b"" if step.outcome is Outcome.NOT_MODIFIED else wire,
        hops=hops,
        failure=Failure(reason="time", detail=f"cut after {len(wire):,} bytes")
        if step.outcome is Outcome.TRUNCATED
        else None,
    )


def visited(house: House, steps: list[Step]) -> None:
    """The path of a run, from the claim to the record."""
    loop = house.loop()
    ground = Ground(
        loop=loop,
        archive=house.archive,
        detectors=house.detectors,
        choose=detector_name,
        min_delay_s=0.0,
    )
    found = house.store.find(URL)
    assert found is not None
    for n, step in enumerate(steps):
        lease = loop.claim(found.id, day(n))
        assert lease is not None
        held = lease.standing.version
        if step.outcome is Outcome.NOT_MODIFIED and (held is None or held.gone):
            loop.release([lease], day(n), day(n))
            continue  # nobody would have asked whether it was modified
        fetch = fetched(step, day(n))
        landed, lost = ground.absorb([(lease, fetch, ground.judged(lease, fetch))], day(n))
        assert not lost
        assert landed[0].absorbed.accepted


def left_a_record(visit: Visit) -> bool:
    return not (visit.outcome is Outcome.GONE and visit.changed is Changed.NO)


def history(house: House) -> tuple[object, object]:
    found = house.store.find(URL)
    assert found is not None
    visits = [
        (visit.at, visit.outcome, visit.changed, visit.status, visit.n_bytes, visit.evidence, visit.moved_to)
        for visit in house.store.visits(found.id)
        if left_a_record(visit)
    ]
    versions = [
        (version.seq, version.at, version.digest, version.gone, version.flag, version.media_type)
        for version in house.store.versions(found.id)
    ]
    return visits, versions


def brings_something(steps: list[Step]) -> bool:
    return any(step.outcome is not Outcome.NOT_MODIFIED for step in steps)


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(STEPS, min_size=1, max_size=8).filter(brings_something))
def test_any_run_of_answers_comes_back_from_show_export_and_import(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    new = NewResource(url=URL, host="example.org", settings=Settings(kind=Kind.FILE))
    with open_house(folder / "home") as house:
        house.store.add([new], day(0))
        visited(house, steps)
        before = history(house)
        brought = {day(n): fetched(step, day(n)).body for n, step in enumerate(steps)}
        found = house.store.find(URL)
        assert found is not None
        for version in kept.history(house.store, found):
            assert b"".join(pieces(house.archive.snapshot(version).body)) == brought[version.at]
            assert kept.named(kept.history(house.store, found), f"v{version.seq}") == version
        collection.write_warc(house.store, house.archive, Wanted(), folder / "copy")
    with open_house(folder / "other") as other:
        other.store.add([new], day(0))
        result = Imported()
        imports.run(other, [folder / "copy"], Choice(), result)
        assert not +result.skipped
        after = history(other)
        assert after == before
        assert list(other.archive.verify(other.store.versions())) == []
        again = other.store.find(URL)
        assert again is not None
        for version in other.store.versions(again.id):
            assert bytes(other.archive.snapshot(version).body) == brought[version.at]
