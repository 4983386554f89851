"""One payload, kept once, whoever else has it: by the archive, by its store, and through a whole run."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import brotli
from tests.warcs import AT, archive_in, fetched, put, records

from recrawl.detect.choose import detector_name
from recrawl.detect.exact import Exact
from recrawl.detect.rdf import Rdf
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.clock import WallClock
from recrawl.live.runner import Runner
from recrawl.loop import Loop
from recrawl.model import MIN_SHARED_BYTES, Fetch, NewResource, Outcome, Request, Version
from recrawl.remember.exchange import Origin, exchange
from recrawl.remember.records import member
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.warc import WarcArchive
from recrawl.schedule.policies.uniform import Uniform

HERE, THERE = "http://example.org/here", "http://example.org/there"
TURTLE = (("Content-Type", "text/turtle"),)
GRAPH = b"<> <http://purl.org/dc/terms/title> 'a graph of its own' .\n" + b"# padding\n" * 60


def at_url(url: str, fetch: Fetch) -> Fetch:
    return replace(fetch, request=Request(url=url), url=url)


def kinds(folder: Path) -> list[str]:
    return [fields["WARC-Type"] for fields, *_ in records(folder)]


def test_what_another_resource_holds_is_referred_to_and_read_from_there_under_its_own_url(
    tmp_path: Path,
) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, at_url(HERE, fetched()))
    archive.sync()
    second = put(archive, at_url(THERE, fetched(started_at=AT + 60)), same_as=first)
    archive.close()
    original, revisit = records(tmp_path)[1][0], records(tmp_path)[3][0]
    assert revisit["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")
    assert revisit["WARC-Target-URI"] == THERE
    assert revisit["WARC-Refers-To-Target-URI"] == HERE
    assert revisit["WARC-Refers-To-Date"] == original["WARC-Date"]
    assert revisit["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    assert (second.file, second.offset, second.length) == (first.file, first.offset, first.length)
    assert (archive.snapshot(first).url, archive.snapshot(second).url) == (HERE, THERE)
    assert archive.snapshot(first).headers
    assert archive.snapshot(second).headers == ()  # they were the other's
    assert not list(archive.verify([first, second]))
    older = replace(second, url="")  # as it was recorded before versions had a URL
    assert archive.snapshot(older).url == HERE


def test_a_base_iri_is_that_of_the_resource_whose_version_it_is(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, at_url(HERE, fetched(GRAPH, headers=TURTLE)))
    archive.sync()
    second = put(archive, at_url(THERE, fetched(GRAPH, headers=TURTLE)), same_as=first)
    archive.close()
    here, there = (
        replace(archive.snapshot(version), media_type="text/turtle") for version in (first, second)
    )
    assert Rdf().fingerprint(here) != Rdf().fingerprint(there)


def test_payloads_that_wait_for_the_same_sync_are_shared_too(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, at_url(HERE, fetched()))
    second = put(archive, at_url(THERE, fetched()), same_as=first)
    archive.sync()
    assert kinds(tmp_path) == ["warcinfo", "response", "request", "revisit", "request"]
    assert archive.snapshot(second).body == archive.snapshot(first).body
    archive.close()


def test_what_comes_in_another_coding_is_kept_again(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    body = b"the same words " * 100
    zipped = fetched(body, (("Content-Encoding", "gzip"),), wire=gzip.compress(body))
    first = put(archive, at_url(HERE, zipped))
    for headers, wire in (((("Content-Encoding", "br"),), brotli.compress(body)), ((), body)):
        version = put(archive, at_url(THERE, fetched(body, headers, wire=wire)), same_as=first)
        assert version.offset != first.offset
    archive.close()
    assert "revisit" not in kinds(tmp_path)


class Answers:
    """What each URL answers in each round; the web of these tests."""

    def __init__(self, bodies: Mapping[str, list[bytes]]) -> None:
        self.bodies = bodies
        self.round = 0
        self.at = WallClock().now()

    async def fetch(self, request: Request) -> Fetch:
        self.at += 1.0
        body = self.bodies[request.url][self.round]
        gone = body == b"gone"
        return fetched(
            body if not gone else b"<p>There is no such page here." * 40,
            request=request,
            url=request.url,
            started_at=self.at,
            ended_at=self.at,
            status=404 if gone else 200,
            outcome=Outcome.GONE if gone else Outcome.OK,
        )


def run(store: SqliteStore, archive: WarcArchive, answers: Answers, n_rounds: int = 1) -> None:
    """Visit every resource so many times."""

    async def main() -> None:
        runner = Runner(
            loop=Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None),
            fetcher=answers,
            archive=archive,
            detectors={"exact": Exact(), "text": Exact()},
            choose=detector_name,
            clock=WallClock(),
            min_delay_s=0.0,
        )
        try:
            for answers.round in range(n_rounds):
                for resource, _, _ in list(store.resources()):
                    await runner.visit(resource)
        finally:
            await runner.aclose()

    asyncio.run(main())


def watched(store: SqliteStore, *urls: str) -> None:
    # on a host each, so that none waits for another
    store.add([NewResource(url=url, host=f"h{i}.example") for i, url in enumerate(urls)], WallClock().now())


def versions_of(store: SqliteStore, url: str) -> list[Version]:
    resource = store.find(url)
    assert resource is not None
    return list(store.versions(resource.id))


def test_a_run_keeps_a_payload_once_for_all_resources_and_all_times(tmp_path: Path) -> None:
    page, other = b"<p>one page for all" * 50, b"<p>another" * 80
    answers = Answers({HERE: [page, other, page], THERE: [page, b"gone", page]})
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        watched(store, HERE, THERE)
        archive = archive_in(tmp_path)
        run(store, archive, answers, n_rounds=3)
        archive.close()
        here, there = versions_of(store, HERE), versions_of(store, THERE)
        assert [version.digest for version in here] == [
            f"sha256:{hashlib.sha256(body).hexdigest()}" for body in (page, other, page)
        ]
        assert {version.offset for version in (here[0], here[2], there[0], there[2])} == {here[0].offset}
        assert [version.seq for version in here] == [1, 2, 3]
        assert kinds(tmp_path).count("response") == 3  # the page, the other, and what stands for nothing
        assert kinds(tmp_path).count("revisit") == 3
        reader = archive_in(tmp_path)
        assert [reader.snapshot(version).url for version in (*here, *there)] == [HERE] * 3 + [THERE] * 3
        assert [bytes(reader.snapshot(version).body) for version in here] == [page, other, page]
        assert not list(reader.verify(store.versions()))


def test_small_payloads_and_evidence_are_kept_each_time(tmp_path: Path) -> None:
    small = b"x" * (MIN_SHARED_BYTES - 1)
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        watched(store, HERE, THERE)
        archive = archive_in(tmp_path)
        run(store, archive, Answers({HERE: [small], THERE: [small]}))
        archive.close()
        places = [version.offset for version in store.versions()]
        assert len(set(places)) == 2
    assert "revisit" not in kinds(tmp_path)


def test_a_shared_record_that_is_damaged_is_not_referred_to(tmp_path: Path) -> None:
    page = b"<p>one page for all" * 50
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        watched(store, HERE, THERE)
        archive = archive_in(tmp_path)
        run(store, archive, Answers({HERE: [page], THERE: [b"<p>else" * 100]}))
        (first,) = versions_of(store, HERE)
        with (tmp_path / first.file).open("r+b") as stream:
            stream.seek(first.offset + first.length // 2)
            stream.write(b"\0\0\0\0")
        run(store, archive, Answers({HERE: [page], THERE: [page]}))
        archive.close()
        newest = versions_of(store, THERE)[-1]
        assert archive_in(tmp_path).snapshot(newest).body == page


def test_where_sharing_begins_a_reference_is_a_fifth_smaller_than_what_it_stands_for() -> None:
    body = Path(__file__).read_bytes()[:MIN_SHARED_BYTES]
    response = exchange(fetched(body), None)[0]
    revisit = exchange(fetched(body), Origin.of(response))[0]
    assert len(member(revisit)) < 0.8 * len(member(response))
