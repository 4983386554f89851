"""What the archive writes, as other programs read it, and what it reads back."""

from __future__ import annotations

import gzip
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import brotli
import pytest
import zstandard
from tests.warcs import PAGE, URL, archive_in, fetched, files, put, records

from recrawl.errors import DamagedError
from recrawl.model import Failure, Fetch, Header, Hop, Outcome, Request


def written(folder: Path, *fetches: Fetch) -> list[tuple[dict[str, str], str, list[Header], bytes]]:
    archive = archive_in(folder)
    for fetch in fetches:
        put(archive, fetch)
    archive.close()
    return records(folder)


def test_other_tools_accept_every_file(tmp_path: Path) -> None:
    archive = archive_in(tmp_path, operator="A. Person", user_agent="recrawl/test")
    first = put(archive, fetched())
    archive.sync()
    put(archive, fetched(), same_as=first)
    put(archive, fetched(b"", status=304, outcome=Outcome.NOT_MODIFIED), same_as=first)
    put(archive, fetched(b"", status=410, outcome=Outcome.GONE))
    archive.close()
    (path,) = files(tmp_path)
    assert subprocess.run(["gzip", "-t", path], check=False).returncode == 0
    check = [sys.executable, "-c", "from warcio.cli import main; main()", "check", "-v", str(path)]
    said = subprocess.run(check, check=False, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout
    assert said.stdout.count("digest pass") == 8, said.stdout  # all but the two revisits


def test_a_file_begins_with_what_made_it(tmp_path: Path) -> None:
    archive = archive_in(tmp_path, software="recrawl/9", operator="A. Person", user_agent="recrawl/test")
    put(archive, fetched())
    archive.close()
    fields, _, _, block = records(tmp_path)[0]
    assert fields["WARC-Type"] == "warcinfo"
    assert fields["WARC-Filename"] == files(tmp_path)[0].name
    assert b"software: recrawl/9\r\n" in block
    assert b"operator: A. Person\r\n" in block
    assert b"http-header-user-agent: recrawl/test\r\n" in block


def test_an_answer_is_followed_by_its_request(tmp_path: Path) -> None:
    _, answer, request = written(tmp_path, fetched())
    fields, line, headers, payload = answer
    assert fields["WARC-Type"] == "response"
    assert fields["WARC-Target-URI"] == URL
    assert fields["WARC-Date"] == "2026-11-15T09:15:00.123456Z"
    assert fields["WARC-IP-Address"] == "192.0.2.7"
    assert fields["WARC-Protocol"] == "http/1.1"
    assert fields["WARC-Payload-Digest"] == f"sha256:{hashlib.sha256(PAGE).hexdigest()}"
    assert (line, payload) == ("HTTP/1.1 200 OK", PAGE)
    assert ("Content-Length", str(len(PAGE))) in headers
    assert request[0]["WARC-Type"] == "request"
    assert request[0]["WARC-Concurrent-To"] == fields["WARC-Record-ID"]
    assert request[1] == "GET /news?page=2 HTTP/1.1"
    assert ("User-Agent", "recrawl/test") in request[2]


def test_the_payload_is_kept_as_it_was_sent_and_headers_fit_it(tmp_path: Path) -> None:
    wire = gzip.compress(PAGE)
    sent = (("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))
    _, (_, _, headers, payload), _ = written(tmp_path, fetched(headers=sent, wire=wire))
    assert payload == wire
    assert ("Content-Encoding", "gzip") in headers
    assert ("X-Crawler-Transfer-Encoding", "chunked") in headers
    assert [value for name, value in headers if name == "Content-Length"] == [str(len(wire))]
    assert "Transfer-Encoding" not in dict(headers)


def test_a_content_length_that_lied_is_kept_under_another_name(tmp_path: Path) -> None:
    cut = fetched(
        headers=(("content-length", "99999"),),
        outcome=Outcome.TRUNCATED,
        failure=Failure(reason="disconnect"),
    )
    _, (fields, _, headers, _), _ = written(tmp_path, cut)
    assert fields["WARC-Truncated"] == "disconnect"
    assert ("X-Crawler-content-length", "99999") in headers
    assert ("Content-Length", str(len(PAGE))) in headers


def test_a_body_without_its_wire_is_kept_decoded(tmp_path: Path) -> None:
    _, (_, _, headers, payload), _ = written(
        tmp_path, fetched(headers=(("Content-Encoding", "gzip"),), wire=b"")
    )
    assert payload == PAGE
    assert ("X-Crawler-Content-Encoding", "gzip") in headers


@pytest.mark.parametrize("spoken", ["HTTP/2", "HTTP/2.0"])
def test_http_2_never_stands_in_the_status_line(tmp_path: Path, spoken: str) -> None:
    _, (fields, line, _, _), (_, request_line, _, _) = written(
        tmp_path, fetched(http_version=spoken, http_reason="")
    )
    assert fields["WARC-Protocol"] == "h2"
    assert line.rstrip() == "HTTP/1.1 200"
    assert request_line.endswith("HTTP/1.1")


def test_redirects_on_the_way_are_noted(tmp_path: Path) -> None:
    hop = Hop(url="http://example.org/", status=301, location="/news?page=2\r\nWARC-Type: response")
    *_, (fields, _, _, block) = written(tmp_path, fetched(hops=(hop,)))
    assert fields["WARC-Type"] == "metadata"
    assert block == b"via: 301 http://example.org/ -> /news?page=2%0D%0AWARC-Type: response\r\n"


def test_nothing_that_a_server_sends_can_end_a_line(tmp_path: Path) -> None:
    evil = "x\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nContent-Length: 0\r\n\r\n"
    fetch = fetched(
        headers=((f"X-{evil}", "1"), ("X-Value", evil), ("X-Other", "a\nb\x00c"), ("X: Y", "z")),
        http_reason=f"OK{evil}",
        url=f"http://example.org/{evil}",
        request_headers=(("Host", "example.org"), ("X-Asked", evil)),
        ip=f"192.0.2.7{evil}",
        http_version=f"HTTP/1.1{evil}",
    )
    found = written(tmp_path, fetch)
    assert [fields["WARC-Type"] for fields, *_ in found] == ["warcinfo", "response", "request"]
    _, (fields, _, headers, payload), (_, _, asked, _) = found
    assert payload == PAGE
    assert len(headers) == 6  # Content-Type, the four, Content-Length
    assert len(asked) == 2
    assert "WARC-IP-Address" not in fields
    for text in (*fields.values(), *dict(headers).values(), *dict(asked).values()):
        assert not re.search(r"[\r\n\0]", text)


def test_header_bytes_come_out_as_they_came_in(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    every_byte = bytes(range(0x80, 0x100)).decode("latin-1")
    place = put(archive, fetched(headers=(("X-Old", every_byte), ("X-Beyond", "\u20ac\ud800"))))
    archive.close()
    data = gzip.decompress(files(tmp_path)[0].read_bytes()[place.offset :][: place.length])
    assert b"X-Old: " + bytes(range(0x80, 0x100)) + b"\r\n" in data
    assert rb"X-Beyond: \u20ac\ud800" in data


# -- reading back --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coding", "wire"),
    [
        ("gzip", gzip.compress(PAGE, mtime=0)),
        ("br", brotli.compress(PAGE)),
        ("zstd", zstandard.ZstdCompressor().compress(PAGE)),
        ("gzip, br", brotli.compress(gzip.compress(PAGE, mtime=0))),
        ("identity", PAGE),
    ],
)
def test_every_coding_comes_back_decoded(tmp_path: Path, coding: str, wire: bytes) -> None:
    archive = archive_in(tmp_path)
    version = put(archive, fetched(headers=(("Content-Encoding", coding),), wire=wire))
    archive.sync()
    snapshot = archive.snapshot(version)
    archive.close()
    assert (snapshot.body, snapshot.url) == (PAGE, URL)
    assert (snapshot.media_type, snapshot.charset) == ("text/html", "utf-8")


def test_a_body_cut_by_its_limit_comes_back_as_it_was_cut(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    wire = gzip.compress(PAGE)
    cut = fetched(PAGE[:100], (("Content-Encoding", "gzip"),), wire=wire, outcome=Outcome.TRUNCATED)
    version = put(archive, cut)
    archive.close()
    assert archive.snapshot(version).body == PAGE[:100]


def test_a_record_that_does_not_match_its_version_is_refused(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    version = put(archive, fetched())
    archive.close()
    wrong = replace(version, digest="sha256:" + "0" * 64)
    with pytest.raises(DamagedError, match=rf"{version.file} at byte {version.offset}: .*copy"):
        archive.snapshot(wrong)
    with pytest.raises(DamagedError, match="bytes long, not"):
        archive.snapshot(replace(version, length=version.length + 1))
    with pytest.raises(DamagedError, match="file ends"):
        archive.snapshot(replace(version, offset=10_000_000))


@pytest.mark.parametrize("name", ["", "../secret.warc.gz", "/etc/passwd", "sub/x.warc.gz", "missing.warc.gz"])
def test_a_version_cannot_point_outside_the_folder(tmp_path: Path, name: str) -> None:
    archive = archive_in(tmp_path / "archive")
    version = put(archive, fetched())
    archive.close()
    (tmp_path / "secret.warc.gz").write_bytes(files(tmp_path / "archive")[0].read_bytes())
    with pytest.raises(DamagedError):
        archive.snapshot(replace(version, file=name))


def test_a_form_is_kept_with_its_request_unless_a_redirect_dropped_it(tmp_path: Path) -> None:
    posted = Request(url=URL, form="query=ASK+%7B%7D")
    *_, request = written(tmp_path / "a", fetched(request=posted))
    assert (request[1], request[3]) == ("POST /news?page=2 HTTP/1.1", b"query=ASK+%7B%7D")
    hop = Hop(url=URL, status=303, location=URL)
    _, _, request, _ = written(tmp_path / "b", fetched(request=posted, hops=(hop,)))
    assert (request[1], request[3]) == ("GET /news?page=2 HTTP/1.1", b"")


def test_an_answer_from_nobody_knows_whom_says_so(tmp_path: Path) -> None:
    *_, metadata = written(tmp_path, fetched(unverified=True))
    assert metadata[0]["WARC-Type"] == "metadata"
    assert metadata[3] == b"tls: the server's certificate was not verified\r\n"
