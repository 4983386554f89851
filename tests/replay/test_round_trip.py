"""Ten thousand visits through our archive, read back by others' readers and by ours, digest by digest."""

from __future__ import annotations

import importlib
import json
import warnings
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.replay.collection import N_VISITS, Collection, Kept, digest_of, undone
from tests.warcs import archive_in, files
from warcio.archiveiterator import ArchiveIterator

from recrawl.remember.cdx import cdxj

Expected = dict[tuple[str, str], Kept]
PROFILES = {"same": "identical-payload-digest", "unchanged": "server-not-modified"}


def date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def expected(collection: Collection) -> Expected:
    return {(kept.url, date(kept.at)): kept for kept in collection.kept}


@pytest.fixture(scope="module")
def fast() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # at its first import it complains of its own old names
        return importlib.import_module("fastwarc.warc").ArchiveIterator


def test_the_collection_holds_every_kind(collection: Collection) -> None:
    kinds = Counter(kept.kind for kept in collection.kept)
    assert sum(kinds.values()) == N_VISITS
    assert kinds["same"] > 1000
    assert kinds["unchanged"] > 1000
    assert all(kinds[kind] > 100 for kind in ("page", "coded", "json", "table", "graph", "bytes", "empty"))
    assert kinds["large"] >= 5
    assert len(files(collection.folder)) > 2


def test_warcio_reads_back_what_was_seen(collection: Collection) -> None:
    left, payloads = expected(collection), dict[str, str]()
    for path in files(collection.folder):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                said = record.rec_headers
                if record.rec_type not in ("response", "revisit"):
                    record.raw_stream.read()
                    continue
                kept = left.pop((said["WARC-Target-URI"], said["WARC-Date"]))
                assert (record.rec_type == "revisit") == kept.is_revisit
                if kept.is_revisit:
                    assert said["WARC-Profile"].endswith(PROFILES[kept.kind])
                    assert payloads[said["WARC-Refers-To"]] == kept.digest
                    assert said["WARC-Payload-Digest"]
                else:
                    # its own way to undo brotli asks for what the library lacks
                    coding = record.http_headers.get_header("Content-Encoding")
                    body = undone(record.raw_stream.read(), coding)
                    payloads[said["WARC-Record-ID"]] = digest_of(body)
                    assert digest_of(body) == kept.digest
    assert left == {}


def test_fastwarc_reads_back_what_was_seen(collection: Collection, fast: Any) -> None:
    left, payloads = expected(collection), dict[str, str]()
    for path in files(collection.folder):
        with path.open("rb") as stream:
            for record in fast(stream, parse_http=False, auto_decode="all"):
                assert record.verify_block_digest()
                said = dict(record.headers.items())
                if said["WARC-Type"] not in ("response", "revisit"):
                    continue
                kept = left.pop((said["WARC-Target-URI"], said["WARC-Date"]))
                if kept.is_revisit:
                    assert payloads[said["WARC-Refers-To"]] == kept.digest
                    continue
                record.parse_http(auto_decode="all")
                payloads[said["WARC-Record-ID"]] = digest_of(record.reader.read())
                assert payloads[said["WARC-Record-ID"]] == kept.digest, kept.kind
    assert left == {}


def test_our_own_reader_gives_every_version_and_the_index_leads_to_each(collection: Collection) -> None:
    archive = archive_in(collection.folder)
    for kept in collection.kept[::7]:
        assert digest_of(bytes(archive.snapshot(kept.version).body)) == kept.digest
    lines = list(cdxj(collection.folder))
    assert len(lines) == N_VISITS
    assert lines == sorted(lines)
    said = [json.loads(line.split(" ", 2)[2]) for line in lines]
    revisits = sum(row["mime"] == "warc/revisit" for row in said)
    assert revisits == sum(kept.is_revisit for kept in collection.kept)
