"""A payload that is seen again is kept once, as long as it can be found where the revisit points."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import brotli
from tests.warcs import AT, PAGE, URL, archive_in, fetched, files, put, records

from recrawl.model import Outcome


def test_the_same_payload_again_is_a_revisit(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, fetched())
    archive.sync()
    again = put(archive, fetched(started_at=AT + 60), same_as=first)
    archive.close()
    original, revisit = records(tmp_path)[1][0], records(tmp_path)[3]
    fields, line, headers, payload = revisit
    assert fields["WARC-Type"] == "revisit"
    assert fields["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")
    assert fields["WARC-Refers-To"] == original["WARC-Record-ID"]
    assert fields["WARC-Refers-To-Target-URI"] == URL
    assert fields["WARC-Refers-To-Date"] == original["WARC-Date"]
    assert fields["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    assert fields["WARC-Truncated"] == "length"
    assert (line, payload) == ("HTTP/1.1 200 OK", b"")
    assert ("Content-Length", str(len(PAGE))) in headers
    assert (again.file, again.offset, again.length) == (first.file, first.offset, first.length)
    assert archive.snapshot(again).body == PAGE


def test_not_modified_is_a_revisit_without_a_block_and_its_headers_are_kept_beside_it(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, fetched())
    archive.sync()
    said = fetched(b"", (("ETag", '"7"'), ("Content-Length", "7")), status=304, outcome=Outcome.NOT_MODIFIED)
    again = archive.put(said, replace(first, at=AT + 60), same_as=first)
    archive.close()
    (fields, line, _, _), request, (beside, _, _, facts) = records(tmp_path)[3:]
    assert fields["WARC-Type"] == "revisit"
    assert fields["WARC-Profile"].endswith("/1.1/revisit/server-not-modified")
    assert (fields["Content-Length"], line) == ("0", "")
    assert fields["WARC-Refers-To-Date"] == "2026-11-15T09:15:00.123456Z"
    assert request[0]["WARC-Type"] == "request"
    assert beside["WARC-Type"] == "metadata"
    assert beside["WARC-Concurrent-To"] == fields["WARC-Record-ID"]
    assert beside["Content-Type"] == "application/warc-fields"  # what replay tools do not index
    assert b"http-status: 304 OK\r\n" in facts
    assert b'ETag: "7"\r\n' in facts
    assert b"Content-Length: 7\r\n" in facts
    assert archive.snapshot(again).body == PAGE


def test_the_same_body_compressed_anew_is_a_revisit_whose_length_fits_the_payload_it_refers_to(
    tmp_path: Path,
) -> None:
    archive = archive_in(tmp_path)
    coded = (("Content-Encoding", "gzip"),)
    wires = gzip.compress(PAGE, 9, mtime=1), gzip.compress(PAGE, 0, mtime=2)
    first = put(archive, fetched(headers=coded, wire=wires[0]))
    archive.sync()
    put(archive, fetched(headers=(*coded, ("Content-Length", str(len(wires[1])))), wire=wires[1]), first)
    archive.close()
    fields, _, headers, _ = records(tmp_path)[3]
    assert fields["WARC-Type"] == "revisit"
    assert fields["WARC-Payload-Digest"] == f"sha256:{hashlib.sha256(wires[0]).hexdigest()}"
    assert ("Content-Length", str(len(wires[0]))) in headers
    assert ("X-Crawler-Content-Length", str(len(wires[1]))) in headers


def test_the_same_body_in_another_coding_is_kept_again(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, fetched(headers=(("Content-Encoding", "gzip"),), wire=gzip.compress(PAGE)))
    archive.sync()
    again = put(archive, fetched(headers=(("Content-Encoding", "br"),), wire=brotli.compress(PAGE)), first)
    archive.close()
    assert again.offset > first.offset
    assert archive.snapshot(again).body == PAGE


def test_other_bytes_are_kept_even_if_they_are_said_to_be_the_same(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, fetched())
    archive.sync()
    again = put(archive, fetched(b"quite another page"), same_as=first)
    archive.close()
    assert archive.snapshot(again).body == b"quite another page"


def test_a_payload_whose_first_copy_is_damaged_is_kept_again(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, fetched())
    archive.sync()
    with files(tmp_path)[0].open("r+b") as stream:
        stream.seek(first.offset + first.length // 2)
        stream.write(b"\0\0\0\0")
    again = put(archive, fetched(), same_as=first)
    archive.close()
    assert archive.snapshot(again).body == PAGE


def test_an_answer_of_not_there_is_an_ordinary_response(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    gone = put(archive, fetched(b"no such page", status=404, outcome=Outcome.GONE))
    archive.close()
    assert records(tmp_path)[1][0]["WARC-Type"] == "response"
    assert archive.snapshot(gone).body == b"no such page"
